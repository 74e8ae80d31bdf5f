"""Heat, decay and the lifecycle state: each threshold at, below and above."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.config import Config, ForgettingConfig
from engram.model.memory import Kind, Lifecycle, Memory, Status, Usage, Verification
from engram.rules.importance import decay, heat, lifecycle_state
from engram.rules.retention import retention
from tests.tables import every

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory("1", "We met at the lake", "h", START, START)
LEDGER = Config(forgetting=ForgettingConfig(unverified_days=60))


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


@every(
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


@every(
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
    for measure in (heat, retention):
        assert 0.0 <= measure(memory, late) <= measure(memory, early) + 1e-9 <= 1.0 + 1e-9
