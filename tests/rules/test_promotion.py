"""Promotion, expiry and demotion: each threshold at, below and above."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.config import Config, load
from engram.errors import NoFurtherLayer
from engram.model.memory import Kind, Layer, Memory, Policy, Priority, Usage
from engram.rules.promotion import (
    buffer_expiry,
    buffer_immune,
    buffer_rescue,
    buffer_verdict,
    core_candidate,
    demotion,
    next_try,
    semantic_candidate,
    step_layer,
)
from engram.rules.traits import protected
from tests.tables import every

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory("1", "We met at the lake", "h", START, START, source="session", details={"turns": ["t1"]})
LESSON = replace(PLAIN, tags=("lesson",))
PROCEDURE = replace(PLAIN, kind=Kind.PROCEDURAL)
WORKING = replace(PLAIN, layer=Layer.WORKING, importance=0.8)


def after(**span: float) -> datetime:
    return START + timedelta(**span)


def used(memory: Memory, accessed: int = 0, repeated: int = 0, at: datetime = START) -> Memory:
    return replace(memory, usage=Usage(accessed=accessed, repeated=repeated), last_accessed=at)


@every(
    ("memory", "hours", "rule"),
    [
        (used(PLAIN, 4), 1, ""),
        (used(PLAIN, 5), 1, "buffer reinforced"),
        (used(PLAIN, 6), 1, "buffer reinforced"),
        (used(PLAIN, 1, repeated=1), 1, ""),
        (used(PLAIN, 0, repeated=2), 1, "buffer reinforced"),
        (LESSON, 1.99, ""),
        (LESSON, 2, "lesson"),
        (PROCEDURE, 1.99, ""),
        (PROCEDURE, 2, "lesson"),
        (replace(LESSON, tags=("lesson", "distilled")), 2, ""),
        (used(replace(PLAIN, layer=Layer.WORKING), 9), 1, ""),
        (used(PLAIN, 2), 24, ""),
    ],
)
def test_who_leaves_the_buffer(memory: Memory, hours: float, rule: str) -> None:
    verdict = buffer_verdict(memory, after(hours=hours))
    assert (verdict.rule, verdict.yes) == (rule, bool(rule))
    assert verdict.why


@every(
    ("memory", "minutes", "rule"),
    [
        (PLAIN, 29.9, ""),
        (PLAIN, 30, "buffer aged"),
        (used(PLAIN, 1), 1, ""),
        (used(PLAIN, 2), 1, "buffer used"),
        (used(PLAIN, 3), 1, "buffer used"),
    ],
)
def test_with_the_numbers_of_retention_half_an_hour_or_two_uses_are_enough(
    memory: Memory, minutes: float, rule: str
) -> None:
    config = load(environment={}, preset="retention")
    assert buffer_verdict(memory, after(minutes=minutes), config).rule == rule


@every(
    ("memory", "hours", "triaged", "expires"),
    [
        (PLAIN, 24, True, False),
        (PLAIN, 24.1, True, True),
        (PLAIN, 24.1, False, False),
        (PLAIN, 48, False, False),
        (PLAIN, 48.1, False, True),
        (LESSON, 500, True, False),
        (PROCEDURE, 500, True, False),
        (replace(PLAIN, pinned=True), 500, True, False),
        (replace(PLAIN, policy=Policy.PROTECTED), 500, True, False),
        (replace(PLAIN, priority=Priority.P1), 500, True, False),
        (replace(PLAIN, category="correction"), 500, True, False),
        (replace(PLAIN, layer=Layer.WORKING), 500, True, False),
        (replace(PLAIN, importance=0.69), 24.1, True, True),
        (replace(PLAIN, importance=0.70), 24.1, True, False),
        (used(PLAIN, 2), 24.1, True, True),
        (used(PLAIN, 0, repeated=1), 24.1, True, False),
    ],
)
def test_who_expires_in_the_buffer(memory: Memory, hours: float, triaged: bool, expires: bool) -> None:
    verdict = buffer_expiry(memory, after(hours=hours), triaged=triaged)
    assert verdict.yes is expires
    assert verdict.why


@every(
    ("memory", "hours", "rescued"),
    [
        (used(PLAIN, 2), 24.1, False),
        (used(PLAIN, 3), 24.1, True),
        (used(PLAIN, 0, repeated=1), 24.1, True),
        (used(PLAIN, 0, repeated=1), 24, False),
        (replace(PLAIN, importance=0.69), 24.1, False),
        (replace(PLAIN, importance=0.70), 24.1, True),
        (replace(PLAIN, importance=0.71), 24.1, True),
        (replace(PLAIN, priority=Priority.P1), 24.1, True),
        (replace(PLAIN, priority=Priority.P0), 24, False),
        (replace(PLAIN, category="decision"), 24.1, True),
        (replace(PLAIN, importance=0.9, layer=Layer.CORE), 24.1, False),
        (replace(LESSON, importance=0.9), 24.1, False),
    ],
)
def test_who_is_rescued_when_its_time_is_over(memory: Memory, hours: float, rescued: bool) -> None:
    assert buffer_rescue(memory, after(hours=hours)).yes is rescued


@given(
    st.integers(0, 10),
    st.integers(0, 5),
    st.floats(0, 1),
    st.floats(0, 200),
    st.booleans(),
    st.sampled_from(
        [PLAIN, LESSON, PROCEDURE, replace(PLAIN, pinned=True), replace(PLAIN, priority=Priority.P1)]
    ),
)
def test_nothing_is_rescued_and_expired_at_once_and_what_is_protected_never_expires(
    accessed: int, repeated: int, importance: float, hours: float, triaged: bool, memory: Memory
) -> None:
    memory = used(replace(memory, importance=importance), accessed, repeated)
    expired = buffer_expiry(memory, after(hours=hours), triaged=triaged)
    assert not (expired and buffer_rescue(memory, after(hours=hours)))
    assert not (expired and (buffer_immune(memory) or protected(memory)))
    assert not (expired and buffer_verdict(memory, after(hours=hours)))


@every(
    ("memory", "days", "candidate"),
    [
        (used(WORKING, 2), 0, False),
        (used(WORKING, 3), 0, True),
        (used(WORKING, 4), 0, True),
        (used(WORKING, 0, repeated=1), 0, False),
        (used(WORKING, 1, repeated=1), 0, True),
        (used(WORKING, 1, at=after(days=7)), 7, False),
        (used(WORKING, 1, at=after(days=7)), 7.1, True),
        (WORKING, 7.1, False),
        (used(replace(WORKING, importance=0.59), 3), 0, False),
        (used(replace(WORKING, importance=0.60), 3), 0, True),
        # 0.8 is down to 0.6 after four days without use, and to 0.55 after five.
        (used(WORKING, 3), 4, True),
        (used(WORKING, 3), 5, False),
        (used(replace(WORKING, tags=("session",)), 3), 0, False),
        (used(replace(WORKING, tags=("ephemeral",)), 3), 0, False),
        (used(replace(WORKING, policy=Policy.EPHEMERAL), 3), 0, False),
        (used(replace(WORKING, tags=("distilled",)), 3), 0, False),
        (used(replace(WORKING, tags=("auto-distilled",)), 3), 0, False),
        (used(replace(WORKING, layer=Layer.BUFFER), 3), 0, False),
        (used(replace(WORKING, layer=Layer.CORE), 3), 0, False),
    ],
)
def test_who_may_ask_for_the_core(memory: Memory, days: float, candidate: bool) -> None:
    verdict = core_candidate(memory, after(days=days))
    assert verdict.yes is candidate
    assert verdict.why


@every(("rejections", "hours"), [(0, 0), (1, 24), (2, 72)])
def test_the_gate_is_asked_again_later_each_time(rejections: int, hours: float) -> None:
    assert next_try(rejections, START) == after(hours=hours)


@every("rejections", [3, 4, 100])
def test_after_the_third_rejection_the_gate_is_never_asked_again(rejections: int) -> None:
    assert next_try(rejections, START) is None


@every(
    ("importance", "accessed", "kind", "becomes"),
    [
        (0.69, 5, Kind.EPISODIC, False),
        (0.70, 5, Kind.EPISODIC, True),
        (0.70, 4, Kind.EPISODIC, False),
        (0.71, 6, Kind.EPISODIC, True),
        (0.90, 9, Kind.SEMANTIC, False),
        (0.90, 9, Kind.PROCEDURAL, False),
    ],
)
def test_an_episode_that_matters_and_is_used_becomes_knowledge(
    importance: float, accessed: int, kind: Kind, becomes: bool
) -> None:
    memory = used(replace(PLAIN, importance=importance, kind=kind), accessed)
    assert semantic_candidate(memory, START).yes is becomes


@every(
    ("fields", "rejections", "rule"),
    [
        ({"layer": Layer.CORE}, 0, ""),
        ({"layer": Layer.CORE, "tags": ("session",)}, 0, "core hygiene"),
        ({"layer": Layer.CORE, "tags": ("ephemeral",)}, 0, "core hygiene"),
        ({"layer": Layer.CORE, "policy": Policy.EPHEMERAL}, 0, "core hygiene"),
        ({"layer": Layer.CORE, "tags": ("session",), "pinned": True}, 0, ""),
        ({"layer": Layer.CORE, "tags": ("session",), "policy": Policy.PROTECTED}, 0, ""),
        ({"layer": Layer.WORKING, "tags": ("session",)}, 0, ""),
        ({"layer": Layer.WORKING}, 2, ""),
        ({"layer": Layer.WORKING}, 3, "rejected"),
        ({"layer": Layer.WORKING, "source": "human"}, 3, ""),
        ({"layer": Layer.WORKING, "source": "agent"}, 3, ""),
        ({"layer": Layer.WORKING, "priority": Priority.P1}, 3, ""),
        ({"layer": Layer.BUFFER}, 3, ""),
    ],
)
def test_who_falls_by_one_layer(fields: dict[str, Any], rejections: int, rule: str) -> None:
    verdict = demotion(replace(PLAIN, **fields), rejections=rejections)
    assert (verdict.yes, verdict.rule) == (bool(rule), rule)


def test_the_threshold_of_rejections_can_be_turned() -> None:
    layers = load(environment={}, preset="layers")
    memory = replace(PLAIN, layer=Layer.WORKING)
    assert demotion(memory, layers, rejections=1)
    assert not demotion(memory, Config(), rejections=1)


@every(
    ("layer", "up", "to"),
    [
        (Layer.BUFFER, True, Layer.WORKING),
        (Layer.WORKING, True, Layer.CORE),
        (Layer.CORE, False, Layer.WORKING),
        (Layer.WORKING, False, Layer.BUFFER),
    ],
)
def test_by_hand_it_is_one_layer_at_a_time(layer: Layer, up: bool, to: Layer) -> None:
    assert step_layer(replace(PLAIN, layer=layer), up=up) is to


@every(("layer", "up", "verb"), [(Layer.CORE, True, "promote"), (Layer.BUFFER, False, "demote")])
def test_at_the_ends_there_is_no_further_layer(layer: Layer, up: bool, verb: str) -> None:
    with pytest.raises(NoFurtherLayer, match="E2024") as refused:
        step_layer(replace(PLAIN, layer=layer), up=up)
    assert (refused.value.layer, refused.value.verb) == (layer.name.lower(), verb)


def test_a_verdict_tells_its_numbers() -> None:
    assert buffer_verdict(used(PLAIN, 5), START).why == "reinforcement 5.0 >= 5"
    assert buffer_verdict(used(PLAIN, 4), START).why == "reinforcement 4.0 < 5"
