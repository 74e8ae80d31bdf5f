"""Triage: memories of the buffer come in; each is looked at once, and worth the working layer or left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engram.lifecycle.review import triage_due, triage_review
from engram.maintain.asking import Weighing, level
from engram.maintain.decisions import Batch, Decision
from engram.maintain.judged import TRIAGE, judge, judged
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Layer
from engram.model.filters import Filters

BUFFER = Filters(layers=frozenset({Layer.BUFFER}))


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Weigh what has lain in the buffer for some minutes and was not weighed in these words yet."""
    config = room.tools.config
    weighing = Weighing(room.tools.advisor.triage, config.review.triage_most, level(room))

    def decide(part: Slice) -> Iterable[Decision]:
        due = [one for _, one in part if triage_due(one, room.now, config)]
        known = judged(TRIAGE, due, room)
        weighed = [(one, triage_review(one, config)) for one in due if one.id not in known]
        for one, yes, why in weighing.outcomes(weighed):
            if yes:
                effects = (becomes(one, layer=Layer.WORKING), judge(TRIAGE, one, "promote", room.now))
                yield Decision("triage.promote", why, effects, one.id)
            else:
                note = judge(TRIAGE, one, "keep", room.now)
                yield Decision("triage.keep", why, (note,), one.id, quiet=True)

    return sweep(room, cursor, BUFFER, decide)
