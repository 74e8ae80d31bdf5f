"""Commitments: a memory and the time come in; the open loop that it is comes out. Pure rules.

A memory of category `commitment` is an open loop by itself: its details may say more, and need not.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, timedelta
from typing import Any

from engram.model.clock import written_moment
from engram.model.memory import Memory
from engram.model.session import Commitment, LoopState
from engram.rules.traits import is_reference
from engram.text.dates import dates
from engram.text.signals import is_promise, keeps, waiting_on
from engram.text.when.calendar import Grain, TimeExpression

CATEGORY = "commitment"
CLOSED_TAG = "closed"
"""Which commitments are over is also told by a tag: a store finds by it."""


def loop(memory: Memory, now: datetime) -> Commitment:
    """The memory as an open loop.

    >>> from datetime import UTC
    >>> then = datetime(2026, 3, 2, tzinfo=UTC)
    >>> one = Memory(
    ...     "1", "I'll send the report", "h", then, then, details={"due": "2026-03-07T00:00:00+00:00"}
    ... )
    >>> found = loop(one, datetime(2026, 3, 9, tzinfo=UTC))
    >>> found.state.value, found.age_days, found.is_overdue
    ('open', 7, True)
    """
    state, opened = state_of(memory), said_at(memory)
    closed = written_moment(memory.details.get("closed_at"))
    told, whom = memory.details, memory.details.get("waiting_on")
    due = written_moment(told["due"]) if "due" in told else due_in(promise_in(memory), opened)
    return Commitment(
        id=memory.id,
        text=promise_in(memory),
        state=state,
        opened_at=opened,
        age_days=days_between(opened, closed if closed and not state.is_open else now),
        due=due,
        is_overdue=state.is_open and due is not None and due <= now,
        waiting_on=(str(whom) if whom else waiting_on(promise_in(memory)))
        if state is LoopState.WAITING
        else "",
        closed_at=None if state.is_open else closed,
        because=str(memory.details.get("closed_because") or ""),
    )


def is_loop(memory: Memory) -> bool:
    """Whether a commitment is an open loop: one that was taken out of talk must plainly promise something.

    People speak of wishes and dreams in the words of promises. What somebody opened or stored as a commitment
    is one, whatever its words.
    """
    if is_reference(memory):
        return False
    if memory.category != CATEGORY:
        return "promise" in memory.details
    return "state" in memory.details or "turns" not in memory.details or _promises(memory)


def promise_in(memory: Memory) -> str:
    """The words that say what is to be done: a sentence of it where it tells other things as well."""
    return str(memory.details.get("promise") or memory.content)


def _promises(memory: Memory) -> bool:
    return is_promise(memory.content, said_at(memory))


def said_at(memory: Memory) -> datetime:
    """When it was said: the time it came with, unless that is the time its words speak of."""
    told, stored = memory.event_time, memory.local(memory.created_at)
    if told is None or any(when.first == told for when in dates(memory.content, stored)):
        return stored
    return memory.happened_at


def state_of(memory: Memory) -> LoopState:
    """Where it stands: as its details say; else open, or waiting if it says for whom."""
    said = memory.details.get("state")
    if said in {state.value for state in LoopState}:
        return LoopState(said)
    waits = memory.details.get("waiting_on") or waiting_on(promise_in(memory))
    return LoopState.WAITING if waits else LoopState.OPEN


def days_between(start: datetime, end: datetime) -> int:
    """Whole days by the calendar, never less than none.

    >>> (
    ...     days_between(datetime(2026, 3, 1, 23), datetime(2026, 3, 2, 1)),
    ...     days_between(datetime(2026, 3, 2), datetime(2026, 3, 1)),
    ... )
    (1, 0)
    """
    there = end.astimezone(start.tzinfo) if start.tzinfo and end.tzinfo else end
    return max(0, (there.date() - start.date()).days)


def last_day(due: datetime) -> date:
    """The last day on which something due then is in time: midnight ends the day before.

    >>> last_day(datetime(2026, 3, 7)), last_day(datetime(2026, 3, 7, 15))
    (datetime.date(2026, 3, 6), datetime.date(2026, 3, 7))
    """
    return (due - timedelta(microseconds=1)).date()


def due_in(words: str, now: datetime) -> datetime | None:
    """The moment by which words say that something is to be done; None when they name no day to come.

    >>> due_in("I'll send it by Friday", datetime(2026, 3, 2))
    datetime.datetime(2026, 3, 7, 0, 0)
    """
    named = [when for when in dates(words, now, prefer="future") if when.kind in {"date", "range", "time"}]
    ends = [when.last or when.first for when in named if not when.recurring and not _is_vague(when, now)]
    coming = [end for end in ends if end is not None and end > now]
    return coming[-1] if coming else None


def _is_vague(when: TimeExpression, now: datetime) -> bool:
    """Whether no day follows from it: "soon", the tyres of winter, a party of summer."""
    return not when.certain and (when.grain in WIDE or when.first == now)


WIDE = frozenset({Grain.SEASON, Grain.HALF, Grain.YEAR, Grain.DECADE, Grain.CENTURY})


def details_of(
    state: LoopState,
    kept: Mapping[str, Any],
    *,
    due: datetime | None = None,
    whom: str = "",
    closed: tuple[datetime, str] | None = None,
) -> dict[str, Any]:
    """The details of a loop in another state. What is not said stays; what no longer holds goes.

    >>> details_of(LoopState.OPEN, {"state": "waiting", "waiting_on": "Anna", "due": "2026-03-07"})
    {'due': '2026-03-07', 'state': 'open'}
    """
    changed = {name: value for name, value in kept.items() if name not in _OF_STATE}
    changed["state"] = state.value
    if due is not None:
        changed["due"] = due.isoformat()
    if state is LoopState.WAITING and whom:
        changed["waiting_on"] = whom
    if closed is not None:
        at, because = closed
        changed |= {"closed_at": at.isoformat()} | ({"closed_because": because} if because else {})
    return changed


_OF_STATE = frozenset({"state", "waiting_on", "closed_at", "closed_because"})


def tags_of(state: LoopState, tags: tuple[str, ...]) -> tuple[str, ...]:
    """The tags of a loop in this state.

    >>> tags_of(LoopState.DONE, ("work",)), tags_of(LoopState.OPEN, ("work", "closed"))
    (('work', 'closed'), ('work',))
    """
    others = tuple(tag for tag in tags if tag != CLOSED_TAG)
    return others if state.is_open else (*others, CLOSED_TAG)


def is_kept_by(commitment: Memory, statement: Memory) -> bool:
    """Whether a later statement of the same person says, beyond doubt, that this was done."""
    return (
        statement.id != commitment.id
        and not is_loop(statement)
        and statement.happened_at >= commitment.happened_at
        and statement.told_by.lower() == commitment.told_by.lower()
        and keeps(statement.content, promise_in(commitment), statement.happened_at)
    )
