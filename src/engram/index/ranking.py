"""Ranking: allowed lines and a question come in, the nearest keys with their cosines come out.

Cosines are computed on 8-bit rows directly: a row's scale changes its length, not its direction. Rows without
a direction are nearest to nothing and never come out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from math import sqrt
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from engram.lazily import dataclass
from engram.model.memory import Space, Status
from engram.ports import Noise, Reach, Store
from engram.rules.vectors import dots, hamming, product, unit

if TYPE_CHECKING:
    from engram.ports import Floats as PortsFloats
    from engram.ports import Keys as PortsKeys


# ---------------------------------------------------------------- noise
# Noise: how near a question lies to memories in general, so that one can tell which lie nearer than chance.
#
# Every embedding model has its own idea of a large cosine. A spread sample of the space's own vectors
# tells, for each question, the mean and the deviation of its cosines with whatever is there.

SAMPLE = 512
GROWTH = 1.5
"""The sample is taken anew when the space has grown or shrunk by this factor."""


def spread(keys: PortsKeys) -> PortsKeys:
    """A sample of these keys, spread evenly."""
    return keys[:: max(1, len(keys) // SAMPLE)]


def noise(cosines: PortsFloats) -> Noise:
    """The mean and deviation of cosines; what has no direction is as far as can be, what is gone is none."""
    values = cosines.astype(np.float64)
    if not np.isfinite(values).all():
        values = np.nan_to_num(values[~np.isnan(values)], neginf=0.0)
    if not len(values):
        return Noise(0.0, 0.0, 0)
    mean = float(values.sum()) / len(values)
    return Noise(mean, sqrt(max(0.0, float(values @ values) / len(values) - mean**2)), len(values))


class Sampler:
    """The sample of one space. Every thread may ask; it is replaced as a whole."""

    def __init__(self, store: Store, space: Space) -> None:
        self._store, self._space = store, space
        self._lock = Lock()
        self._mean: PortsFloats = np.zeros(space.dims, dtype=np.float32)
        self._square: PortsFloats = np.zeros((0, 0), dtype=np.float32)
        """The mean of the sample's products with themselves: what the squares of all cosines come from."""
        self._count = self._size = 0

    def noise(self, question: PortsFloats, keys: PortsKeys) -> Noise:
        """The mean and deviation of the question's cosines with a sample of these keys."""
        with self._lock:
            if not self._size / GROWTH < len(keys) < self._size * GROWTH:
                self._take(keys)
            mean, square, count = self._mean, self._square, self._count
        if not count:
            return Noise(0.0, 0.0, 0)
        middle = float(mean @ question)
        spread_out = float(question @ square @ question) - middle**2
        return Noise(middle, sqrt(max(0.0, spread_out)), count)

    def _take(self, keys: PortsKeys) -> None:
        stored = self._store.vectors.rows(self._space, spread(keys).tolist())
        rows = unit(stored.rows.astype(np.float32))
        self._count, self._size = len(rows), len(keys)
        many = np.float32(len(rows) or 1)
        self._mean, self._square = rows.sum(axis=0) / many, rows.T @ rows / many


Floats = NDArray[np.float32]
Keys = NDArray[np.int64]
Rows = NDArray[np.int8] | NDArray[np.float32]
"""As they come from the store, or as floats in the same steps."""
Signatures = NDArray[np.uint8]
Found = list[tuple[int, float]]

STATUSES = tuple(Status)
TOGETHER = 64
"""Questions whose candidates are compared at once."""
MOST_SHARE = 0.4
"""When so many of all lines may be seen, all are compared."""
SAMPLED, MARGIN = 1_024, 4
"""So many distances are looked at first; so many times more than wanted are expected within."""


@dataclass(frozen=True, slots=True)
class Block:
    """Some keys with their rows, and how long each row is. Those that keys are picked from are in order."""

    keys: Keys
    rows: Rows
    lengths: Floats

    def places(self, keys: Keys) -> Places:
        """Where each of these keys stands; -1 where it does not."""
        return places_of(self.keys, keys)

    def pick(self, places: Places) -> Block:
        """Only these lines."""
        return Block(self.keys[places], self.rows[places], self.lengths[places])


NOTHING = Block(np.zeros(0, np.int64), np.zeros((0, 0), np.int8), np.zeros(0, np.float32))


