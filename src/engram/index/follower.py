"""Following a space: the store's changes come in, an up-to-date copy of its lines comes out.

A small space is copied with its rows as floats, so that each can be compared exactly and at once. When it
outgrows that, its vectors get signatures, once, in a thread of its own; then the copy holds those only. Until
they are there, searches stay exact: over the rows in memory, or block by block out of the store.
"""

from __future__ import annotations

from collections.abc import Hashable
from itertools import pairwise
from threading import Lock, Thread
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from engram.errors import EngramError
from engram.index.ranking import Array, Block, Columns, Places, VectorLines, lengths
from engram.lazily import logging, replace
from engram.ports import IndexStats, Store, VectorChanges
from engram.rules.vectors import Signatures, columns, hamming_each, product, restore, sign, unit

if TYPE_CHECKING:
    from engram.model.memory import Space
    from engram.ports import Floats


# ---------------------------------------------------------------- cells
# Cells: a large space in parts; of many questions asked at once, each looks only into the parts near to it.
#
# Centres are found among the signatures themselves. A line whose vector changed stays in its old cell until
# the index starts over: it may be missed by such a search, never wrongly found, since whoever is found is
# compared exactly.


Signs = NDArray[np.float32]
SortedCells = tuple[list[int], Places, Array]
"""Where each cell ends, its places one after the other, and their signatures column by column."""
SAMPLED = 16_384
"""Signatures among which the centres are found."""
ROUNDS = 4
PROBED = 8
"""Cells that a question looks into."""
BLOCK = 2_048
"""Signatures that are unpacked at once, each into 32 times its bytes."""
COMPARED = 1 << 17
"""Pairs of signatures that are compared at once."""
PLACE_BITS = 40
NOWHERE = np.iinfo(np.int64).max
"""Stands for a place where there are fewer."""


