"""Rising: memories of the buffer come in; those that proved themselves go to the working layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engram.lifecycle.promotion import buffer_verdict
from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Layer
from engram.model.filters import Filters

BUFFER = Filters(layers=frozenset({Layer.BUFFER}))


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Promote what was used or said often enough, and lessons that have settled."""

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            verdict = buffer_verdict(one, room.now, room.tools.config)
            if verdict:
                rule = f"promote.{verdict.rule.replace(' ', '-')}"
                yield Decision(rule, verdict.why, (becomes(one, layer=Layer.WORKING),), one.id)

    return sweep(room, cursor, BUFFER, decide)
