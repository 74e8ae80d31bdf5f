"""Known phrases and where they stand: a vocabulary is built once, then each text is looked through quickly.

Languages with spaces are matched word by word, the longest phrase first; Chinese and the like character by
character, because nothing stands between their words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Generic, NamedTuple, TypeVar

from engram.text import lexicon

Value = TypeVar("Value")
WORD: Final = re.compile(r"[^\W_]+(?:['’-][^\W_]+)*")
"""A word as the phrases know it: letters and digits, with what joins them inside."""


class Spot(NamedTuple, Generic[Value]):
    """One phrase that was found: from where to where (words or characters), and what it stands for."""

    start: int
    end: int
    value: Value


class Phrases(Generic[Value]):
    """A vocabulary of phrases in lower case, each with a value. Built once, never changed."""

    def __init__(self, entries: Mapping[str, Value]) -> None:
        self._spaced: dict[str, Value] = {}
        self._joined: dict[str, Value] = {}
        self._reach: dict[str, int] = {}
        self._lengths: dict[str, tuple[int, ...]] = {}
        for phrase, value in entries.items():
            self._add(phrase, value)
        self._starts = _starts(self._joined)

    def _add(self, phrase: str, value: Value) -> None:
        if not phrase.isascii() and " " not in phrase and not phrase[0].isascii():
            self._joined[phrase] = value
            held = {*self._lengths.get(phrase[0], ()), len(phrase)}
            self._lengths[phrase[0]] = tuple(sorted(held, reverse=True))
        else:
            tokens = phrase.split(" ")
            self._spaced[phrase] = value
            self._reach[tokens[0]] = max(self._reach.get(tokens[0], 0), len(tokens))

    def among(self, words: Sequence[str]) -> Iterator[Spot[Value]]:
        """The phrases in a row of words (lower case), none inside another.

        >>> list(Phrases({"new york": 1, "new": 2}).among(["new", "york", "new"]))
        [Spot(start=0, end=2, value=1), Spot(start=2, end=3, value=2)]
        """
        if self._reach.keys().isdisjoint(words):
            return
        skip = 0
        for at, word in enumerate(words):
            reach = self._reach.get(word)
            if reach is None or at < skip:
                continue
            for size in range(reach, 0, -1):
                phrase = word if size == 1 else " ".join(words[at : at + size])
                if phrase in self._spaced:
                    skip = min(at + size, len(words))
                    yield Spot(at, skip, self._spaced[phrase])
                    break

    def within(self, text: str) -> Iterator[Spot[Value]]:
        """The phrases of a script without spaces, wherever they stand in `text`.

        >>> list(Phrases({"开心": 1, "开": 2}).within("很开心"))
        [Spot(start=1, end=3, value=1)]
        """
        skip = 0
        for match in self._starts.finditer(text):
            at = match.start()
            if at < skip:
                continue
            for size in self._lengths[text[at]]:
                if text[at : at + size] in self._joined:
                    skip = at + size
                    yield Spot(at, skip, self._joined[text[at:skip]])
                    break


def _starts(phrases: Iterable[str]) -> re.Pattern[str]:
    """Where a phrase may start: its first character and, unless one stands alone, its second."""
    held = list(phrases)
    if not held:
        return re.compile("(?!)")
    first, second = ("".join(sorted({re.escape(phrase[at : at + 1]) for phrase in held})) for at in (0, 1))
    alone = any(len(phrase) == 1 for phrase in held)
    return re.compile(f"[{first}]" if alone else f"[{first}](?=[{second}])")


def listed(name: str, part: str) -> Iterator[tuple[str, str]]:
    """The phrases of one part of a word list whose lines are `label: phrase, phrase`, each with its label.

    A line without a label gives the label ''.
    """
    for row in lexicon.parts(name)[part]:
        label, colon, phrases = row.partition(": ")
        yield from ((phrase, label if colon else "") for phrase in _split(phrases if colon else row))


def _split(row: str) -> Iterable[str]:
    return filter(None, (phrase.strip() for phrase in row.split(",")))


def inflected(verb: str) -> tuple[str, ...]:
    """A word with its regular endings; what follows it stays as it is.

    >>> inflected("cry"), inflected("mess up")
    (('cry', 'cries', 'cried', 'crying'), ('mess up', 'messes up', 'messed up', 'messing up'))
    """
    stem, space, rest = verb.partition(" ")
    tail = space + rest
    if stem.endswith("y") and stem[-2:-1] not in "aeou":
        return verb, f"{stem[:-1]}ies{tail}", f"{stem[:-1]}ied{tail}", f"{stem}ing{tail}"
    if stem.endswith("e"):
        return verb, f"{stem}s{tail}", f"{stem}d{tail}", f"{stem[:-1]}ing{tail}"
    plural = "es" if stem.endswith(("s", "sh", "ch", "x")) else "s"
    return verb, f"{stem}{plural}{tail}", f"{stem}ed{tail}", f"{stem}ing{tail}"
