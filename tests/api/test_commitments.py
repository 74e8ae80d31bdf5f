"""Commitments: opened, listed oldest first, waited for, closed, and captured from what is said."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from engram import Access, Engram, Role, Scope
from engram.errors import AccessDenied, InvalidInput, NotFound, UnknownValue, WrongType
from engram.model.session import LoopState
from engram.testing import FakeClock
from tests.tables import every


def test_a_loop_is_opened_with_the_day_its_words_name(memory: Engram) -> None:
    made = memory.commitments.open("I'll send the report to Ada by Friday")

    assert (made.state, made.age_days, made.is_overdue) == (LoopState.OPEN, 0, False)
    assert made.due == datetime(2024, 1, 6, tzinfo=UTC)
    kept = memory.get(made.id)
    assert kept is not None
    assert (kept.category, kept.details["state"]) == ("commitment", "open")


@every(
    ("due", "expected"),
    [
        ("by Friday", datetime(2024, 1, 6, tzinfo=UTC)),
        ("2024-02-01", datetime(2024, 2, 1, tzinfo=UTC)),
        ("2024-02-01T10:00:00+02:00", datetime(2024, 2, 1, 8, tzinfo=UTC)),
        (datetime(2024, 2, 1, tzinfo=UTC), datetime(2024, 2, 1, tzinfo=UTC)),
    ],
)
def test_a_day_may_be_given_in_words_or_figures(
    memory: Engram, due: datetime | str, expected: datetime
) -> None:
    assert memory.commitments.open("Send the quote", due=due).due == expected


def test_loops_are_listed_oldest_first_with_their_age(memory: Engram, clock: FakeClock) -> None:
    first = memory.commitments.open("Send the quote")
    clock.advance(days=10)
    second = memory.commitments.open("Call the bank", waiting_on="Ada")
    clock.advance(days=2)

    found = memory.commitments.list()

    assert [(one.id, one.age_days) for one in found] == [(first.id, 12), (second.id, 2)]
    assert [one.id for one in memory.commitments.list("waiting")] == [second.id]
    assert [one.id for one in memory.commitments.list("open")] == [first.id]
    assert len(memory.commitments.list(limit=1)) == 1


def test_a_loop_is_waited_for_closed_and_opened_again(memory: Engram, clock: FakeClock) -> None:
    loop = memory.commitments.open("Sign the contract")

    waiting = memory.commitments.wait(loop.id, " legal  department ")
    clock.advance(days=3)
    done = memory.commitments.close(loop.id[:8], "done", because="signed on Thursday")
    listed = memory.commitments.list("done")
    again = memory.commitments.reopen(loop.id, due="by Friday")

    assert (waiting.state, waiting.waiting_on) == (LoopState.WAITING, "legal department")
    assert (done.state, done.closed_at, done.because) == (LoopState.DONE, clock.now(), "signed on Thursday")
    assert [one.id for one in listed] == [loop.id]
    assert (again.state, again.closed_at, again.waiting_on) == (LoopState.OPEN, None, "")
    assert again.due == datetime(2024, 1, 6, tzinfo=UTC)
    assert [one.id for one in memory.commitments.list()] == [loop.id]
    assert memory.commitments.list("done") == []
    assert len(memory.events(loop.id)) == 4


def test_what_was_captured_as_a_commitment_is_an_open_loop(memory: Engram) -> None:
    memory.observe("I'll send the quarterly report by Friday.", session="s1")
    memory.flush()

    found = memory.commitments.list()

    assert [one.due for one in found] == [datetime(2024, 1, 6, tzinfo=UTC)]
    assert memory.commitments.close(found[0].id).state is LoopState.DONE


def test_opening_what_is_known_opens_it_again(memory: Engram) -> None:
    loop = memory.commitments.open("Send the quote to Ada")
    memory.commitments.close(loop.id)

    again = memory.commitments.open("Send the quote to Ada", waiting_on="Bob")

    assert (again.id, again.state, again.waiting_on) == (loop.id, LoopState.WAITING, "Bob")
    assert len(memory.commitments.list()) == 1


def test_nobody_changes_the_loops_of_others(memory: Engram) -> None:
    loop = memory.commitments.open("Send the quote")
    reader = memory.seen_by(Access(role=Role.READER), "reader")
    rex = memory.seen_by(Access(Scope(agent="rex"), Role.AGENT), "rex")
    own = rex.commitments.open("Feed the cat")

    assert [one.id for one in reader.commitments.list()] == [loop.id]
    refused: list[Callable[[], object]] = [
        lambda: reader.commitments.open("x"),
        lambda: reader.commitments.close(loop.id),
        lambda: rex.commitments.close(loop.id),
    ]
    for attempt in refused:
        with pytest.raises(AccessDenied):
            attempt()
    assert {one.id for one in rex.commitments.list()} == {loop.id, own.id}
    ada = memory.seen_by(Access(Scope(agent="ada"), Role.AGENT), "ada")
    assert own.id not in {one.id for one in ada.commitments.list()}


def test_bad_wishes_are_refused(memory: Engram) -> None:
    loop = memory.commitments.open("Send the quote")
    fact = memory.remember("The port is 80").memory.id
    refused: list[tuple[Callable[[], object], type[Exception]]] = [
        (lambda: memory.commitments.open("x", due="some day"), WrongType),
        (lambda: memory.commitments.open("x", due=7), WrongType),  # type: ignore[arg-type]
        (lambda: memory.commitments.list("lost"), UnknownValue),
        (lambda: memory.commitments.close(loop.id, "open"), UnknownValue),
        (lambda: memory.commitments.wait(loop.id, "  "), InvalidInput),
        (lambda: memory.commitments.close(fact), InvalidInput),
        (lambda: memory.commitments.get(fact), InvalidInput),
        (lambda: memory.commitments.get("ffffffff"), NotFound),
    ]
    for attempt, error in refused:
        with pytest.raises(error):
            attempt()
    assert memory.commitments.get(loop.id).text == "Send the quote"
