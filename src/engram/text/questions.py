"""What in a sentence asks and what states: "I live in Rome, do you know a bakery?" does both."""

from __future__ import annotations

import re
from functools import cache

from engram.text import lexicon

_MARK = re.compile(r"[?？]\s*[\"'”’」』）)*_~…]*\s*$")
_CLAUSE = re.compile(
    r"\s*[,;，；：]\s*|\s+[—–-]+\s+|…|\.{3,}"
    r"|\s+(?=(?:but|so|and) (?:what|how|why|where|when|who|can|could|do|should|is)\b)"
)
_LEADING = re.compile(r"^[\s\"'“‘「『(（*_>~-]+")


def is_question(sentence: str) -> bool:
    """Whether a sentence asks, with or without its mark; a request to keep something does not.

    >>> is_question("Where do you live?"), is_question("can you help me"), is_question("你住在哪里呢")
    (True, True, True)
    >>> is_question("I know where you live."), is_question("Can you remember that I am vegetarian?")
    (False, False)
    """
    plain = _plain(sentence)
    if _MARK.search(plain):
        return not _any("keeps").search(plain)
    return _any("open").search(plain) is not None and not _any("keeps").search(plain)


def stated(sentence: str) -> str:
    """The part of a sentence that states something: all of it, none of it, or what stands before a question.

    >>> stated("I live in Rome, do you know a bakery?")
    'I live in Rome'
    >>> stated("You live in Rome?"), stated("I live in Rome.")
    ('', 'I live in Rome.')
    """
    if not is_question(sentence):
        return sentence
    clauses = [(match.start(), match.end()) for match in _CLAUSE.finditer(sentence)]
    starts = [0, *(end for _, end in clauses)]
    ends = [*(start for start, _ in clauses), len(sentence)]
    kept = ""
    for start, end in zip(starts[:-1], ends[:-1], strict=True):
        if _asks(sentence[start:end]):
            return kept
        kept = sentence[:end]
    return kept


def _asks(clause: str) -> bool:
    return _any("asks").search(_plain(clause)) is not None


def _plain(text: str) -> str:
    return _LEADING.sub("", text.lower().replace("’", "'"))


@cache
def _any(heading: str) -> re.Pattern[str]:
    return lexicon.pattern("questions", heading)
