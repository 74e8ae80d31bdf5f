"""Archiving: memories come in; what faded, expired or was resolved long ago goes to the archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from engram.lifecycle.archival import archive_verdict
from engram.lifecycle.retention import age_days
from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Status
from engram.model.event import Verb
from engram.model.filters import Filters

USES: Final = 20
"""Uses of a memory that are looked at to weigh it."""


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Archive by rule: speculative, expired, resolved, too weak, or old, gone, unimportant and unused."""
    now, config = room.now, room.tools.config

    def decide(part: Slice) -> Iterable[Decision]:
        used = _uses(part, room)
        for key, one in part:
            if verdict := archive_verdict(one, now, config, used.get(key, ())):
                rule = f"archive.{verdict.rule.replace(' ', '-')}"
                archived = becomes(one, Verb.ARCHIVED, status=Status.ARCHIVED)
                yield Decision(rule, verdict.why, (archived,), one.id)

    return sweep(room, cursor, Filters(), decide)


def _uses(part: Slice, room: Room) -> dict[int, list[datetime]]:
    """When those were used whose importance may decide."""
    settings = room.tools.config.forgetting
    weighed = [
        key
        for key, one in part
        if 0 < one.usage.accessed < settings.accesses_below
        and age_days(one, room.now) > settings.archive_days
    ]
    return room.tools.store.upkeep.uses(weighed, USES) if weighed else {}
