"""Cutting text into pieces of a fixed vocabulary: words come in, row numbers come out.

The rule is BERT's WordPiece in plain Python: lower case, accents off, then the longest known piece from the
left, where a piece inside a word starts with `##`. Chinese and Japanese have no spaces: a run of them is cut
the same way without the marks. Punctuation is left out: a bag of pieces learns nothing from it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence

_CJK = "\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_PLAIN = re.compile("[a-z0-9]+")
_ANY = re.compile(f"[{_CJK}]+|[^\\W_{_CJK}]+")
_IS_CJK = re.compile(f"[{_CJK}]")

# Longer "words" are keys, hashes and data: nothing the vocabulary knows.
LONGEST_WORD = 100
# Words remembered with their pieces; most texts repeat the same few thousand.
CACHED_WORDS = 50_000


class WordPieces:
    """The vocabulary and a cache of the words already cut. Safe to share between threads."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self._rows = {piece: row for row, piece in enumerate(pieces) if piece}
        self._longest = max(map(len, self._rows), default=0)
        self._cut: dict[str, tuple[int, ...]] = {}

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """Every piece and its row."""
        return self._rows

    def rows(self, text: str) -> list[int]:
        """Row numbers of all pieces of `text`, in order; words with an unknown part are left out."""
        found: list[int] = []
        known = self._cut
        for word in _words(text):
            pieces = known.get(word)
            found += self._remembered(word) if pieces is None else pieces
        return found

    def _remembered(self, word: str) -> tuple[int, ...]:
        if len(self._cut) >= CACHED_WORDS:
            self._cut = {}
        pieces = self._cut[word] = self._pieces(word)
        return pieces

    def _pieces(self, word: str) -> tuple[int, ...]:
        if _IS_CJK.match(word):
            return self._run(word)
        whole = self._rows.get(word)
        if whole is not None:
            return (whole,)
        return self._parts(word) if len(word) <= LONGEST_WORD else ()

    def _parts(self, word: str) -> tuple[int, ...]:
        """The longest known piece from the left, again and again; nothing when one part is unknown."""
        found: list[int] = []
        start = 0
        while start < len(word):
            row, start = self._longest_at(word, start, "##" if start else "")
            if row is None:
                return ()
            found.append(row)
        return tuple(found)

    def _run(self, run: str) -> tuple[int, ...]:
        """The longest known words of a run without spaces; unknown characters are stepped over."""
        found: list[int] = []
        start = 0
        while start < len(run):
            row, end = self._longest_at(run, start, "")
            if row is not None:
                found.append(row)
            start = max(end, start + 1)
        return tuple(found)

    def _longest_at(self, word: str, start: int, mark: str) -> tuple[int | None, int]:
        for end in range(min(len(word), start + self._longest), start, -1):
            row = self._rows.get(mark + word[start:end])
            if row is not None:
                return row, end
        return None, start


def _words(text: str) -> list[str]:
    """Runs of letters and digits in lower case, without accents."""
    text = text.lower()
    if text.isascii():
        return _PLAIN.findall(text)
    bare = "".join(c for c in unicodedata.normalize("NFD", text) if unicodedata.category(c) != "Mn")
    return _ANY.findall(bare)
