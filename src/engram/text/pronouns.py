"""Pronouns: whom "she" means, when only one person can be meant; which sentences lean on the one before."""

from __future__ import annotations

import re

from engram.text.names import entities
from engram.text.scripts import is_wide

_LEANING = re.compile(
    r"(?:it|it's|that|that's|this|these|those|they|they're|he|he's|she|she's|him|her|his|their|there|then|such|both)\b"
    r"|(?:它|他|她|这|那|他们|她们|它们|其)|\[",
    re.IGNORECASE,
)
_PERSON = re.compile(r"^(?P<subject>(?:[Hh]e|[Ss]he)\b(?P<short>'s)?)|^(?P<own>(?:[Hh]is|[Hh]er)\b(?= \w))")
_CHINESE = re.compile(r"^[他她](?P<own>的)?(?!们)")


def leans(text: str) -> bool:
    """Whether a sentence begins with a word that only what was said before explains.

    >>> leans("It was great"), leans("Her dog is old"), leans("Anna's dog is old")
    (True, True, False)
    """
    return _LEANING.match(text) is not None


def with_person(text: str, person: str) -> str:
    """The sentence with its first pronoun named.

    >>> (
    ...     with_person("She's a nurse", "Clara"),
    ...     with_person("Her dog is old", "Clara"),
    ...     with_person("她的狗", "小林"),
    ... )
    ('Clara is a nurse', "Clara's dog is old", '小林的狗')
    """
    if not person:
        return text
    if is_wide(text):
        return _CHINESE.sub(lambda match: person + (match["own"] or ""), text, count=1)

    def name(match: re.Match[str]) -> str:
        if match["own"]:
            return f"{person}'s"
        return f"{person} is" if match["short"] else person

    return _PERSON.sub(name, text, count=1)


def spoken_of(text: str, before: str, besides: frozenset[str]) -> str:
    """Whom the next pronoun can mean: the one named here, or before if nobody is; empty for several.

    >>> spoken_of("I met Clara in Rome", "", frozenset()), spoken_of("Clara met Anna", "Bob", frozenset())
    ('Clara', '')
    """
    named = [one.name for one in entities(text) if one.type == "person" and one.name not in besides]
    if not named:
        return before
    return named[0] if len(named) == 1 else ""
