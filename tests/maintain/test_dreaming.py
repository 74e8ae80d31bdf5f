"""Dreaming: what matters is held, what belongs together is linked, what contradicts is flagged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta

import pytest

from engram import Engram
from engram.model.capture import Draft
from engram.model.facts import EdgeType
from engram.model.maintenance import Report
from engram.model.memory import Affect, Filters, Kind, Memory, Policy, Priority, Status
from engram.ports import NoAdvisor
from engram.rules.archival import archive_verdict
from engram.rules.retention import replayed
from engram.testing import FakeClock

START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(":memory:", clock=clock) as one:
        yield one


def episode(memory: Engram, words: str, **given: object) -> str:
    """What was heard, not asked to be kept."""
    draft = {"kind": Kind.EPISODIC, "priority": Priority.P2, "policy": Policy.DURABLE, "source": "session"}
    return memory.remember(words, **{**draft, **given}).memory.id


def rules(report: Report) -> dict[str, int]:
    return {tally.rule: tally.count for tally in report.tallies}


def test_what_mattered_and_fades_is_replayed_and_held_better(memory: Engram, clock: FakeClock) -> None:
    used = episode(memory, "We walked to the lighthouse with Ada")
    plain = episode(memory, "The bus was green", importance=0.4)
    memory.recall("lighthouse walk with Ada", session="a")
    clock.advance(days=12)
    report = memory.dream()
    assert rules(report)["dream.replay"] == 1
    assert memory.get(used).strength == pytest.approx(1.2)  # type: ignore[union-attr]
    assert memory.get(plain).strength == 1.0  # type: ignore[union-attr]
    assert rules(memory.dream()).get("dream.replay") is None, "not twice within a week"
    clock.advance(days=7)
    assert rules(memory.dream())["dream.replay"] == 1
    assert memory.get(used).strength == pytest.approx(1.4)  # type: ignore[union-attr]


def test_like_memories_that_were_never_linked_are_linked(clock: FakeClock) -> None:
    with Engram.open(":memory:", clock=clock, config={"capture.links": "off"}) as memory:
        one = episode(memory, "The deploy to staging failed because the disk was full")
        two = episode(memory, "The staging deploy failed: the disk of the server was full again")
        episode(memory, "My aunt paints birds")
        assert memory.relations(one) == []
        assert rules(memory.dream())["dream.link"] == 1
        assert {frozenset({e.source, e.target}) for e in memory.relations(one)} == {frozenset({one, two})}
        assert rules(memory.dream()).get("dream.link") is None


def test_what_contradicts_is_flagged_once_and_shown_among_the_conflicts(memory: Engram) -> None:
    drafts = [Draft("The office is open on Sundays", speaker="", source="session", kind=Kind.SEMANTIC)]
    memory.remember_many(drafts)
    other = memory.remember("Ana likes the office", source="session").memory.id
    memory.update(other, content="The office is not open on Sundays")
    assert rules(memory.dream())["dream.interference"] == 1
    assert len(memory.conflicts.list()) == 1
    assert rules(memory.dream()).get("dream.interference") is None


class Writer(NoAdvisor):
    """Has words for whatever it is shown, unless it is silent."""

    words: str | None = "Anna sings, and she keeps the billing database running"

    def summarize(self, texts: Sequence[str], words: int) -> str | None:  # type: ignore[override]
        return self.words


def test_two_sides_of_one_person_are_tied_and_a_model_puts_into_words_what_they_come_to() -> None:
    for words in (Writer.words, None):
        writer = Writer()
        writer.words = words
        with Engram.open(":memory:", advisor=writer, config={"llm.level": "auto"}) as memory:
            one = episode(memory, "Anna sings in the cathedral choir")
            two = episode(memory, "The billing database is looked after by Anna")
            report = memory.dream()
            assert rules(report).get("dream.bridge") == (1 if words else None), "they are tied by the name"
            made = list(memory.list(filters=Filters(tags_any=frozenset({"synthesis"}))))
            assert [each.content for each in made] == ([words] if words else [])
            assert [
                EdgeType.DERIVED_FROM in {edge.type for edge in memory.relations(id_)} for id_ in (one, two)
            ] == [bool(words)] * 2
            assert rules(memory.dream()).get("dream.bridge") is None
            memory.undo(report.run.id)
            assert memory.count() == 2


def test_a_dream_is_taken_back(memory: Engram, clock: FakeClock) -> None:
    used = episode(memory, "We walked to the lighthouse with Ada")
    memory.recall("lighthouse walk with Ada", session="a")
    clock.advance(days=12)
    memory.undo(memory.dream().run.id)
    assert memory.get(used).strength == 1.0  # type: ignore[union-attr]


def lifetime(memory: Memory, *, replays: int = 0) -> int:
    """Days until the rules archive a memory nobody uses; replayed once a week so many times."""
    for day in range(1, 2_000):
        if replays and day % 7 == 0:
            memory, replays = _with_hold(memory), replays - 1
        if archive_verdict(memory, memory.created_at + timedelta(days=day)):
            return day
    return 2_000


def _with_hold(memory: Memory) -> Memory:
    from dataclasses import replace

    return replace(memory, strength=replayed(memory))


def test_emotional_memories_outlive_neutral_ones_by_two_fifths_and_replayed_ones_by_a_quarter() -> None:
    neutral = Memory("1", "It happened", "h", START, START, importance=0.29, source="session")
    stirring = Memory(
        "2", "It happened", "h", START, START, importance=0.29, source="session", affect=Affect(arousal=0.8)
    )
    assert lifetime(stirring) >= 1.4 * lifetime(neutral)
    assert lifetime(neutral, replays=2) >= 1.25 * lifetime(neutral)
    assert neutral.status is Status.ACTIVE
