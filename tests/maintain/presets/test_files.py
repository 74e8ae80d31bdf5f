"""The life of memories under the preset `files`: ten categories, states by use, and what may leave when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.memory import Kind, Layer, Lifecycle, Priority, Status
from engram.testing import FakeClock
from tests.maintain.presets.lives import bytes_of, decided, fields, later, living
from tests.maintain.story import START, now, told

MINUTE = 1 / 1_440
FACT: dict[str, Any] = {"category": "fact", "kind": Kind.SEMANTIC, "importance": 0.2, "priority": Priority.P2}
LEAVING = {"fact", "entity", "relationship", "moment", "skill"}
STAYING = {"preference", "correction", "decision", "principle", "commitment"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with living("files", clock) as one:
        yield one


def test_what_is_cold_stands_behind_what_is_in_use_until_it_is_worth_much_again(
    memory: Engram, clock: FakeClock
) -> None:
    def found() -> list[str]:
        return [hit.memory.id for hit in memory.recall("quince orchard trees", dry=True)]

    old = told(memory, "the quince orchard has nine trees", **FACT, confidence=0.5)
    clock.advance(days=40)
    new = told(memory, "an orchard of another village has quince as well", **FACT, confidence=0.5)
    assert found() == [old, new]
    assert [one.rule for one in memory.consolidate().decided if one.memory == old and "tier" in one.rule] == [
        "tier.cold"
    ]
    assert found() == [new, old]
    memory.feedback(old, helpful=True)
    memory.confirm(old)
    memory.update(old, importance=1.0, confidence=1.0)
    for number in range(20):
        memory.recall("the quince orchard has nine trees", session=f"s{number}")
    assert "tier.hot" in {one.rule for one in memory.consolidate().decided if one.memory == old}
    assert found() == [old, new]


def test_the_life_of_a_promise_and_of_a_fact_heard_with_it(tmp_path: Path, clock: FakeClock) -> None:
    with living("files", clock, tmp_path / "one.engram") as memory:
        # Both are heard in one breath and written at once; no buffer lets go of them.
        memory.observe(user="I'll send Anna the quince invoice by Friday.", session="s1")
        promise = memory.commitments.list()[0]
        fact = told(memory, "the quince orchard has nine trees", **FACT)
        assert promise.due is not None
        later(memory, clock, fact, days=3)
        assert {now(memory, one).layer for one in (promise.id, fact)} == {Layer.WORKING}

        # As long as it is open, a promise stays; the fact goes after ninety days of no use.
        assert later(memory, clock, promise.id, days=200) == []
        assert now(memory, fact).status is Status.ARCHIVED
        assert fields(memory, fact, "status") == ["archived"]

        # It is kept, somebody says so, and ninety days later it is no longer needed.
        memory.observe(user="I sent Anna the quince invoice.", session="s2")
        memory.flush("s2")
        assert later(memory, clock, promise.id, minutes=1) == ["commitment.kept"]
        assert memory.commitments.list() == []
        assert later(memory, clock, promise.id, days=90) == []
        assert later(memory, clock, promise.id, minutes=1) == ["archive.commitment-resolved"]
        assert now(memory, promise.id).status is Status.ARCHIVED

        # What nobody restores is erased, ninety days after it was archived: the fact is gone already.
        assert memory.get(fact) is None
        assert later(memory, clock, promise.id, days=90) == []
        assert later(memory, clock, promise.id, minutes=1) == ["archive.purge"]
    assert b"orchard" not in bytes_of(tmp_path)


def test_a_memory_is_a_candidate_validated_in_use_and_stale(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "the ferry left at nine", category="moment", kind=Kind.EPISODIC, importance=0.8)
    states = [now(memory, one).lifecycle]

    def after(**time: float) -> None:
        clock.advance(**time)
        memory.consolidate(stages=["forgetting"])
        states.append(now(memory, one).lifecycle)

    memory.touch([one])
    after(minutes=1)  # one use: heat 0.39
    memory.touch([one])
    after(minutes=1)  # two: 0.63
    after(days=2)  # cooling: 0.52
    after(days=40)  # all but gone
    assert states == [
        Lifecycle.CANDIDATE,
        Lifecycle.VALIDATED,
        Lifecycle.ACTIVE,
        Lifecycle.VALIDATED,
        Lifecycle.STALE,
    ]
    memory.confirm(one)  # what somebody vouches for is not stale
    after(minutes=1)
    assert states[-1] is not Lifecycle.STALE
    seen = [event.rule for event in reversed(memory.events(one)) if "lifecycle" in event.after]
    assert seen[:4] == ["lifecycle.validated", "lifecycle.active", "lifecycle.validated", "lifecycle.stale"]


@pytest.mark.parametrize(
    ("days", "lifecycle"),
    [(0, Lifecycle.ACTIVE), (1.40, Lifecycle.ACTIVE), (1.42, Lifecycle.VALIDATED)],
    ids=["heat 0.63", "heat 0.550", "heat 0.549"],
)
def test_what_is_not_used_again_cools_down(
    memory: Engram, clock: FakeClock, days: float, lifecycle: Lifecycle
) -> None:
    one = told(memory, "the ferry leaves at nine", **FACT)
    for _ in range(2):
        memory.touch([one])
    clock.advance(days=days)
    memory.consolidate(stages=["forgetting"])
    assert now(memory, one).lifecycle is lifecycle


@pytest.mark.parametrize(
    ("days", "lifecycle"),
    [(14.3, Lifecycle.CANDIDATE), (14.4, Lifecycle.STALE)],
    ids=["decay 0.649", "decay 0.652"],
)
def test_stale_begins_where_two_thirds_are_gone(
    memory: Engram, clock: FakeClock, days: float, lifecycle: Lifecycle
) -> None:
    one = told(memory, "the ferry left at nine", category="moment", kind=Kind.EPISODIC)
    clock.advance(days=days)
    memory.consolidate(stages=["forgetting"])
    assert now(memory, one).lifecycle is lifecycle


@pytest.mark.parametrize("category", sorted(LEAVING | STAYING))
def test_of_ten_categories_five_are_never_archived(memory: Engram, clock: FakeClock, category: str) -> None:
    one = told(memory, "the orchard has nine trees", **{**FACT, "category": category})
    assert now(memory, one).category == category
    clock.advance(days=91)
    gone = decided(memory.consolidate(stages=["forgetting"]), one)
    assert gone == (["archive.faded"] if category in LEAVING else [])


@pytest.mark.parametrize(
    ("days", "importance", "uses", "goes"),
    [
        (90, 0.29, 2, False),
        (90 + MINUTE, 0.29, 2, True),
        (91, 0.30, 2, False),
        (91, 0.29, 3, False),
        (91, 0.29, 1, True),
    ],
)
def test_a_fact_is_archived_by_age_importance_and_use(
    memory: Engram, clock: FakeClock, days: float, importance: float, uses: int, *, goes: bool
) -> None:
    one = told(memory, "the orchard has nine trees", **{**FACT, "importance": importance})
    for _ in range(uses):
        memory.touch([one])
    clock.advance(days=days)
    assert bool(decided(memory.consolidate(stages=["forgetting"]), one)) is goes


@pytest.mark.parametrize(
    ("confidence", "days", "confirmed", "goes"),
    [
        (0.39, 30, False, False),
        (0.39, 30 + MINUTE, False, True),
        (0.40, 31, False, False),
        (0.41, 31, False, False),
        (0.39, 31, True, False),
    ],
)
def test_a_guess_has_thirty_days_to_be_confirmed(
    memory: Engram, clock: FakeClock, confidence: float, days: float, *, confirmed: bool, goes: bool
) -> None:
    one = told(memory, "Anna may move to Oslo", **{**FACT, "importance": 0.6}, confidence=confidence)
    if confirmed:
        memory.confirm(one)
    clock.advance(days=days)
    gone = decided(memory.consolidate(stages=["forgetting"]), one)
    assert gone == (["archive.speculative"] if goes else [])


@pytest.mark.parametrize("outcome", ["done", "dropped"])
@pytest.mark.parametrize(("days", "goes"), [(90, False), (90 + MINUTE, True)], ids=["at", "above"])
def test_a_resolved_commitment_goes_after_ninety_days(
    memory: Engram, clock: FakeClock, outcome: str, days: float, *, goes: bool
) -> None:
    kept = told(memory, "I'll prune the orchard", category="commitment")
    still = told(memory, "I'll water the orchard", category="commitment")
    clock.advance(days=10)
    memory.commitments.close(kept, outcome)
    clock.advance(days=days)
    report = memory.consolidate(stages=["forgetting"])
    assert decided(report, kept) == (["archive.commitment-resolved"] if goes else [])
    assert decided(report, still) == []
