"""Gaps: what is missing becomes a question, is asked rarely, and closes when it is known."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from engram import Engram
from engram.errors import AccessDenied, InvalidInput
from engram.model.capture import Draft
from engram.model.maintenance import RunState
from engram.model.scope import Access, Role, Scope
from engram.testing import FakeClock
from tests.maintain.story import START, now, opened, rules, told, use

NAMING = ("We met Carla at the lake", "I saw Carla on the bus", "Lunch with Carla was late")
DOUBT = ["doubt"]


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def memory(clock: FakeClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engram]:
    monkeypatch.setattr("engram.maintain.gaps.NAMED_BY", 3)
    with opened(clock) as one:
        yield one


def asked(memory: Engram, question: str) -> None:
    """A recall, and everything it leaves behind on disk."""
    memory.recall(question)
    memory.settle()


def questions(memory: Engram) -> list[str]:
    return [one.question for one in memory.gaps.list()]


@pytest.mark.parametrize(("count", "asks"), [(2, []), (3, ["Who is Carla?"])])
def test_who_is_named_often_without_any_fact_is_asked_about(
    memory: Engram, count: int, asks: list[str]
) -> None:
    for words in NAMING[:count]:
        told(memory, words)
    memory.consolidate(stages=DOUBT)
    assert questions(memory) == asks


def test_a_person_without_a_relation_and_a_project_without_a_deadline_are_asked_about(memory: Engram) -> None:
    for words in (*NAMING, "Carla likes tea", "The Apollo project is late", "The Apollo project is large"):
        told(memory, words)
    told(
        memory,
        "The Apollo project depends on Redis",
        details={"facts": [_fact("apollo", "depend on", "redis")]},
    )
    memory.consolidate(stages=DOUBT)
    assert questions(memory) == ["Who is Carla to you?", "When is Apollo due?"]


def _fact(subject: str, predicate: str, whom: str) -> dict[str, str]:
    return {"subject": subject, "predicate": predicate, "object": whom}


def test_an_answer_is_remembered_as_a_statement_and_closes_the_gap_for_good(memory: Engram) -> None:
    for words in NAMING:
        told(memory, words)
    memory.consolidate(stages=DOUBT)
    (gap,) = memory.gaps.list()
    held = memory.gaps.answer(gap.key[:12], "my neighbour")
    assert held.content == "Carla is my neighbour"
    assert memory.gaps.list() == []
    memory.consolidate(stages=DOUBT)
    assert memory.gaps.list() == []
    with pytest.raises(InvalidInput):
        memory.gaps.answer(gap.key, "my neighbour")


def test_a_gap_closes_by_itself_once_it_is_known(memory: Engram, clock: FakeClock) -> None:
    for words in NAMING:
        told(memory, words)
    memory.consolidate(stages=DOUBT)
    clock.advance(hours=1)
    told(memory, "Carla is my neighbour")
    report = memory.consolidate(stages=DOUBT)
    assert questions(memory) == []
    assert "gap.closed" in {one.rule for one in report.decided}


def test_what_was_dismissed_is_not_found_again(memory: Engram, clock: FakeClock) -> None:
    for words in NAMING:
        told(memory, words)
    memory.consolidate(stages=DOUBT)
    memory.gaps.dismiss(memory.gaps.list()[0].key)
    clock.advance(days=1)
    told(memory, "I rang Carla on Monday")
    memory.consolidate(stages=DOUBT)
    assert questions(memory) == []


def test_a_commitment_without_a_day_is_asked_about_and_takes_the_answer(memory: Engram) -> None:
    loop = memory.commitments.open("I'll call the plumber")
    memory.commitments.open("I'll pay the rent by Friday")
    memory.consolidate(stages=DOUBT)
    (gap,) = memory.gaps.list()
    assert gap.question == 'By when is this to be done: "I\'ll call the plumber"?'
    memory.gaps.answer(gap.key, "by Friday")
    assert memory.commitments.get(loop.id).due is not None
    memory.consolidate(stages=DOUBT)
    assert memory.gaps.list() == []


def test_an_open_conflict_is_asked_about_until_it_is_settled(memory: Engram, clock: FakeClock) -> None:
    one = told(memory, "The office opens at nine")
    two = told(memory, "The garden has a gate")
    memory.relate(one, two, "contradicts")
    memory.consolidate(stages=DOUBT)
    (gap,) = memory.gaps.list()
    assert (gap.kind, set(gap.memories)) == ("conflict", {one, two})
    memory.conflicts.resolve(one, two, "both")
    clock.advance(hours=1)
    memory.consolidate(stages=DOUBT)
    assert memory.gaps.list() == []


@pytest.mark.parametrize(("times", "asks"), [(1, 0), (2, 1)])
def test_a_name_asked_about_in_vain_becomes_a_gap(
    memory: Engram, clock: FakeClock, times: int, asks: int
) -> None:
    told(memory, "The roses need water")
    for _ in range(times):
        clock.advance(minutes=1)
        asked(memory, "what does Zelda think of cheese?")
    memory.consolidate(stages=DOUBT)
    assert [one.about for one in memory.gaps.list()] == ["Zelda"] * asks


def test_what_was_asked_in_vain_is_forgotten_in_time_or_when_it_is_told(
    memory: Engram, clock: FakeClock
) -> None:
    told(memory, "The roses need water")
    for name in ("Zelda", "Bruno"):
        for _ in range(2):
            asked(memory, f"what does {name} think of cheese?")
    memory.consolidate(stages=DOUBT)
    assert {one.about for one in memory.gaps.list()} == {"Zelda", "Bruno"}
    clock.advance(days=29, hours=23)
    told(memory, "I met Bruno at the market")
    memory.consolidate(stages=DOUBT)
    assert [one.about for one in memory.gaps.list()] == ["Zelda"]
    clock.advance(hours=1)
    memory.consolidate(stages=DOUBT)
    assert memory.gaps.list() == []


def test_a_question_about_a_secret_leaves_no_trace(memory: Engram) -> None:
    told(memory, "The roses need water")
    for _ in range(3):
        asked(memory, "is Zelda at zelda@example.org?")
    memory.consolidate(stages=DOUBT)
    assert memory.gaps.list() == []


def test_erasing_takes_what_was_asked_about_its_names_along(memory: Engram) -> None:
    for _ in range(2):
        asked(memory, "what does Zelda think of cheese?")
    one = told(memory, "The roses of Zelda need water")
    told(memory, "The gate squeaks")
    for _ in range(2):
        asked(memory, "which cheese did Zelda buy in town on Tuesday?")
    memory.erase(one)
    upkeep = memory.maintenance._caller.tools.store.upkeep  # noqa: SLF001
    assert upkeep.sketches("asked", memory.access, 10) == []


def test_two_questions_a_session_and_each_once_a_week(memory: Engram, clock: FakeClock) -> None:
    for what in ("call the plumber", "water the plants", "fix the gate"):
        memory.commitments.open(f"I'll {what}")
    memory.consolidate(stages=DOUBT)
    first = memory.gaps.ask("monday")
    assert (len(first), memory.gaps.ask("monday")) == (2, [])
    assert len(memory.gaps.ask("tuesday")) == 1, "the others were asked this week"
    clock.advance(days=6, hours=23)
    assert memory.gaps.ask("friday") == []
    clock.advance(hours=1)
    assert len(memory.gaps.ask("friday")) == 2
    assert memory.gaps.ask("monday") == [], "that session has had its questions"


def test_a_turn_of_a_session_asks_about_what_is_named(memory: Engram) -> None:
    for words in NAMING:
        told(memory, words)
    memory.commitments.open("I'll call the plumber")
    memory.consolidate(stages=DOUBT)
    with memory.session(id="talk") as session, session.turn("I had a letter from Carla today") as turn:
        assert turn.questions[0].question == "Who is Carla?"
        turn.reply = "Nice."
    assert memory.gaps.ask("talk") == [], "the session counts them as well"


def test_places_are_not_mixed_and_secrets_are_left_out(memory: Engram) -> None:
    for words in NAMING[:2]:
        memory.remember_many([Draft(words, scope=Scope(user="ann"))])
    told(memory, NAMING[2])
    for words in ("Dora's card is 4111 1111 1111 1111", "Dora said hello", "We met Dora at the lake"):
        told(memory, words)
    memory.consolidate(stages=DOUBT)
    assert questions(memory) == []
    memory.remember_many([Draft("I rang Carla twice", scope=Scope(user="ann"))])
    memory.consolidate(stages=DOUBT)
    assert [one.scope for one in memory.gaps.list()] == [Scope(user="ann")]
    other = memory.seen_by(Access(Scope(user="bob"), Role.AGENT), "agent")
    assert (other.gaps.list(), other.gaps.ask("s")) == ([], [])
    reader = memory.seen_by(Access(Scope(user="ann"), Role.READER), "reader")
    with pytest.raises(AccessDenied):
        reader.gaps.dismiss(reader.gaps.list()[0].key)


def test_a_gap_goes_with_the_memories_it_speaks_of(memory: Engram) -> None:
    ids = [told(memory, words) for words in NAMING]
    memory.consolidate(stages=DOUBT)
    memory.erase(ids[0])
    assert memory.gaps.list() == []
    memory.consolidate(stages=DOUBT)
    assert memory.gaps.list() == [], "two are not enough"


def test_only_so_many_gaps_are_kept(
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("engram.maintain.gaps.GAPS_MOST", 2)
    with opened(clock) as memory:
        for what in ("call the plumber", "water the plants", "fix the gate"):
            memory.commitments.open(f"I'll {what}")
        memory.consolidate(stages=DOUBT)
        assert len(memory.gaps.list()) == 2


def test_found_twice_they_are_found_once_and_a_run_is_taken_back(memory: Engram, clock: FakeClock) -> None:
    for words in NAMING:
        told(memory, words)
    first = memory.consolidate(stages=DOUBT)
    assert first.changes == 1
    assert all("Carla" not in line.why for line in first.decided)
    assert memory.consolidate(stages=DOUBT).decided == ()
    assert memory.undo(first.run.id).run.state is RunState.UNDONE
    assert memory.gaps.list() == []
    clock.advance(days=1)
    assert rules(memory.consolidate(stages=DOUBT)) == {}
    assert memory.gaps.list() == [], "a person took it back"


def test_what_is_long_unconfirmed_is_vouched_for_by_a_yes(memory: Engram, clock: FakeClock) -> None:
    belief = told(memory, "Bob plays chess on Mondays", kind="semantic", type="fact")
    use(memory, belief, 5)
    clock.advance(days=90)
    memory.consolidate(stages=DOUBT)
    (gap,) = memory.gaps.list()
    assert gap.question == 'Is this still so: "Bob plays chess on Mondays"?'
    memory.gaps.answer(gap.key, "yes, still")
    assert now(memory, belief).verified_at == clock.now()
    memory.consolidate(stages=DOUBT)
    assert memory.gaps.list() == []
