"""Heat and decay: a memory and the time come in; how much it is in use and what that makes it comes out."""

from __future__ import annotations

import math
from datetime import datetime

from engram.config import Config
from engram.lifecycle import curves
from engram.lifecycle.curves import DAY_S
from engram.lifecycle.importance import decayed_importance, reinforcement
from engram.lifecycle.retention import age_days, retention, unused_days
from engram.lifecycle.traits import is_confirmed, is_disputed
from engram.model.axes import Kind, Lifecycle, Priority, Status, Temperature
from engram.model.memory import Memory
from engram.model.verdict import Verdict, no, yes

USUAL = Config()


def heat(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """How much a memory is in use, from 0 to 1: often and lately.

    >>> from datetime import UTC, timedelta
    >>> from engram.model.memory import Usage
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day, usage=Usage(accessed=4))
    >>> round(heat(memory, day), 2), round(heat(memory, day + timedelta(days=7)), 2)
    (0.86, 0.43)
    """
    settings = config.lifecycle
    used = 1.0 - math.exp(-reinforcement(memory, config) / settings.heat_uses)
    return used * curves.l2(unused_days(memory, now), settings.heat_days)


def decay(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """How far a memory has gone, from 0 to 1: what its retention has lost."""
    return 1.0 - retention(memory, now, config)


def lifecycle_state(memory: Memory, now: datetime, config: Config = USUAL) -> Lifecycle:
    """The policy's view of a memory.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day)
    >>> lifecycle_state(memory, day), lifecycle_state(memory, day + timedelta(days=60))
    (<Lifecycle.CANDIDATE: 'candidate'>, <Lifecycle.STALE: 'stale'>)
    """
    if _is_stale(memory, now, config):
        return Lifecycle.STALE
    if is_disputed(memory):
        return Lifecycle.CANDIDATE
    if heat(memory, now, config) >= config.lifecycle.active_heat:
        return Lifecycle.ACTIVE
    used = memory.usage.accessed or memory.usage.repeated or memory.usage.helpful
    return Lifecycle.VALIDATED if used or is_confirmed(memory) else Lifecycle.CANDIDATE


def temperature(memory: Memory, now: datetime, config: Config = USUAL) -> Temperature:
    """How precisely its vector is worth keeping.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day)
    >>> [temperature(memory, day + timedelta(days=days)).value for days in (0, 20, 60)]
    ['hot', 'warm', 'cold']
    """
    settings = config.lifecycle
    if memory.status is Status.ARCHIVED:
        return Temperature.FROZEN
    left = retention(memory, now, config)
    if left > settings.hot_retention or _used_within(memory, settings.hot_days, now):
        return Temperature.HOT
    return Temperature.WARM if left > settings.warm_retention else Temperature.COLD


def value(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """What a memory is worth to those who search, from 0 to 1: the measure of the hot and the cold tier."""
    opinions = memory.usage.helpful - memory.usage.unhelpful
    parts = (
        0.25 * memory.confidence,
        0.25 * decayed_importance(memory, now, config),
        0.20 * min(1.0, math.log1p(reinforcement(memory, config)) / math.log1p(20)),
        0.20 * retention(memory, now, config),
        0.10 * (0.5 + 0.5 * math.tanh(opinions / 2)),
        0.10 if is_confirmed(memory) else 0.0,
        0.05 if memory.category == "correction" else 0.0,
        -0.20 if is_disputed(memory) else 0.0,
    )
    return min(1.0, max(0.0, sum(parts)))


def tier_move(memory: Memory, held: Temperature, now: datetime, config: Config = USUAL) -> Verdict:
    """Whether a memory held hot or cold should change places; which way says the rule."""
    settings = config.lifecycle
    worth, age = value(memory, now, config), age_days(memory, now)
    if held is Temperature.HOT:
        if age < settings.cold_days:
            return no(f"age {age:.1f} days < {settings.cold_days:g}")
        if worth > settings.cold_value or memory.pinned:
            return no(f"value {worth:.2f} > {settings.cold_value:g}" if not memory.pinned else "pinned")
        return yes("hot to cold", f"value {worth:.2f} <= {settings.cold_value:g}, age {age:.0f} days")
    if worth >= settings.hot_value:
        return yes("cold to hot", f"value {worth:.2f} >= {settings.hot_value:g}")
    return no(f"value {worth:.2f} < {settings.hot_value:g}")


LASTING = frozenset(
    {
        "preference",
        "principle",
        "identity",
        "relationship",
        "procedure",
        "person",
        "constraint",
        "instruction",
    }
)
"""Categories that do not grow old for want of a second look; standing rules are among them."""


def _is_stale(memory: Memory, now: datetime, config: Config) -> bool:
    settings = config.lifecycle
    if settings.unverified_days and _grows_old(memory):
        seen = memory.verified_at or memory.created_at
        if (now - seen).total_seconds() > settings.unverified_days * DAY_S:
            return True
    return not is_confirmed(memory) and decay(memory, now, config) >= settings.stale_decay


def _grows_old(memory: Memory) -> bool:
    held = memory.pinned or memory.kind is Kind.PROCEDURAL or memory.priority is Priority.P0
    return not held and memory.category not in LASTING


def _used_within(memory: Memory, days: float, now: datetime) -> bool:
    return memory.last_accessed is not None and (now - memory.last_accessed).total_seconds() <= days * DAY_S
