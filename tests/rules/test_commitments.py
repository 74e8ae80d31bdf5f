"""Open loops: a memory and the time say where a commitment stands."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from engram.model.session import LoopState
from engram.rules.commitments import details_of, due_in, is_kept_by, is_loop, loop, said_at, state_of, tags_of
from engram.testing import START
from tests.store.making import make
from tests.tables import every

DAY = timedelta(days=1)


@every(
    ("details", "content", "state"),
    [
        ({}, "I'll send it", LoopState.OPEN),
        ({"state": "waiting"}, "I'll send it", LoopState.WAITING),
        ({"waiting_on": "Ada"}, "I'll send it", LoopState.WAITING),
        ({}, "Waiting for Ada to sign", LoopState.WAITING),
        ({"state": "open"}, "Waiting for Ada to sign", LoopState.OPEN),
        ({"state": "done"}, "I'll send it", LoopState.DONE),
        ({"state": "dropped"}, "I'll send it", LoopState.DROPPED),
        ({"state": "who knows"}, "I'll send it", LoopState.OPEN),
        ({"state": 7}, "I'll send it", LoopState.OPEN),
    ],
)
def test_the_state_is_what_details_and_words_say(
    details: dict[str, Any], content: str, state: LoopState
) -> None:
    assert state_of(make(content, details=details)) is state


@every(("hours", "is_overdue"), [(-1, True), (0, True), (1, False)])
def test_overdue_begins_with_the_moment(hours: int, is_overdue: bool) -> None:
    due = (START + timedelta(hours=hours)).isoformat()

    assert loop(make("I'll send it", details={"due": due}), START).is_overdue is is_overdue


def test_what_is_closed_is_never_overdue_and_ages_no_more() -> None:
    details = {"state": "done", "due": (START - DAY).isoformat(), "closed_at": (START + 3 * DAY).isoformat()}

    found = loop(make("I'll send it", details=details), START + 90 * DAY)

    assert (found.is_overdue, found.age_days, found.closed_at) == (False, 3, START + 3 * DAY)


@every("junk", ["", "soon", 7, None, ["2026-01-01"]])
def test_a_time_that_is_none_is_no_time(junk: Any) -> None:
    found = loop(make("I'll send it", details={"due": junk, "closed_at": junk}), START)

    assert (found.due, found.closed_at) == (None, None)


def test_a_day_alone_is_a_time() -> None:
    found = loop(make("I'll send it", details={"due": "2026-01-01"}), START)
    assert found.due == datetime(2026, 1, 1, tzinfo=UTC)


@every(
    ("words", "day"),
    [
        ("by Friday", datetime(2024, 1, 6)),  # noqa: DTZ001 - compared without a zone below
        ("I'll do it tomorrow", datetime(2024, 1, 3)),  # noqa: DTZ001
        ("before March 3", datetime(2024, 3, 3)),  # noqa: DTZ001
        ("every Monday", None),
        ("as I did yesterday", None),
        ("some day", None),
        ("", None),
    ],
)
def test_words_name_the_day(words: str, day: datetime | None) -> None:
    found = due_in(words, START)

    assert (found.replace(tzinfo=None) if found else None) == day


def test_a_change_of_state_keeps_what_it_does_not_concern() -> None:
    kept = {"turns": ["t1"], "due": "x", "state": "waiting", "waiting_on": "Ada"}

    done = details_of(LoopState.DONE, kept, closed=(START, "sent"))
    again = details_of(LoopState.OPEN, done)

    assert done == {
        "turns": ["t1"],
        "due": "x",
        "state": "done",
        "closed_at": START.isoformat(),
        "closed_because": "sent",
    }
    assert again == {"turns": ["t1"], "due": "x", "state": "open"}
    assert tags_of(LoopState.DROPPED, ("a",)) == ("a", "closed")


@every(
    ("fields", "is_kept"),
    [
        ({}, True),
        ({"created_at": START - DAY}, False),
        ({"speaker": "Bob"}, False),
        ({"details": {"said_by": "Bob"}}, False),
        ({"category": "commitment"}, False),
    ],
)
def test_only_a_later_statement_of_the_same_person_keeps_it(fields: dict[str, Any], is_kept: bool) -> None:
    promise = make("I'll send the report by Friday", category="commitment")

    assert is_kept_by(promise, make("I sent the report", **fields)) is is_kept


@every(
    ("fields", "content", "is_one"),
    [
        ({}, "Buy milk", True),
        ({"details": {"turns": ["t"]}}, "I need to buy milk", True),
        ({"details": {"turns": ["t"]}}, "I'll buy milk by Friday", True),
        ({"details": {"turns": ["t"]}}, "My dream is to own a cow", False),
        ({"details": {"turns": ["t"], "state": "open"}}, "My dream is to own a cow", True),
        ({"category": "fact"}, "I need to buy milk", False),
    ],
)
def test_what_was_taken_out_of_talk_must_promise_plainly(
    fields: dict[str, Any], content: str, is_one: bool
) -> None:
    assert is_loop(make(content, **({"category": "commitment"} | fields))) is is_one


def test_a_time_that_its_words_speak_of_is_not_when_it_was_said() -> None:
    told = datetime(2022, 1, 1, tzinfo=START.tzinfo)
    imported = START - 90 * DAY

    assert said_at(make("I need a new bike since 2022", event_time=told)) == START
    assert said_at(make("I need a new bike", event_time=imported)) == imported
    assert said_at(make("I need a new bike")) == START
