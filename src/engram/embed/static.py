"""The model of the base install: a vector for each piece of a word; a text is their weighted sum.

No network, no model server, no package beyond numpy. The weights lie beside this file and were distilled from
a transformer trained for retrieval: `weights/README.md` says from what and how. Rows are 8-bit with a scale
each, and the scale carries the piece's importance, once for documents and once for questions.
"""

from __future__ import annotations

import json
import threading
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from engram.errors import EmbedderDown
from engram.lazily import dataclass
from engram.model.memory import Space
from engram.ports import Health
from engram.text import re

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from engram.ports import Embedder, Floats


# ---------------------------------------------------------------- wordpiece
# Cutting text into pieces of a fixed vocabulary: words come in, row numbers come out.
#
# The rule is BERT's WordPiece in plain Python: lower case, accents off, then the longest known piece from
# the left, where a piece inside a word starts with `##`. Chinese and Japanese have no spaces: a run of them
# is cut the same way without the marks. Punctuation is left out: a bag of pieces learns nothing from it.

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
        self._rows = dict(zip(pieces, range(len(pieces)), strict=True))
        self._rows.pop("", None)
        self._cut: dict[str, tuple[int, ...]] = {}

    @cached_property
    def _longest(self) -> int:
        return max(map(len, self._rows), default=0)

    @property
    def vocabulary(self) -> Mapping[str, int]:
        """Every piece and its row."""
        return self._rows

    def rows(self, text: str) -> list[int]:
        """Row numbers of all pieces of `text`, in order; words with an unknown part are left out."""
        rows: list[int] = []
        remembered = self._cut
        for word in _words(text):
            pieces = remembered.get(word)
            rows += self._remembered(word) if pieces is None else pieces
        return rows

    def _remembered(self, word: str) -> tuple[int, ...]:
        if len(self._cut) >= CACHED_WORDS:
            self._cut = {}
        pieces = self._cut[word] = self._pieces(word)
        return pieces

    def _pieces(self, word: str) -> tuple[int, ...]:
        if not word.isascii() and _IS_CJK.match(word):
            return self._run(word)
        whole = self._rows.get(word)
        if whole is not None:
            return (whole,)
        return self._parts(word) if len(word) <= LONGEST_WORD else ()

    def _parts(self, word: str) -> tuple[int, ...]:
        """The longest known piece from the left, again and again; nothing when one part is unknown."""
        rows: list[int] = []
        start = 0
        while start < len(word):
            row, start = self._longest_at(word, start, "##" if start else "")
            if row is None:
                return ()
            rows.append(row)
        return tuple(rows)

    def _run(self, run: str) -> tuple[int, ...]:
        """The longest known words of a run without spaces; unknown characters are stepped over."""
        rows: list[int] = []
        start = 0
        while start < len(run):
            row, end = self._longest_at(run, start, "")
            if row is not None:
                rows.append(row)
            start = max(end, start + 1)
        return tuple(rows)

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


WEIGHTS = Path(__file__).parent / "weights" / "engram-static-1.npz"

# Pieces gathered at once: 8 K rows of 256 floats are 8 MB.
PIECES_AT_ONCE = 8_192
Loaded = TypeVar("Loaded")


class LoadedOnce(Generic[Loaded]):
    """What is loaded at its first use, and once, whichever threads come first."""

    def __init__(self, load: Callable[[], Loaded]) -> None:
        self._load = load
        self._value: Loaded | None = None
        self._lock = threading.Lock()

    def __call__(self) -> Loaded:
        """The value, loaded by now. Raises what loading raises, each time until it works."""
        if self._value is None:
            with self._lock:
                self._value = self._value or self._load()
        return self._value


def health_here(embedder: Embedder) -> Health:
    """How an embedder of this process is: well, unless what it needs cannot be loaded."""
    try:
        return Health(ok=True, detail=f"{embedder.space.model}, in this process")
    except EmbedderDown as down:
        return Health(ok=False, detail=down.message)


class StaticEmbedder:
    """Vectors by table look-up. The table is read at first use and shared by all threads."""

    def __init__(self, path: Path = WEIGHTS) -> None:
        self._loaded = LoadedOnce(lambda: _shared(path, _written(path)))

    @property
    def space(self) -> Space:
        """The space of this file's vectors."""
        return self._loaded().space

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """Documents: one row of unit length each; zeros for a text without a known word."""
        table = self._loaded()
        return table.space, table.vectors(texts)

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question: one vector of unit length, or zeros."""
        table = self._loaded()
        return table.space, table.question(text)

    def health(self) -> Health:
        """Well, unless the weights cannot be read."""
        return health_here(self)


@dataclass(frozen=True, slots=True)
class Table:
    """The weights in memory."""

    space: Space
    pieces: WordPieces
    rows: NDArray[np.int8]
    scales: Floats
    question_scales: Floats

    def vectors(self, texts: Sequence[str]) -> Floats:
        """The weighted sum of each text's pieces, brought to unit length."""
        import numpy as np

        sums = np.zeros((len(texts), self.space.dims), dtype=np.float32)
        for places, lengths, flat in self._batches(texts):
            gathered = self.rows[flat] * self.scales[flat, None]
            starts = np.cumsum([0, *lengths[:-1]])
            sums[places] = np.add.reduceat(gathered, starts, axis=0)
        return unit_rows(sums)

    def question(self, text: str) -> Floats:
        """The same of one text that asks."""
        import numpy as np

        places = self.pieces.rows(text)
        if not places:
            return np.zeros(self.space.dims, dtype=np.float32)
        summed: Floats = self.question_scales[places] @ self.rows[places].astype(np.float32)
        length = float(np.sqrt(summed @ summed))
        return summed / np.float32(length or 1.0)

    def _batches(self, texts: Sequence[str]) -> Iterator[tuple[list[int], list[int], list[int]]]:
        """Texts with at least one piece, a bounded number of pieces at a time."""
        places: list[int] = []
        lengths: list[int] = []
        flat: list[int] = []
        for place, text in enumerate(texts):
            rows = self.pieces.rows(text)
            if not rows:
                continue
            places.append(place)
            lengths.append(len(rows))
            flat += rows
            if len(flat) >= PIECES_AT_ONCE:
                yield places, lengths, flat
                places, lengths, flat = [], [], []
        if flat:
            yield places, lengths, flat


@lru_cache(maxsize=1)
def _shared(path: Path, written: int) -> Table:
    """One table for all memories that this process opens, until the file is written anew."""
    del written
    return read_table(path)


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def read_table(path: Path) -> Table:
    """The table in a weights file, or a clear error."""
    import numpy as np

    from engram.rules.vectors import mapped_arrays

    try:
        file = mapped_arrays(path)
        header = json.loads(file["about"].tobytes())
        space = Space(header["model"], int(file["rows"].shape[1]), header["version"])
        pieces = WordPieces(file["pieces"].tobytes().decode("utf8").split("\n"))
        scales, questions = (file[name].astype(np.float32) for name in ("scales", "question_scales"))
        return Table(space, pieces, file["rows"], scales, questions)
    except (OSError, KeyError, ValueError) as error:
        raise EmbedderDown(f"The static model's weights at {path.name} cannot be read ({error}).") from error


def unit_rows(rows: Floats) -> Floats:
    """The same rows, each brought to unit length in place; rows of zeros stay."""
    import numpy as np

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    np.divide(rows, lengths, out=rows, where=lengths > 0)
    return rows
