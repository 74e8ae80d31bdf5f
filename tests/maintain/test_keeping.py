"""Commitments in review: a promise is closed when a later statement certainly says that it was kept."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import cycle

import pytest

from engram import Engram
from engram.model.maintenance import RunState
from engram.model.scope import Scope
from engram.testing import FakeClock
from tests.maintain.presets.lives import decided
from tests.maintain.story import START, now, opened, told

STAGE = ["review"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock) as one:
        yield one


def test_what_was_promised_and_done_is_closed_once(memory: Engram, clock: FakeClock) -> None:
    loop = memory.commitments.open("I'll send the report by Friday").id
    other = memory.commitments.open("I'll call the bank").id
    clock.advance(days=1)
    assert decided(memory.consolidate(stages=STAGE), loop) == []
    said = memory.remember("I sent the report").memory.id
    memory.remember("I nearly called the bank")
    clock.advance(minutes=1)

    tried = memory.consolidate(stages=STAGE, dry=True)
    assert decided(tried, loop) == ["commitment.kept"]
    assert memory.commitments.get(loop).state == "open"

    report = memory.consolidate(stages=STAGE)
    closed = memory.commitments.get(loop)
    assert decided(report, loop) == ["commitment.kept"]
    assert (closed.state, closed.closed_at) == ("done", clock.now())
    assert said in closed.because
    assert [one.id for one in memory.commitments.list()] == [other]
    assert [one.id for one in memory.commitments.list("done")] == [loop]
    assert memory.consolidate(stages=STAGE).changes == 0
    event = memory.events(loop)[0]
    assert (event.rule, event.related) == ("commitment.kept", said)


def test_a_closing_that_a_person_takes_back_is_not_done_again(memory: Engram, clock: FakeClock) -> None:
    loop = memory.commitments.open("I'll call the bank").id
    clock.advance(hours=1)
    memory.remember("I called the bank")
    clock.advance(hours=1)
    run = memory.consolidate(stages=STAGE).run.id
    assert memory.commitments.get(loop).state == "done"

    assert memory.undo(run).left == ()
    assert memory.commitments.get(loop).state == "open"
    assert [one.id for one in memory.commitments.list()] == [loop]

    clock.advance(hours=1)
    assert decided(memory.consolidate(stages=STAGE), loop) == []
    assert memory.commitments.get(loop).state == "open"


@pytest.mark.parametrize(
    "said",
    [
        "I never called the bank",
        "I called the dentist",
        "Did I call the bank?",
        "Bob called the bank",
        "I will",
    ],
)
def test_what_does_not_say_so_plainly_closes_nothing(memory: Engram, clock: FakeClock, said: str) -> None:
    loop = memory.commitments.open("I'll call the bank").id
    clock.advance(hours=1)
    told(memory, said, source="human")
    clock.advance(hours=1)
    assert decided(memory.consolidate(stages=STAGE), loop) == []
    assert memory.commitments.get(loop).state == "open"


def test_a_statement_that_fits_two_promises_closes_none(memory: Engram, clock: FakeClock) -> None:
    first = memory.commitments.open("I'll call the bank on Monday").id
    second = told(memory, "I'll call the bank on Tuesday", category="commitment", source="human", apart=True)
    clock.advance(days=3)
    memory.remember("I called the bank")
    clock.advance(hours=1)
    report = memory.consolidate(stages=STAGE)
    assert decided(report, first) == decided(report, second) == []


def test_what_was_said_elsewhere_or_before_closes_nothing(memory: Engram, clock: FakeClock) -> None:
    memory.remember("I called the bank")
    clock.advance(days=1)
    loop = memory.commitments.open("I'll call the bank").id
    memory.remember("I called the bank", scope=Scope(project="garden"))
    clock.advance(hours=1)
    assert decided(memory.consolidate(stages=STAGE), loop) == []
    assert now(memory, loop).tags == ()


def test_a_review_that_is_cut_off_again_and_again_closes_the_same(clock: FakeClock) -> None:
    with opened(clock, maintain__slice=1) as memory:
        things = ("bank", "dentist", "plumber")
        loops = [memory.commitments.open(f"I'll call the {thing}").id for thing in things]
        clock.advance(hours=1)
        for thing in things[:2]:
            memory.remember(f"I called the {thing}")
        clock.advance(hours=1)
        for _ in range(50):
            every_other = cycle((False, True))
            done = memory.maintenance.consolidate(stages=STAGE, stopping=lambda: next(every_other))  # noqa: B023
            if done.run.state is RunState.DONE:
                break
        assert done.run.state is RunState.DONE
        assert [memory.commitments.get(one).state for one in loops] == ["done", "done", "open"]
        assert memory.consolidate(stages=STAGE).changes == 0
