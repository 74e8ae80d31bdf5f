"""Reading again: beliefs follow today's rules, what people did by hand stays, and all of it can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engram import Engram, Filters, Memory, Status
from engram.errors import AccessDenied, WorkCancelled
from engram.model.clock import Cancellation, cancelled_by
from engram.model.maintenance import Report, RunState
from engram.model.scope import Access, Role
from engram.testing import FakeClock, ScriptedServer
from engram.testing.model_server import says_json

HOME = "I live in Oslo and my sister Maya is a vet."
MOVED = "We moved to Bergen last week."


def badly(*contents: str) -> Any:
    """What a model that reads badly makes of a turn."""
    return says_json(
        {
            "statements": [
                {
                    "content": content, "category": "fact", "confidence": 0.9, "turns": [1],
                    "event_time": None, "facts": [], "entities": [], "corrects": False,
                }
                for content in contents
            ]
        }
    )  # fmt: skip


@contextmanager
def once_read_by(path: Path, clock: FakeClock, *replies: Any) -> Iterator[Engram]:
    """A memory whose first turns are read by a model that answers so."""
    with ScriptedServer(*replies) as server:
        config = {"llm.base_url": server.url, "llm.model": "tiny", "llm.retries": 0, "llm.level": "full"}
        with Engram.open(path, config=config, clock=clock) as opened:
            yield opened


def told(memory: Engram, *statuses: Status) -> list[str]:
    wanted = statuses or (Status.ACTIVE,)
    return sorted(one.content for one in every(memory, *wanted))


def every(memory: Engram, *statuses: Status) -> list[Memory]:
    return list(memory.list(filters=Filters(statuses=frozenset(statuses or Status))))


def rules(report: Report) -> dict[str, int]:
    return {tally.rule: tally.count for tally in report.tallies}


def by_words(memory: Engram, content: str) -> Memory:
    return next(one for one in every(memory) if one.content == content)


def test_what_is_read_well_stays_as_it_is(memory: Engram, clock: FakeClock) -> None:
    for line in (HOME, "I'm allergic to peanuts.", MOVED, "Actually my sister is a nurse."):
        memory.observe(line, session="s")
        clock.advance(days=1)
    memory.flush()
    before = {one.id: one for one in every(memory)}

    report = memory.reread()

    assert report.changes == 0
    assert {one.id: one for one in every(memory)} == before


def test_a_bad_reading_is_replaced_by_a_better_one(file: Path, clock: FakeClock) -> None:
    with once_read_by(file, clock, badly("Oslo is in the sister's live")) as memory:
        memory.observe(HOME, session="s")
        assert told(memory) == ["Oslo is in the sister's live"]
        bad = by_words(memory, "Oslo is in the sister's live")

        report = memory.reread(rules=True)

        assert told(memory) == [HOME]
        assert rules(report) == {"reread.new": 1, "reread.withdrawn": 1}
        assert [turn.content for turn in memory.said(by_words(memory, HOME).id)] == [HOME]
        assert by_words(memory, bad.content).status is Status.ARCHIVED


def test_a_dry_run_tells_and_changes_nothing(file: Path, clock: FakeClock) -> None:
    with once_read_by(file, clock, badly("Oslo is in the sister's live")) as memory:
        memory.observe(HOME, session="s")

        report = memory.reread(rules=True, dry=True)

        assert report.dry
        assert rules(report) == {"reread.new": 1, "reread.withdrawn": 1}
        assert told(memory) == ["Oslo is in the sister's live"]


def test_all_of_it_is_taken_back_at_once_and_can_be_done_again(file: Path, clock: FakeClock) -> None:
    with once_read_by(file, clock, badly("Oslo is in the sister's live"), badly()) as memory:
        memory.observe(HOME, session="s")
        memory.observe(MOVED, session="s")
        memory.flush()
        before = told(memory)
        report = memory.reread(rules=True)
        assert told(memory) != before

        memory.undo(report.run.id)
        assert told(memory) == before

        memory.reread(rules=True)
        assert "We moved to Bergen last week." in told(memory)


def test_a_replacement_that_was_missed_is_found(file: Path, clock: FakeClock) -> None:
    with once_read_by(file, clock, badly("I live in Oslo."), badly("Bergen has a harbour")) as memory:
        memory.observe("I live in Oslo.", session="s")
        clock.advance(days=2)
        memory.observe("I live in Bergen now.", session="s")
        memory.flush()
        assert by_words(memory, "I live in Oslo.").status is Status.ACTIVE

        report = memory.reread(rules=True)

        assert told(memory) == ["I live in Bergen now."]
        assert by_words(memory, "I live in Oslo.").status is Status.SUPERSEDED
        memory.undo(report.run.id)
        assert by_words(memory, "I live in Oslo.").status is Status.ACTIVE
        assert by_words(memory, "I live in Oslo.").valid_to is None


def test_what_was_replaced_by_mistake_comes_back(file: Path, clock: FakeClock) -> None:
    wrong = badly("I live in Lisbon now.")
    with once_read_by(file, clock, badly("I live in Oslo."), wrong) as memory:
        memory.observe("I live in Oslo.", session="s")
        clock.advance(days=2)
        memory.observe("My brother says he would love it if I live in Lisbon now.", session="s")
        memory.flush()
        assert by_words(memory, "I live in Oslo.").status is Status.SUPERSEDED

        report = memory.reread(rules=True)

        assert by_words(memory, "I live in Oslo.").status is Status.ACTIVE
        assert by_words(memory, "I live in Lisbon now.").status is Status.ARCHIVED
        memory.undo(report.run.id)
        assert by_words(memory, "I live in Oslo.").status is Status.SUPERSEDED
        assert by_words(memory, "I live in Lisbon now.").status is Status.ACTIVE


@pytest.mark.parametrize("done", ["edited", "confirmed", "pinned", "forgotten", "restored", "erased"])
def test_what_people_did_by_hand_stays(file: Path, clock: FakeClock, done: str) -> None:
    with once_read_by(file, clock, badly("I have two cats."), badly("Rain is wet today")) as memory:
        memory.observe("I have two cats, by the way.", session="s")
        clock.advance(hours=1)
        memory.observe("I'm allergic to peanuts.", session="s")
        memory.flush()
        cats = by_words(memory, "I have two cats.")
        _by_hand(memory, cats, done)
        before = None if done == "erased" else memory.get(cats.id)

        memory.reread(rules=True)

        after = every(memory)
        assert [one for one in after if "cats" in one.content] == ([before] if before else [])
        assert "I'm allergic to peanuts." in told(memory)


def _by_hand(memory: Engram, cats: Memory, done: str) -> None:
    if done == "edited":
        memory.update(cats.id, content="I have three cats.")
    elif done == "confirmed":
        memory.confirm(cats.id)
    elif done == "pinned":
        memory.pin(cats.id)
    elif done == "forgotten":
        memory.forget(cats.id)
    elif done == "restored":
        memory.forget(cats.id)
        memory.restore(cats.id)
    else:
        memory.erase(cats.id)


def test_a_belief_told_twice_stays_while_one_of_its_turns_says_it(file: Path, clock: FakeClock) -> None:
    twice = badly("I live in Oslo.")
    with once_read_by(file, clock, twice, twice) as memory:
        memory.observe("Imagine I live in Oslo, what would my taxes be?", session="s")
        memory.flush()
        clock.advance(hours=1)
        memory.observe("I live in Oslo.", session="s")
        memory.flush()
        assert len(memory.said(by_words(memory, "I live in Oslo.").id)) == 2

        memory.reread(rules=True)

        assert "I live in Oslo." in told(memory)


def test_only_one_session_if_it_is_named(file: Path, clock: FakeClock) -> None:
    with once_read_by(file, clock, badly("Oslo somehow"), badly("Bergen somehow")) as memory:
        memory.observe("I live in Oslo.", session="one")
        memory.observe("I work in Bergen.", session="two")
        memory.flush()

        memory.reread(session="two", rules=True)

        assert told(memory) == ["I work in Bergen.", "Oslo somehow"]


def test_a_run_that_was_cut_off_goes_on(file: Path, clock: FakeClock) -> None:
    replies = [badly(f"Nonsense born 198{number}.") for number in range(4)]
    with once_read_by(file, clock, *replies) as memory:
        for number in range(4):
            memory.observe(f"I was born in 198{number}.", session=f"s{number}")
            clock.advance(minutes=1)
        memory.flush()
        wish = Cancellation()

        def stop_at_two(done: int, _total: int) -> None:
            if done >= 2:
                wish.cancel("enough")

        with pytest.raises(WorkCancelled), cancelled_by(wish):
            memory.reread(rules=True, progress=stop_at_two)
        half = [one for one in told(memory) if one.startswith("Nonsense")]
        assert len(half) == 2

        report = memory.reread(rules=True)

        assert report.run.state is RunState.DONE
        assert rules(report)["reread.withdrawn"] == 4
        assert not [one for one in told(memory) if one.startswith("Nonsense")]


def test_only_an_owner_may(file: Path, clock: FakeClock) -> None:
    access = Access(role=Role.AGENT)
    with Engram.open(file, clock=clock, access=access) as agent, pytest.raises(AccessDenied):
        agent.reread()


def test_a_second_reading_finds_nothing_to_do(file: Path, clock: FakeClock) -> None:
    with once_read_by(file, clock, badly("Oslo is in the sister's live")) as memory:
        memory.observe(HOME, session="s")
        clock.advance(days=1)
        memory.observe("My sister lives in Rome. She said: 'I live in Paris.'", session="s")
        memory.flush()
        memory.reread(rules=True)
        clock.advance(seconds=timedelta(hours=1).total_seconds())

        assert memory.reread(rules=True).changes == 0
