"""The second reader: a passage that may be a command comes in; how surely it is one comes out.

The network of `engram.rules.injection` is quick and knows words. What it holds for possible is read again by
a small transformer (six layers, weights in 8 bits, numpy), which knows what sentences mean. Most of it looks
ordinary after the first layer already and is read no further. It was trained on English; other languages are
put into English word by word before it reads.
`benchmarks/train_reader.py` makes its weights from those of all-MiniLM-L6-v2 (Apache-2.0).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from engram.text import lexicon, re
from engram.text.metadata import language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

FILE: Final = Path(lexicon.__file__).with_name("data") / "second_reader.npz"
LONGEST: Final = 84
"""Pieces of words that are read at once."""
DEEP, BROAD = 384, 16
"""Rows and columns of a matrix that are multiplied at once: for more, OpenBLAS would wake other threads,
which takes many times longer than the product."""
HEADS: Final = 12
UNKNOWN, BEGIN, END = 1, 2, 3
"""Rows of the vocabulary that are no words; the first is nothing."""
_SMALL: Final = 1e-12
_HAN: Final = "\u3400-\u9fff"
_LINK = re.compile(r"(?:https?|ftp)://\S+|www\.\S+")
_WORD = re.compile(rf"[{_HAN}]+|[^\W\d_{_HAN}]+|\d+|[^\w\s]|_")
_TOKEN = re.compile(rf"[{_HAN}]|[^\W_{_HAN}]+|[^\w\s]|_")
_LONGEST_PIECE: Final = 16
_LONGEST_CHINESE: Final = 6
_SHORTEST_STEM: Final = 3


def read(lower: str, *, foreign: bool, least: float = -inf) -> float:
    """How surely a passage in lower case is a command, as the logarithm of the odds.

    What weighs less than `least` after the first layer is read no further: that is the answer then.
    """
    weights = _weights()
    rows = weights.words.rows(lower)
    states = weights.pieces[rows] * weights.scales[rows, None]
    states = _even(states + weights.positions[: len(rows)] + weights.speakers[int(foreign)], weights.first)
    first, *others = weights.layers
    states = _layer(states, first)
    if least > -inf and (glance := _answer(states, weights.glance)) < least:
        return glance
    for layer in others:
        states = _layer(states, layer)
    return _answer(states, weights.head)


def _answer(states: Floats, head: Sequence[_Part]) -> float:
    """One number of the mean and the highest of all states."""
    import numpy as np

    inside, last = head
    middle = np.maximum(inside.turned(np.concatenate([states.mean(axis=0), states.max(axis=0)])), 0)
    return float(last.turned(middle)[0, 0])


def _layer(states: Floats, layer: Sequence[_Part]) -> Floats:
    """Each piece looks at all others, then at itself."""
    import numpy as np

    look, out, first, wide, back, second = layer
    length, width = states.shape
    query, key, value = look.turned(states).reshape(length, 3, HEADS, width // HEADS).transpose(1, 2, 0, 3)
    shares = query @ key.transpose(0, 2, 1) * np.float32((width // HEADS) ** -0.5)
    shares = np.exp(shares - shares.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    seen = (shares @ value).transpose(1, 0, 2).reshape(length, width)
    states = _even(states + out.turned(seen), first)
    inner = wide.turned(states)
    bent = inner * (np.float32(0.7978846) + np.float32(0.0356774) * (inner * inner))
    inner *= np.float32(0.5) * (1 + np.tanh(bent))
    return _even(states + back.turned(inner), second)


def _even(states: Floats, part: _Part) -> Floats:
    """Each row brought to mean nothing and spread one, then scaled as it was learned."""
    import numpy as np

    states = states - states.mean(axis=-1, keepdims=True)
    spread = np.sqrt((states * states).mean(axis=-1, keepdims=True) + _SMALL)
    evened: Floats = states / spread * part.scale + part.shift
    return evened


class Pieces:
    """The vocabulary and the words of other languages it is reached by. Safe to share between threads."""

    def __init__(self, pieces: Sequence[str], stands_for: Mapping[str, str]) -> None:
        self._rows = {piece: row for row, piece in enumerate(pieces)}
        self._stands_for = stands_for

    def rows(self, lower: str) -> list[int]:
        """The rows of a text in lower case, with its beginning and its end."""
        text = _LINK.sub(_plain_link, lower)
        spoken = language(text)
        if spoken != "en":
            text = " ".join(self._in_english(word, spoken) for word in _WORD.findall(text))
        if not text.isascii():
            text = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
        found = [BEGIN]
        for word in _TOKEN.findall(text):
            found += self._pieces(word)
            if len(found) >= LONGEST:
                break
        return [*found[: LONGEST - 1], END]

    def _in_english(self, word: str, spoken: str) -> str:
        """The English word that a word stands for, by itself or by how it begins; itself if there is none."""
        if "\u3400" <= word[0] <= "\u9fff":
            return " ".join(self._in_chinese(word))
        if not spoken and word in self._rows:
            return word
        stems = (word[:end] + "*" for end in range(len(word), _SHORTEST_STEM - 1, -1))
        known = (self._stands_for[one] for one in (word, *stems) if one in self._stands_for)
        return next(known, word)

    def _in_chinese(self, run: str) -> Iterator[str]:
        at = 0
        while at < len(run):
            last = min(at + _LONGEST_CHINESE, len(run))
            end = next((end for end in range(last, at, -1) if run[at:end] in self._stands_for), at + 1)
            yield self._stands_for.get(run[at:end], run[at:end])
            at = end

    def _pieces(self, word: str) -> list[int]:
        """The longest known piece from the left, again and again; one row for a word with an unknown part."""
        if word in self._rows:
            return [self._rows[word]]
        found: list[int] = []
        start = 0
        while start < len(word):
            mark, last = "##" if start else "", min(len(word), start + _LONGEST_PIECE)
            ends = (end for end in range(last, start, -1) if mark + word[start:end] in self._rows)
            end = next(ends, start)
            if end == start:
                return [UNKNOWN]
            found.append(self._rows[mark + word[start:end]])
            start = end
        return found


def _plain_link(link: re.Match[str]) -> str:
    return " http://x.test/?d= " if "?" in link[0] or "=" in link[0] else " http://x.test "


class _Part(NamedTuple):
    """What turns a row into another: a matrix in 8 bits, cut into tiles, with a scale for each column."""

    weight: NDArray[np.int8]
    scale: Floats
    shift: Floats

    def turned(self, states: Floats) -> Floats:
        """Each row turned; the matrix is widened for the moment, which is cheaper than to hold it wide."""
        import numpy as np

        down, _, deep, _ = self.weight.shape
        cut = states.reshape(-1, down, 1, deep).transpose(1, 2, 0, 3)
        tiles = (cut @ self.weight.astype(np.float32)).sum(axis=0)
        found: Floats = tiles.transpose(1, 0, 2).reshape(-1, len(self.scale)) * self.scale + self.shift
        return found


def _tiles(matrix: NDArray[np.int8]) -> NDArray[np.int8]:
    """A matrix as tiles in rows and columns; what has no rows stays as it is."""
    if not len(matrix):
        return matrix
    rows, columns = matrix.shape
    deep, broad = min(rows, DEEP), min(columns, BROAD)
    return matrix.reshape(rows // deep, deep, columns // broad, broad).transpose(0, 2, 1, 3).copy()


class _Weights(NamedTuple):
    words: Pieces
    pieces: NDArray[np.int8]
    scales: Floats
    positions: Floats
    speakers: Floats
    first: _Part
    layers: tuple[tuple[_Part, ...], ...]
    head: tuple[_Part, ...]
    glance: tuple[_Part, ...]


@cache
def _weights() -> _Weights:
    """What was learned."""
    import numpy as np

    with np.load(FILE, allow_pickle=False) as file:
        names = bytes(file["names"]).decode().split("\n")
        glossary = (row.split("\t") for row in bytes(file["glossary"]).decode().split("\n"))
        words = Pieces(names, dict(glossary))
        count = sum(name.startswith("shift") for name in file.files)
        parts = [
            _Part(_tiles(file[f"weight{at:02}"]), file[f"scale{at:02}"], file[f"shift{at:02}"])
            for at in range(count)
        ]
        layers = tuple(tuple(parts[at : at + 6]) for at in range(1, count - 4, 6))
        positions, speakers = (file[name].astype(np.float32) for name in ("positions", "speakers"))
        heads = tuple(parts[-4:-2]), tuple(parts[-2:])
        return _Weights(words, file["pieces"], file["scales"], positions, speakers, parts[0], layers, *heads)
