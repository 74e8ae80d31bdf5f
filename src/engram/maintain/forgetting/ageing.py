"""Ageing: memories and the time come in; each is called candidate, validated, active or stale accordingly.

It is the last look of a run at the memories: whatever was decided before counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engram.lifecycle.heat import decay, heat, lifecycle_state
from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import PAUSE_EVERY
from engram.model.filters import Filters
from engram.model.memory import Memory


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Set the lifecycle state of every memory that has come to another one."""
    for number, part in enumerate(room.memories(Filters(), int(cursor or 0)), 1):
        decisions = tuple(_decided((one for _, one in part), room))
        if decisions or number % PAUSE_EVERY == 0:
            yield Batch(decisions, str(part[-1][0]))


def _decided(memories: Iterable[Memory], room: Room) -> Iterator[Decision]:
    now, config = room.now, room.tools.config
    for one in memories:
        state = lifecycle_state(one, now, config)
        if state is not one.lifecycle:
            why = (
                f"{one.lifecycle} to {state}: heat {heat(one, now, config):.2f}, "
                f"decay {decay(one, now, config):.2f}"
            )
            yield Decision(f"lifecycle.{state}", why, (becomes(one, lifecycle=state),), one.id)
