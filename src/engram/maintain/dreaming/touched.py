"""What a dream has touched: the memories it replayed, and those that came since the last dream."""

from __future__ import annotations

from typing import Final

from engram.maintain.room import Room
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.upkeep import RunKind, RunState

NEWEST: Final = 200
"""New memories that a dream looks at."""


def touched(room: Room) -> dict[int, Memory]:
    """By key; active and without a speaker: the turns of a conversation are linked by their order."""
    store = room.tools.store
    ids = {line.memory for line in store.upkeep.decided(room.run.id, 0, 1_000) if line.memory}
    last = store.upkeep.runs(1, RunKind.DREAM, RunState.DONE)
    since = last[0].started_at if last else None
    new = store.upkeep.slice(Filters(created_since=since), 0, NEWEST)
    keys = store.memories.keys(sorted(ids))
    found = {**dict(new), **store.memories.read(sorted(keys.values()))}
    return {
        key: one for key, one in sorted(found.items()) if not one.speaker and one.status.value == "active"
    }
