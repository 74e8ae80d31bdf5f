"""The raw log, where imports came from, and what models cost: read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import date, datetime
from itertools import islice

from engram.model.advice import Call, CallOutcome, Spent
from engram.model.health import Recalled
from engram.model.scope import Access, Scope
from engram.model.turn import Turn
from engram.testing.memory_store.tables import Tables

Commit = Callable[[Callable[[Tables], None]], None]
USEFUL = frozenset({CallOutcome.ANSWERED, CallOutcome.REPAIRED})


class MemoryTurns:
    """`Turns` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def waiting(self, scope: Scope, limit: int, session: str | None = None) -> list[Turn]:
        """What is not captured yet, oldest first."""
        found = (turn for turn in waiting(self._tables(), scope) if session in (None, turn.session))
        return list(islice(found, limit))

    def scopes_waiting(self) -> list[Scope]:
        """Where turns wait."""
        tables = self._tables()
        there = {turn.scope for turn in tables.turns.values() if turn.captured_at is None}
        return sorted(there, key=lambda scope: tables.scopes[scope])

    def before(self, turn: Turn, limit: int) -> list[Turn]:
        """What was said just before."""
        here = (turn.session, turn.scope)
        turns = self._tables().turns.values()
        earlier = [one for one in turns if (one.session, one.scope) == here and one.key < turn.key]
        return earlier[max(len(earlier) - limit, 0) :]

    def of_session(self, session: str, access: Access, limit: int, after: int = 0) -> list[Turn]:
        """A session in order."""
        turns = self._tables().turns.values()
        found = (turn for turn in turns if turn.session == session and turn.key > after)
        return list(islice((turn for turn in found if access.may_read(turn.scope)), limit))

    def of_memory(self, memory_id: str, access: Access) -> list[Turn]:
        """What a memory came from."""
        tables = self._tables()
        key = tables.keys.get(memory_id, 0)
        found = (tables.turns[turn] for turn, row in sorted(tables.turn_memories) if row == key)
        return [turn for turn in found if access.may_read(turn.scope)]


class MemoryOrigins:
    """`Origins` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def known(self, scope: Scope, beginning: str) -> dict[str, tuple[str, str]]:
        """Origins that begin so."""
        tables = self._tables()
        return {
            origin: (tables.records[key].id, digest)
            for (place, origin), (key, digest) in sorted(tables.origins.items(), key=lambda item: item[0][1])
            if place == scope and origin.startswith(beginning)
        }


class MemorySpending:
    """`Spending` over tables."""

    def __init__(self, tables: Callable[[], Tables], commit: Commit) -> None:
        self._tables = tables
        self._commit = commit

    def record(self, call: Call) -> None:
        """Account for a call."""

        def add(tables: Tables) -> None:
            tables.calls[tables.next_number("call")] = call

        self._commit(add)

    def tokens_since(self, at: datetime) -> int:
        """All tokens since a time."""
        return sum(map(_tokens, self._since(at)))

    def summary(self, since: datetime) -> list[Spent]:
        """Added up by component and model, most tokens first."""
        groups: dict[tuple[str, str], list[Call]] = {}
        for call in self._since(since):
            groups.setdefault((call.component, call.model), []).append(call)
        order = sorted(groups.items(), key=lambda group: (-sum(map(_tokens, group[1])), group[0]))
        return [_spent(*names, calls) for names, calls in order]

    def by_day(self, since: datetime) -> list[Spent]:
        """The same day by day, the latest first."""
        days = sorted({call.at.date() for call in self._since(since)}, reverse=True)
        return [replace(one, day=day.isoformat()) for day in days for one in self._of(day, since)]

    def clear(self) -> int:
        """Forget all calls."""
        count = len(self._tables().calls)
        self._commit(lambda tables: tables.calls.clear())
        return count

    def _of(self, day: date, since: datetime) -> list[Spent]:
        groups: dict[tuple[str, str], list[Call]] = {}
        for call in self._since(since):
            if call.at.date() == day:
                groups.setdefault((call.component, call.model), []).append(call)
        order = sorted(groups.items(), key=lambda group: (-sum(map(_tokens, group[1])), group[0]))
        return [_spent(*names, calls) for names, calls in order]

    def _since(self, at: datetime) -> Iterator[Call]:
        return (call for call in self._tables().calls.values() if call.at >= at)


class MemoryRecalls:
    """`Recalls` over tables."""

    def __init__(self, tables: Callable[[], Tables], commit: Commit) -> None:
        self._tables = tables
        self._commit = commit

    def record(self, one: Recalled, most: int) -> None:
        """Keep one, and no more than so many."""

        def add(tables: Tables) -> None:
            tables.recalls[tables.next_number("recall")] = one
            for old in sorted(tables.recalls)[:-most]:
                del tables.recalls[old]

        self._commit(add)

    def last(self, limit: int) -> list[Recalled]:
        """The last ones, oldest first."""
        return list(self._tables().recalls.values())[-limit:]


def waiting(tables: Tables, scope: Scope) -> Iterator[Turn]:
    """The turns that wait in a scope, oldest first."""
    return (turn for turn in tables.turns.values() if turn.scope == scope and turn.captured_at is None)


def _tokens(call: Call) -> int:
    return call.prompt_tokens + call.answer_tokens


def _spent(component: str, model: str, calls: list[Call]) -> Spent:
    return Spent(
        component=component,
        model=model,
        calls=len(calls),
        failed=sum(call.outcome not in USEFUL for call in calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        answer_tokens=sum(call.answer_tokens for call in calls),
        ms=sum(call.ms for call in calls),
        cost=sum(call.cost for call in calls),
    )
