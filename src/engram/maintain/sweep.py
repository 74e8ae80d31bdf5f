"""A sweep: memories that fit a filter come in, slice by slice; what was decided about them goes out.

A run moves a memory once. What it has changed (or what changed at its very moment) is *fresh*: rules look at
it the next time. So a run that is asked for twice at one moment finds nothing the second time, and a run that
was cut off does what it would have done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room
from engram.model.filters import Filters
from engram.model.memory import Memory

Slice = Sequence[tuple[int, Memory]]
"""Memories with their keys."""
Decide = Callable[[Slice], Iterable[Decision]]
PAUSE_EVERY: Final = 20
"""Slices after which a step that decides nothing still says how far it has come, and may be paused."""


def sweep(room: Room, cursor: str, filters: Filters, decide: Decide) -> Iterator[Batch]:
    """Go once over the memories that fit and are not fresh; a batch for each slice that led to something."""
    for number, part in enumerate(room.memories(filters, int(cursor or 0)), 1):
        decisions = tuple(decide([(key, one) for key, one in part if not is_fresh(one, room)]))
        if decisions or number % PAUSE_EVERY == 0:
            yield Batch(decisions, str(part[-1][0]))


def is_fresh(memory: Memory, room: Room) -> bool:
    """Whether it was stored or changed at the moment this run looks at, or since."""
    return memory.modified_at >= room.now
