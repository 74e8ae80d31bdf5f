"""What was judged before: memories come in, what is known about them comes out.

A judgement is kept under the memory's id and says which version it is about: another wording is judged anew.
One made at the very moment a run looks at does not count yet: a run never builds on itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from engram.lifecycle.promotion import FINAL, next_try
from engram.maintain.decisions import Judge
from engram.maintain.room import Room
from engram.model.memory import Memory
from engram.model.upkeep import Judgement

GATE: Final = "gate"
TRIAGE: Final = "triage"


def judge(
    kind: str, memory: Memory, verdict: str, at: datetime, again_at: datetime | None = None, times: int = 1
) -> Judge:
    """Remember what was decided about this version of a memory."""
    return Judge(Judgement(kind, memory.id, f"{verdict}@{memory.version}", at, again_at, times))


def judged(kind: str, memories: Sequence[Memory], room: Room) -> dict[str, Judgement]:
    """What was decided about these memories as they are now, by their ids."""
    versions = {one.id: one.version for one in memories}
    known = room.tools.store.upkeep.judged(kind, versions)
    marked = {one.id: mark for one in memories if (mark := _mark(kind, one, room)) is not None}
    return marked | {
        id_: one for id_, one in known.items() if one.verdict.rpartition("@")[2] == str(versions[id_])
    }


REFUSED: Final = {"gate-rejected": 1, "gate-rejected-2": 2, "gate-rejected-final": FINAL}
"""Tags of imports: how often another gate has refused them."""
LOOKED_AT: Final = "_triaged"


def _mark(kind: str, memory: Memory, room: Room) -> Judgement | None:
    """What another engine had decided about a memory that came from there, as its tags tell."""
    at = memory.modified_at
    if kind == TRIAGE and LOOKED_AT in memory.tags:
        return judge(kind, memory, "keep", at).judgement
    times = max((REFUSED[tag] for tag in memory.tags if tag in REFUSED), default=0)
    if kind != GATE or not times:
        return None
    again = next_try(times, at, room.tools.config)
    return judge(kind, memory, "reject", at, again_at=again, times=times).judgement


def before(judgement: Judgement, room: Room) -> bool:
    """Whether it was made before the moment of this run."""
    return judgement.at < room.now


def triaged(memories: Sequence[Memory], room: Room) -> frozenset[str]:
    """Those of the memories that triage has looked at, in this wording or another, in an earlier run."""
    known = room.tools.store.upkeep.judged(TRIAGE, [one.id for one in memories])
    marked = frozenset(one.id for one in memories if LOOKED_AT in one.tags)
    return marked | {id_ for id_, one in known.items() if before(one, room)}


def rejections(memory: Memory, known: dict[str, Judgement], room: Room) -> int:
    """How often the gate has refused a memory, in earlier runs."""
    found = known.get(memory.id)
    if found is None or not found.verdict.startswith("reject"):
        return 0
    return found.times if before(found, room) else found.times - 1
