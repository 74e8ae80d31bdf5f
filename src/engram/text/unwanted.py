"""Why a sentence is no statement: a sentence without its lead-in comes in, the reason comes out.

Small talk, fragments, requests for the moment, headings, the words of somebody else and what is only
imagined ("if I won the lottery, I would …") tell nothing that holds.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from engram.text.facts import facts
from engram.text.junk import is_filler
from engram.text.persons import has_first_person
from engram.text.requests import is_request, without_request
from engram.text.scripts import is_wide


def why_unwanted(bare: str) -> str:
    """The reason to leave a sentence out; empty when there is none.

    >>> why_unwanted("Wow, great!"), why_unwanted("My rules:"), why_unwanted("I live in Rome")
    ('small talk', 'a heading', '')
    >>> (
    ...     why_unwanted("If I won the lottery, I would buy an island"),
    ...     why_unwanted("Translate this into French"),
    ... )
    ('not so', 'a request')
    """
    return next((why for why, holds in _REASONS if holds(bare)), "")


def heads(sentence: str) -> bool:
    """Whether a list of what the speaker has or wants follows: its items need no further sign.

    >>> heads("My rules:"), heads("Shopping:")
    (True, False)
    """
    return _HEADING.search(sentence) is not None and has_first_person(sentence)


def ends(sentence: str) -> bool:
    """Whether a sentence is closed, as items of a list seldom are."""
    return sentence.endswith((".", "!", "?", "。", "！", "？"))


def asks_to_confirm(sentence: str) -> bool:
    """Whether the listener is only asked to say yes.

    >>> asks_to_confirm("You moved to Rome, right?"), asks_to_confirm("I moved to Rome, right?")
    (True, False)
    """
    return _TAGGED.match(sentence) is not None


def trimmed(bare: str) -> str:
    """The sentence without a request or a laugh at its end.

    >>> trimmed("There's dust everywhere, lol."), trimmed("I fly on Friday, please find me a hotel")
    ("There's dust everywhere", 'I fly on Friday')
    """
    return _LAUGH.sub("", without_request(bare))


_HEADING = re.compile(r"[:：]\s*$")
_TAGGED = re.compile(r"(?:so )?you\b.*, (?:right|correct|yes|no|huh|eh)\?\s*$", re.IGNORECASE)
_LAUGH = re.compile(r",?\s+(?:lol|lmao|haha+|hehe+|tbh)[.!]*\s*$", re.IGNORECASE)
_QUOTE = re.compile(r"\"[^\"]*\"\W*|“[^”]*”\W*")
_UNREAL = re.compile(
    r"[Ii]f (?:I|we) (?:were|was|had|won|could|\w+ed)\b.*\b(?:would|I'd|we'd)\b|(?:如果|假如|要是)我.*我就"
)
_ERROR_LINE = re.compile(r"[\w.]*(?:Error|Exception|Warning|Interrupt)\b(?:\[\w+\])?:")
_LEAST_WORDS: Final = 3
_LEAST_CHARACTERS: Final = 4


def _too_short(bare: str) -> bool:
    han = sum("\u4e00" <= char <= "\u9fff" for char in bare)
    if han >= _LEAST_CHARACTERS or is_wide(bare):
        return sum(char.isalnum() for char in bare) < _LEAST_CHARACTERS
    return len(bare.split()) < _LEAST_WORDS and not facts(bare)


_REASONS: Final[tuple[tuple[str, Callable[[str], object]], ...]] = (
    ("a heading", _HEADING.search),
    ("small talk", is_filler),
    ("an error message", _ERROR_LINE.match),
    ("a fragment", _too_short),
    ("a request", is_request),
    ("somebody's words", _QUOTE.fullmatch),
    ("not so", _UNREAL.match),
)
