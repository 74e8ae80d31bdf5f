"""Promotion: the buffer lets go of what proved itself, rescues what half did, archives the rest in time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engram import Engram
from engram.model.memory import Kind, Layer, Policy, Status
from engram.model.scope import Scope
from engram.testing import FakeClock
from tests.maintain.story import START, now, opened, overheard, rules, use

STAGE = ["promotion"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock) -> Iterator[Engram]:
    with opened(clock) as one:
        yield one


@pytest.mark.parametrize(("uses", "layer"), [(4, Layer.BUFFER), (5, Layer.WORKING), (6, Layer.WORKING)])
def test_a_memory_leaves_the_buffer_when_it_was_used_often_enough(
    memory: Engram, clock: FakeClock, uses: int, layer: Layer
) -> None:
    one = overheard(memory, "the gate code changes in spring")
    use(memory, one, uses)
    clock.advance(minutes=5)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).layer is layer


@pytest.mark.parametrize(("hours", "layer"), [(1.9, Layer.BUFFER), (2.0, Layer.WORKING)])
def test_a_lesson_settles_for_two_hours(memory: Engram, clock: FakeClock, hours: float, layer: Layer) -> None:
    one = overheard(memory, "never deploy without a backup", tags=("lesson",))
    clock.advance(hours=hours)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).layer is layer


def test_what_was_never_looked_at_has_two_days_and_is_archived_not_erased(
    memory: Engram, clock: FakeClock
) -> None:
    one = overheard(memory, "the lift was slow this morning")
    clock.advance(hours=48)
    assert memory.consolidate(stages=STAGE).changes == 0
    clock.advance(minutes=1)
    report = memory.consolidate(stages=STAGE)
    assert rules(report) == {one: "buffer.expire"}
    assert now(memory, one).status is Status.ARCHIVED
    assert memory.restore(one).status is Status.ACTIVE


def test_what_was_triaged_and_left_has_one_day(memory: Engram, clock: FakeClock) -> None:
    one = overheard(memory, "it was ok there")
    clock.advance(hours=20)
    memory.consolidate()
    assert now(memory, one).layer is Layer.BUFFER
    clock.advance(hours=4.1)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).status is Status.ARCHIVED


@pytest.mark.parametrize(
    ("importance", "said_again", "outcome"),
    [(0.69, 0, "buffer.expire"), (0.70, 0, "buffer.rescue"), (0.5, 1, "buffer.rescue")],
)
def test_what_matters_or_half_proved_itself_is_rescued(
    memory: Engram, clock: FakeClock, importance: float, said_again: int, outcome: str
) -> None:
    one = overheard(memory, "the lift was slow this morning", importance=importance)
    for _ in range(said_again):
        overheard(memory, "the lift was slow this morning", importance=importance)
    clock.advance(hours=49)
    assert rules(memory.consolidate(stages=STAGE)) == {one: outcome}


@pytest.mark.parametrize(
    "immune",
    [{"pinned": True}, {"policy": Policy.PROTECTED}, {"kind": Kind.PROCEDURAL, "tags": ("distilled",)}],
)
def test_what_is_immune_never_expires(memory: Engram, clock: FakeClock, immune: dict[str, object]) -> None:
    one = overheard(memory, "the lift was slow this morning", **immune)
    clock.advance(days=400)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).status is Status.ACTIVE


def test_a_full_buffer_lets_go_of_its_oldest_unprotected_ones_scope_by_scope(clock: FakeClock) -> None:
    with opened(clock, forgetting__buffer_cap=3) as memory:
        here = [overheard(memory, f"note number {i} of the house", pinned=i == 0) for i in range(5)]
        there = [
            overheard(memory, f"note number {i} of the shed", scope=Scope(project="garden")) for i in range(3)
        ]
        clock.advance(minutes=1)
        report = memory.consolidate(stages=STAGE)
        assert rules(report) == dict.fromkeys(here[1:3], "buffer.cap")
        assert all(now(memory, one).status is Status.ACTIVE for one in (here[0], *here[3:], *there))


@pytest.mark.parametrize(
    ("importance", "uses", "kind"),
    [
        (0.7, 5, Kind.SEMANTIC),
        (0.69, 5, Kind.EPISODIC),
        (0.7, 4, Kind.EPISODIC),
    ],
)
def test_an_important_episode_that_is_used_often_becomes_knowledge(
    memory: Engram, clock: FakeClock, importance: float, uses: int, kind: Kind
) -> None:
    more = {"kind": Kind.EPISODIC, "layer": Layer.WORKING}
    one = overheard(memory, "we moved the server", importance=importance, **more)
    use(memory, one, uses)
    clock.advance(minutes=5)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).kind is kind


def test_a_turn_of_a_conversation_stays_an_episode(memory: Engram, clock: FakeClock) -> None:
    one = overheard(memory, "we moved the server", importance=0.9, speaker="Anna", layer=Layer.WORKING)
    use(memory, one, 9)
    clock.advance(minutes=5)
    memory.consolidate(stages=STAGE)
    assert now(memory, one).kind is Kind.EPISODIC
