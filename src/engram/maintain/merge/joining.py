"""Merging: memories that came or changed come in; those that say what another one says become one with it."""

from __future__ import annotations

from collections.abc import Iterator

from engram.maintain import joined, near
from engram.maintain.decisions import Batch
from engram.maintain.room import Room


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Join pairs and clusters of memories that say the same; what is left stands in the highest layer."""
    known = near.cosines(room)
    if known is not None:
        yield from joined.joining(room, cursor, "merge", joined.EVERY, known[1].merge)
