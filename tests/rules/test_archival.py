"""Who goes to the archive and who never does: each threshold at, below and above."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engram.config import PRESETS, Config, ForgettingConfig, load
from engram.model.memory import Affect, Kind, Memory, Policy, Priority, Status, Usage, Verification
from engram.rules.archival import archive_verdict, purge_due
from engram.rules.retention import retention, strength
from engram.rules.traits import protected, resolved_at
from tests.tables import every

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory("1", "It rained on the way", "h", START, START, importance=0.2, trust=0.5)
FADED_ONLY = Config(forgetting=ForgettingConfig(strength_below=0, importance_kind="stored"))
"""The rule of four conditions alone, by the importance a memory has by itself."""
OVER = {"state": "done", "closed_at": (START + timedelta(days=10)).isoformat()}
PROMISE = replace(PLAIN, category="commitment", priority=Priority.P1, importance=0.8, details=OVER)


def after(days: float) -> datetime:
    return START + timedelta(days=days)


@every(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"pinned": True}, "pinned"),
        ({"policy": Policy.PROTECTED}, "policy protected"),
        ({"policy": Policy.EPHEMERAL}, ""),
        ({"kind": Kind.PROCEDURAL}, "procedural"),
        ({"kind": Kind.SEMANTIC}, ""),
        ({"priority": Priority.P0}, "priority P0"),
        ({"priority": Priority.P1}, "priority P1"),
        ({"priority": Priority.P2}, ""),
        ({"priority": Priority.P3}, ""),
        ({"category": "decision"}, "category decision"),
        ({"category": "commitment"}, "category commitment"),
        ({"category": "correction"}, "category correction"),
        ({"category": "preference"}, "category preference"),
        ({"category": "principle"}, "category principle"),
        ({"category": "fact"}, ""),
    ],
)
def test_what_is_protected_says_by_what(fields: dict[str, Any], reason: str) -> None:
    assert protected(replace(PLAIN, **fields)) == reason


def test_the_protected_categories_are_a_setting() -> None:
    config = Config(forgetting=ForgettingConfig(protected="recipe , fact"))
    assert protected(replace(PLAIN, category="recipe"), config) == "category recipe"
    assert protected(replace(PLAIN, category="decision"), config) == ""


@every(
    ("fields", "days", "rule"),
    [
        ({}, 90, ""),
        ({}, 90.1, "faded"),
        ({"importance": 0.29}, 91, "faded"),
        ({"importance": 0.30}, 91, ""),
        ({"usage": Usage(accessed=2)}, 91, "faded"),
        ({"usage": Usage(accessed=3)}, 91, ""),
        # Huber is at 0.15 after 30 + 0.35 / (0.5 ln 2 / 30) = 60.29 days of disuse.
        ({"last_accessed": after(30)}, 90.2, ""),
        ({"last_accessed": after(30)}, 90.4, "faded"),
        ({"kind": Kind.SEMANTIC}, 900, ""),
        ({"pinned": True}, 900, ""),
        ({"status": Status.ARCHIVED}, 900, ""),
        ({"status": Status.SUPERSEDED}, 900, ""),
        ({"status": Status.CHALLENGED}, 900, "faded"),
    ],
)
def test_four_conditions_must_come_together(fields: dict[str, Any], days: float, rule: str) -> None:
    verdict = archive_verdict(replace(PLAIN, **fields), after(days), FADED_ONLY)
    assert (verdict.yes, verdict.rule) == (bool(rule), rule)
    assert verdict.why


def test_by_all_nine_factors_what_disuse_left_at_the_floor_is_let_go_too() -> None:
    memory = replace(PLAIN, importance=0.6)
    by_factors = Config(forgetting=ForgettingConfig(strength_below=0))
    assert archive_verdict(memory, after(91), by_factors).rule == "faded"
    assert not archive_verdict(memory, after(91), FADED_ONLY)


def test_uses_that_are_known_weigh_in() -> None:
    memory = replace(PLAIN, importance=0.6, trust=1.0, affect=Affect(valence=0.5))
    config = Config(forgetting=ForgettingConfig(strength_below=0, retention_below=1.0))
    used = replace(memory, usage=Usage(accessed=2, sessions=2), last_accessed=after(89.9))
    assert archive_verdict(memory, after(91), config).rule == "faded"
    assert not archive_verdict(used, after(91), config, uses=[after(45), after(89.9)])


@every(
    ("fields", "days", "rule"),
    [
        # Half-lives of 30 days: strength 0.7 x huber is 0.05 after 67.1 days.
        ({}, 67.0, ""),
        ({}, 67.2, "weak"),
        ({"source": "session"}, 22.3, ""),
        ({"source": "session"}, 22.4, "weak"),
        ({"importance": 0.69}, 80, "weak"),
        ({"importance": 0.70}, 80, ""),
        ({"affect": Affect(arousal=0.49)}, 110, "weak"),
        ({"affect": Affect(arousal=0.50)}, 85, ""),
        ({"policy": Policy.PROTECTED}, 900, ""),
    ],
)
def test_what_has_no_strength_left_goes_unless_it_mattered_or_stirred(
    fields: dict[str, Any], days: float, rule: str
) -> None:
    verdict = archive_verdict(replace(PLAIN, **fields), after(days))
    assert (verdict.yes, verdict.rule) == (bool(rule), rule)


def test_a_strength_of_exactly_the_limit_is_enough() -> None:
    left = strength(PLAIN, after(40))
    at = Config(forgetting=ForgettingConfig(strength_below=left))
    above = Config(forgetting=ForgettingConfig(strength_below=left + 1e-9))
    assert not archive_verdict(PLAIN, after(40), at)
    assert archive_verdict(PLAIN, after(40), above).rule == "weak"


@every(
    ("fields", "days", "rule"),
    [
        ({"confidence": 0.39}, 30, ""),
        ({"confidence": 0.39}, 30.1, "speculative"),
        ({"confidence": 0.40}, 30.1, ""),
        ({"confidence": 0.39, "usage": Usage(confirmed=1)}, 30.1, ""),
        ({"confidence": 0.39, "verification": Verification.USER_CONFIRMED}, 30.1, ""),
        ({"confidence": 0.39, "expires_at": after(5)}, 5, ""),
        ({"confidence": 0.39, "expires_at": after(5)}, 5.1, "speculative"),
        ({"expires_at": after(5)}, 5, ""),
        ({"expires_at": after(5)}, 5.1, "expired"),
        ({"expires_at": after(5), "pinned": True}, 5.1, ""),
        ({"expires_at": after(5), "policy": Policy.PROTECTED, "priority": Priority.P0}, 5.1, "expired"),
    ],
)
def test_a_guess_that_nobody_confirmed_goes_after_thirty_days(
    fields: dict[str, Any], days: float, rule: str
) -> None:
    verdict = archive_verdict(replace(PLAIN, **fields), after(days))
    assert (verdict.yes, verdict.rule) == (bool(rule), rule)


@every(
    ("fields", "days", "rule"),
    [
        ({}, 100, ""),
        ({}, 100.1, "commitment resolved"),
        ({"details": {"state": "dropped"}}, 90.1, "commitment resolved"),
        ({"details": {"state": "open"}}, 5_000, ""),
        ({"details": {"state": "waiting"}}, 5_000, ""),
        ({"details": {}}, 5_000, ""),
        ({"pinned": True}, 5_000, ""),
        ({"policy": Policy.PROTECTED}, 5_000, ""),
        ({"category": "decision"}, 5_000, ""),
    ],
)
def test_a_commitment_goes_ninety_days_after_it_was_resolved_and_an_open_one_never(
    fields: dict[str, Any], days: float, rule: str
) -> None:
    verdict = archive_verdict(replace(PROMISE, **fields), after(days))
    assert (verdict.yes, verdict.rule) == (bool(rule), rule)


def test_a_time_of_closing_that_is_none_falls_back_to_the_last_change() -> None:
    for told in ("soon", None):
        odd = replace(PROMISE, details={"state": "done", "closed_at": told}, modified_at=after(3))
        assert resolved_at(odd) == after(3)


@every(
    ("priority", "days", "rule"),
    [
        (Priority.P3, 30, ""),
        (Priority.P3, 30.1, "priority"),
        (Priority.P2, 90, ""),
        (Priority.P2, 90.1, "priority"),
        (Priority.P1, 5_000, ""),
        (Priority.P0, 5_000, ""),
    ],
)
def test_with_the_numbers_of_the_ledger_the_priority_says_how_long(
    priority: Priority, days: float, rule: str
) -> None:
    verdict = archive_verdict(
        replace(PLAIN, priority=priority), after(days), load(environment={}, preset="ledger")
    )
    assert (verdict.yes, verdict.rule) == (bool(rule), rule)


@every(
    ("fields", "days", "gone"),
    [
        ({}, 90, False),
        ({}, 90.1, True),
        ({"kind": Kind.SEMANTIC}, 90.1, True),
        ({"importance": 0.29}, 90.1, True),
        ({"importance": 0.30}, 90.1, False),
        ({"usage": Usage(accessed=2), "last_accessed": after(90)}, 90.1, True),
        ({"usage": Usage(accessed=3)}, 90.1, False),
        ({"category": "correction"}, 90.1, False),
    ],
)
def test_with_the_numbers_of_files_age_importance_and_use_decide(
    fields: dict[str, Any], days: float, gone: bool
) -> None:
    config = load(environment={}, preset="files")
    assert archive_verdict(replace(PLAIN, **fields), after(days), config).yes is gone


@every(
    ("fields", "days", "gone"),
    [
        ({}, 90, False),
        ({}, 90.1, True),
        ({"kind": Kind.SEMANTIC}, 5_000, False),
        ({"usage": Usage(accessed=3)}, 90.1, False),
        ({"category": "preference"}, 90.1, True),
        ({"importance": 1.0, "trust": 1.0}, 90.1, False),
    ],
)
def test_with_the_numbers_of_retention_knowledge_stays(
    fields: dict[str, Any], days: float, gone: bool
) -> None:
    config = load(environment={}, preset="retention")
    assert archive_verdict(replace(PLAIN, **fields), after(days), config).yes is gone


def test_with_the_numbers_of_layers_only_what_has_all_but_gone_is_dropped() -> None:
    config = load(environment={}, preset="layers")
    day = next(day for day in range(1_000) if archive_verdict(PLAIN, after(day), config))
    assert strength(PLAIN, after(day - 1), config) >= 0.01 > strength(PLAIN, after(day), config)


@every(
    ("fields", "days", "due"),
    [
        ({"status": Status.ARCHIVED}, 90, False),
        ({"status": Status.ARCHIVED}, 90.1, True),
        ({"status": Status.ACTIVE}, 900, False),
        ({"status": Status.ARCHIVED, "pinned": True}, 900, False),
        ({"status": Status.ARCHIVED, "policy": Policy.PROTECTED}, 900, False),
        ({"status": Status.ARCHIVED, "priority": Priority.P0}, 900, False),
        ({"status": Status.ARCHIVED, "category": "commitment"}, 900, False),
        ({"status": Status.ARCHIVED, "category": "commitment", "details": OVER}, 900, True),
    ],
)
def test_the_archive_is_emptied_after_ninety_days(fields: dict[str, Any], days: float, due: bool) -> None:
    assert purge_due(replace(PLAIN, **fields), after(5), after(5 + days)).yes is due


memories = st.builds(
    lambda **fields: replace(PLAIN, **fields),
    importance=st.floats(0, 1),
    confidence=st.floats(0, 1),
    trust=st.floats(0, 1),
    strength=st.floats(0, 3),
    source=st.sampled_from(["human", "session", "agent", "import"]),
    kind=st.sampled_from(list(Kind)),
    category=st.sampled_from(["fact", "moment", "decision", "general", "commitment", "preference"]),
    policy=st.sampled_from(list(Policy)),
    priority=st.sampled_from(list(Priority)),
    pinned=st.booleans(),
    status=st.sampled_from(list(Status)),
    verification=st.sampled_from(list(Verification)),
    affect=st.builds(Affect, arousal=st.floats(0, 1), valence=st.floats(-1, 1)),
    usage=st.builds(
        Usage, accessed=st.integers(0, 9), repeated=st.integers(0, 3), confirmed=st.integers(0, 2)
    ),
    expires_at=st.none() | st.builds(after, st.floats(0, 500)),
    details=st.sampled_from([{}, OVER, {"state": "open"}]),
)


@given(memories, st.floats(0, 5_000), st.sampled_from(list(PRESETS)))
def test_nothing_protected_is_ever_archived_or_purged(memory: Memory, days: float, preset: str) -> None:
    config = load(environment={}, preset=preset)
    if protected(memory, config):
        assert archive_verdict(memory, after(days), config).rule in {"", "commitment resolved", "expired"}
        assert not purge_due(memory, START, after(days), config) or resolved_at(memory)
    if memory.pinned or memory.policy is Policy.PROTECTED or memory.kind is Kind.PROCEDURAL:
        assert archive_verdict(memory, after(days), config).rule in {"", "expired"}
        assert not purge_due(memory, START, after(days), config)


@given(memories, st.floats(0, 3_000), st.floats(0, 3_000), st.sampled_from(list(PRESETS)))
def test_what_may_go_today_may_go_tomorrow(memory: Memory, one: float, more: float, preset: str) -> None:
    config = load(environment={}, preset=preset)
    if archive_verdict(memory, after(one), config):
        assert archive_verdict(memory, after(one + more), config)


@given(memories, st.floats(0, 3_000))
def test_a_verdict_always_says_why(memory: Memory, days: float) -> None:
    verdict = archive_verdict(memory, after(days))
    assert verdict.why
    assert bool(verdict.rule) is verdict.yes
    assert retention(memory, after(days)) >= 0
