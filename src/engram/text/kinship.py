"""Kinship of words: the words of a question come in; other words by which people speak of the same come out.

"What food must I avoid?" is answered by an allergy, "when do we get the keys?" by a day on which one moves.
The families are data (`data/kinship.txt`), English and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

from engram.text import lexicon, words

MOST = 48
"""Words that a question is widened by at most."""


def kin(question: str, asked: Iterable[str]) -> tuple[str, ...]:
    """Terms that may answer for the terms `asked` of a question, which are not among them.

    >>> found = kin("Who is my husband?", ["husband"])
    >>> "wife" in found, "spous" in found, "husband" in found
    (True, True, False)
    >>> "老公" in kin("我丈夫是谁", ["丈夫"])
    True
    """
    had = dict.fromkeys(asked)
    english, chinese = _families()
    found = [term for word in had for term in english.get(word, ())]
    if not question.isascii():
        found += (term for word, family in chinese.items() if word in question for term in family)
    return tuple(dict.fromkeys(term for term in found if term not in had))[:MOST]


@cache
def _families() -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """For each English term and each Chinese word the terms of its families."""
    english: dict[str, list[str]] = {}
    chinese: dict[str, list[str]] = {}
    common = lexicon.words("stop_words")
    for row in lexicon.lines("kinship"):
        spaced, _, run_on = row.partition("|")
        stems = [words.terms(word)[0] for word in spaced.split() if word not in common]
        for stem in stems:
            english.setdefault(stem, []).extend(stems)
        pieces = [piece for word in run_on.split() for piece in _pieces(word)]
        for word in run_on.split():
            chinese.setdefault(word, []).extend(pieces)
    return {key: tuple(found) for key, found in english.items()}, {
        key: tuple(found) for key, found in chinese.items()
    }


def _pieces(word: str) -> list[str]:
    """The pairs of a Chinese word; a single character as it is indexed alone."""
    found = words.terms(word)
    return [term for term in found if not term.startswith(words.SINGLE)] or found


# ---------------------------------------------------------------- slots


def slots_asked(question: str) -> tuple[str, ...]:
    """Terms for what a question asks of a person's life, under which statements that tell it are found.

    >>> slots_asked("How old am I?"), slots_told("I'm 29."), slots_told("The tower is 29 metres high.")
    (('slotage',), ('slotage',), ())
    """
    return _slots(question, "? ")


def slots_told(statement: str) -> tuple[str, ...]:
    """Terms for what of somebody's life a statement tells."""
    return _slots(statement, "= ")


def _slots(text: str, side: str) -> tuple[str, ...]:
    lower = text.lower().replace("’", "'")
    return tuple(name for name, pattern in _slot_patterns(side) if pattern.search(lower))


@cache
def _slot_patterns(side: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    found = []
    for title, rows in lexicon.parts("slots").items():
        pattern = "|".join(row[2:] for row in rows if row.startswith(side))
        found.append((f"slot{title.replace(' ', '')}", re.compile(pattern)))
    return tuple(found)
