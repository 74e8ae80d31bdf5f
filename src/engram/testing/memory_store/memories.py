"""The records, read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from engram.errors import AmbiguousId, BadCursor, NotFound
from engram.model.axes import Status
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.pages import Page, Stats
from engram.model.scope import Access
from engram.model.vectors import Space
from engram.ports import Reach, View
from engram.testing.memory_store.filtering import allowed, allows
from engram.testing.memory_store.tables import Tables

if TYPE_CHECKING:
    from engram.ports import Keys

CURSOR_MARK = "before-"


class MemoryRecords:
    """`Memories` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def get(self, memory_id: str, access: Access) -> Memory | None:
        """One memory, if the caller may see it."""
        tables = self._tables()
        memory = tables.records.get(tables.keys.get(memory_id, 0))
        return memory if memory and access.may_read(memory.scope) else None

    def resolve(self, prefix: str, access: Access) -> str:
        """The full id."""
        records = self._tables().records.values()
        found = [m.id for m in records if m.id.startswith(prefix) and access.may_read(m.scope)]
        if not found:
            raise NotFound(prefix)
        if len(found) > 1:
            raise AmbiguousId(prefix, len(found))
        return found[0]

    def read(self, keys: Sequence[int]) -> dict[int, Memory]:
        """Records by key."""
        records = self._tables().records
        return {int(key): records[int(key)] for key in keys if int(key) in records}

    def endings(self, keys: Sequence[int], length: int) -> dict[int, str]:
        """The last characters of each content."""
        return {key: memory.content[-length:] for key, memory in self.read(keys).items()}

    def keys(self, ids: Sequence[str]) -> dict[str, int]:
        """Keys by id."""
        known = self._tables().keys
        return {memory_id: known[memory_id] for memory_id in ids if memory_id in known}

    def page(self, view: View, limit: int, cursor: str | None = None) -> Page:
        """Newest first."""
        before = _key_of(cursor)
        tables = self._tables()
        fitting = (
            (key, memory)
            for key, memory in reversed(tables.records.items())
            if (before is None or key < before) and allows(tables, view, memory)
        )
        found = list(islice(fitting, limit + 1))
        shown = found[:limit]
        more = f"{CURSOR_MARK}{shown[-1][0]}" if len(found) > limit else None
        return Page(tuple(memory for _, memory in shown), more)

    def count(self, view: View) -> int:
        """How many the view allows."""
        return sum(1 for _ in allowed(self._tables(), view))

    def select(self, view: View, limit: int) -> Keys | None:
        """All keys the view allows."""
        found = list(islice((key for key, _ in allowed(self._tables(), view)), limit + 1))
        return None if len(found) > limit else np.array(found, dtype=np.int64)

    def allow(self, view: View, keys: Sequence[int]) -> set[int]:
        """Those of the keys that the view allows."""
        tables = self._tables()
        return {key for key, memory in self.read(keys).items() if allows(tables, view, memory)}

    def used_since(self, at: datetime, limit: int) -> list[Memory]:
        """What was used since a time."""
        used = [one for one in self._tables().records.values() if one.usage.accessed and one.last_accessed]
        return [one for one in used if one.last_accessed and one.last_accessed >= at][-limit:]

    def unembedded(self, space: Space, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories without a vector."""
        tables = self._tables()
        missing = (
            (key, memory)
            for key, memory in tables.records.items()
            if key > after and (space.key, key) not in tables.vectors
        )
        return list(islice(missing, limit))

    def reach(self, access: Access) -> Reach:
        """The access in numbers."""
        tables = self._tables()
        if access.all_namespaces:
            return Reach(everything=True)
        if access.owns_namespace:
            return Reach(namespace=tables.namespaces.get(access.scope.namespace))
        return Reach(scopes=frozenset(n for scope, n in tables.scopes.items() if access.may_read(scope)))

    def stats(self, access: Access, space: Space | None) -> Stats:
        """Counts."""
        tables = self._tables()
        seen = {key: memory for key, memory in tables.records.items() if access.may_read(memory.scope)}
        ids = {memory.id for memory in seen.values()}
        used = [memory for memory in seen.values() if memory.status in Filters().statuses]
        return Stats(
            memories=len(seen),
            by_status=Counter(memory.status.value for memory in seen.values()),
            by_kind=Counter(memory.kind.value for memory in seen.values()),
            by_category=Counter(memory.category for memory in seen.values()),
            by_layer=Counter(memory.layer.name.lower() for memory in seen.values()),
            by_namespace=Counter(memory.scope.namespace for memory in seen.values()),
            in_use_by_kind=Counter(memory.kind.value for memory in used),
            in_use_by_layer=Counter(memory.layer.name.lower() for memory in used),
            edges=sum(edge.source in ids and edge.target in ids for edge in tables.edges.values()),
            events=sum(access.may_read(scope) for scope in tables.event_scopes.values()),
            vectors=Counter(kept_in for kept_in, key in tables.vectors if key in seen),
            pending=_pending(tables, seen, space),
        )


def _key_of(cursor: str | None) -> int | None:
    if cursor is None:
        return None
    number = cursor.removeprefix(CURSOR_MARK)
    if number == cursor or not (number.isascii() and number.isdigit()):
        raise BadCursor(cursor)
    return int(number)


def _pending(tables: Tables, seen: dict[int, Memory], space: Space | None) -> int:
    if space is None:
        return 0
    return sum(
        memory.status is Status.ACTIVE and (space.key, key) not in tables.vectors
        for key, memory in seen.items()
    )
