"""The edges, the events and the opinions, read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import dropwhile, islice
from typing import Any

from engram.errors import BadCursor
from engram.model.event import Event
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Access
from engram.model.vectors import Space
from engram.ports import Link, Suppression, View
from engram.testing.memory_store.differences import SEALED
from engram.testing.memory_store.filtering import allows
from engram.testing.memory_store.tables import Tables


class MemoryRelations:
    """`Relations` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def of(self, memory_id: str, access: Access) -> list[Edge]:
        """Edges whose two ends the caller may see."""
        tables = self._tables()
        return [
            edge
            for edge in tables.edges.values()
            if memory_id in (edge.source, edge.target)
            and all(access.may_read(_record(tables, end).scope) for end in (edge.source, edge.target))
        ]

    def links(self, keys: Sequence[int], types: Iterable[EdgeType], view: View) -> list[Link]:
        """Edges at these keys, as a walk sees them."""
        tables, wanted, near = self._tables(), frozenset(types), {int(key) for key in keys}
        return [
            link
            for edge in tables.edges.values()
            if edge.type in wanted
            for link in _both_ways(tables, edge)
            if link.key in near and allows(tables, view, tables.records[link.other])
        ]


class MemoryLedger:
    """`Ledger` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def events(
        self, memory_id: str | None, access: Access, limit: int, before: str | None = None
    ) -> list[Event]:
        """Newest first, as far as the caller may see."""
        tables = self._tables()
        newest: Iterable[Event] = reversed(tables.events.values())
        if before is not None:
            newest = islice(dropwhile(lambda event: event.id != before, newest), 1, None)
        wanted = (event for event in newest if memory_id in (None, event.memory))
        seen = (event for event in wanted if access.may_read(tables.event_scopes[event.id]))
        return list(islice(seen, limit))

    def after(self, event_id: str, access: Access, limit: int) -> list[Event]:
        """Oldest first, as far as the caller may see."""
        tables = self._tables()
        events: Iterable[Event] = tables.events.values()
        if event_id:
            if event_id not in tables.event_scopes:
                raise BadCursor(event_id)
            events = islice(dropwhile(lambda event: event.id != event_id, events), 1, None)
        seen = (event for event in events if access.may_read(tables.event_scopes[event.id]))
        return list(islice(seen, limit))

    def newest(self) -> str:
        """The id of the event written last."""
        return next((event.id for event in reversed(self._tables().events.values())), "")

    def as_of(self, memory_ids: Sequence[str], at: datetime) -> dict[str, dict[str, Any]]:
        """What has changed since, as it was."""
        found: dict[str, dict[str, Any]] = {}
        for event in reversed(self._tables().events.values()):
            if event.memory in memory_ids and event.at > at and event.before:
                kept = {name: None if value == SEALED else value for name, value in event.before.items()}
                found.setdefault(event.memory, {}).update(kept)
        return found


class MemoryOpinions:
    """`Opinions` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def against(self, keys: Sequence[int], space: Space, since: datetime) -> list[Suppression]:
        """Suppressions that still count."""
        wanted = {int(key) for key in keys}
        return [
            opinion
            for opinion in self._tables().opinions.values()
            if opinion.key in wanted and opinion.space == space.key and opinion.at >= since
        ]


def _record(tables: Tables, memory_id: str) -> Memory:
    return tables.records[tables.keys[memory_id]]


def _both_ways(tables: Tables, edge: Edge) -> Iterator[Link]:
    source, target = tables.keys[edge.source], tables.keys[edge.target]
    rest = (edge.weight, edge.confidence, edge.last_reinforced_at)
    yield Link(source, target, edge.type, True, *rest)  # noqa: FBT003 - forward, and then against it
    yield Link(target, source, edge.type, False, *rest)  # noqa: FBT003
