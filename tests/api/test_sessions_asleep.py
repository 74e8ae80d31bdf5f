"""Sessions that sleep and wake: what comes back, what nobody can read, what is dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram import Engram
from engram.model.scope import Access
from engram.model.session import Origin, Restored
from engram.testing import FakeClock, HashEmbedder
from tests.api.talking import contents, say


@pytest.mark.parametrize(
    ("hours", "restored", "slots", "said"),
    [
        (3, Restored.WHOLE, [1.0], 2),
        (14, Restored.DECAYED, [0.6], 2),
        (25, Restored.FRESH, [], 0),
    ],
)
def test_how_much_comes_back(
    memory: Engram, clock: FakeClock, hours: float, restored: Restored, slots: list[float], said: int
) -> None:
    session = memory.session(id="monday")
    say(session, "hello there", "hi")
    session.hold("Paint the wall green", origin="user")
    session.suspend()
    clock.advance(hours=hours)

    again = memory.session(id="monday")

    assert again.restored is restored
    assert [round(slot.activation, 2) for slot in again.slots] == slots
    assert len(again.history) == said


def test_a_sleeping_session_wakes_in_another_process(file: Path, clock: FakeClock) -> None:
    with (
        Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory,
        memory.session(agent="rex") as session,
    ):
        say(session, "Let us plan the trip to Lisbon", "Gladly.")
        name, history = session.id, session.history
    clock.advance(hours=1)
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        [told] = memory.sessions.list()
        session = memory.session(agent="rex")

        assert (told.id, told.state, told.turns, told.agent) == (name, "suspended", 1, "rex")
        assert (session.id, session.restored, session.history) == (name, Restored.WHOLE, history)


def test_an_agent_comes_back_to_the_session_it_left_a_moment_ago(memory: Engram) -> None:
    with memory.session(agent="rex") as first:
        say(first, "Let us plan the trip to Lisbon")
    with memory.session(agent="rex") as second:
        assert (second.id, second.history) == (first.id, first.history)
    one, other = memory.session(agent="rex"), memory.session(agent="rex")

    assert one.id == first.id
    assert other.id != one.id


def test_a_file_opened_for_reading_lets_one_talk(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        memory.remember("The web shop is deployed with fly.io")
    with (
        Engram.open(file, clock=clock, embedder=HashEmbedder(), read_only=True) as memory,
        memory.session(agent="rex") as session,
    ):
        assert contents(say(session, "how is the web shop deployed?", "With fly.io"))


def test_what_slept_too_long_is_dropped(memory: Engram, clock: FakeClock) -> None:
    memory.session(id="monday").suspend()
    clock.advance(hours=25)
    memory.session(id="tuesday")
    store = memory._tools.store  # noqa: SLF001 - what is left in the file is what is looked at

    assert store.snapshots.known(Access()) == []


@pytest.mark.files
def test_nothing_of_a_sleeping_session_can_be_read_in_the_file(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        session = memory.session()
        session.hold("the quick brown zebra", origin="user")
        session.suspend()
        memory.vacuum()
    raw = b"".join(path.read_bytes() for path in file.parent.iterdir())

    assert b"zebra" not in raw
    assert (file.stat().st_mode & 0o777, Path(f"{file}-key").stat().st_mode & 0o777) == (0o600, 0o600)


@pytest.mark.files
def test_without_its_key_a_session_begins_anew(file: Path, clock: FakeClock) -> None:
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        session = memory.session(id="monday")
        session.hold("the quick brown zebra")
        session.suspend()
    Path(f"{file}-key").unlink()
    with Engram.open(file, clock=clock, embedder=HashEmbedder()) as memory:
        again = memory.session(id="monday")

        assert (again.restored, again.slots) == (Restored.FRESH, ())


def test_erasing_a_memory_takes_the_sleeping_session_that_had_it_on_its_mind(shop: Engram) -> None:
    session = shop.session(id="monday")
    say(session, "how is the web shop deployed from the main branch?")
    erased = session.slots[0].memory
    shop.sessions.suspend("monday")
    shop.erase(erased)

    assert shop.sessions.list() == []


def test_a_fresh_start_brings_what_matters_to_mind(memory: Engram, clock: FakeClock) -> None:
    memory.remember("The alarm code is on the fridge", importance=0.9)
    memory.remember("The bakery opens at six", importance=0.2)

    slots = memory.session().slots

    assert [slot.origin for slot in slots] == [Origin.MORNING] * 2
    assert slots[0].content == "The alarm code is on the fridge"
    assert all(one.usage.accessed == 0 for one in memory.list())


def test_ending_a_session_reads_what_waits_and_keeps_nothing(memory: Engram) -> None:
    session = memory.session(id="monday")
    say(session, "I moved from Bremen to Kiel last week", "Nice.")
    memory.sessions.end("monday")

    assert memory.sessions.list() == []
    assert any("Kiel" in one.content for one in memory.list())
