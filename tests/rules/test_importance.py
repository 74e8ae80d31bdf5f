"""How much a memory matters now: nine factors, and what disuse takes off."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.model.memory import Affect, Kind, Layer, Memory, Policy, Priority, Usage, Verification
from engram.rules.importance import (
    WEIGHTS,
    Importance,
    activation,
    comes_to_mind,
    decayed_importance,
    effective_importance,
    reinforcement,
    stability,
)
from tests.tables import every

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory("1", "We met at the lake", "h", START, START)


def after(days: float) -> datetime:
    return START + timedelta(days=days)


@every(("accessed", "repeated", "earned"), [(0, 0, 0), (3, 0, 3), (0, 1, 2.5), (0, 2, 5), (4, 2, 9)])
def test_being_said_again_counts_two_and_a_half_times_as_much_as_being_used(
    accessed: int, repeated: int, earned: float
) -> None:
    assert reinforcement(replace(PLAIN, usage=Usage(accessed=accessed, repeated=repeated))) == earned


@every(
    ("days", "left"),
    [(0, 0.6), (0.99, 0.6), (1, 0.55), (1.99, 0.55), (2, 0.5), (6, 0.3), (7, 0.3), (500, 0.3)],
)
def test_a_twentieth_goes_each_whole_day_without_use_down_to_the_floor(days: float, left: float) -> None:
    assert decayed_importance(replace(PLAIN, importance=0.6), after(days)) == pytest.approx(left)


def test_what_is_under_the_floor_stays_where_it_is() -> None:
    assert decayed_importance(replace(PLAIN, importance=0.2), after(50)) == 0.2


def test_use_gives_back_what_disuse_took() -> None:
    memory = replace(PLAIN, importance=0.6)
    assert decayed_importance(memory, after(5)) == pytest.approx(0.35)
    assert decayed_importance(replace(memory, last_accessed=after(5)), after(5)) == 0.6


@every(
    "fields",
    [
        {"pinned": True},
        {"policy": Policy.PROTECTED},
        {"kind": Kind.PROCEDURAL},
        {"priority": Priority.P0},
        {"priority": Priority.P1},
        {"category": "decision"},
    ],
)
def test_what_is_protected_loses_nothing(fields: dict[str, Any]) -> None:
    assert decayed_importance(replace(PLAIN, importance=0.9, **fields), after(365)) == 0.9


@every(
    ("factor", "low", "high"),
    [
        ("base", {"importance": 0.4}, {"importance": 0.9}),
        ("frequency", {}, {"usage": Usage(accessed=10)}),
        ("recency", {}, {"last_accessed": after(9)}),
        ("emotion", {}, {"affect": Affect(valence=-0.8)}),
        ("emotion", {}, {"affect": Affect(arousal=0.8)}),
        ("layer", {"layer": Layer.BUFFER}, {"layer": Layer.WORKING}),
        ("layer", {"layer": Layer.WORKING}, {"layer": Layer.CORE}),
        ("layer", {}, {"kind": Kind.SEMANTIC}),
        ("trust", {"trust": 0.5}, {"trust": 1.0}),
        ("confirmations", {}, {"usage": Usage(confirmed=1)}),
        ("confirmations", {}, {"verification": Verification.USER_CONFIRMED}),
        ("activation", {}, {"usage": Usage(accessed=10)}),
    ],
)
def test_each_factor_moves_the_whole_and_nothing_else_that_it_should_not(
    factor: str, low: dict[str, Any], high: dict[str, Any]
) -> None:
    one = effective_importance(replace(PLAIN, **low), [], after(10))
    other = effective_importance(replace(PLAIN, **high), [], after(10))
    assert getattr(one, factor) < getattr(other, factor)
    assert one.total < other.total


def test_the_whole_is_the_weighted_sum_of_its_factors() -> None:
    usage = Usage(accessed=3, confirmed=2)
    memory = replace(PLAIN, usage=usage, affect=Affect(valence=0.5), last_accessed=after(3))
    found = effective_importance(memory, [after(1), after(2), after(3)], after(4))
    assert found.total == pytest.approx(sum(WEIGHTS[name] * getattr(found, name) for name in WEIGHTS))
    assert "base 0.45" in found.told()
    assert "total" not in found.told()


def test_the_nine_weights_are_those_of_the_factors_and_sum_to_one() -> None:
    assert [*WEIGHTS, "total"] == list(Importance.__slots__)
    assert sum(WEIGHTS.values()) == pytest.approx(1.0)


def test_activation_is_the_logarithm_of_a_sum_over_uses() -> None:
    now = after(10)
    hours = (240.0, 24.0, 48.0)
    used = [after(9), after(8)]
    memory = replace(PLAIN, usage=Usage(accessed=2))
    assert activation(memory, used, now) == pytest.approx(math.log(sum(h**-0.5 for h in hours)))


def test_uses_whose_times_are_gone_count_as_spread_over_the_memory_s_life() -> None:
    now = after(40)
    even = [after(day + 0.5) for day in range(40)]
    memory = replace(PLAIN, usage=Usage(accessed=40))
    assert activation(memory, [], now) == pytest.approx(activation(memory, even, now), abs=0.15)


def test_activation_falls_with_time_and_rises_with_use() -> None:
    assert activation(PLAIN, [], after(1)) > activation(PLAIN, [], after(2))
    assert activation(PLAIN, [after(1)], after(2)) > activation(PLAIN, [], after(2))
    assert 0.0 < comes_to_mind(activation(PLAIN, [], after(3_650))) < 0.1


def test_a_use_this_very_moment_is_no_infinite_activation() -> None:
    assert math.isfinite(activation(PLAIN, [START], START))


def test_clockwork_is_stable_and_a_burst_is_not() -> None:
    regular = [after(day) for day in (7, 14, 21, 28)]
    burst = [after(20 + minute / 1_440) for minute in range(8)]
    assert stability(regular, PLAIN) == pytest.approx(1.0)
    assert stability(burst, PLAIN) < 0.3
    assert stability([], PLAIN) == 0.0
    assert stability([START, START], PLAIN) == 0.0


def test_with_too_few_times_several_sessions_speak_for_regularity() -> None:
    assert stability([], replace(PLAIN, usage=Usage(accessed=4, sessions=4))) == 0.5
    assert stability([], replace(PLAIN, usage=Usage(accessed=4, sessions=1))) == 0.125


shares = st.floats(0, 1)
memories = st.builds(
    lambda importance, trust, usage, valence, arousal, layer: replace(
        PLAIN,
        importance=importance,
        trust=trust,
        usage=usage,
        affect=Affect(valence=valence, arousal=arousal),
        layer=layer,
    ),
    shares,
    shares,
    st.builds(Usage, accessed=st.integers(0, 500), sessions=st.integers(0, 50), confirmed=st.integers(0, 50)),
    st.floats(-1, 1),
    shares,
    st.sampled_from(list(Layer)),
)
days = st.floats(0, 3_000)


@given(memories, days, st.lists(days, max_size=20))
def test_every_factor_stays_within_its_bounds(memory: Memory, age: float, uses: list[float]) -> None:
    found = effective_importance(memory, [after(min(one, age)) for one in uses], after(age))
    assert all(0.0 <= getattr(found, name) <= 1.0 + 1e-9 for name in Importance.__slots__)


@given(memories, days, days)
def test_time_alone_never_makes_a_memory_more_important(memory: Memory, one: float, more: float) -> None:
    assert decayed_importance(memory, after(one + more)) <= decayed_importance(memory, after(one))
    before, later = (effective_importance(memory, [], after(at)).total for at in (one, one + more))
    assert later <= before + 1e-9
