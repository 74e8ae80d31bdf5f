"""Merging: what says the same twice becomes one; what only sounds alike stays two."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engram import Engram
from engram.model.facts import EdgeType
from engram.model.memory import Layer, Status
from engram.model.scope import Scope
from engram.testing import FakeClock
from tests.maintain.story import START, now, opened, rules, told, use

STAGE = ["merge"]
NOTE = {"layer": Layer.WORKING, "apart": True}
"""Notes that nobody compared when they were stored, as after an import or by two processes at once."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock, meaning=True) as one:
        yield one


def test_the_same_words_twice_become_one_memory_with_the_best_of_both(
    memory: Engram, clock: FakeClock
) -> None:
    weak = told(memory, "The staging database runs on port 5433", **NOTE, tags=("db",), importance=0.4)
    strong = told(
        memory,
        "the staging database runs on port 5433.",
        layer=Layer.CORE,
        apart=True,
        tags=("ops",),
        importance=0.7,
    )
    use(memory, weak, 2)
    use(memory, strong, 3)
    clock.advance(hours=1)
    report = memory.consolidate(stages=STAGE)
    assert rules(report) == {strong: "merge.pair"}
    one = now(memory, strong)
    assert (one.layer, one.importance, one.usage.accessed) == (Layer.CORE, 0.7, 5)
    assert set(one.tags) == {"db", "ops"}
    assert now(memory, weak).status is Status.MERGED
    assert memory.events(weak)[0].related == strong
    assert EdgeType.SUPERSEDES in {edge.type for edge in memory.relations(strong)}
    assert "runs on port" not in report.decided[0].why
    assert memory.restore(weak).status is Status.ACTIVE


def test_the_winner_takes_the_fuller_words_and_is_found_by_them(memory: Engram, clock: FakeClock) -> None:
    said = "The backup of the billing database goes to the second server"
    short = told(memory, said, **NOTE, importance=0.8)
    told(memory, f"{said} in the cellar", **NOTE)
    clock.advance(hours=1)
    memory.consolidate(stages=STAGE)
    assert now(memory, short).content == f"{said} in the cellar"
    assert now(memory, short).version == 2
    assert [hit.memory.id for hit in memory.recall("what is in the cellar?")] == [short]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The staging database runs on port 5433", "The staging database runs on port 5434"),
        ("Anna leads the billing team", "Bob leads the billing team"),
        ("The cache is flushed at night", "The cache is not flushed at night"),
        ("The release is on Monday", "The release is on Friday"),
        ("Anna owes Bob the money", "Bob owes Anna the money"),
        ("I like red apples", "I like green apples"),
    ],
)
def test_what_differs_in_a_number_a_name_a_day_or_a_word_stays_two(
    memory: Engram, clock: FakeClock, one: str, other: str
) -> None:
    both = [told(memory, one, **NOTE), told(memory, other, **NOTE)]
    clock.advance(hours=1)
    assert memory.consolidate(stages=STAGE).changes == 0
    assert all(now(memory, each).status is Status.ACTIVE for each in both)


def test_a_cluster_becomes_one(memory: Engram, clock: FakeClock) -> None:
    ids = [told(memory, "The backup runs every night", **NOTE, importance=0.5 + i / 10) for i in range(4)]
    clock.advance(hours=1)
    report = memory.consolidate(stages=STAGE)
    assert rules(report) == {ids[3]: "merge.cluster"}
    assert [now(memory, one).status for one in ids] == [Status.MERGED] * 3 + [Status.ACTIVE]
    assert now(memory, ids[3]).usage.repeated == 3


@pytest.mark.parametrize(
    "keeps",
    [{"speaker": "Anna"}, {"scope": Scope(project="apollo")}, {"tags": ("session",)}, {"pinned": True}],
)
def test_turns_other_scopes_other_sorts_and_what_is_pinned_are_not_taken_in(
    memory: Engram, clock: FakeClock, keeps: dict[str, object]
) -> None:
    other = told(memory, "The backup runs every night", **{**NOTE, **keeps}, importance=0.1)
    told(memory, "The backup runs every night", **NOTE, importance=0.9)
    clock.advance(hours=1)
    memory.consolidate(stages=STAGE)
    assert now(memory, other).status is Status.ACTIVE


def test_two_pinned_memories_stay_two(memory: Engram, clock: FakeClock) -> None:
    for _ in range(2):
        told(memory, "The backup runs every night", **NOTE, pinned=True)
    clock.advance(hours=1)
    assert memory.consolidate(stages=STAGE).changes == 0


def test_what_a_person_took_back_is_not_merged_again(memory: Engram, clock: FakeClock) -> None:
    before = {
        one: now(memory, one).content for one in (told(memory, "The backup runs", **NOTE) for _ in "ab")
    }
    clock.advance(hours=1)
    report = memory.consolidate(stages=STAGE)
    assert report.changes == 1
    memory.undo(report.run.id)
    clock.advance(days=1)
    assert memory.consolidate(stages=STAGE).changes == 0
    assert {one: now(memory, one).content for one in before} == before
    assert all(now(memory, one).status is Status.ACTIVE for one in before)


def test_what_a_person_parted_again_stays_apart_also_when_a_third_one_comes(
    memory: Engram, clock: FakeClock
) -> None:
    first, second = (told(memory, "The backup runs every night", **NOTE) for _ in "ab")
    clock.advance(hours=1)
    memory.consolidate(stages=STAGE)
    gone = next(one for one in (first, second) if now(memory, one).status is Status.MERGED)
    memory.restore(gone)
    clock.advance(hours=1)
    told(memory, "The backup runs every night", **NOTE, importance=0.9)
    clock.advance(hours=1)
    memory.consolidate(stages=STAGE)
    clock.advance(hours=1)
    before = now(memory, gone)
    assert memory.consolidate(stages=STAGE).changes == 0
    assert now(memory, gone) == before


def test_only_what_is_new_is_compared(memory: Engram, clock: FakeClock) -> None:
    first = told(memory, "The backup runs every night", **NOTE, importance=0.9)
    clock.advance(hours=1)
    assert memory.consolidate(stages=STAGE).changes == 0
    clock.advance(hours=1)
    told(memory, "The backup runs every night", **NOTE)
    clock.advance(hours=1)
    assert rules(memory.consolidate(stages=STAGE)) == {first: "merge.pair"}
