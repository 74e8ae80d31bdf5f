"""Stale tags: memories with marks of an old review come in; the marks that say nothing any more go.

Such marks come with imports: this engine remembers what it judged beside the memory, not on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Final

from engram.lifecycle.retention import last_used
from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.judged import GATE, judged
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Layer
from engram.model.filters import Filters

REJECTED: Final = frozenset({"gate-rejected", "gate-rejected-2"})
"""Say that a memory may not ask yet; after a while it may."""
MOVED: Final = frozenset({"promotion", "_triaged"})
"""Say where a memory in the buffer stands; elsewhere they are orphans."""
TAGGED: Final = Filters(layers=frozenset({Layer.WORKING, Layer.CORE}), tags_any=REJECTED | MOVED)


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Take off marks of promotion beyond the buffer, and of rejection after a day without use."""
    wait = timedelta(hours=room.tools.config.review.stale_tag_hours)

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            over = REJECTED if last_used(one) + wait < room.now else frozenset()
            kept = tuple(tag for tag in one.tags if tag not in MOVED | over)
            if kept != one.tags:
                why = f"{len(one.tags) - len(kept)} marks of an old review"
                # How often it was refused still counts when the mark is gone.
                refused = judged(GATE, [one], room).get(one.id) if over else None
                notes = (Judge(refused),) if refused is not None else ()
                yield Decision("tags.stale", why, (becomes(one, tags=kept), *notes), one.id)

    return sweep(room, cursor, TAGGED, decide)
