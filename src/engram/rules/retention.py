"""Retention: a memory and the time come in; how much of it is left, and how strong it is, come out.

Time counts from its last use. The stored `strength` of a memory is its *hold*: 1 at first, more with each
replay while the engine dreams. What is worked out here is never written back: it is true for one moment.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Final

from engram.config import Config, RetentionConfig
from engram.model.memory import Kind, Layer, Memory
from engram.rules.traits import by_layers

EXTRACTED_FACTOR = 3.0  # how much faster goes what no person wrote down (retention)
SHRINK = 0.1  # elastic: share of what is gone that is taken off again, so that weak ones end
ACCESS_GAIN = 0.1  # retention for each e-fold of uses (retention)
ACCESS_LIMIT = 0.3  # retention that uses can bring at most (retention)
SPACING_GAIN = 0.3  # share more for each e-fold of distinct sessions (cortex)
AROUSAL_SLOWS = 1.0  # how much longer a memory lasts that stirred, by its arousal (cortex)
AROUSAL_STRENGTH = 0.5  # initial strength more, by arousal (cortex)
REPLAY_GAIN = 0.2  # hold that a replay adds (cortex)
MOST_HELD = 3.0  # hold that replays can reach

# ---------------------------------------------------------------- curves
# The curves of forgetting: an age and a half-life come in, the share that is left comes out.
#
# All start at 1 and stand at one half (elastic: a little under it) after one half-life. An infinite half-
# life is no forgetting at all.


DAY_S = 86_400.0


def l2(age_days: float, half_life: float) -> float:
    """Halves again and again; the tail is long.

    >>> l2(0, 30), l2(30, 30), l2(60, 30)
    (1.0, 0.5, 0.25)
    """
    return float(2.0 ** (-max(0.0, age_days) / half_life))


def huber(age_days: float, half_life: float) -> float:
    """Halves once within the half-life, then goes down in a straight line to nothing.

    >>> huber(0, 30), huber(30, 30), huber(30, math.inf), huber(90, 30)
    (1.0, 0.5, 1.0, 0.0)
    """
    if age_days <= half_life:
        return l2(age_days, half_life)
    slope = 0.5 * math.log(2) / half_life
    return max(0.0, 0.5 - slope * (age_days - half_life))


def elastic(age_days: float, half_life: float, shrink: float = 0.1) -> float:
    """Loses more the less is left: what is strong stays about as it is, what is weak ends at 0.

    >>> elastic(0, 30), round(elastic(30, 30), 3), elastic(120, 30)
    (1.0, 0.45, 0.0)
    """
    left = l2(age_days, half_life)
    return max(0.0, left - shrink * (1.0 - left))


def ebbinghaus(age_days: float, half_life: float, accesses: int = 0) -> float:
    """Falls like l2, but ever more slowly the more often a memory was used.

    >>> round(ebbinghaus(30, 30), 6), round(ebbinghaus(30, 30, accesses=6), 3)
    (0.5, 0.79)
    """
    tau = half_life / math.log(2) * (1.0 + math.log1p(accesses))
    return math.exp(-max(0.0, age_days) / tau)


def reinforced(left: float, accesses: int, gain: float = ACCESS_GAIN, limit: float = ACCESS_LIMIT) -> float:
    """What is left once uses have brought some back, each with less effect than the one before.

    >>> round(reinforced(0.5, 1), 3), reinforced(0.5, 1_000), reinforced(0.9, 1_000)
    (0.569, 0.8, 1.0)
    """
    return min(1.0, left + min(limit, gain * math.log1p(accesses)))


def freshness(age_days: float, half_life: float, accesses: int = 0) -> float:
    """How fresh a memory is in the eyes of a recall: huber with what its uses bring back.

    >>> freshness(30, 30) < freshness(30, 30, accesses=5) <= 1.0
    True
    """
    return reinforced(huber(age_days, half_life), accesses)


USUAL = Config()
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
    days = half_life(memory, settings) * slowed(memory)
    left = _curve(unused_days(memory, now), days, memory.usage.accessed, settings)
    spaced = left * (1.0 + SPACING_GAIN * math.log(max(1, memory.usage.sessions)))
    return reinforced(min(1.0, spaced), memory.usage.accessed, ACCESS_GAIN, ACCESS_LIMIT)


LAYER_RATES: Final[Mapping[Layer, float]] = MappingProxyType(
    {Layer.BUFFER: 5.0, Layer.WORKING: 1.0, Layer.CORE: 0.05}
)
PROCEDURAL_RATE: Final = 0.01
"""How quickly a memory grows old in *layers*."""
WEEK_HOURS: Final = 168


def layer_recency(memory: Memory, now: datetime) -> float:
    """How fresh a memory is in *layers*: by the rate of its layer, since it was last used."""
    rate = PROCEDURAL_RATE if memory.kind is Kind.PROCEDURAL else LAYER_RATES[memory.layer]
    return math.exp(-rate * max(0.0, unused_days(memory, now)) * 24 / WEEK_HOURS)


def strength(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """How strong a memory is: what it began with, held by its replays, as far as it is left.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met at the lake", "h", day, day)
    >>> strength(memory, day), strength(memory, day + timedelta(days=30))
    (1.0, 0.5)
    """
    if by_layers(config):
        return 1.0 if memory.layer is Layer.CORE else memory.importance * layer_recency(memory, now)
    return initial_strength(memory) * memory.strength * retention(memory, now, config)


def initial_strength(memory: Memory) -> float:
    """What a memory begins with: 1 for one of ordinary importance, more when it stirred.

    >>> day = datetime(2026, 1, 1)
    >>> initial_strength(Memory("1", "Hi", "h", day, day, importance=0.9))
    1.4
    """
    stirred = 1.0 + AROUSAL_STRENGTH * memory.affect.arousal
    return stirred * (1.0 + memory.importance - ORDINARY)


def replayed(memory: Memory) -> float:
    """The hold of a memory after one more replay, to be stored as its `strength`.

    >>> day = datetime(2026, 1, 1)
    >>> replayed(Memory("1", "Hi", "h", day, day)), replayed(Memory("1", "Hi", "h", day, day, strength=2.95))
    (1.2, 3.0)
    """
    return max(memory.strength, min(MOST_HELD, memory.strength + REPLAY_GAIN))


def half_life(memory: Memory, settings: RetentionConfig) -> float:
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


def half_life_by_source(memory: Memory, settings: RetentionConfig) -> float:
    """The same for an episode: what no person wrote down fades faster."""
    by_hand = memory.source.partition(":")[0] == "human"
    return settings.half_life_days / (1.0 if by_hand else EXTRACTED_FACTOR)


def slowed(memory: Memory) -> float:
    """How many times longer a memory lasts because it stirred or was replayed."""
    return (1.0 + AROUSAL_SLOWS * memory.affect.arousal) * max(1.0, memory.strength)


def last_used(memory: Memory) -> datetime:
    """When a memory was last stored, used, said again or vouched for."""
    stored = memory.created_at
    return max(stored, memory.last_accessed or stored, memory.verified_at or stored)


def unused_days(memory: Memory, now: datetime) -> float:
    """Days since a memory was last used; never less than 0."""
    return max(0.0, (now - last_used(memory)).total_seconds() / DAY_S)


def age_days(memory: Memory, now: datetime) -> float:
    """Days since a memory was stored; never less than 0."""
    return max(0.0, (now - memory.created_at).total_seconds() / DAY_S)


def _curve(days: float, half_life: float, accesses: int, settings: RetentionConfig) -> float:
    match settings.mode:
        case "l2":
            return l2(days, half_life)
        case "elastic":
            return elastic(days, half_life, SHRINK)
        case "ebbinghaus":
            return ebbinghaus(days, half_life, accesses)
        case _:
            return huber(days, half_life)
