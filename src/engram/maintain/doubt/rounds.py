"""Rounds: a large memory is gone through bit by bit, run by run; each goes on where the last one stopped.

A run that is asked for twice at one moment looks at the same stretch again, and so decides nothing new.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.room import Room
from engram.maintain.sweep import PAUSE_EVERY, Slice, is_fresh
from engram.model.filters import Filters
from engram.model.upkeep import Judgement

PLACE: Final = "doubt.place"
"""The kind of judgement that says which stretch a step looked at last."""
DONE: Final = "done"
Decide = Callable[[Slice, int], tuple[int, int, Sequence[Decision]]]
"""Memories and how many may be looked at come in; how many were, up to which key, and what was decided."""


def rounds(
    room: Room, cursor: str, step: str, filters: Filters, most: int, decide: Decide
) -> Iterator[Batch]:
    """One stretch of the memories that fit: batches, and at the end the place to go on from."""
    if cursor == DONE:
        return
    start, stop = _stretch(room, step)
    count, _, at = cursor.partition(" ")
    looked, after, ended = int(count or 0), int(at or start), True
    for number, part in enumerate(room.memories(filters, after), 1):
        if looked >= most or 0 < stop <= after:
            ended = False
            break
        usable = [(key, one) for key, one in part if not is_fresh(one, room) and not 0 < stop < key]
        seen, reached, decisions = decide(usable, most - looked)
        looked, after = looked + seen, reached if looked + seen >= most else part[-1][0]
        if decisions or number % PAUSE_EVERY == 0:
            yield Batch(tuple(decisions), f"{looked} {after}")
        if looked >= most:  # the rest of the slice is for the next run
            ended = False
            break
    here = Judgement(PLACE, step, f"{start} {stop or (0 if ended else after)}", room.now)
    if here != room.tools.store.upkeep.judged(PLACE, [step]).get(step):
        yield Batch((Decision(PLACE, "", (Judge(here),), quiet=True),), DONE)


def _stretch(room: Room, step: str) -> tuple[int, int]:
    """Where to begin, and where to stop if this moment was looked at before (0: nowhere)."""
    known = room.tools.store.upkeep.judged(PLACE, [step]).get(step)
    if known is None:
        return 0, 0
    start, end = (int(number) for number in known.verdict.split())
    return (start, end) if known.at >= room.now else (end, 0)
