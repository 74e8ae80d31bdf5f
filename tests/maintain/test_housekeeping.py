"""Housekeeping: marks of old reviews go, the buffer is not stuck, the core holds what lasts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engram import Engram
from engram.model.memory import Layer, Policy, Status
from engram.testing import FakeClock
from tests.maintain.story import START, now, opened, overheard, rules, told, use

STAGE = ["housekeeping"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock, meaning=True) as one:
        yield one


def test_marks_of_an_old_review_go_after_a_day(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "The gate is green", tags=("promotion", "gate-rejected", "gate"), layer=Layer.WORKING)
    clock.advance(hours=24)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).tags == ("gate-rejected", "gate")
    clock.advance(hours=1)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).tags == ("gate",)


def test_what_is_stuck_in_the_buffer_rises_or_goes(memory: Engram, clock: FakeClock) -> None:
    kept = overheard(memory, "The gate is green", policy=Policy.PROTECTED)
    gone = overheard(memory, "The lift was slow")
    used = overheard(memory, "The stairs are steep")
    use(memory, used, 2)
    clock.advance(days=7)
    assert memory.consolidate(stages=STAGE).changes == 0
    clock.advance(hours=1)
    memory.consolidate(stages=STAGE)
    assert now(memory, kept).layer is Layer.WORKING
    assert now(memory, gone).status is Status.ARCHIVED
    assert now(memory, used).status is Status.ACTIVE


@pytest.mark.parametrize("passing", [{"tags": ("session",)}, {"policy": Policy.EPHEMERAL}])
def test_what_passes_leaves_the_core_and_does_not_come_back(
    memory: Engram, clock: FakeClock, passing: dict[str, object]
) -> None:
    one = told(memory, "Never deploy on a Friday", layer=Layer.CORE, importance=0.9, **passing)
    use(memory, one, 9, clock.now())
    clock.advance(minutes=1)
    assert rules(memory.consolidate(stages=STAGE))[one] == "core.hygiene"
    clock.advance(minutes=1)
    memory.consolidate()
    assert now(memory, one).layer is Layer.WORKING


def test_overlapping_memories_of_the_core_are_flagged_once(memory: Engram, clock: FakeClock) -> None:
    both = [
        told(memory, words, layer=Layer.CORE, apart=True)
        for words in ("The staging server runs in Berlin", "The staging server runs in Munich")
    ]
    told(memory, "Anna likes tea", layer=Layer.CORE)
    clock.advance(minutes=1)
    report = memory.consolidate(stages=STAGE)
    assert [(line.rule, {line.memory, line.related}) for line in report.decided] == [
        ("core.overlap", set(both))
    ]
    clock.advance(minutes=1)
    assert memory.consolidate(stages=STAGE).changes == 0