def merge_blocks(first: Block, second: Block) -> Block:
    """The lines of two blocks in the order of their keys; the first may be empty."""
    if not len(first.keys):
        return second.pick(np.argsort(second.keys))
    keys = np.concatenate([first.keys, second.keys])
    rows, sizes = np.concatenate([first.rows, second.rows]), np.concatenate([first.lengths, second.lengths])
    return Block(keys, rows, sizes).pick(np.argsort(keys))


Blocks = Iterable[Block]


def allowed(lines: VectorLines, reach: Reach, statuses: frozenset[Status]) -> Places:
    """Where the lines stand that a caller may reach, in one of these statuses (in any, if none is named)."""
    wanted = np.array([not statuses or status in statuses for status in STATUSES] + [False])
    # GONE is -1, the last place, which is never wanted. To take is three times as fast as to index.
    inside = wanted.take(lines.statuses)
    if not reach.everything:
        inside &= _within(lines, reach)
    places: Places = inside.nonzero()[0]
    return places


def reached(lines: VectorLines, reach: Reach) -> Keys:
    """The keys that a caller may reach, in any status."""
    return lines.keys if reach.everything else lines.keys[_within(lines, reach)]


def present(lines: VectorLines, keys: Keys) -> Places:
    """Where the lines of these keys stand, for those that have a vector."""
    places = lines.places(keys)
    places = places[places >= 0]
    here: Places = places[lines.statuses[places] != GONE]
    return here


def nearest(blocks: Blocks, question: Floats, k: int) -> Found:
    """The k nearest of all rows in the blocks; equal ones by key."""
    parts = [(block.keys, cosines(block, question)) for block in blocks]
    if not parts:
        return []
    keys, values = zip(*parts, strict=True)
    return best(np.concatenate(keys), np.concatenate(values), k)


def nearest_of_each(blocks: Blocks, questions: Floats, k: int) -> list[Found]:
    """The same for many questions at once: one product of matrices for each block."""
    parts = [_best_of_block(block, questions, k) for block in blocks]
    if not parts:
        return [[] for _ in questions]
    keys = np.concatenate([part[0] for part in parts], axis=1)
    values = np.concatenate([part[1] for part in parts], axis=1)
    return [best(keys[i], values[i], k) for i in range(len(questions))]


def nearest_among(block: Block, keys: Keys, questions: Floats, k: int) -> list[Found]:
    """For each question the k nearest of its own keys, as far as the block has them; equal ones by key."""
    if not len(block.keys):  # a place of the file in which nothing is kept yet
        return [[] for _ in questions]
    nearest_keys: list[Found] = []
    for start in range(0, len(questions), TOGETHER):
        chunk = np.sort(keys[start : start + TOGETHER], axis=1)
        places = block.places(chunk.ravel()).reshape(chunk.shape)
        rows, lengths = block.rows[places].astype(np.float32), block.lengths[places]
        cosines = np.full(chunk.shape, -np.inf, dtype=np.float32)
        there = (places >= 0) & (lengths > 0)
        np.divide(
            np.vecdot(rows, questions[start : start + TOGETHER, np.newaxis]),
            lengths,
            out=cosines,
            where=there,
        )
        best = np.argsort(-cosines, axis=1, kind="stable")[:, :k]
        counts = np.minimum(there.sum(axis=1), k).tolist()
        best_keys, best_cosines = (np.take_along_axis(of, best, axis=1).tolist() for of in (chunk, cosines))
        nearest_keys += [
            list(zip(keys_of[:count], cosines_of[:count], strict=True))
            for keys_of, cosines_of, count in zip(best_keys, best_cosines, counts, strict=True)
        ]
    return nearest_keys


def candidates(signatures: Signatures, places: Places, signature: Signatures, count: int) -> Places:
    """Those of the places whose signatures differ in the fewest bits, `count` of them; equal ones by key."""
    if len(places) <= count:
        return places
    if len(places) < MOST_SHARE * len(signatures):
        return _fewest(places, hamming(signatures[places], signature), count)
    # To copy most of the signatures would take longer than to compare all of them.
    distances = hamming(signatures, signature)
    return _fewest(places, distances if len(places) == len(distances) else distances[places], count)


