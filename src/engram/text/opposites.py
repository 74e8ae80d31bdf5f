"""Opposites: two lines of words come in; whether they differ by a word and its opposite alone comes out."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from engram.text import lexicon, words


def opposed(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether two lines of stems differ by one pair of opposites alone.

    >>> opposed(["user", "love", "tea"], ["user", "hate", "tea"])
    True
    >>> opposed(["user", "love", "tea"], ["user", "hate", "milk"])
    False
    """
    if len(one) != len(other):
        return False
    different = [(mine, theirs) for mine, theirs in zip(one, other, strict=True) if mine != theirs]
    if len(different) != 1:
        return False
    sides = _sides()
    mine, theirs = (sides.get(word) for word in different[0])
    return mine is not None and theirs is not None and mine[0] == theirs[0] and mine[1] != theirs[1]


@cache
def _sides() -> dict[str, tuple[int, bool]]:
    """For each stem the pair it belongs to and the side it stands on."""
    found: dict[str, tuple[int, bool]] = {}
    for number, row in enumerate(lexicon.lines("opposites")):
        for against, side in enumerate(row.split("|")):
            for word in side.split():
                for stem in words.terms(word) or (word,):
                    found[stem] = (number, bool(against))
    return found
