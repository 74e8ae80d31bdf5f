"""The gate: memories of the working layer that proved themselves come in; each is let into the core, or not.

A refused one may ask again after a day, then after three days, then never again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engram.lifecycle.promotion import core_candidate, next_try
from engram.lifecycle.review import gate_review
from engram.maintain.asking import Weighing, level
from engram.maintain.decisions import Batch, Decision
from engram.maintain.judged import GATE, judge, judged
from engram.maintain.room import Room, becomes
from engram.maintain.sweep import Slice, sweep
from engram.model.axes import Layer
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.upkeep import Judgement


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Weigh every candidate that may ask."""
    config = room.tools.config
    # Disuse only takes importance off: what has too little stored can be left out unread.
    working = Filters(layers=frozenset({Layer.WORKING}), min_importance=config.promotion.core_importance)
    weighing = Weighing(room.tools.advisor.gate, config.review.gate_most, level(room))

    def decide(part: Slice) -> Iterable[Decision]:
        candidates = [one for _, one in part if core_candidate(one, room.now, config)]
        known = judged(GATE, candidates, room)
        asking = [one for one in candidates if _may_ask(known.get(one.id), room)]
        for one, yes, why in weighing.outcomes([(one, gate_review(one, config)) for one in asking]):
            yield _approved(one, why, room) if yes else _rejected(one, why, known.get(one.id), room)

    return sweep(room, cursor, working, decide)


def _may_ask(last: Judgement | None, room: Room) -> bool:
    if last is None:
        return True
    return last.verdict.startswith("reject") and last.again_at is not None and last.again_at <= room.now


def _approved(memory: Memory, why: str, room: Room) -> Decision:
    effects = (becomes(memory, layer=Layer.CORE), judge(GATE, memory, "approve", room.now))
    return Decision("gate.approve", why, effects, memory.id)


def _rejected(memory: Memory, why: str, last: Judgement | None, room: Room) -> Decision:
    times = last.times + 1 if last is not None else 1
    again = next_try(times, room.now, room.tools.config)
    wait = "asks never again" if again is None else f"may ask again at {again:%Y-%m-%d %H:%M}"
    effect = judge(GATE, memory, "reject", room.now, again_at=again, times=times)
    return Decision("gate.reject", f"{why}; rejection {times}, {wait}", (effect,), memory.id)
