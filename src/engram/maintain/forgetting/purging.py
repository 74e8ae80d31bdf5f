"""Purging: what lay in the archive long enough comes in, and is erased for good.

The run empties the file of its traces once, at its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta

from engram.lifecycle.archival import purge_due
from engram.maintain.decisions import PURGE, Batch, Decision, Erase
from engram.maintain.room import Room
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Status
from engram.model.filters import Filters


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Erase what was archived so long ago that nobody will restore it."""
    now, config = room.now, room.tools.config
    # The last change of an archived memory is the one that archived it, or a later one: never too early.
    long_ago = now - timedelta(days=config.forgetting.purge_days)
    archived = Filters(statuses=frozenset({Status.ARCHIVED}), modified_until=long_ago)

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            if verdict := purge_due(one, one.modified_at, now, config):
                yield Decision(PURGE, verdict.why, (Erase(one),), one.id)

    return sweep(room, cursor, archived, decide)
