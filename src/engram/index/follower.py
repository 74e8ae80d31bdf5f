"""Following a space: the store's changes come in, an up-to-date copy of its lines comes out.

A small space is copied with its rows as floats, so that each can be compared exactly and at once. When it
outgrows that, its vectors get signatures, once, in a thread of its own; then the copy holds those only. Until
they are there, searches stay exact: over the rows in memory, or block by block out of the store.
"""

from __future__ import annotations

import logging
from threading import Lock, Thread
from typing import TYPE_CHECKING

import numpy as np

from engram.errors import EngramError
from engram.index.columns import Columns, Lines
from engram.index.ranking import lengths
from engram.model.vectors import Space
from engram.ports import IndexStats, Store, VectorChanges
from engram.vectors.quantize import restore
from engram.vectors.signatures import sign
from engram.vectors.similarity import unit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from engram.ports import Floats

BATCH = 10_000
"""Changes that are asked for in one go."""
ROOM = 2
"""Rows stay in memory up to so many times the exact limit while the signatures are being made."""
SAMPLE = 2_000
"""Vectors whose mean becomes the centre of a space."""


class Follower:
    """A copy of one space. Every thread may ask for it; one at a time brings it up to date."""

    def __init__(self, store: Store, space: Space, exact_limit: int) -> None:
        self._store = store
        self._space = space
        self._exact_limit = exact_limit
        self._lock = Lock()
        self._columns: Columns | None = None
        self._upto = 0
        self._signing: Thread | None = None
        self._lean: Floats = np.zeros(space.dims, dtype=np.float32)

    def lines(self) -> Lines:
        """The copy, as of now."""
        with self._lock:
            return self._catch_up().lines

    def stats(self) -> IndexStats:
        """What the copy holds, as of now."""
        with self._lock:
            columns = self._catch_up()
            mode = "exact" if columns.lines.signatures is None else "signatures"
            return IndexStats(columns.live, mode, columns.bytes)

    def settle(self) -> None:
        """Wait until signatures that are being made are there."""
        if self._signing is not None:
            self._signing.join()

    def _catch_up(self) -> Columns:
        columns = self._columns or self._start_over()
        if self._is_outgrown(columns) and self._is_signed():
            columns = self._start_over()
        more = True
        while more:
            news = self._store.vectors.changes(self._space, self._upto, BATCH)
            self._apply(columns, news)
            self._upto, more = news.upto, news.more
        if self._is_outgrown(columns) and not self._is_signed():
            self._sign_once(columns.lines)
        return columns

    def _is_outgrown(self, columns: Columns) -> bool:
        """Whether the copy lacks signatures although it is too large to do without."""
        return columns.live > self._exact_limit and columns.lines.signatures is None

    def _is_signed(self) -> bool:
        return self._store.vectors.centre(self._space) is not None

    def _start_over(self) -> Columns:
        """An empty copy, of the kind that fits the size the space has now."""
        count = self._store.vectors.spaces().get(self._space.key, 0)
        signed = count > self._exact_limit and self._is_signed()
        holds_rows = not signed and count <= self._exact_limit * ROOM
        none = np.zeros(0, dtype=np.int32)
        width = -(-self._space.dims // 8)
        self._upto = 0
        self._columns = Columns(
            Lines(
                keys=np.zeros(0, dtype=np.int64),
                scopes=none,
                namespaces=none,
                statuses=np.zeros(0, dtype=np.int8),
                signatures=np.zeros((0, width), dtype=np.uint8) if signed else None,
                rows=np.zeros((0, self._space.dims), dtype=np.float32) if holds_rows else None,
                lengths=np.zeros(0, dtype=np.float32) if holds_rows else None,
                sketches=np.zeros((0, width), dtype=np.uint8) if holds_rows else None,
            )
        )
        return self._columns

    def _apply(self, columns: Columns, news: VectorChanges) -> None:
        columns.remove(news.gone)
        if not len(news.keys):
            return
        lines = columns.lines
        order = np.argsort(news.keys)
        new = Lines(
            keys=news.keys[order],
            scopes=news.scopes[order],
            namespaces=news.namespaces[order],
            statuses=news.statuses[order],
            signatures=None
            if lines.signatures is None or news.signatures is None
            else news.signatures[order],
        )
        columns.put(new if lines.rows is None else self._with_rows(new))
        if lines.rows is not None and columns.live > self._exact_limit * ROOM:
            columns.forget_rows()

    def _with_rows(self, new: Lines) -> Lines:
        """The same lines with their vectors. One that went meanwhile is left out: the next changes say so."""
        found = self._store.vectors.rows(self._space, new.keys.tolist())
        order = np.argsort(found.keys)
        places = new.places(found.keys[order])
        picked = {name: array[places] for name, array in new.arrays()}
        rows = found.rows[order].astype(np.float32)
        if not self._columns or not len(self._columns.lines.keys):
            self._lean = unit(rows).mean(axis=0)
        sketches = self.sketch(unit(rows))
        return Lines(**(picked | {"rows": rows, "lengths": lengths(rows), "sketches": sketches}))

    def sketch(self, vectors: Floats) -> NDArray[np.uint8]:
        """Signatures for use in memory only, centred on the first vectors that came."""
        return sign(vectors, self._lean)

    def _sign_once(self, lines: Lines) -> None:
        """Have the space signed, unless that is under way or was tried in vain."""
        if self._signing is None:
            args = (self._centre(lines),)
            self._signing = Thread(target=self._sign, args=args, name="engram-signing", daemon=True)
            self._signing.start()

    def _centre(self, lines: Lines) -> Floats:
        """The mean of a sample, spread evenly over the space."""
        step = max(len(lines.keys) // SAMPLE, 1)
        sample = self._store.vectors.rows(self._space, lines.keys[::step].tolist())
        centre: Floats = restore(sample.rows, sample.scales).mean(axis=0, dtype=np.float32)
        return centre

    def _sign(self, centre: Floats) -> None:
        try:
            self._store.vectors.sign(self._space, centre)
        except EngramError as error:
            # The store was closed meanwhile, or cannot be written: searches stay exact.
            logging.getLogger(__name__).warning("%s got no signatures: %s", self._space.key, error)
