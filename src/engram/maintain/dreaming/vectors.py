"""Vectors: memories that went without one, because no embedder was there, get theirs while nobody asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room

MOST: Final = 1_000
"""Vectors made in one dream."""


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Make vectors that are missing, in the present model's space."""
    if cursor:
        return
    made = room.repay(MOST)
    if made:
        yield Batch((Decision("dream.embed", f"{made:,} vectors made", ()),), "done")
