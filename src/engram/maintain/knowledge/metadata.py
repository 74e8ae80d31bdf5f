"""Metadata: memories from before it was worked out come in; what their words speak of goes into them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room, becomes
from engram.maintain.since import memories, noted, since
from engram.model.axes import Tier
from engram.model.filters import Filters

NAME: Final = "metadata"
CLEAR = Filters(tiers=frozenset({Tier.CLEAR}))


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Memories without metadata whose words speak of something."""
    news = since(room, NAME)
    if not news.any:
        return
    for part in memories(room, news, CLEAR):
        missing = [(one, room.spoken_of(one)) for _, one in part if not one.metadata]
        decided = [
            Decision("metadata.filled", f"{len(told)} kinds", (becomes(one, metadata=told),), one.id)
            for one, told in missing
            if told
        ]
        if decided:
            yield Batch(tuple(decided))
    yield from noted(room, NAME, news)
