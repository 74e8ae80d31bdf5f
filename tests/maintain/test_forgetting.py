"""Forgetting: what faded is archived, what was archived is erased in time; what is protected stays."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from engram import Engram
from engram.model.memory import Kind, Layer, Lifecycle, Policy, Priority, Status
from engram.testing import FakeClock, HashEmbedder
from tests.maintain.story import START, now, opened, rules, told, use

STAGE = ["forgetting"]
WORKING = {"layer": Layer.WORKING, "kind": Kind.EPISODIC, "category": "moment"}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock) as one:
        yield one


def test_an_episode_of_no_weight_is_archived_when_nothing_is_left_of_it(
    memory: Engram, clock: FakeClock
) -> None:
    one = told(memory, "the bus was late", **WORKING, importance=0.2)
    clock.advance(days=10)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).status is Status.ACTIVE
    clock.advance(days=30)
    assert rules(memory.consolidate(stages=STAGE))[one].startswith("archive.")
    assert now(memory, one).status is Status.ARCHIVED


@pytest.mark.parametrize(
    "keeps",
    [
        {"pinned": True},
        {"policy": Policy.PROTECTED},
        {"kind": Kind.PROCEDURAL},
        {"priority": Priority.P0},
        {"priority": Priority.P1},
        {"category": "decision"},
    ],
)
def test_what_is_protected_survives_everything(
    memory: Engram, clock: FakeClock, keeps: dict[str, object]
) -> None:
    one = told(memory, "the bus was late", **{**WORKING, "importance": 0.1, "confidence": 0.3, **keeps})
    for _ in range(6):
        clock.advance(days=200)
        memory.consolidate()
    assert now(memory, one).status is Status.ACTIVE


def test_a_guess_that_nobody_confirmed_goes_after_thirty_days(memory: Engram, clock: FakeClock) -> None:
    guess = told(memory, "Anna may move to Oslo", **{**WORKING, "kind": Kind.SEMANTIC}, confidence=0.3)
    sure = told(memory, "Anna may move to Rome", **{**WORKING, "kind": Kind.SEMANTIC}, confidence=0.3)
    memory.confirm(sure)
    clock.advance(days=29)
    memory.consolidate(stages=STAGE)
    assert now(memory, guess).status is Status.ACTIVE
    clock.advance(days=2)
    report = memory.consolidate(stages=STAGE)
    assert rules(report)[guess] == "archive.speculative"
    assert now(memory, sure).status is Status.ACTIVE


def test_a_commitment_goes_ninety_days_after_it_was_kept(memory: Engram, clock: FakeClock) -> None:
    closed = {"state": "done", "closed_at": (START + timedelta(days=1)).isoformat()}
    kept = told(memory, "I will call Bob", category="commitment", layer=Layer.WORKING, details=closed)
    still = told(memory, "I will call Ada", category="commitment", layer=Layer.WORKING)
    clock.advance(days=91)
    memory.consolidate(stages=STAGE)
    assert now(memory, kept).status is Status.ACTIVE
    clock.advance(days=1)
    assert rules(memory.consolidate(stages=STAGE))[kept] == "archive.commitment-resolved"
    assert now(memory, still).status is Status.ACTIVE


def test_ninety_days_in_the_archive_and_its_words_are_nowhere_in_the_file(
    tmp_path: Path, clock: FakeClock
) -> None:
    path = tmp_path / "one.engram"
    with Engram.open(path, clock=clock, embedder=HashEmbedder(), config={"store.backups": 0}) as memory:
        gone = told(memory, "zanzibar pineapples were on sale", **WORKING)
        kept = told(memory, "the quokka smiled", **WORKING, pinned=True)
        memory.forget(gone)
        memory.forget(kept)
        clock.advance(days=90)
        memory.consolidate(stages=STAGE)
        assert now(memory, gone).status is Status.ARCHIVED
        clock.advance(days=1)
        report = memory.consolidate(stages=STAGE)
        assert rules(report) == {gone: "archive.purge"}
        assert memory.get(gone) is None
        assert now(memory, kept).status is Status.ARCHIVED
        undone = memory.undo(report.run.id)
        assert undone.left == (gone,)
    files = b"".join(one.read_bytes() for one in tmp_path.rglob("*") if one.is_file())
    assert b"zanzibar" not in files
    assert b"quokka" in files


def test_a_memory_is_a_candidate_then_in_use_then_stale(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "the bus was late", **WORKING, importance=0.8)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).lifecycle is Lifecycle.CANDIDATE
    use(memory, one, 3, clock.now())
    memory.consolidate(stages=STAGE)
    assert now(memory, one).lifecycle is Lifecycle.ACTIVE
    clock.advance(days=15)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).lifecycle is Lifecycle.VALIDATED
    event = memory.events(one)[0]
    assert (event.rule, event.before["lifecycle"], event.after["lifecycle"]) == (
        "lifecycle.validated",
        "active",
        "validated",
    )
    clock.advance(days=300)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).lifecycle is Lifecycle.STALE


def test_logs_of_use_and_old_reports_go_after_ninety_days(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "the bus was late", **WORKING, importance=0.8, pinned=True)
    use(memory, one, 3)
    first = memory.consolidate(stages=STAGE).run.id
    assert memory.maintenance.report(first).decided
    store = memory.maintenance._caller.tools.store  # noqa: SLF001
    key = store.memories.keys([one])[one]
    assert store.upkeep.uses([key], 9)
    clock.advance(days=91)
    memory.consolidate(stages=STAGE)
    assert not memory.maintenance.report(first).decided
    assert not store.upkeep.uses([key], 9)
