"""Interference: near memories that say different things of the same come in; each pair is flagged once.

Nothing is decided here: the pair is shown among the conflicts, where a person or a model settles it.
"""

from __future__ import annotations

from collections.abc import Iterator

from engram.lifecycle.calibration import thresholds
from engram.lifecycle.sameness import Limits, Neighbour, Statement, opposing
from engram.maintain.decisions import Batch, Decision, Draw, Judge
from engram.maintain.dreaming.touched import touched
from engram.maintain.near import limits as limits_of
from engram.maintain.neighbours import pairs, space_of
from engram.maintain.room import Room
from engram.model.axes import Status
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.upkeep import SETTLED, Judgement, pair_key

INTERFERENCE = "interference"


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Flag pairs that are near in words and opposed in what they say."""
    space = space_of(room)
    if cursor or space is None:
        return
    near = thresholds(space.key)
    known, limits = touched(room), limits_of(near.strong, room, near)
    decisions: dict[str, Decision] = {}
    for scope in dict.fromkeys(one.scope for one in known.values()):
        keys = [key for key, one in known.items() if one.scope == scope]
        found = list(pairs(room, space, scope, keys, limits.related))
        others = room.tools.store.memories.read(sorted({other for _, other, _ in found}))
        for key, other, cosine in found:
            if other in others and others[other].scope == scope:
                decision = _opposed(known[key], others[other], cosine, limits, room)
                decisions.update({decision.key: decision} if decision else {})
    flagged = [_pair(one) for one in decisions.values()]
    upkeep = room.tools.store.upkeep
    seen = {**upkeep.judged(INTERFERENCE, flagged), **upkeep.judged(SETTLED, flagged)}
    yield Batch(tuple(one for one in decisions.values() if _pair(one) not in seen), "done")


def _opposed(one: Memory, other: Memory, cosine: float, limits: Limits, room: Room) -> Decision | None:
    first, second = sorted((one, other), key=lambda each: (each.happened_at, each.id))
    if other.status is not Status.ACTIVE or other.speaker:
        return None
    because = opposing(Statement.of(second), Neighbour(first, Statement.of(first), cosine), limits)
    if not because:
        return None
    edge = Edge(second.id, first.id, EdgeType.CONTRADICTS, confidence=0.5)
    key = pair_key(first.id, second.id)
    judge = Judge(Judgement(INTERFERENCE, key, "flagged", room.now))
    why = f"{because} (cosine {cosine:.2f})"
    return Decision("dream.interference", why, (Draw(edge), judge), second.id, first.id)


def _pair(decision: Decision) -> str:
    return pair_key(decision.memory, decision.related)
