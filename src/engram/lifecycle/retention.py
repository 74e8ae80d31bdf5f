"""Retention: a memory and the time come in; how much of it is left, and how strong it is, come out.

Time counts from its last use. The stored `strength` of a memory is its *hold*: 1 at first, more with each
replay while the engine dreams. What is worked out here is never written back: it is true for one moment.
"""

from __future__ import annotations

import math
from datetime import datetime
from typing import Protocol

from engram.config import Config, RetentionConfig
from engram.lifecycle import curves
from engram.lifecycle.curves import DAY_S
from engram.model.axes import Kind, Layer
from engram.model.memory import Memory

USUAL = Config()
WEEK_H = 168.0
ORDINARY = 0.5
"""The importance with which a memory starts at full strength, no more and no less."""


def retention(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """The share of a memory that is left, between 0 and 1.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met at the lake", "h", day, day)
    >>> [round(retention(memory, day + timedelta(days=days)), 2) for days in (0, 30, 60, 90)]
    [1.0, 0.5, 0.15, 0.0]
    """
    settings = config.retention
    days = half_life(memory, settings) * slowed(memory, settings)
    left = _curve(unused_days(memory, now), days, memory.usage.accessed, settings)
    spaced = left * (1.0 + settings.spacing_gain * math.log(max(1, memory.usage.sessions)))
    return curves.reinforced(
        min(1.0, spaced), memory.usage.accessed, settings.access_gain, settings.access_limit
    )


def strength(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """How strong a memory is: what it began with, held by its replays, as far as it is left.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met at the lake", "h", day, day)
    >>> strength(memory, day), strength(memory, day + timedelta(days=30))
    (1.0, 0.5)
    """
    return initial_strength(memory, config) * memory.strength * retention(memory, now, config)


def initial_strength(memory: Memory, config: Config = USUAL) -> float:
    """What a memory begins with: 1 for one of ordinary importance, more when it stirred.

    >>> day = datetime(2026, 1, 1)
    >>> initial_strength(Memory("1", "Hi", "h", day, day, importance=0.9))
    1.4
    """
    stirred = 1.0 + config.retention.arousal_strength * memory.affect.arousal
    return stirred * (1.0 + memory.importance - ORDINARY)


def replayed(memory: Memory, config: Config = USUAL) -> float:
    """The hold of a memory after one more replay, to be stored as its `strength`.

    >>> day = datetime(2026, 1, 1)
    >>> replayed(Memory("1", "Hi", "h", day, day)), replayed(Memory("1", "Hi", "h", day, day, strength=2.95))
    (1.2, 3.0)
    """
    settings = config.retention
    return max(memory.strength, min(settings.most_held, memory.strength + settings.replay_gain))


def recency(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """How recent a memory is, by the rate of its layer: the buffer forgets in days, the core in months.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met at the lake", "h", day, day, layer=Layer.WORKING)
    >>> round(recency(memory, day + timedelta(days=7)), 3)
    0.368
    """
    settings = config.retention
    rate = {
        Layer.BUFFER: settings.buffer_rate,
        Layer.WORKING: settings.working_rate,
        Layer.CORE: settings.core_rate,
    }[memory.layer]
    return math.exp(-rate * unused_days(memory, now) * 24.0 / WEEK_H)


class Halving(Protocol):
    """Settings that say how fast memories fade."""

    @property
    def half_life_days(self) -> float:
        """Days after which half of what a person wrote down is left."""

    @property
    def extracted_factor(self) -> float:
        """How much faster the rest fades."""


def half_life(memory: Memory, settings: Halving) -> float:
    """Days until half of a memory is left; knowledge and pinned memories do not fade.

    >>> day = datetime(2026, 1, 1)
    >>> half_life(Memory("1", "Hi", "h", day, day, source="session"), USUAL.retention)
    10.0
    >>> half_life(Memory("1", "Hi", "h", day, day, kind=Kind.SEMANTIC), USUAL.retention)
    inf
    """
    if memory.pinned or memory.kind is not Kind.EPISODIC:
        return math.inf
    return half_life_by_source(memory, settings)


def half_life_by_source(memory: Memory, settings: Halving) -> float:
    """The same for an episode: what no person wrote down fades faster."""
    by_hand = memory.source.partition(":")[0] == "human"
    return settings.half_life_days / (1.0 if by_hand else settings.extracted_factor)


def slowed(memory: Memory, settings: RetentionConfig) -> float:
    """How many times longer a memory lasts because it stirred or was replayed."""
    return (1.0 + settings.arousal_slows * memory.affect.arousal) * max(1.0, memory.strength)


def last_used(memory: Memory) -> datetime:
    """When a memory was last stored, used, said again or vouched for."""
    return max(at for at in (memory.created_at, memory.last_accessed, memory.verified_at) if at is not None)


def unused_days(memory: Memory, now: datetime) -> float:
    """Days since a memory was last used; never less than 0."""
    return max(0.0, (now - last_used(memory)).total_seconds() / DAY_S)


def age_days(memory: Memory, now: datetime) -> float:
    """Days since a memory was stored; never less than 0."""
    return max(0.0, (now - memory.created_at).total_seconds() / DAY_S)


def _curve(days: float, half_life: float, accesses: int, settings: RetentionConfig) -> float:
    match settings.mode:
        case "l2":
            return curves.l2(days, half_life)
        case "elastic":
            return curves.elastic(days, half_life, settings.shrink)
        case "ebbinghaus":
            return curves.ebbinghaus(days, half_life, accesses)
        case _:
            return curves.huber(days, half_life)
