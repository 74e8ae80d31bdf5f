"""Requests for the moment: "translate this", "帮我写一封信" ask for work, and tell nothing of who asks.

An order that stays ("always answer in German") is none, nor is what tells something of the speaker ("book a
table for my wife's birthday").
"""

from __future__ import annotations

import re
from functools import cache

from engram.text import lexicon

_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|「[^」]*」|`[^`]*`")
_SPEAKER = re.compile(r"\b(?:i|my|mine|our|we)\b|我")
_FOR_ME = re.compile(r"[帮给替为]我")
_TAIL = re.compile(r"(?:[,;，；]\s*|\s+-+\s+)(?:so\s+|and\s+|所以)?(?P<clause>[^,;，；]+)$")


def is_request(clause: str) -> bool:
    """Whether a clause only asks for something to be done now.

    >>> is_request('Translate this: "I live in Rome"'), is_request("帮我写一封请假邮件。")
    (True, True)
    >>> (
    ...     is_request("Always write the tests first"),
    ...     is_request("Find a gift for my son"),
    ...     is_request("I write"),
    ... )
    (False, False, False)
    """
    plain = _QUOTED.sub(" ", clause.lower().replace("’", "'")).strip()
    if not _asks().search(plain) or lexicon.found("requests", plain, under="standing"):
        return False
    return not _SPEAKER.search(_FOR_ME.sub("", plain))


def without_request(sentence: str) -> str:
    """The sentence without the request at its end.

    >>> (
    ...     without_request("I fly to Oslo on Friday, please find me a hotel."),
    ...     without_request("我周五飞成都，帮我找酒店"),
    ... )
    ('I fly to Oslo on Friday', '我周五飞成都')
    """
    tail = _TAIL.search(sentence)
    if tail is None or not is_request(tail["clause"]):
        return sentence
    return sentence[: tail.start()]


@cache
def _asks() -> re.Pattern[str]:
    return lexicon.pattern("requests")