class Cells:
    """The cells of one space, made when they are first asked for. Any thread may use them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._centres: Signs | None = None
        self._keys: NDArray[np.int64] = np.zeros(0, dtype=np.int64)
        self._cells: NDArray[np.int32] = np.zeros(0, dtype=np.int32)
        self._sorted: tuple[Hashable, SortedCells] | None = None

    def near(
        self, lines: VectorLines, places: Places, questions: Signatures, count: int, which: Hashable = None
    ) -> Places:
        """For each question, given by its signature: the `count` places nearest to it in the cells around it.

        Those whose signatures differ in the fewest bits, equal ones as the cells have them; -1 where there
        are fewer. `which` stands for these very lines and places: asked of the same again, they are not
        sorted anew.
        """
        if lines.signatures is None:
            raise AssertionError("asked only of a space that is signed")
        with self._lock:
            centres = self._centres if self._centres is not None else self._divide(lines.signatures)
            if which is None or self._sorted is None or self._sorted[0] != which:
                cells = self._of(lines, centres, places)
                self._sorted = which, self._sort(lines.signatures, places, cells)
            ends, members, signatures = self._sorted[1]
        likeness = product(_signs(questions, centres.shape[1]), centres.T)
        probed = np.argpartition(-likeness, PROBED, axis=1)[:, :PROBED].ravel()
        order = np.argsort(probed, kind="stable")
        starts = np.searchsorted(probed[order], np.arange(len(centres) + 1)).tolist()
        asked, best = columns(questions), np.full((len(questions), PROBED, count), NOWHERE, dtype=np.int64)
        for cell, (start, end) in enumerate(pairwise(starts)):
            first, size = ends[cell], ends[cell + 1] - ends[cell]
            step = max(1, COMPARED // max(1, size))
            for offset in range(start, end if size else start, step):
                who, turn = np.divmod(order[offset : min(offset + step, end)], PROBED)
                distances = hamming_each(signatures[:, first : first + size], asked[:, who]).astype(np.int64)
                distances <<= PLACE_BITS
                distances += np.arange(first, first + size)
                if size > count:
                    distances = np.partition(distances, count - 1, axis=1)[:, :count]
                best[who, turn, : distances.shape[1]] = distances
        nearest = np.partition(best.reshape(len(questions), -1), count - 1, axis=1)[:, :count]
        here = members[nearest % (1 << PLACE_BITS) % max(1, len(members))]
        return np.where(nearest == NOWHERE, -1, here)

    def _sort(self, signatures: Signatures, places: Places, cells: NDArray[np.int32]) -> SortedCells:
        """Cell by cell: all questions around one are then compared with a stretch of lines at once."""
        order = np.argsort(cells, kind="stable")
        count = 0 if self._centres is None else len(self._centres)
        ends = np.searchsorted(cells[order], np.arange(count + 1)).tolist()
        return ends, places[order], columns(signatures[places[order]])

    def _divide(self, signatures: Signatures) -> Signs:
        """As many centres as a cell has members, moved to the middle of their members a few times."""
        dims = signatures.shape[1] * 8
        sample = _signs(signatures[:: max(1, len(signatures) // SAMPLED)], dims)
        count = max(PROBED + 1, int(len(signatures) ** 0.5))
        centres = sample[:: max(1, len(sample) // count)].copy()
        for _ in range(ROUNDS):
            nearest = _nearest(sample, centres)
            for cell in np.unique(nearest):
                centres[cell] = sample[nearest == cell].mean(axis=0)
            centres /= np.linalg.norm(centres, axis=1, keepdims=True)
        self._centres = centres
        return centres

    def _of(self, lines: VectorLines, centres: Signs, places: Places) -> NDArray[np.int32]:
        """The cells of these lines; those that nobody asked for before are put into theirs."""
        if lines.signatures is None:
            raise AssertionError("asked only of a space that is signed")
        cells = np.full(len(lines.keys), -1, dtype=np.int32)
        if len(self._keys):
            here = np.minimum(np.searchsorted(self._keys, lines.keys), len(self._keys) - 1)
            cells = np.where(self._keys[here] == lines.keys, self._cells[here], np.int32(-1))
        new = places[cells[places] < 0]
        for start in range(0, len(new), BLOCK):
            block = new[start : start + BLOCK]
            cells[block] = _nearest(_signs(lines.signatures[block], centres.shape[1]), centres)
        if len(new):
            self._keys, self._cells = lines.keys.copy(), cells
        return cells[places]


def _signs(signatures: Signatures, dims: int) -> Signs:
    """Signatures as numbers: one for a bit that is set, minus one for the others."""
    signs = np.unpackbits(signatures, axis=1, count=dims).astype(np.float32)
    signs *= 2
    signs -= 1
    return signs


def _nearest(signs: Signs, centres: Signs) -> NDArray[np.intp]:
    """The centre that each is nearest to; some at a time, for all products of many take much room."""
    parts = [signs[start : start + BLOCK] for start in range(0, len(signs), BLOCK)]
    return np.concatenate([product(part, centres.T).argmax(axis=1) for part in parts])


BATCH = 10_000
"""Changes that are asked for in one go."""
ROOM = 2
"""Rows stay in memory up to so many times the exact limit while the signatures are being made."""
SAMPLE = 2_000
"""Vectors whose mean becomes the centre of a space."""
HELD_BYTES = 32 * 1024 * 1024
"""Rows that were read for many questions are held for those that come after, if all would take no more."""


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
        self._held: NDArray[np.int8] = np.zeros((0, space.dims), dtype=np.int8)
        """Rows by key, for many questions that come one after the other; and which of them are there."""
        self._is_held: NDArray[np.bool_] = np.zeros(0, dtype=np.bool_)

    def lines(self) -> VectorLines:
        """The copy, as of now."""
        return self.snapshot()[0]

    def snapshot(self, *, sketched: bool = False) -> tuple[VectorLines, int]:
        """The copy, as of now, and the last change in it; with sketches of its rows, if wanted."""
        with self._lock:
            columns = self._catch_up()
            if sketched:
                self._sketch_rows(columns)
            return columns.lines, self._upto

    def rows(self, keys: NDArray[np.int64], upto: int, *, hold: bool) -> Block:
        """The stored rows of keys that are in order, as of a change or later; those without one are left out.

        They may be held until `let_go`, so that many questions that come one after the other read them once.
        """
        rows = np.empty((len(keys), self._space.dims), dtype=np.int8)
        with self._lock:
            if hold:
                self._make_room(int(keys.max(initial=0)))
            present = keys < len(self._held)
            present[present] = self._is_held[keys[present]]
            rows[present] = self._held[keys[present]]
        read = self._store.vectors.rows(self._space, keys[~present].tolist())
        places = np.searchsorted(keys, read.keys)
        rows[places], present[places] = read.rows, True
        with self._lock:
            if self._upto == upto:  # else they may have changed since they were read
                room = read.keys < len(self._held)
                self._held[read.keys[room]], self._is_held[read.keys[room]] = read.rows[room], True
        return Block(keys[present], rows[present], lengths(rows[present]))

    def _make_room(self, highest: int) -> None:
        """Room for the rows of keys up to this one, if they are not too many; none of them is there then."""
        if highest >= len(self._held) and (highest + 1) * self._space.dims <= HELD_BYTES:
            self._held = np.zeros((highest + 1, self._space.dims), dtype=np.int8)
            self._is_held = np.zeros(highest + 1, dtype=np.bool_)

    def let_go(self) -> None:
        """Hold no rows for further questions."""
        with self._lock:
            self._held, self._is_held = self._held[:0].copy(), self._is_held[:0].copy()

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
            news = self._store.vectors.changes(self._space, self._upto, BATCH, rows=columns.holds_rows)
            if len(news.keys) or len(news.gone):
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
            VectorLines(
                keys=np.zeros(0, dtype=np.int64),
                scopes=none,
                namespaces=none,
                statuses=np.zeros(0, dtype=np.int8),
                signatures=np.zeros((0, width), dtype=np.uint8) if signed else None,
                rows=np.zeros((0, self._space.dims), dtype=np.float32) if holds_rows else None,
                lengths=np.zeros(0, dtype=np.float32) if holds_rows else None,
            )
        )
        return self._columns

    def _apply(self, columns: Columns, news: VectorChanges) -> None:
        for keys in (news.keys, news.gone):
            self._is_held[keys[keys < len(self._is_held)]] = False
        if len(news.gone):
            columns.remove(news.gone)
        if not len(news.keys):
            return
        lines = columns.lines
        order = np.argsort(news.keys)
        new = VectorLines(
            keys=news.keys[order],
            scopes=news.scopes[order],
            namespaces=news.namespaces[order],
            statuses=news.statuses[order],
            signatures=None
            if lines.signatures is None or news.signatures is None
            else news.signatures[order],
        )
        if lines.rows is not None and news.rows is not None:
            rows = news.rows[order].astype(np.float32)
            sketches = None if lines.sketches is None else self.sketch(unit(rows))
            new = replace(new, rows=rows, lengths=lengths(rows), sketches=sketches)
        columns.put(new)
        if lines.rows is not None and columns.live > self._exact_limit * ROOM:
            columns.forget_rows()

    def _sketch_rows(self, columns: Columns) -> None:
        lines = columns.lines
        if lines.rows is None or lines.sketches is not None or not len(lines.rows):
            return
        parts = [lines.rows[start : start + BLOCK] for start in range(0, len(lines.rows), BLOCK)]
        self._lean = sum(unit(part).sum(axis=0) for part in parts) / np.float32(len(lines.rows))
        columns.add("sketches", np.concatenate([self.sketch(unit(part)) for part in parts]))

    def sketch(self, vectors: Floats) -> NDArray[np.uint8]:
        """Signatures for use in memory only, centred on the first vectors that came."""
        return sign(vectors, self._lean)

    def _sign_once(self, lines: VectorLines) -> None:
        """Have the space signed, unless that is under way or was tried in vain."""
        if self._signing is None:
            args = (self._centre(lines),)
            self._signing = Thread(target=self._sign, args=args, name="engram-signing", daemon=True)
            self._signing.start()

    def _centre(self, lines: VectorLines) -> Floats:
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
