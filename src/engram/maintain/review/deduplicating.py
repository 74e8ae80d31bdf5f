"""Deduplicating: the buffer comes in; of what was noted twice, one stays."""

from __future__ import annotations

from collections.abc import Iterator

from engram.maintain import joined, near
from engram.maintain.decisions import Batch
from engram.maintain.room import Room
from engram.model.axes import Layer

BUFFER = frozenset({Layer.BUFFER})


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Join what says the same, both still in the buffer, a little further apart than elsewhere."""
    known = near.cosines(room)
    if known is not None:
        yield from joined.joining(room, cursor, "dedup", BUFFER, known[1].dedup)
