"""The stuck buffer: memories that no rule has moved come in; what is kept for good rises, the rest goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engram.lifecycle.promotion import HOURS, buffer_immune, buffer_rescue, buffer_verdict
from engram.lifecycle.retention import age_days
from engram.lifecycle.traits import protected
from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Layer, Status
from engram.model.event import Verb
from engram.model.filters import Filters
from engram.model.memory import Memory

BUFFER = Filters(layers=frozenset({Layer.BUFFER}))


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """See to what has been in the buffer for a week, or longer than the buffer holds anything."""

    def decide(part: Slice) -> Iterable[Decision]:
        return (found for _, one in part if (found := _decided(one, room)) is not None)

    return sweep(room, cursor, BUFFER, decide)


def _decided(memory: Memory, room: Room) -> Decision | None:
    config = room.tools.config
    days = max(config.review.stuck_days, config.promotion.untriaged_hours / HOURS)
    age = age_days(memory, room.now)
    if age <= days:
        return None
    why = f"{age:.1f} days in the buffer > {days:g}"
    if immune := buffer_immune(memory):
        rises = becomes(memory, layer=Layer.WORKING)
        return Decision("stuck.promote", f"{why}, {immune}", (rises,), memory.id)
    if memory.usage.accessed >= config.review.stuck_uses or protected(memory, config):
        return None
    # It only waited for a run: promotion, which comes next, lets it rise.
    if buffer_verdict(memory, room.now, config) or buffer_rescue(memory, room.now, config):
        return None
    gone = becomes(memory, Verb.ARCHIVED, status=Status.ARCHIVED)
    return Decision("stuck.archive", f"{why}, accesses {memory.usage.accessed}", (gone,), memory.id)
