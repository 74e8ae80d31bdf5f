"""Who lies near whom: keys of one place come in; pairs that are near enough come out, from the index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from engram.errors import EmbedderError
from engram.maintain.room import Room
from engram.model.scope import Access, Role, Scope
from engram.model.vectors import Space

if TYPE_CHECKING:
    from engram.ports import Floats

NEIGHBOURS: Final = 12
"""How many of the nearest are looked at."""
TOGETHER: Final = 512
"""Vectors that are compared in one question to the index."""


def space_of(room: Room) -> Space | None:
    """Where vectors are compared; None while nobody can say."""
    try:
        return room.tools.embedder.space
    except EmbedderError:
        return None


def pairs(
    room: Room, space: Space, scope: Scope, keys: Sequence[int], least: float
) -> Iterator[tuple[int, int, float]]:
    """Each of these keys with what lies near it; also places above are searched, the caller looks again."""
    for key, hits in nearest(room, space, scope, keys, NEIGHBOURS):
        yield from ((key, other, cosine) for other, cosine in hits if cosine >= least)


def nearest(
    room: Room, space: Space, scope: Scope, keys: Sequence[int], most: int
) -> Iterator[tuple[int, list[tuple[int, float]]]]:
    """Of each of these keys that has a vector: the nearest others, with their cosines."""
    reach = room.tools.store.memories.reach(Access(scope, Role.AGENT))
    for start in range(0, len(keys), TOGETHER):
        found, vectors = vectors_of(room, space, keys[start : start + TOGETHER])
        if not found:
            continue
        # One more than wanted: each memory finds itself.
        answers = room.tools.index.nearest(space, vectors, most + 1, reach)
        for key, hits in zip(found, answers, strict=True):
            yield key, [hit for hit in hits if hit[0] != key]


def vectors_of(room: Room, space: Space, keys: Sequence[int]) -> tuple[list[int], Floats]:
    """Those of the keys that have a vector, and the vectors."""
    from engram.vectors.quantize import restore
    from engram.vectors.similarity import unit

    rows = room.tools.store.vectors.rows(space, list(keys))
    return rows.keys.tolist(), unit(restore(rows.rows, rows.scales))
