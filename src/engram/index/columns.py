"""What an index knows of each vector of a space, as parallel arrays ordered by key.

One thread at a time changes them; any thread reads the `VectorLines` it was handed. Appending writes
behind what
readers look at, reordering makes new arrays, and a changed line is changed in its place: a reader that is
passing just then sees it as it was or as it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
    """Signatures of rows held in memory, made here: for a quick first look."""

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
    found = np.minimum(ordered.searchsorted(keys), len(ordered) - 1)
    return np.where(ordered[found] == keys, found, -1)


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
        places = self.lines.places(new.keys)
        self._lines = None
        known, unknown = places >= 0, places < 0
        self._gone -= int((self._growing["statuses"].view[places[known]] == GONE).sum())
        in_order = self._is_behind(new.keys[unknown])
        given = dict(new.arrays())
        for name, column in self._growing.items():
            column.view[places[known]] = given[name][known]
            column.extend(given[name][unknown])
        if not in_order:
            self._take(np.argsort(self._growing["keys"].view, kind="stable"))

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
