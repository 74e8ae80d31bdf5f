"""Sessions as a user meets them: turns, topics, sleep, other agents, many at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engram import Engram
from engram.api.session import Session
from engram.api.sessions import Sessions
from engram.errors import AccessDenied, PromptTooLong, TurnAborted, TurnNotBegun, UnknownSession
from engram.model.maintenance import Sketch
from engram.model.memory import Filters
from engram.model.plain import plain
from engram.model.scope import Access, Role, Scope
from engram.model.session import Gap, Origin, Restored, TopicChange
from engram.ports import Unit
from engram.rules.doubt import GAP
from engram.testing import FakeClock, HashEmbedder
from tests.api.talking import contents, say

# ---------------------------------------------------------------- a turn


def test_a_turn_brings_what_is_remembered_into_the_prompt(shop: Engram) -> None:
    with (
        shop.session(agent="rex", model="gpt-4o") as session,
        session.turn("how is the web shop deployed?") as turn,
    ):
        assert "fly.io" in turn.context.system_prompt
        assert turn.context.messages[-1] == {"role": "user", "content": "how is the web shop deployed?"}
        turn.reply = "With fly.io."

    assert [one.content for one in shop.turns(session.id)] == [
        "how is the web shop deployed?",
        "With fly.io.",
    ]


def test_what_is_said_in_a_turn_is_learned(memory: Engram) -> None:
    with memory.session() as session, session.turn("Remember that my door code is 4711") as turn:
        turn.answer("I will.")

    assert turn.observed is not None
    assert turn.observed.logged == 2
    assert any("4711" in one for one in contents(memory.recall("what is my door code?")))


def test_the_history_of_a_session_stands_in_the_next_prompt(memory: Engram) -> None:
    session = memory.session()
    say(session, "Let us plan the trip to Lisbon", "Gladly.")

    with session.turn("when do we fly?") as turn:
        said = [one["content"] for one in turn.context.messages]

    assert "Let us plan the trip to Lisbon" in said
    assert "Gladly." in said
    assert session.history[0] == ("user", "Let us plan the trip to Lisbon")


def test_a_turn_that_fails_is_still_over(shop: Engram) -> None:
    session = shop.session()
    with pytest.raises(RuntimeError), session.turn("how is the web shop deployed?"):
        raise RuntimeError("the model is down")

    assert not session.is_running
    assert [one.content for one in shop.turns(session.id)] == ["how is the web shop deployed?"]


def test_a_turn_that_has_not_begun_has_nothing(memory: Engram) -> None:
    turn = memory.session().turn("hello")

    with pytest.raises(TurnNotBegun):
        _ = turn.context
    with pytest.raises(TurnNotBegun):
        _ = turn.recalled
    assert turn.finish() is None


def test_a_prompt_that_cannot_be_made_leaves_no_turn_open(memory: Engram) -> None:
    session = memory.session()
    with pytest.raises(PromptTooLong):
        session.turn("hello " * 50, budget=5).begin()

    assert not session.is_running


def test_an_elliptic_follow_up_finds_what_the_talk_is_about(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock) as memory:
        memory.remember("The payroll script is deployed with pip on the accounting server")
        memory.remember("Tomek deploys with Ansible at his new job")
        session = memory.session()
        say(session, "Can you look at the payroll script with me?")
        say(session, "The payroll script computes overtime wrongly")

        found = say(session, "ok, deploy it")

    assert contents(found)[0].startswith("The payroll script")
    assert any(note.startswith("leans by") for note in found.plan.notes)


# ---------------------------------------------------------------- what is on the mind


def test_the_best_of_what_is_recalled_comes_to_mind(shop: Engram) -> None:
    session = shop.session()
    say(session, "how is the web shop deployed from the main branch?")

    assert session.slots[0].content.startswith("The web shop")
    assert session.slots[0].memory


def test_what_is_erased_leaves_the_mind(shop: Engram) -> None:
    session = shop.session()
    say(session, "how is the web shop deployed from the main branch?")
    shop.erase(session.slots[0].memory)
    say(session, "tell me more about it")

    assert all("fly.io" not in slot.content for slot in session.slots)


def test_a_message_comes_to_mind_in_short_after_half_a_minute(memory: Engram, clock: FakeClock) -> None:
    session = memory.session()
    say(session, "I want to paint the kitchen wall green")
    clock.advance(seconds=31)
    say(session, "and the green paint needs two coats on the kitchen wall")

    assert ("I want to paint the kitchen wall green", Origin.SPOKEN) in [
        (slot.content, slot.origin) for slot in session.slots
    ]


def test_what_an_agent_holds_in_mind_is_remembered_when_it_must_leave(memory: Engram) -> None:
    session = memory.session()
    for number in range(10):
        session.hold(f"Shelf {number} holds the boxes of winter {1990 + number}")

    kept = memory.list().memories

    assert len(session.slots) == 9
    assert [one.source for one in kept] == ["session:agent"]


# ---------------------------------------------------------------- anticipation


def test_the_next_recall_is_prepared(shop: Engram, clock: FakeClock) -> None:
    session = shop.session()
    say(session, "how is the web shop deployed from the main branch?")
    clock.advance(seconds=10)

    with session.turn("how is the web shop deployed from the main branch again?") as turn:
        assert turn.anticipated
        assert contents(turn.recalled)[0].startswith("The web shop")
    assert session.info().anticipated.rate == 1.0


def test_after_a_minute_it_is_prepared_in_vain(shop: Engram, clock: FakeClock) -> None:
    session = shop.session()
    say(session, "how is the web shop deployed from the main branch?")
    clock.advance(seconds=61)

    with session.turn("how is the web shop deployed from the main branch again?") as turn:
        assert not turn.anticipated
        assert contents(turn.recalled)[0].startswith("The web shop")


def test_preparing_counts_as_no_use(shop: Engram) -> None:
    say(shop.session(), "hello there")
    shop.settle()

    assert all(one.usage.accessed == 0 for one in shop.list())


# ---------------------------------------------------------------- clarifying questions


def with_gaps(memory: Engram, *gaps: Gap) -> Sessions:
    """The sessions of a memory that knows what it does not know."""
    tools = memory._tools  # noqa: SLF001 - gaps come from maintenance; here they are put in by hand

    def work(unit: Unit) -> None:
        for gap in gaps:
            unit.upkeep.sketch(Sketch(Scope(), GAP, gap.key, plain(gap), tools.clock.now()))

    tools.store.write(work, "engine")
    return memory.sessions


def test_at_most_two_questions_a_session_and_each_once_a_week(memory: Engram, clock: FakeClock) -> None:
    gaps = [Gap(str(number), f"Question {number}?") for number in range(3)]
    sessions = with_gaps(memory, *gaps)
    asked = []
    for _ in range(2):
        for message in ("hello there", "hello again"):
            with sessions.open().turn(message) as turn:
                asked.append([gap.key for gap in turn.questions])
    clock.advance(days=7)
    with sessions.open().turn("hello") as turn:
        asked.append([gap.key for gap in turn.questions])

    assert asked == [["0", "1"], ["2"], [], [], ["0", "1"]]


def test_a_question_about_whom_the_talk_names_comes_first(memory: Engram) -> None:
    gaps = (Gap("1", "Which editor?", weight=0.9), Gap("2", "Where does Anna live?", "Anna", 0.1))
    session = with_gaps(memory, *gaps).open()

    with session.turn("I met Anna today") as turn:
        assert [gap.key for gap in turn.questions] == ["2", "1"]


# ---------------------------------------------------------------- other agents, many sessions


def test_turning_to_another_agent_aborts_what_runs(memory: Engram) -> None:
    rex = memory.session(agent="rex")
    turn = rex.turn("write a long report")
    turn.begin()
    turn.reply = "half of it"

    ada = rex.switch("ada")

    assert turn.aborted
    with pytest.raises(TurnAborted):
        turn.check()
    turn.finish()
    assert [one.content for one in memory.turns(rex.id)] == ["write a long report"]
    assert [(one.agent, one.state) for one in memory.sessions.list()] in (
        [("rex", "suspended"), ("ada", "live")],
        [("ada", "live"), ("rex", "suspended")],
    )
    assert ada.switch("rex").id == rex.id


def test_an_idle_session_goes_to_sleep_and_is_wiped(memory: Engram, clock: FakeClock) -> None:
    session = memory.session(agent="rex")
    say(session, "hello there")
    state = session._state  # noqa: SLF001 - wiping is what is looked at
    clock.advance(minutes=31)

    assert memory.sessions.sweep() == 1
    assert state is not None
    assert (len(state.buffer), state.working.slots) == (0, ())
    assert session.info().state == "suspended"
    assert say(session, "hello again") is not None
    assert len(session.history) == 2


def test_a_session_at_work_is_not_sent_to_sleep(memory: Engram, clock: FakeClock) -> None:
    session = memory.session()
    with session.turn("a long task") as turn:
        clock.advance(hours=2)
        assert memory.sessions.sweep() == 0
        assert not turn.aborted


def test_only_so_many_are_awake_at_once(
    file: Path, clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engram.api.sessions.AWAKE_MOST", 2)
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        for name in ("one", "two", "three", "four"):
            memory.session(id=name)
            clock.advance(seconds=1)
        states = {one.id: one.state for one in memory.sessions.list()}

    assert states == {"one": "suspended", "two": "suspended", "three": "live", "four": "live"}


def test_many_threads_talk_at_once(memory: Engram) -> None:
    def talk(number: int) -> tuple[str, list[tuple[str, str]]]:
        session = memory.session(id=f"talk-{number % 4}")
        say(session, f"message number {number}", f"answer number {number}")
        return session.id, session.history

    with ThreadPoolExecutor(8) as pool:
        ids = {name for name, _ in pool.map(talk, range(24))}

    assert ids == {"talk-0", "talk-1", "talk-2", "talk-3"}
    for name in ids:
        history = memory.session(id=name).history
        assert len(history) == 12
        said = {words.rpartition(" ")[2] for part, words in history if part == "user"}
        assert len(said) == 6


def test_an_agents_session_belongs_to_the_agent(memory: Engram) -> None:
    session = memory.session(agent="rex")

    assert session.scope == Scope(agent="rex")


def test_another_agent_neither_sees_nor_wakes_a_session(memory: Engram) -> None:
    memory.session(agent="rex", id="secret").suspend()
    ada = memory.seen_by(Access(Scope(agent="ada"), Role.AGENT), "ada")

    assert ada.sessions.list() == []
    with pytest.raises(UnknownSession):
        ada.sessions.resume("secret")
    with pytest.raises(AccessDenied):
        ada.session(agent="rex")
    assert ada.session(agent="ada", id="secret").restored is Restored.NEW


def test_a_reader_talks_and_leaves_nothing(shop: Engram) -> None:
    reader = shop.seen_by(Access(role=Role.READER), "reader")
    with reader.session() as session:
        found = say(session, "how is the web shop deployed?", "With fly.io")

    assert contents(found)
    assert shop.turns(session.id) == []
    assert shop.sessions.list() == []


# ---------------------------------------------------------------- by id, as doors do


def test_a_door_speaks_of_a_session_by_its_id(shop: Engram) -> None:
    sessions = shop.sessions
    started = sessions.start(agent="rex", model="gpt-4o", id="monday")
    begun = sessions.turn("monday", "how is the web shop deployed?")
    learned = sessions.reply("monday", "With fly.io.")

    assert (started.state, begun.topic) == ("live", TopicChange.CONTINUATION)
    assert "fly.io" in begun.context.system_prompt
    assert learned is not None
    assert learned.logged == 2
    assert sessions.reply("monday", "again") is None
    assert sessions.get("monday").turns == 1
    assert sessions.suspend("monday").state == "suspended"
    assert sessions.resume("monday").restored is Restored.WHOLE
    with pytest.raises(UnknownSession):
        sessions.get("tuesday")


def test_a_turn_that_was_never_answered_is_closed_by_the_next(shop: Engram) -> None:
    shop.sessions.start(id="monday")
    shop.sessions.turn("monday", "first message")
    shop.sessions.turn("monday", "second message")
    shop.sessions.suspend("monday")

    assert [one.content for one in shop.turns("monday")] == ["first message", "second message"]


def test_a_door_aborts(shop: Engram) -> None:
    shop.sessions.start(id="monday")
    shop.sessions.turn("monday", "first message")

    assert shop.sessions.abort("monday") == 1
    assert shop.sessions.abort("monday") == 0


# ---------------------------------------------------------------- flows and projects


def test_a_flow_learns_from_its_runs(memory: Engram) -> None:
    runs = memory.session(agent="rex").runs
    runs.learn("release", ["test", "tag"])
    failed = {"name": "tag", "outcome": "failure", "result": "no rights"}
    learned = runs.learn("release", ["test", failed], outcome="failure")

    [kept] = memory.list(filters=Filters(tags_all=frozenset({"flow"}))).memories
    assert kept.content == (
        "Flow release: 1. test, 2. tag. The last run failed at tag: no rights. 1 of 2 runs went well."
    )
    assert (str(kept.kind), str(kept.type)) == ("procedural", "procedure")
    assert (learned.runs, learned.success_rate) == (2, 0.5)


def test_a_complete_project_tells_everybody_what_proved_itself(memory: Engram) -> None:
    place = Scope(project="apollo", agent="rex")
    memory.remember("The vendor's API drops calls over 5 MB", scope=place, importance=0.8)
    memory.remember("Lunch was late on Tuesday", scope=place, importance=0.2)

    done = memory.sessions.complete("apollo", "It works.", lessons=["Ask for limits first"])

    assert [one.content for one in done.promoted] == ["The vendor's API drops calls over 5 MB"]
    assert {one.scope for one in (*done.promoted, *done.lessons)} == {Scope()}
    assert done.summary is not None
    assert done.summary.scope == Scope(project="apollo")
    with pytest.raises(AccessDenied):
        memory.seen_by(Access(place, Role.AGENT), "rex").sessions.complete("apollo")


@pytest.mark.slow
def test_a_hundred_switches_lose_nothing(memory: Engram) -> None:
    minds: dict[str, tuple[object, ...]] = {}

    def mind(session: Session) -> tuple[object, ...]:
        return session.slots, session.history, session.info().confidence

    session = memory.session(agent="agent0")
    for number in range(10):
        session = session.switch(f"agent{number}")
        say(session, f"Let us talk about topic number {number}", f"Topic {number} it is")
        session.hold(f"Working on topic {number}")
        minds[session.agent] = mind(session)
    for number in range(100):
        session = session.switch(f"agent{number * 7 % 10}")
        assert mind(session) == minds[session.agent]
