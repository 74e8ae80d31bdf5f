"""Heat, decay, the lifecycle state and the temperature: each threshold at, below and above."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.config import Config, LifecycleConfig
from engram.model.memory import Kind, Lifecycle, Memory, Status, Temperature, Usage, Verification
from engram.rules.importance import decay, heat, lifecycle_state, temperature, tier_move, value
from engram.rules.retention import retention

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory("1", "We met at the lake", "h", START, START)
LEDGER = Config(lifecycle=LifecycleConfig(unverified_days=60))


def after(days: float) -> datetime:
    return START + timedelta(days=days)


def test_heat_is_use_that_cools_by_half_each_week() -> None:
    memory = replace(PLAIN, usage=Usage(accessed=2))
    warm = 1 - math.exp(-1)
    assert [heat(memory, after(days)) for days in (0, 7, 14)] == pytest.approx([warm, warm / 2, warm / 4])
    assert heat(PLAIN, START) == 0.0


def test_decay_is_what_retention_has_lost() -> None:
    assert decay(PLAIN, after(30)) == pytest.approx(0.5)
    assert decay(replace(PLAIN, kind=Kind.SEMANTIC), after(3_000)) == 0.0


@pytest.mark.parametrize(
    ("fields", "days", "state"),
    [
        ({}, 0, Lifecycle.CANDIDATE),
        ({"usage": Usage(accessed=1)}, 0, Lifecycle.VALIDATED),
        ({"usage": Usage(helpful=1)}, 0, Lifecycle.VALIDATED),
        ({"usage": Usage(confirmed=1)}, 0, Lifecycle.VALIDATED),
        ({"verification": Verification.USER_CONFIRMED}, 0, Lifecycle.VALIDATED),
        # 1 - e^(-r/2) passes 0.55 between reinforcement 1.5 and 2.
        ({"usage": Usage(repeated=1)}, 0, Lifecycle.ACTIVE),
        ({"usage": Usage(accessed=2)}, 0, Lifecycle.ACTIVE),
        ({"usage": Usage(accessed=2)}, 2, Lifecycle.VALIDATED),
        ({"usage": Usage(accessed=2), "verification": Verification.DISPUTED}, 0, Lifecycle.CANDIDATE),
        ({"usage": Usage(accessed=2), "status": Status.CHALLENGED}, 0, Lifecycle.CANDIDATE),
        # Retention is 0.35 after 30 + 0.15 / (0.5 ln 2 / 30) = 42.98 days.
        ({}, 42.9, Lifecycle.CANDIDATE),
        ({}, 43.1, Lifecycle.STALE),
        ({"usage": Usage(confirmed=1)}, 43.1, Lifecycle.VALIDATED),
        ({"source": "session"}, 14.2, Lifecycle.CANDIDATE),
        ({"source": "session"}, 14.4, Lifecycle.STALE),
        ({"kind": Kind.SEMANTIC}, 3_000, Lifecycle.CANDIDATE),
        ({"pinned": True}, 3_000, Lifecycle.CANDIDATE),
    ],
)
def test_the_state_follows_from_use_age_and_doubt(
    fields: dict[str, Any], days: float, state: Lifecycle
) -> None:
    assert lifecycle_state(replace(PLAIN, **fields), after(days)) is state


@pytest.mark.parametrize(
    ("fields", "days", "stale"),
    [
        ({"kind": Kind.SEMANTIC, "category": "fact"}, 60, False),
        ({"kind": Kind.SEMANTIC, "category": "fact"}, 61, True),
        ({"kind": Kind.SEMANTIC, "category": "fact", "verified_at": after(30)}, 61, False),
        ({"kind": Kind.SEMANTIC, "category": "fact", "verified_at": after(30)}, 91, True),
        ({"kind": Kind.SEMANTIC, "category": "preference"}, 61, False),
        ({"kind": Kind.SEMANTIC, "category": "identity"}, 61, False),
        ({"kind": Kind.PROCEDURAL, "category": "fact"}, 61, False),
        ({"kind": Kind.SEMANTIC, "category": "fact", "pinned": True}, 61, False),
    ],
)
def test_a_fact_nobody_verified_again_goes_stale_where_that_is_asked_for(
    fields: dict[str, Any], days: float, stale: bool
) -> None:
    memory = replace(PLAIN, **fields)
    assert (lifecycle_state(memory, after(days), LEDGER) is Lifecycle.STALE) is stale
    assert lifecycle_state(memory, after(days)) is not Lifecycle.STALE


HOT_UNTIL = 30 * math.log2(1 / 0.8)
WARM_UNTIL = 30 + 0.1 / (0.5 * math.log(2) / 30)


@pytest.mark.parametrize(
    ("fields", "days", "found"),
    [
        ({}, 0, Temperature.HOT),
        ({}, HOT_UNTIL - 0.01, Temperature.HOT),
        ({}, HOT_UNTIL + 0.01, Temperature.WARM),
        ({}, WARM_UNTIL - 0.01, Temperature.WARM),
        ({}, WARM_UNTIL + 0.01, Temperature.COLD),
        ({"kind": Kind.SEMANTIC}, 3_000, Temperature.HOT),
        ({"source": "session", "last_accessed": after(20)}, 27, Temperature.HOT),
        ({"source": "session", "last_accessed": after(20)}, 27.1, Temperature.WARM),
        ({"status": Status.ARCHIVED}, 0, Temperature.FROZEN),
    ],
)
def test_the_temperature_follows_from_retention_and_use_this_week(
    fields: dict[str, Any], days: float, found: Temperature
) -> None:
    assert temperature(replace(PLAIN, **fields), after(days)) is found


def test_a_worthless_memory_leaves_the_hot_tier_once_it_is_old_enough() -> None:
    memory = replace(PLAIN, confidence=0.3, importance=0.3)
    assert value(memory, after(13.9)) <= 0.35
    assert not tier_move(memory, Temperature.HOT, after(13.9))
    gone = tier_move(memory, Temperature.HOT, after(14))
    assert (gone.yes, gone.rule) == (True, "hot to cold")
    assert not tier_move(PLAIN, Temperature.HOT, after(14))
    assert not tier_move(replace(memory, pinned=True, kind=Kind.EPISODIC), Temperature.HOT, after(60))


def test_a_memory_that_proves_its_worth_comes_back() -> None:
    memory = replace(PLAIN, confidence=0.9, importance=0.9)
    assert not tier_move(memory, Temperature.COLD, after(30))
    used = replace(memory, usage=Usage(accessed=20, helpful=2, confirmed=1), last_accessed=after(30))
    back = tier_move(used, Temperature.COLD, after(30))
    assert (back.yes, back.rule) == (True, "cold to hot")


def test_a_dispute_lowers_the_value_and_a_correction_raises_it() -> None:
    plain = value(PLAIN, START)
    assert value(replace(PLAIN, verification=Verification.DISPUTED), START) == pytest.approx(plain - 0.2)
    assert value(replace(PLAIN, category="correction"), START) == pytest.approx(plain + 0.05)


usages = st.builds(
    Usage,
    accessed=st.integers(0, 200),
    repeated=st.integers(0, 50),
    helpful=st.integers(0, 20),
    unhelpful=st.integers(0, 20),
)


@given(usages, st.floats(0, 1), st.floats(0, 1), st.floats(0, 2_000), st.floats(0, 2_000))
def test_time_alone_only_cools(
    usage: Usage, importance: float, confidence: float, one: float, more: float
) -> None:
    memory = replace(PLAIN, usage=usage, importance=importance, confidence=confidence)
    early, late = after(one), after(one + more)
    for measure in (heat, value, retention):
        assert 0.0 <= measure(memory, late) <= measure(memory, early) + 1e-9 <= 1.0 + 1e-9
    order = (Temperature.HOT, Temperature.WARM, Temperature.COLD)
    assert order.index(temperature(memory, late)) >= order.index(temperature(memory, early))


@given(usages, st.floats(0, 2_000))
def test_nothing_is_asked_to_leave_and_to_come_back_at_once(usage: Usage, days: float) -> None:
    memory = replace(PLAIN, usage=usage)
    out = tier_move(memory, Temperature.HOT, after(days))
    back = tier_move(memory, Temperature.COLD, after(days))
    assert not (out and back)