def _fewest(places: Places, distances: NDArray[Any], count: int) -> Places:
    if len(distances) > SAMPLED:
        # A sample tells a distance that more than enough keep within: only those are looked at more closely.
        seen = np.sort(distances[:: len(distances) // SAMPLED])
        enough = MARGIN * (count * len(seen) // len(distances) + 1)
        within = (distances <= seen[min(len(seen) - 1, enough)]).nonzero()[0]
        if len(within) >= count:
            places, distances = places[within], distances[within]
    # Distances are small whole numbers: counting them finds the border faster than sorting.
    border = int(np.searchsorted(np.cumsum(np.bincount(distances)), count))
    nearer = (distances < border).nonzero()[0]
    at_border = (distances == border).nonzero()[0][: count - len(nearer)]
    chosen: Places = places[np.concatenate([nearer, at_border])]
    return chosen


def lengths(rows: Rows) -> Floats:
    """How long each row is, in steps of its own scale."""
    floats = rows.astype(np.float32, copy=False)
    return np.sqrt(dots(floats, floats))


def cosines(block: Block, question: Floats) -> Floats:
    """The cosine of each row with a question of length 1; minus infinity for a row of zeros."""
    cosines_of = np.full(len(block.keys), -np.inf, dtype=np.float32)
    if not len(cosines_of):
        return cosines_of
    return np.divide(
        dots(block.rows.astype(np.float32, copy=False), question),
        block.lengths,
        out=cosines_of,
        where=block.lengths > 0,
    )


def _within(lines: VectorLines, reach: Reach) -> NDArray[np.bool_]:
    seen = np.zeros(max(reach.scopes | {int(lines.scopes.max(initial=0))}) + 1, dtype=np.bool_)
    seen[list(reach.scopes)] = True
    inside = seen.take(lines.scopes)
    if reach.namespace is not None:
        inside |= lines.namespaces == reach.namespace
    return inside


def best(keys: Keys, cosines: Floats, k: int) -> Found:
    """The k keys with the greatest cosines; equal ones by key, those without a direction never."""
    if len(cosines) > SAMPLED:
        # As in `_fewest`: only what keeps within a border that more than enough keep within.
        sample = np.sort(cosines[:: len(cosines) // SAMPLED])
        enough = MARGIN * (k * len(sample) // len(cosines) + 1)
        within = (cosines >= sample[-min(len(sample), enough)]).nonzero()[0]
        if len(within) >= k:
            keys, cosines = keys[within], cosines[within]
    if len(cosines) > k:
        least = np.partition(cosines, len(cosines) - k)[len(cosines) - k]
        near = (cosines >= least).nonzero()[0]
        keys, cosines = keys[near], cosines[near]
    order = np.lexsort((keys, -cosines))[:k]
    order = order[np.isfinite(cosines[order])]
    return list(zip(keys[order].tolist(), cosines[order].tolist(), strict=True))


def _best_of_block(block: Block, questions: Floats, k: int) -> tuple[Keys, Floats]:
    cosines = np.ascontiguousarray(product(block.rows.astype(np.float32, copy=False), questions.T).T)
    cosines /= np.where(block.lengths > 0, block.lengths, 1)
    cosines[:, block.lengths == 0] = -np.inf
    best, everyone = [], np.arange(len(questions))
    # Taking the greatest a few times is faster than sorting, and equal ones come by key.
    for _ in range(min(k, len(block.keys))):
        places = cosines.argmax(axis=1)
        best.append((block.keys[places], cosines[everyone, places]))
        cosines[everyone, places] = -np.inf
    return np.stack([keys for keys, _ in best], axis=1), np.stack([values for _, values in best], axis=1)


Array = NDArray[Any]
Places = NDArray[np.intp]

GONE = -1
"""In the place of a status: the vector was taken away, and its line is free for the same key only."""
SPARE = 0.5
"""How much room is made behind a full array, as a share of its length."""
TIDY_ABOVE = 1_000
"""Lines that are gone are cleared out when they are more than this and a quarter of all."""


@dataclass(frozen=True, slots=True)
class VectorLines:
    """One line for each vector: its key, where its memory belongs, and what it is compared by."""

    keys: NDArray[np.int64]
    scopes: NDArray[np.int32]
    namespaces: NDArray[np.int32]
    statuses: NDArray[np.int8]
    signatures: NDArray[np.uint8] | None = None
    rows: NDArray[np.float32] | None = None
    lengths: NDArray[np.float32] | None = None
    sketches: NDArray[np.uint8] | None = None
    """Signatures of rows held in memory, made here: for a quick first look at many."""

    def arrays(self) -> Iterator[tuple[str, Array]]:
        """Those that are there, by name."""
        for field in fields(self):
            array = getattr(self, field.name)
            if array is not None:
                yield field.name, array

    def places(self, keys: NDArray[np.int64]) -> Places:
        """Where these keys stand; -1 for those that have no line."""
        return places_of(self.keys, keys)


def places_of(ordered: NDArray[np.int64], keys: NDArray[np.int64]) -> Places:
    """Where keys stand among others that are in order; -1 for those that do not."""
    if not len(ordered):
        return np.full(len(keys), -1, dtype=np.intp)
    places = np.minimum(ordered.searchsorted(keys), len(ordered) - 1)
    return np.where(ordered[places] == keys, places, -1)


class Columns:
    """The arrays of one space, growing."""

    def __init__(self, first: VectorLines) -> None:
        self._growing = {name: Growing(array) for name, array in first.arrays()}
        self._gone = 0
        self._lines: VectorLines | None = None

    @property
    def lines(self) -> VectorLines:
        """As they are now."""
        if self._lines is None:
            self._lines = VectorLines(**{name: column.view for name, column in self._growing.items()})
        return self._lines

    @property
    def holds_rows(self) -> bool:
        """Whether the vectors themselves are here."""
        return "rows" in self._growing

    @property
    def live(self) -> int:
        """How many vectors there are."""
        return len(self._growing["keys"].view) - self._gone

    @property
    def bytes(self) -> int:
        """The memory they take, spare room included."""
        return sum(column.bytes for column in self._growing.values())

    def put(self, new: VectorLines) -> None:
        """Add lines, or replace those with the same keys."""
        arrays = dict(new.arrays())
        if not len(self.lines.keys):
            self._growing = {name: Growing(arrays[name]) for name in self._growing}
            self._lines = None
            return
        places = self.lines.places(new.keys)
        self._lines = None
        old, fresh = places >= 0, places < 0
        self._gone -= int((self._growing["statuses"].view[places[old]] == GONE).sum())
        in_order = self._is_behind(new.keys[fresh])
        for name, column in self._growing.items():
            column.view[places[old]] = arrays[name][old]
            column.extend(arrays[name][fresh])
        if not in_order:
            self._take(np.argsort(self._growing["keys"].view, kind="stable"))

    def add(self, name: str, array: Array) -> None:
        """Say something more of each line."""
        self._growing[name] = Growing(array)
        self._lines = None

    def remove(self, keys: NDArray[np.int64]) -> None:
        """Take vectors away."""
        places = self.lines.places(keys)
        statuses = self._growing["statuses"].view
        here = places[places >= 0]
        here = here[statuses[here] != GONE]
        statuses[here] = GONE
        self._gone += len(here)
        if self._gone > max(TIDY_ABOVE, len(statuses) // 4):
            self._take(np.flatnonzero(statuses != GONE))
            self._gone = 0

    def forget_rows(self) -> None:
        """Let go of the vectors themselves."""
        self._lines = None
        self._growing.pop("rows", None)
        self._growing.pop("lengths", None)
        self._growing.pop("sketches", None)

    def _is_behind(self, keys: NDArray[np.int64]) -> bool:
        """Whether these keys are in order and all come after the last one."""
        last = self._growing["keys"].view[-1:]
        whole = np.concatenate([last, keys])
        return bool(np.all(whole[:-1] < whole[1:]))

    def _take(self, places: Places) -> None:
        self._lines = None
        self._growing = {name: Growing(column.view[places]) for name, column in self._growing.items()}


class Growing:
    """An array with room behind it. Views that were handed out stay as they are when it grows."""

    def __init__(self, array: Array) -> None:
        self._room = array
        self._size = len(array)

    @property
    def view(self) -> Array:
        """The part in use."""
        return self._room[: self._size]

    @property
    def bytes(self) -> int:
        """The memory it takes."""
        return self._room.nbytes

    def extend(self, values: Array) -> None:
        """Write behind the end, into a larger room if need be."""
        end = self._size + len(values)
        if end > len(self._room):
            room = np.empty((end + int(end * SPARE), *self._room.shape[1:]), dtype=self._room.dtype)
            room[: self._size] = self.view
            self._room = room
        self._room[self._size : end] = values
        self._size = end
