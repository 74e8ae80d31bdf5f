"""Overlap: memories of the core come in; pairs that lie near each other are flagged, each pair once."""

from __future__ import annotations

from collections.abc import Iterator

from engram.maintain import near
from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.room import Room
from engram.model.axes import Layer
from engram.model.upkeep import Judgement

STEP = "overlap"
CORE = frozenset({Layer.CORE})


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Flag what overlaps: an audit looks at it, nothing is changed here."""
    known = near.cosines(room)
    if known is None:
        return
    for part, place in near.news(room, STEP, CORE, cursor):
        found, _ = near.pairs(part, room, known[1].overlap)
        inside = [pair for pair in found if pair.older.layer is pair.newer.layer is Layer.CORE]
        judged = room.tools.store.upkeep.judged(STEP, [pair.key for pair in inside])
        flags = tuple(
            Decision(
                "core.overlap",
                f"cosine {pair.cosine:.2f} >= {known[1].overlap:.2f}",
                (Judge(Judgement(STEP, pair.key, f"{pair.cosine:.2f}", room.now)),),
                pair.older.id,
                pair.newer.id,
            )
            for pair in inside
            if pair.key not in judged
        )
        if flags:
            yield Batch(flags, place)
    yield Batch((near.looked(room, STEP),), cursor)
