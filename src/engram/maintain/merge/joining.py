"""Merging: memories that came or changed come in; those that say what another one says become one with it."""

from __future__ import annotations

from collections.abc import Iterator

from engram.maintain import joined, near
from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.room import Room
from engram.model.axes import Layer
from engram.model.memory import Memory
from engram.model.upkeep import Judgement

STEP = "merge"
EVERY = frozenset(Layer)


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Join pairs and clusters of memories that say the same; what is left stands in the highest layer."""
    known = near.cosines(room)
    if known is None:
        return
    least = known[1].merge
    yield from joining(room, cursor, (STEP, EVERY, least))


def joining(room: Room, cursor: str, what: tuple[str, frozenset[Layer], float]) -> Iterator[Batch]:
    """Look at what is new to a step, in some layers, from a cosine on; and join what says the same."""
    step, layers, least = what
    known = near.cosines(room)
    if known is None:
        return
    limits = near.limits(least, room, known[1])
    asking = joined.Asking(step, room.tools.config.review.pairs_most, joined.levelled(room))
    for part, place in near.news(room, step, layers, cursor):
        found, unseen = near.pairs(part, room, least)
        if layers != EVERY:
            found = [pair for pair in found if pair.older.layer in layers and pair.newer.layer in layers]
        joints = joined.joints(found, limits, asking, room)
        made = (*joined.decisions(joints, step, room), *_noted(asking, unseen, step, room))
        if made:
            yield Batch(made, place)
    yield Batch((Decision(f"{step}.looked", "", (Judge(near.looked(room, step)),), quiet=True),), cursor)


def _noted(asking: joined.Asking, unseen: list[Memory], step: str, room: Room) -> Iterator[Decision]:
    """What was answered, and what has to be looked at again."""
    ids = sorted(asking.postponed | {one.id for one in unseen})
    left = [Judge(Judgement(f"open {step}", id_, "open", room.now)) for id_ in ids]
    notes = (*asking.asked, *left)
    asking.asked, asking.postponed = [], set()
    if notes:
        yield Decision(f"{step}.noted", "", notes, quiet=True)
