"""Expiring: memories whose time in the buffer is over come in; they are rescued, or go to the archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engram.lifecycle.promotion import buffer_expiry, buffer_rescue
from engram.maintain.decisions import Batch, Decision
from engram.maintain.judged import triaged
from engram.maintain.promotion.rising import BUFFER
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Layer, Status
from engram.model.event import Verb


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Rescue what half proved itself or matters; archive the rest. What was never triaged has longer."""
    now, config = room.now, room.tools.config

    def decide(part: Slice) -> Iterable[Decision]:
        seen = triaged([one for _, one in part], room)
        for _, one in part:
            if rescued := buffer_rescue(one, now, config):
                yield Decision("buffer.rescue", rescued.why, (becomes(one, layer=Layer.WORKING),), one.id)
            elif over := buffer_expiry(one, now, config, triaged=one.id in seen):
                archived = becomes(one, Verb.ARCHIVED, status=Status.ARCHIVED)
                yield Decision("buffer.expire", over.why, (archived,), one.id)

    return sweep(room, cursor, BUFFER, decide)
