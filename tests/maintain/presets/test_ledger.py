"""The life of memories under the preset `ledger`: kept by priority, told by a pack, every change an event."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.memory import Kind, Layer, Lifecycle, Priority, Status
from engram.testing import FakeClock
from tests.maintain.presets.lives import bytes_of, decided, fields, later, living
from tests.maintain.story import START, now, overheard, told

MINUTE = 1 / 1_440
NOTE: dict[str, Any] = {"category": "fact", "kind": Kind.SEMANTIC}


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with living("ledger", clock) as one:
        yield one


def told_in_pack(memory: Engram, section: str) -> list[str]:
    """The lines of a section of the recall pack, without their ids."""
    texts = [part.text for part in memory.recall_pack().sections if part.name == section]
    lines = [line for text in texts for line in text.splitlines() if line.startswith("- ")]
    return [line.partition("] ")[2] for line in lines]


def test_the_life_of_an_entry_from_the_day_it_is_written_to_the_last_byte(
    tmp_path: Path, clock: FakeClock
) -> None:
    with living("ledger", clock, tmp_path / "one.engram") as memory:
        # It is written down and counts from the next run on.
        depot = overheard(memory, "the gooseberry depot is in Bremen", **NOTE)
        rule = overheard(memory, "never spend more than the budget", category="constraint")
        assert now(memory, depot).priority is Priority.P2
        assert now(memory, rule).priority is Priority.P0
        assert later(memory, clock, depot, minutes=1) == ["promote.buffer-aged"]
        assert now(memory, depot).layer is Layer.WORKING

        # The pack tells it: plainly for thirty days, then as stale, after sixty no more; the rule always.
        clock.advance(days=30)
        assert told_in_pack(memory, "context") == ["the gooseberry depot is in Bremen"]
        clock.advance(days=1)
        assert told_in_pack(memory, "context") == [
            "the gooseberry depot is in Bremen (stale: 31 days unchecked)"
        ]
        clock.advance(days=30)
        assert told_in_pack(memory, "context") == []
        assert told_in_pack(memory, "rules") == ["never spend more than the budget"]

        # A confirmation makes it fresh; a use keeps it from being pruned.
        memory.confirm(depot)
        assert told_in_pack(memory, "context") == ["the gooseberry depot is in Bremen"]
        clock.advance(days=80)
        memory.touch([depot])
        assert later(memory, clock, depot, days=90) == []

        # Ninety days without use are over: it leaves; the run can be taken back.
        clock.advance(minutes=1)
        report = memory.consolidate()
        assert decided(report, depot) == ["archive.priority"]
        assert memory.recall("where is the depot?").hits == ()
        memory.undo(report.run.id)
        assert now(memory, depot).status is Status.ACTIVE

        # A correction replaces it; the old entry stays in the file, and is told nowhere.
        new = overheard(memory, "the gooseberry depot is in Hamburg", **NOTE)
        memory.set_status(depot, "superseded", "it moved")
        assert told_in_pack(memory, "context") == ["the gooseberry depot is in Hamburg"]
        assert [event.verb for event in reversed(memory.events(depot))][:2] == ["stored", "updated"]
        assert fields(memory, depot, "status") == ["archived", "active", "superseded"]

        # Both are let go; ninety days later nothing of them is left, and the rule is as it was.
        memory.forget(depot)
        memory.forget(new)
        assert later(memory, clock, depot, days=90) == []
        assert later(memory, clock, depot, minutes=1) == ["archive.purge"]
        assert memory.get(new) is None
        assert now(memory, rule).status is Status.ACTIVE
        assert memory.events(depot)[0].verb == "erased"
    assert b"gooseberry" not in bytes_of(tmp_path)


def test_open_loops_are_told_oldest_first_until_they_are_closed(memory: Engram, clock: FakeClock) -> None:
    loops = []
    for name in ("Ada", "Bob", "Cyd"):
        loops.append(memory.commitments.open(f"Follow up with {name}"))
        clock.advance(days=1)
    memory.commitments.open("Follow up with Dan", waiting_on="Eve")
    later(memory, clock, loops[0].id, days=400)  # an open loop is never too old
    assert told_in_pack(memory, "commitments") == [
        "Follow up with Ada (403 days)",
        "Follow up with Bob (402 days)",
        "Follow up with Cyd (401 days)",
    ]
    assert told_in_pack(memory, "waiting") == ["Eve: Follow up with Dan (400 days)"]

    memory.remember("I followed up with somebody")
    memory.commitments.close(loops[0].id, because="Ada wrote back")
    assert told_in_pack(memory, "commitments")[0] == "Follow up with Bob (402 days)"
    assert [one.id for one in memory.commitments.list("done")] == [loops[0].id]
    assert later(memory, clock, loops[0].id, days=90) == []
    assert later(memory, clock, loops[0].id, minutes=1) == ["archive.commitment-resolved"]
    assert memory.commitments.get(loops[1].id).state == "open"


def test_each_day_counts_its_events_from_one(memory: Engram, clock: FakeClock) -> None:
    one = overheard(memory, "the depot is in Bremen", **NOTE)
    overheard(memory, "the depot has two doors", **NOTE)
    clock.advance(days=1)
    report = memory.consolidate(stages=["promotion"])
    memory.update(one, content="the depot is in Hamburg", because="it moved")
    assert [event.id for event in reversed(memory.events())] == [
        "EVT-20260301-001",
        "EVT-20260301-002",
        "EVT-20260302-001",
        "EVT-20260302-002",
        "EVT-20260302-003",
    ]
    moved, promoted, stored = memory.events(one)
    assert (stored.verb, promoted.run, promoted.rule) == ("stored", report.run.id, "promote.buffer-aged")
    assert (moved.because, moved.before["content"]) == ("it moved", "the depot is in Bremen")
    [then] = [found for found in memory.list(as_of=START).memories if found.id == one]
    assert then.content == "the depot is in Bremen"


@pytest.mark.parametrize(
    ("priority", "days", "goes"),
    [
        (Priority.P3, 30 - MINUTE, False),
        (Priority.P3, 30, False),
        (Priority.P3, 30 + MINUTE, True),
        (Priority.P2, 90 - MINUTE, False),
        (Priority.P2, 90, False),
        (Priority.P2, 90 + MINUTE, True),
        (Priority.P1, 3_650, False),
        (Priority.P0, 3_650, False),
    ],
)
def test_priority_says_how_long_an_entry_is_kept(
    memory: Engram, clock: FakeClock, priority: Priority, days: float, *, goes: bool
) -> None:
    one = told(memory, "the depot is in Bremen", **NOTE, priority=priority, importance=0.1)
    clock.advance(days=days)
    gone = decided(memory.consolidate(stages=["forgetting"]), one)
    assert gone == (["archive.priority"] if goes else [])


@pytest.mark.parametrize("days", [3, 8, 29])
def test_what_waited_for_a_run_is_kept_all_the_same(memory: Engram, clock: FakeClock, days: float) -> None:
    one = overheard(memory, "the depot is in Bremen", **NOTE, importance=0.1)
    assert later(memory, clock, one, days=days) == ["promote.buffer-aged"]


@pytest.mark.parametrize(
    ("priority", "days", "in_pack"),
    [
        (Priority.P3, 30, True),
        (Priority.P3, 31, False),
        (Priority.P2, 90, True),
        (Priority.P2, 91, False),
        (Priority.P1, 400, True),
    ],
)
def test_the_pack_leaves_out_what_its_priority_no_longer_carries(
    memory: Engram, clock: FakeClock, priority: Priority, days: int, *, in_pack: bool
) -> None:
    told(memory, "the boss likes short mails", category="preference", priority=priority)
    clock.advance(days=days)
    assert told_in_pack(memory, "context") == (["the boss likes short mails"] if in_pack else [])


@pytest.mark.parametrize(
    ("days", "more", "lifecycle"),
    [
        (60, {}, Lifecycle.CANDIDATE),
        (60 + MINUTE, {}, Lifecycle.STALE),
        (400, {"category": "preference"}, Lifecycle.CANDIDATE),
        (400, {"category": "constraint"}, Lifecycle.CANDIDATE),
        (400, {"category": "relationship"}, Lifecycle.CANDIDATE),
        (400, {"priority": Priority.P0}, Lifecycle.CANDIDATE),
        (400, {"priority": Priority.P1}, Lifecycle.STALE),
    ],
)
def test_a_fact_that_nobody_verified_for_sixty_days_is_stale(
    memory: Engram, clock: FakeClock, days: float, more: dict[str, Any], lifecycle: Lifecycle
) -> None:
    one = told(memory, "the depot is in Bremen", **{**NOTE, **more})
    clock.advance(days=days)
    memory.consolidate(stages=["forgetting"])
    assert now(memory, one).lifecycle is lifecycle
    if lifecycle is Lifecycle.STALE:
        memory.confirm(one)
        clock.advance(days=60)
        memory.consolidate(stages=["forgetting"])
        assert now(memory, one).lifecycle is Lifecycle.VALIDATED
