"""The vectors, read: 8-bit rows, and what changed since a point."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engram.model.axes import Status
from engram.model.vectors import Space
from engram.ports import VectorChanges, VectorRows
from engram.testing.memory_store.tables import Tables
from engram.vectors.quantize import restore
from engram.vectors.signatures import sign

Floats = NDArray[np.float32]
Commit = Callable[[Callable[[Tables], None]], None]

STATUS_NUMBERS = {status: number for number, status in enumerate(Status)}


class MemoryVectors:
    """`Vectors` over tables."""

    def __init__(self, tables: Callable[[], Tables], commit: Commit) -> None:
        self._tables = tables
        self._commit = commit

    def changes(self, space: Space, after: int, limit: int) -> VectorChanges:
        """Rows set and keys gone after a point, in the order it happened."""
        tables = self._tables()
        here = [(kept.seq, key) for (name, key), kept in tables.vectors.items() if name == space.key]
        gone = [(seq, key) for (name, key), seq in tables.gone.items() if name == space.key]
        news = sorted(pair for pair in here + gone if pair[0] > after)
        shown = news[:limit]
        present = [key for _, key in shown if (space.key, key) in tables.vectors]
        return VectorChanges(
            upto=shown[-1][0] if shown else after,
            keys=np.array(present, dtype=np.int64),
            scopes=np.array([tables.scopes[tables.records[key].scope] for key in present], dtype=np.int32),
            namespaces=np.array(
                [tables.namespaces[tables.records[key].scope.namespace] for key in present], dtype=np.int32
            ),
            statuses=np.array([STATUS_NUMBERS[tables.records[key].status] for key in present], dtype=np.int8),
            signatures=_signatures(tables, space, present),
            gone=np.array([key for _, key in shown if (space.key, key) in tables.gone], dtype=np.int64),
            more=len(news) > limit,
        )

    def rows(self, space: Space, keys: Sequence[int]) -> VectorRows:
        """Stored vectors."""
        return _rows(self._tables(), space, keys)

    def centre(self, space: Space) -> Floats | None:
        """What signatures are centred on."""
        return self._tables().centres.get(space.key)

    def sign(self, space: Space, centre: Floats) -> None:
        """Fix the centre; signatures are made when they are asked for."""

        def fix(tables: Tables) -> None:
            tables.centres[space.key] = centre.astype(np.float32)

        self._commit(fix)

    def spaces(self) -> dict[str, int]:
        """How many vectors each space holds."""
        return dict(Counter(name for name, _ in self._tables().vectors))


def _rows(tables: Tables, space: Space, keys: Sequence[int]) -> VectorRows:
    known = [int(key) for key in keys if (space.key, int(key)) in tables.vectors]
    kept = [tables.vectors[space.key, key] for key in known]
    rows = np.array([one.row for one in kept], dtype=np.int8).reshape(len(kept), space.dims)
    scales = np.array([one.scale for one in kept], dtype=np.float32)
    return VectorRows(np.array(known, dtype=np.int64), rows, scales)


def _signatures(tables: Tables, space: Space, keys: Sequence[int]) -> NDArray[np.uint8] | None:
    centre = tables.centres.get(space.key)
    if centre is None:
        return None
    found = _rows(tables, space, keys)
    return sign(restore(found.rows, found.scales), centre)
