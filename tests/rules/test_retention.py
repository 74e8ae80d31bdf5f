"""How much of a memory is left, and how strong it is."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.config import CURVES, Config, RetentionConfig
from engram.model.memory import Affect, Kind, Memory, Usage
from engram.rules.retention import (
    age_days,
    half_life,
    initial_strength,
    last_used,
    replayed,
    retention,
    strength,
    unused_days,
)
from tests.tables import every

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory("1", "We met at the lake", "h", START, START)
shares = st.floats(0, 1)


def after(days: float) -> datetime:
    return START + timedelta(days=days)


def shaped(mode: str) -> Config:
    return Config(retention=RetentionConfig(mode=mode))


@every(
    ("fields", "days"),
    [
        ({}, 30.0),
        ({"source": "human"}, 30.0),
        ({"source": "session"}, 10.0),
        ({"source": "agent"}, 10.0),
        ({"source": "task:nightly"}, 10.0),
        ({"kind": Kind.SEMANTIC}, math.inf),
        ({"kind": Kind.PROCEDURAL}, math.inf),
        ({"kind": Kind.CODEBASE, "source": "codebase"}, math.inf),
        ({"pinned": True}, math.inf),
    ],
)
def test_a_memory_halves_by_who_wrote_it_and_what_it_is(fields: dict[str, Any], days: float) -> None:
    memory = replace(PLAIN, **fields)
    assert half_life(memory, RetentionConfig()) == days
    assert retention(memory, after(min(days, 10_000))) == pytest.approx(0.5 if days < math.inf else 1.0)


@every(("mode", "left"), [("l2", 0.25), ("huber", 0.1534), ("elastic", 0.175), ("ebbinghaus", 0.25)])
def test_the_mode_is_the_shape_of_the_curve(mode: str, left: float) -> None:
    assert retention(PLAIN, after(60), shaped(mode)) == pytest.approx(left, abs=1e-4)


def test_each_use_brings_some_back_and_less_than_the_one_before() -> None:
    left = [retention(replace(PLAIN, usage=Usage(accessed=n)), after(30)) for n in (0, 1, 2, 100)]
    assert left == pytest.approx([0.5, 0.5 + 0.1 * math.log(2), 0.5 + 0.1 * math.log(3), 0.8])


def test_uses_of_several_sessions_hold_better_than_as_many_of_one() -> None:
    massed = replace(PLAIN, usage=Usage(accessed=4, sessions=1))
    spaced = replace(PLAIN, usage=Usage(accessed=4, sessions=4))
    gain = retention(spaced, after(30)) - retention(massed, after(30))
    assert gain == pytest.approx(0.5 * 0.3 * math.log(4))


@every("mode", CURVES)
def test_what_stirred_lasts_longer_by_its_arousal(mode: str) -> None:
    config = shaped(mode)
    stirred = replace(PLAIN, affect=Affect(arousal=0.7))
    for days in (10, 30, 50):
        assert retention(stirred, after(1.7 * days), config) == pytest.approx(
            retention(PLAIN, after(days), config)
        )


def test_time_counts_from_the_last_use_or_confirmation() -> None:
    used = replace(PLAIN, last_accessed=after(20))
    vouched = replace(used, verified_at=after(25))
    assert (last_used(PLAIN), last_used(used), last_used(vouched)) == (START, after(20), after(25))
    assert retention(used, after(50)) == pytest.approx(0.5)
    assert unused_days(vouched, after(30)) == 5.0
    assert age_days(vouched, after(30)) == 30.0


def test_a_clock_that_went_back_makes_nothing_younger_than_new() -> None:
    assert retention(PLAIN, START - timedelta(days=3)) == 1.0
    assert unused_days(PLAIN, START - timedelta(days=3)) == 0.0


@every(
    ("importance", "arousal", "begins"),
    [(0.5, 0.0, 1.0), (0.5, 1.0, 1.5), (1.0, 0.0, 1.5), (0.0, 0.0, 0.5), (1.0, 1.0, 2.25)],
)
def test_strength_begins_by_importance_and_arousal(importance: float, arousal: float, begins: float) -> None:
    memory = replace(PLAIN, importance=importance, affect=Affect(arousal=arousal))
    assert initial_strength(memory) == pytest.approx(begins)
    assert strength(memory, START) == pytest.approx(begins)


def test_replays_raise_the_hold_until_it_is_full() -> None:
    memory = PLAIN
    held = []
    for _ in range(12):
        memory = replace(memory, strength=replayed(memory))
        held.append(memory.strength)
    assert held[:3] == pytest.approx([1.2, 1.4, 1.6])
    assert held[-1] == 3.0


def test_a_replayed_memory_outlives_its_twin_by_a_quarter_at_least() -> None:
    twice = replace(PLAIN, strength=1.4)
    assert last_day(twice, 0.05) >= 1.25 * last_day(PLAIN, 0.05)


def test_a_memory_that_stirred_outlives_a_neutral_one_by_two_fifths_at_least() -> None:
    stirred = replace(PLAIN, affect=Affect(arousal=0.7))
    assert last_day(stirred, 0.05) >= 1.4 * last_day(PLAIN, 0.05)


def last_day(memory: Memory, threshold: float) -> int:
    return next(day for day in range(10_000) if strength(memory, after(day)) < threshold)


memories = st.builds(
    lambda source, kind, arousal, usage, held, importance: replace(
        PLAIN,
        source=source,
        kind=kind,
        affect=Affect(arousal=arousal),
        usage=usage,
        strength=held,
        importance=importance,
    ),
    st.sampled_from(["human", "session", "agent"]),
    st.sampled_from(list(Kind)),
    shares,
    st.builds(Usage, accessed=st.integers(0, 1_000), sessions=st.integers(0, 100)),
    st.floats(0, 3),
    shares,
)


@given(memories, st.floats(0, 5_000), st.floats(0, 5_000), st.sampled_from(CURVES))
def test_time_alone_never_brings_anything_back(memory: Memory, one: float, more: float, mode: str) -> None:
    config = shaped(mode)
    before, later = retention(memory, after(one), config), retention(memory, after(one + more), config)
    assert 0.0 <= later <= before + 1e-12 <= 1.0 + 1e-12
    assert 0.0 <= strength(memory, after(one + more), config) <= strength(memory, after(one), config) + 1e-12


@given(memories, st.floats(0, 5_000), st.sampled_from(CURVES))
def test_one_more_use_never_hurts(memory: Memory, days: float, mode: str) -> None:
    used = replace(memory, usage=replace(memory.usage, accessed=memory.usage.accessed + 1))
    assert retention(used, after(days), shaped(mode)) >= retention(memory, after(days), shaped(mode)) - 1e-12
