"""Which of the years is meant: the clause a date stands in comes in, past, future or near comes out.

"I quit in November" means the last one, "the baby is due in October" the next. Where neither tense nor a word
of plans tells, the nearest one is meant.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.scripts import HAN
from engram.text.when.words import Prefer

_FUTURE = re.compile(
    r"\b(?:will|'ll|going to|gonna|plan(?:s|ning)? to|due|deadline|upcoming|scheduled|booked for)\b"
    r"|'ll\b|\bexpir(?:es?|ing)\b"
    r"|\b(?:is|are|starts?|begins?|opens?|leaves?|arrives?|ends?) (?:\w+ ){0,3}(?:on|in|at|by|until) "
    r"|(?:\b(?:am|is|are)|'m|'re|'s) (?:\w+ )?\w+ing\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?!need|feed|speed|indeed|embed|exceed|proceed)[a-z]+ed\b", re.IGNORECASE)
# "I'm stuck", "it is booked": how things are now, in a word that looks like the past.
_STATE = re.compile(r"(?:\b(?:am|is|are)|['’](?:m|re)) \w+", re.IGNORECASE)
# What is put off, booked or due lies ahead, though 改了 and 订了 tell of it with the sign of the past.
_CHINESE_FUTURE = re.compile(
    r"预产期|截止|到期|过期|期限|打算|计划|准备|安排|预[定订约计]|[改推延提订定约]\S{0,2}[到在至为]|推迟|延期|提前"
    r"|(?<!正)[要会将](?!议)|以后要|得在"
)
_CHINESE_PAST = re.compile(r"[了过]|已经|刚")
_CLAUSE = re.compile(r"[,;，；。.!?！？]|\b(?:and|but|because|so|which|who)\b")
_HAN_CHAR = re.compile(f"[{HAN}]")
AHEAD: Final = ("by ", "until ", "till ")


@lru_cache(maxsize=1 << 8)
def tense(text: str, start: int) -> Prefer:
    """The tense of the clause in which something stands at `start`, else that of the whole text.

    >>> tense("I quit in November", 7), tense("The deadline is 3 May", 16), tense("3 May", 0)
    ('past', 'future', 'near')
    >>> tense("My flight got cancelled, I'm stuck here until Friday", 46)
    'future'
    """
    first, last = clause(text, start)
    ahead = text[first:start].lower().endswith(AHEAD)
    # "My flight was cancelled, I'm here until Friday": a bound looks ahead unless its own clause is past.
    return told(text[first:last]) or ("future" if ahead else None) or _by_the_rest(text) or "near"


def clause(text: str, start: int) -> tuple[int, int]:
    """Where the clause that holds a place begins and ends."""
    bounds = [0, *(one.end() for one in _CLAUSE.finditer(text)), len(text)]
    return (
        max(bound for bound in bounds if bound <= start),
        min((bound for bound in bounds if bound > start), default=len(text)),
    )


def _by_the_rest(text: str) -> Prefer | None:
    """In Chinese 了 ends many clauses, and says nothing about the others."""
    return None if _HAN_CHAR.search(text) else told(text)


def told(words: str) -> Prefer | None:
    """Past or future, where the words of one clause tell it."""
    if _HAN_CHAR.search(words):
        if _CHINESE_FUTURE.search(words):
            return "future"
        return "past" if _CHINESE_PAST.search(words) else None
    future = _FUTURE.search(words) is not None
    acts = _STATE.sub(" ", words)
    past = _PAST.search(acts) or not lexicon.words("verbs_past").isdisjoint(acts.lower().split())
    if future == bool(past):
        return None
    return "future" if future else "past"
