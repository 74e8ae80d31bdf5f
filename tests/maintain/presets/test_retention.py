"""The life of memories under the preset `retention`: a short stay, a falling curve, one rule to archive."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.model.memory import Kind, Layer, Policy, Priority, Status
from engram.testing import FakeClock
from tests.maintain.presets.lives import bytes_of, decided, fields, later, living
from tests.maintain.story import START, now, overheard, told

MINUTE = 1 / 1_440
EVENT: dict[str, Any] = {
    "category": "moment",
    "kind": Kind.EPISODIC,
    "layer": Layer.WORKING,
    "importance": 0.2,
}
BY_HAND: dict[str, Any] = {**EVENT, "source": "human", "policy": Policy.DURABLE}
"""Written by a person, so half of it is left after 30 days; what an agent noted goes three times as fast."""


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with living("retention", clock) as one:
        yield one


def test_the_life_of_an_event_that_fades(tmp_path: Path, clock: FakeClock) -> None:
    with living("retention", clock, tmp_path / "one.engram") as memory:
        # It is heard, rests for half an hour, and becomes an episode among others.
        one = told(memory, "we watched the zeppelin land", **{**EVENT, "layer": Layer.BUFFER})
        assert later(memory, clock, one, minutes=9) == []
        assert later(memory, clock, one, minutes=21) == ["promote.buffer-aged"]
        assert now(memory, one).layer is Layer.WORKING

        # A use brings some of it back; pinned, it is immune to forgetting for as long as it is pinned.
        found = memory.recall("zeppelin")
        assert [hit.memory.id for hit in found.hits] == [one]
        memory.settle()
        assert now(memory, one).usage.accessed == 1
        memory.pin(one)
        assert later(memory, clock, one, days=400) == []
        memory.pin(one, pinned=False)
        clock.advance(minutes=1)

        # Old, gone, unimportant and hardly used: it leaves. That can be taken back, or not.
        tried = memory.consolidate(dry=True)
        assert decided(tried, one) == ["archive.faded"]
        assert now(memory, one).status is Status.ACTIVE
        clock.advance(minutes=1)
        report = memory.consolidate()
        assert decided(report, one) == ["archive.faded"]
        assert memory.recall("zeppelin").hits == ()
        memory.undo(report.run.id)
        assert now(memory, one).status is Status.ACTIVE
        memory.forget(one, "nobody needs it")
        assert later(memory, clock, one, days=90) == []
        assert later(memory, clock, one, minutes=1) == ["archive.purge"]
    assert b"zeppelin" not in bytes_of(tmp_path)


def test_the_life_of_an_event_that_becomes_knowledge(memory: Engram, clock: FakeClock) -> None:
    one = overheard(
        memory, "we moved the archive to the old mill", **{**EVENT, "layer": None, "importance": 0.7}
    )
    for _ in range(2):
        memory.recall("where is the archive?")
    assert later(memory, clock, one, minutes=1) == ["promote.buffer-used"]
    for _ in range(2):
        memory.recall("where is the archive?")
    assert later(memory, clock, one, minutes=1) == ["gate.approve"]  # but with four uses still an episode
    assert now(memory, one).kind is Kind.EPISODIC
    memory.recall("where is the archive?")
    assert later(memory, clock, one, minutes=1) == ["promote.knowledge"]
    assert now(memory, one).kind is Kind.SEMANTIC
    for _ in range(4):  # knowledge does not fade
        later(memory, clock, one, days=200)
    assert now(memory, one).status is Status.ACTIVE
    assert fields(memory, one, "kind") == ["semantic"]


def test_every_change_of_status_is_told_with_its_time_and_reason(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "the mill has two wheels", **BY_HAND)
    steps = [
        ("challenged", "a photo shows three"),
        ("active", "the photo was old"),
        ("invalidated", "counted again"),
        ("active", "counted a third time"),
        ("superseded", "it was rebuilt"),
        ("active", "it was not"),
        ("archived", "enough of it"),
    ]
    for status, because in steps:
        clock.advance(hours=1)
        memory.set_status(one, status, because)
        assert now(memory, one).status == status
    changes = [event for event in reversed(memory.events(one)) if "status" in event.after]
    assert [(event.after["status"], event.because) for event in changes] == steps
    befores = [event.before["status"] for event in changes]
    assert befores == ["active", *(status for status, _ in steps[:-1])]
    assert [(event.at - START).total_seconds() / 3_600 for event in changes] == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize(
    ("minutes", "uses", "layer"),
    [
        (29.9, 0, Layer.BUFFER),
        (30, 0, Layer.WORKING),
        (30.1, 0, Layer.WORKING),
        (1, 1, Layer.BUFFER),
        (1, 2, Layer.WORKING),
        (1, 3, Layer.WORKING),
    ],
)
def test_half_an_hour_or_two_uses_end_the_stay_in_the_buffer(
    memory: Engram, clock: FakeClock, minutes: float, uses: int, layer: Layer
) -> None:
    one = told(memory, "it was ok there", **{**EVENT, "layer": Layer.BUFFER})
    for _ in range(uses):
        memory.touch([one])
    clock.advance(minutes=minutes)
    memory.consolidate(stages=["promotion"])
    assert now(memory, one).layer is layer


def test_what_waited_a_long_time_for_a_run_rises_all_the_same(memory: Engram, clock: FakeClock) -> None:
    one = overheard(memory, "it was ok there", **{**EVENT, "layer": Layer.BUFFER})
    assert later(memory, clock, one, days=8) == ["promote.buffer-aged"]


@pytest.mark.parametrize(
    ("importance", "uses", "kind"),
    [
        (0.69, 5, Kind.EPISODIC),
        (0.70, 4, Kind.EPISODIC),
        (0.70, 5, Kind.SEMANTIC),
        (0.71, 6, Kind.SEMANTIC),
    ],
)
def test_an_episode_becomes_knowledge_at_seven_tenths_and_five_uses(
    memory: Engram, clock: FakeClock, importance: float, uses: int, kind: Kind
) -> None:
    one = told(memory, "we moved the archive", **{**EVENT, "importance": importance})
    for _ in range(uses):
        memory.touch([one])
    clock.advance(days=30)  # importance loses nothing by the day
    memory.consolidate(stages=["promotion"])
    assert now(memory, one).kind is kind


@pytest.mark.parametrize(
    ("mode", "source", "day"),
    [
        ("huber", "human", 60.3),
        ("huber", "agent", 20.1),
        ("l2", "human", 82.1),
        ("l2", "agent", 27.4),
        ("elastic", "human", 64.1),
        ("ebbinghaus", "human", 82.1),
    ],
)
def test_each_curve_comes_down_to_fifteen_hundredths_on_its_day(
    clock: FakeClock, mode: str, source: str, day: float
) -> None:
    with living("retention", clock, retention__mode=mode, forgetting__archive_days=1) as memory:
        one = told(memory, "the bus was late", **{**BY_HAND, "source": source})
        clock.advance(days=day - 0.2)
        assert decided(memory.consolidate(stages=["forgetting"]), one) == []
        clock.advance(days=0.4)
        assert decided(memory.consolidate(stages=["forgetting"]), one) == ["archive.faded"]


@pytest.mark.parametrize(
    ("days", "goes"), [(90 - MINUTE, False), (90, False), (90 + MINUTE, True)], ids=["below", "at", "above"]
)
def test_nothing_is_archived_before_ninety_days_are_over(
    memory: Engram, clock: FakeClock, days: float, *, goes: bool
) -> None:
    one = told(memory, "the bus was late", **BY_HAND)
    clock.advance(days=days)
    assert bool(decided(memory.consolidate(stages=["forgetting"]), one)) is goes


@pytest.mark.parametrize(
    ("half_life", "goes"), [(33.0, False), (32.8, True)], ids=["retention 0.150", "retention 0.149"]
)
def test_what_is_still_held_stays(clock: FakeClock, half_life: float, *, goes: bool) -> None:
    slow: dict[str, Any] = {"retention__mode": "l2", "retention__half_life_days": half_life}
    with living("retention", clock, **slow) as memory:
        one = told(memory, "the bus was late", **BY_HAND)
        clock.advance(days=90.1)
        assert bool(decided(memory.consolidate(stages=["forgetting"]), one)) is goes


@pytest.mark.parametrize(
    ("change", "goes"),
    [
        ({"importance": 0.48}, True),  # by all nine factors just under 0.30
        ({"importance": 0.51}, False),  # and just over it
        ({"importance": 0.05, "uses": 2}, True),
        ({"importance": 0.05, "uses": 3}, False),
        ({"pinned": True}, False),
        ({"kind": Kind.SEMANTIC}, False),
        ({"kind": Kind.PROCEDURAL}, False),
        ({"priority": Priority.P1}, False),
        ({"category": "decision", "priority": Priority.P2}, True),  # no category is protected by itself
    ],
)
def test_all_four_conditions_must_hold_and_nothing_may_speak_against_it(
    memory: Engram, clock: FakeClock, change: dict[str, Any], *, goes: bool
) -> None:
    fields_ = {**BY_HAND, **change}
    uses = fields_.pop("uses", 0)
    one = told(memory, "the bus was late", **fields_)
    for _ in range(uses):
        memory.touch([one])
    clock.advance(days=91)
    assert bool(decided(memory.consolidate(stages=["forgetting"]), one)) is goes
