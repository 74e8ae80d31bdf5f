"""The scored rules of gate and triage: what stands alone passes, what does not is turned away."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.model.memory import CATEGORIES, Affect, Layer, Memory, Policy, Usage
from engram.rules.review import (
    ReviewDecision,
    Score,
    gate_review,
    gate_score,
    specificity,
    standalone,
    triage_due,
    triage_review,
    worth,
)
from engram.text.names import entities
from tests.tables import every

START = datetime(2026, 1, 1, tzinfo=UTC)
PLAIN = Memory(
    "1",
    "Anna lives in Rome",
    "h",
    START,
    START,
    source="session",
    details={"turns": ["t1"]},
    trust=0.7,
    category="fact",
    entities=("Anna", "Rome"),
)


@every(
    ("content", "category", "reinforced", "decision"),
    [
        (
            "Never deploy to production on a Friday without asking Anna",
            "constraint",
            3,
            ReviewDecision.APPROVE,
        ),
        ("Anna Berg is the owner of the billing service", "identity", 3, ReviewDecision.APPROVE),
        ("User prefers tabs over spaces in Python files", "preference", 3, ReviewDecision.APPROVE),
        ("The weather was fine", "general", 1, ReviewDecision.ASK),
        ("It was nice", "moment", 1, ReviewDecision.REJECT),
        ("That one?", "question", 3, ReviewDecision.REJECT),
        ("ok then", "general", 1, ReviewDecision.REJECT),
    ],
)
def test_the_gate_lets_through_what_would_help_alone(
    content: str, category: str, reinforced: int, decision: ReviewDecision
) -> None:
    found = tuple(entity.name for entity in entities(content))
    memory = replace(
        PLAIN, content=content, category=category, entities=found, usage=Usage(accessed=reinforced)
    )
    review = gate_review(memory)
    assert review.decision is decision, review.score.told()


@pytest.mark.parametrize(
    ("low", "high", "decision", "by_rule"),
    [
        (0.0, 0.0, ReviewDecision.APPROVE, True),
        (1.0, 1.0, ReviewDecision.REJECT, False),
        (0.0, 1.0, ReviewDecision.ASK, True),
        (0.3, 1.0, ReviewDecision.ASK, False),
    ],
)
def test_between_the_bounds_a_model_is_asked_and_without_one_the_middle_decides(
    low: float, high: float, decision: ReviewDecision, by_rule: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    total = gate_score(PLAIN).total
    assert 0.5 < total < 0.62
    between(monkeypatch, low, high)
    review = gate_review(PLAIN)
    assert (review.decision, review.by_rule.yes) == (decision, by_rule)
    assert review.by_rule.rule == "gate"
    assert f"score {total:.2f}" in review.by_rule.why


def between(monkeypatch: pytest.MonkeyPatch, low: float, high: float) -> None:
    monkeypatch.setattr("engram.rules.review.GATE_REJECT", low)
    monkeypatch.setattr("engram.rules.review.GATE_APPROVE", high)


def test_the_bounds_themselves_belong_to_the_answer_above_them(monkeypatch: pytest.MonkeyPatch) -> None:
    total = gate_score(PLAIN).total
    between(monkeypatch, total, 1.0)
    assert gate_review(PLAIN).decision is ReviewDecision.ASK
    between(monkeypatch, 0.0, total)
    assert gate_review(PLAIN).decision is ReviewDecision.APPROVE


def test_triage_asks_less_than_the_gate() -> None:
    assert triage_review(PLAIN).decision is ReviewDecision.APPROVE
    assert gate_review(PLAIN).decision is ReviewDecision.ASK


@every(
    ("content", "category", "importance", "decision", "by_rule"),
    [
        ("User's favourite colour is coral", "preference", 0.7, ReviewDecision.APPROVE, True),
        ("User's sister lives in Graz", "relationship", 0.65, ReviewDecision.APPROVE, True),
        ("User works at the library", "fact", 0.6, ReviewDecision.ASK, True),
        ("User is learning the cello", "general", 0.6, ReviewDecision.ASK, False),
        ("Went for a run, 41 minutes", "moment", 0.15, ReviewDecision.REJECT, False),
        ("The train was 24 minutes late", "moment", 0.2, ReviewDecision.REJECT, False),
    ],
)
def test_triage_tells_what_is_worth_keeping_from_the_routine(
    content: str, category: str, importance: float, decision: ReviewDecision, by_rule: bool
) -> None:
    found = tuple(entity.name for entity in entities(content))
    memory = replace(PLAIN, content=content, category=category, importance=importance, entities=found)
    review = triage_review(memory)
    assert (review.decision, review.by_rule.yes) == (decision, by_rule), review.score.told()


def test_what_stirred_is_worth_more_than_the_same_told_calmly() -> None:
    stirred = replace(PLAIN, category="moment", affect=Affect(arousal=0.6))
    assert worth(stirred) == pytest.approx(worth(replace(stirred, affect=Affect())) + 0.3)


@every(
    ("content", "share"),
    [
        ("Anna lives in Rome", 1.0),
        ("She lives there", 0.2),
        ("它很好", 0.2),
        ("小林住在北京市", 1.0),
        ("好的", 0.4),
        ("Sounds good", 0.4),
        ("Where does Anna live?", 0.3),
        ("安娜住在哪里？", 0.3),
    ],
)
def test_words_that_lean_on_others_do_not_stand_alone(content: str, share: float) -> None:
    assert standalone(content) == share


def test_each_thing_pinned_down_halves_what_is_missing() -> None:
    bare = replace(PLAIN, entities=())
    assert specificity(replace(bare, content="On Monday 3 people")) == 0.75
    assert specificity(replace(bare, content="3 people, 4 dogs, 5 cats")) == 0.5
    assert specificity(replace(PLAIN, content="On Monday Anna was in Rome")) == 0.875
    assert specificity(replace(bare, content="Family is so important")) == 0.0
    assert specificity(replace(bare, content="I roasted marshmallows at the lake")) == 0.25


@every(
    ("fields", "minutes", "due"),
    [
        ({}, 9.9, False),
        ({}, 10, True),
        ({"layer": Layer.WORKING}, 60, False),
        ({"tags": ("ephemeral",)}, 60, False),
        ({"policy": Policy.EPHEMERAL}, 60, False),
        ({"tags": ("distilled",)}, 60, False),
    ],
)
def test_triage_waits_ten_minutes_and_leaves_the_passing_alone(
    fields: dict[str, object], minutes: float, due: bool
) -> None:
    memory = replace(PLAIN, **fields)  # type: ignore[arg-type]
    assert triage_due(memory, START + timedelta(minutes=minutes)).yes is due


@given(
    st.text(min_size=1, max_size=80),
    st.sampled_from(CATEGORIES),
    st.floats(0, 1),
    st.floats(0, 1),
    st.integers(0, 100),
)
def test_every_part_of_a_score_stays_within_its_bounds(
    content: str, category: str, trust: float, confidence: float, accessed: int
) -> None:
    memory = replace(
        PLAIN,
        content=content,
        category=category,
        trust=trust,
        confidence=confidence,
        usage=Usage(accessed=accessed),
    )
    score = gate_score(memory)
    assert all(0.0 <= getattr(score, name) <= 1.0 + 1e-9 for name in Score.__slots__)
    more = gate_score(replace(memory, usage=Usage(accessed=accessed + 1)))
    assert more.total >= score.total
