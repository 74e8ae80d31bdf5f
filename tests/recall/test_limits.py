"""Agents are told how well a memory fits in words, and may not ask without end."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Access, Engram, Role, Scope
from engram.api import caller as module
from engram.api.caller import RecallLimits
from engram.config import LimitsConfig
from engram.errors import EmptyQuestion, TooManyRecalls
from engram.model.memory import Memory
from engram.model.recall import Hit, Trust, public_score
from engram.testing import FakeClock, HashEmbedder
from tests.tables import every

OWNER = Access()
REX = Access(Scope(agent="rex"), Role.AGENT)
ADA = Access(Scope(agent="ada"), Role.AGENT)


def hit(relevance: float) -> Hit:
    at = FakeClock().now()
    return Hit(Memory("id", "x", "h", at, at), 0.123, relevance, Trust(relevance, 0.5, 1.0, 0.0), "x")


@every(
    ("relevance", "word"),
    [(1.0, "high"), (0.851, "high"), (0.85, "medium"), (0.601, "medium"), (0.6, "low"), (0.401, "low"),
     (0.4, "minimal"), (0.0, "minimal")],
)  # fmt: skip
def test_an_agent_gets_a_word_and_the_owner_the_figure(relevance: float, word: str) -> None:
    for role in (Role.AGENT, Role.READER, Role.ORCHESTRATOR):
        assert public_score(hit(relevance), Access(Scope(project="p"), role)) == word
    assert public_score(hit(relevance), OWNER) == 0.123


def test_the_minute_holds_across_sessions_and_passes() -> None:
    clock = FakeClock()
    limits = RecallLimits(LimitsConfig(recalls_a_minute=3), clock)
    for second, session in enumerate(("a", "b", "")):
        limits.take(REX, session)
        clock.advance(seconds=10 if second < 2 else 0)

    with pytest.raises(TooManyRecalls) as refused:
        limits.take(REX, "c")
    assert (refused.value.code, refused.value.seconds, refused.value.per) == ("E4002", 40.0, "minute")
    limits.take(ADA)
    clock.advance(seconds=39.5)
    with pytest.raises(TooManyRecalls):
        limits.take(REX)
    clock.advance(seconds=0.5)
    limits.take(REX)


def test_a_session_is_full_for_an_hour_and_another_one_is_free() -> None:
    clock = FakeClock()
    limits = RecallLimits(LimitsConfig(recalls_a_minute=0, recalls_a_session=5), clock)
    for _ in range(5):
        limits.take(REX, "s")
        clock.advance(minutes=1)

    with pytest.raises(TooManyRecalls) as refused:
        limits.take(REX, "s")
    assert (refused.value.per, refused.value.seconds) == ("session", 55 * 60)
    limits.take(REX, "t")
    clock.advance(minutes=55)
    limits.take(REX, "s")


def test_who_names_no_session_is_held_by_the_minute_alone() -> None:
    clock = FakeClock()
    limits = RecallLimits(LimitsConfig(recalls_a_minute=20, recalls_a_session=200), clock)
    for _ in range(50):
        for _ in range(20):
            limits.take(REX)
        with pytest.raises(TooManyRecalls, match="a minute"):
            limits.take(REX)
        clock.advance(minutes=1)


def test_the_owner_is_never_counted_and_zero_means_no_limit() -> None:
    tight = RecallLimits(LimitsConfig(recalls_a_minute=1, recalls_a_session=1), FakeClock())
    free = RecallLimits(LimitsConfig(recalls_a_minute=0, recalls_a_session=0), FakeClock())
    for _ in range(50):
        tight.take(OWNER, "s")
        free.take(REX, "s")


def test_what_is_counted_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "KEPT", 2)
    limits = RecallLimits(LimitsConfig(recalls_a_minute=0, recalls_a_session=1), FakeClock())
    for session in ("a", "b", "c"):
        limits.take(REX, session)

    limits.take(REX, "a")
    with pytest.raises(TooManyRecalls):
        limits.take(REX, "c")


def test_the_engine_counts_agents_with_the_configured_figures(file: Path, clock: FakeClock) -> None:
    config = {"limits.recalls_a_minute": 2}
    with Engram.open(file, clock=clock, embedder=HashEmbedder(), config=config) as owner:
        owner.remember("The router is blue")
        agent = owner.seen_by(REX, "rex")
        agent.recall("router")
        owner.seen_by(REX, "rex").recall("router", dry=True)
        with pytest.raises(TooManyRecalls):
            agent.recall("router")
        for _ in range(5):
            owner.recall("router")
        clock.advance(minutes=1)
        assert len(agent.recall("router")) == 1


def test_twenty_a_minute_and_two_hundred_a_session_unless_told_otherwise() -> None:
    assert (LimitsConfig().recalls_a_minute, LimitsConfig().recalls_a_session) == (20, 200)


@every("blank", ["", "   ", "\n\t", "\u3000"])
def test_an_empty_question_is_refused_and_costs_no_recall(memory: Engram, blank: str) -> None:
    for ask in (memory.recall, memory.reason):
        with pytest.raises(EmptyQuestion, match="E2029: The question is empty: say what to look for"):
            ask(blank)
    assert memory.maintenance.recall_health().overall.recalls == 0
