"""Replay: strong memories that are about to fade come in; each is held a little better afterwards.

Which ones: those that mattered (used, important or stirring) and of which little is left. What stirred counts
double, what came from another agent goes first. Each dream looks at a bounded number of memories and goes on
from there the next time, so a large memory is gone through in several nights.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from engram.lifecycle.retention import initial_strength, replayed, retention
from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.room import Room, becomes
from engram.model.axes import Kind, Status
from engram.model.event import Verb
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.upkeep import Judgement

REPLAY: Final = "replay"
"""The kind of judgement that says when a memory was replayed."""
PLACE: Final = "dream.place"
"""The kind that says how far the last dream looked."""
LOOKED_AT: Final = 5_000
STIRRED: Final = 0.6
"""Arousal above which a memory is twice as likely to be replayed."""
RECEIVED: Final = "bus"
"""The source of what came from another agent."""
MATTERS: Final = 0.6
"""Importance that makes a memory worth holding though nobody has used it."""


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Replay those at risk; the next dream goes on where this one stopped."""
    if cursor:  # cut off after its only batch
        return
    start = _place(room)
    seen, chosen = candidates(room, start)
    again = room.now + timedelta(days=room.tools.config.maintain.replay_days)
    decisions = [
        Decision(
            "dream.replay",
            f"{left:.2f} of it was left; held {one.strength:.1f} times, now {hold:.1f}",
            (
                becomes(one, Verb.REINFORCED, strength=hold),
                Judge(Judgement(REPLAY, one.id, "replayed", room.now, again)),
            ),
            one.id,
        )
        for one, left in chosen
        for hold in (replayed(one, room.tools.config),)
    ]
    place = Judgement(PLACE, PLACE, str(seen), room.now)
    mark = Decision("dream.place", "", (Judge(place),), quiet=True)
    yield Batch((*decisions, mark), "done")


def candidates(room: Room, start: int) -> tuple[int, list[tuple[Memory, float]]]:
    """How far was looked, and the memories most worth replaying with what is left of each."""
    episodes = Filters(kinds=frozenset({Kind.EPISODIC}), statuses=frozenset({Status.ACTIVE}), pinned=False)
    found: list[tuple[float, int, Memory, float]] = []
    looked, last = 0, start
    for part in room.memories(episodes, start):
        resting = _resting(room, [one for _, one in part])
        for key, one in part:
            left = retention(one, room.now, room.tools.config)
            if one.id not in resting and is_at_risk(one, left):
                found.append((worth(one, left, room), key, one, left))
        looked, last = looked + len(part), part[-1][0]
        if looked >= LOOKED_AT:
            break
    else:
        last = 0  # the end: the next dream begins anew
    best = sorted(found, key=lambda each: (-each[0], each[1]))[: room.tools.config.maintain.replays]
    return last, [(one, left) for _, _, one, left in best]


def is_at_risk(memory: Memory, left: float) -> bool:
    """Whether it mattered and is about to go.

    >>> from datetime import UTC, datetime
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> is_at_risk(Memory("1", "We won", "h", day, day, importance=0.8), 0.3)
    True
    >>> is_at_risk(Memory("1", "It rained", "h", day, day, importance=0.4), 0.3)
    False
    """
    mattered = memory.usage.accessed > 0 or memory.importance >= MATTERS or memory.affect.arousal > STIRRED
    return mattered and LOST < left < SAFE


LOST: Final = 0.05
SAFE: Final = 0.6
"""Between these a memory is worth holding: below it is gone, above it needs nothing."""


def worth(memory: Memory, left: float, room: Room) -> float:
    """How much would be lost with it; what stirred counts double, what was received goes first."""
    value = initial_strength(memory, room.tools.config) * (1.0 - left)
    stirred = value * 2.0 if memory.affect.arousal > STIRRED else value
    return stirred + (10.0 if memory.source.partition(":")[0] == RECEIVED else 0.0)


def _resting(room: Room, memories: Sequence[Memory]) -> frozenset[str]:
    """Those that were replayed not long ago."""
    known = room.tools.store.upkeep.judged(REPLAY, [one.id for one in memories])
    return frozenset(
        key for key, one in known.items() if one.again_at is not None and one.again_at > room.now
    )


def _place(room: Room) -> int:
    known = room.tools.store.upkeep.judged(PLACE, [PLACE]).get(PLACE)
    return int(known.verdict) if known is not None else 0
