"""Capping: the buffer of each scope comes in; what is over the limit is archived, the oldest first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from engram.lifecycle.traits import is_lesson, is_overheard, lasting, protected
from engram.maintain.decisions import Batch, Decision
from engram.maintain.promotion.rising import BUFFER
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Status
from engram.model.event import Verb
from engram.model.memory import Memory
from engram.model.scope import Scope


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Archive the oldest of each buffer that holds too many; what is protected stays and counts."""
    config = room.tools.config
    cap = config.forgetting.buffer_cap
    over = _over(room, cap) if cap else Counter()

    def decide(part: Slice) -> Iterable[Decision]:
        # Keys grow with the time of storing: the first ones are the oldest.
        for one in (one for _, one in part if is_overheard(one)):
            if over[one.scope] > 0 and not _stays(one, room):
                why = f"{over[one.scope]} more than {cap} in the buffer, the oldest"
                over[one.scope] -= 1
                archived = becomes(one, Verb.ARCHIVED, status=Status.ARCHIVED)
                yield Decision("buffer.cap", why, (archived,), one.id)

    if not any(over.values()):
        return iter(())
    return sweep(room, cursor, BUFFER, decide)


def _stays(memory: Memory, room: Room) -> bool:
    held = is_lesson(memory) or protected(memory, room.tools.config) or lasting(memory, room.now)
    return bool(held)


def _over(room: Room, cap: int) -> Counter[Scope]:
    """How many each buffer holds above the limit; what was given on purpose does not count."""
    held = Counter(one.scope for part in room.memories(BUFFER) for _, one in part if is_overheard(one))
    return Counter({scope: count - cap for scope, count in held.items() if count > cap})
