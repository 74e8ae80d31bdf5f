"""The trash: what was forgotten, replaced or merged and can be brought back.

`memory.trash` lists, restores and empties it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from engram.capture import change
from engram.errors import AccessDenied, NotFound
from engram.model.axes import Status
from engram.model.filters import ANY_STATUS, Filters
from engram.model.memory import Memory
from engram.model.plain import moment
from engram.model.scope import Role
from engram.nouns.desk import PAGE_LIMIT, Desk, whole
from engram.ports import Unit, View

GONE = frozenset({Status.ARCHIVED, Status.SUPERSEDED, Status.MERGED})
"""Forgotten, replaced by a newer statement, or taken in by another memory: its status says which."""
LYING = Filters(statuses=GONE)
AT_ONCE = 200
"""So many are erased in one unit of work."""
FURTHEST = 10_000_000


@dataclass(frozen=True, slots=True)
class Discarded:
    """A memory in the trash, and since when it lies there."""

    memory: Memory
    deleted_at: datetime


@dataclass(frozen=True, slots=True)
class Lying:
    """Some of what lies in the trash, and how much there is."""

    items: tuple[Discarded, ...]
    total: int


class Trash:
    """What was forgotten, replaced or merged. Hangs on the facade; safe to use from many threads."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def list(self, *, limit: int = 100, offset: int = 0) -> Lying:
        """What lies there, the newest memory first."""
        first, most = whole("offset", offset, 0, FURTHEST), whole("limit", limit, 1, PAGE_LIMIT)
        total = self._desk.tools.store.memories.count(View(self._desk.access, LYING))
        found = islice(self._all(), first, first + most) if first < total else ()
        return Lying(tuple(Discarded(one, one.modified_at) for one in found), total)

    def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring a memory back. Raises NotFound when it does not lie there."""
        full = self._desk.own(memory_id)
        memory = self._desk.tools.store.memories.get(full, self._desk.access)
        if memory is None or memory.status not in GONE:
            raise NotFound(memory_id)
        return change.set_status(full, Status.ACTIVE, self._desk.tools, self._desk.actor, because)

    def purge(
        self, because: str = "", *, before: datetime | str | None = None, also_in_use: bool = False
    ) -> int:
        """Remove what lies there for good, all of it or what was forgotten before a time; how many.

        With `also_in_use` everything of the caller's place goes; only an owner may ask for that.
        """
        until = None if before is None else moment("before", before, self._desk.tools.zone)
        if also_in_use and self._desk.access.role is not Role.OWNER:
            raise AccessDenied("remove what is in use; only an owner may")
        mine = [
            one.id
            for one in self._all(ANY_STATUS if also_in_use else LYING)
            if self._desk.access.may_write(one.scope) and (until is None or one.modified_at < until)
        ]
        for start in range(0, len(mine), AT_ONCE):
            self._erase(mine[start : start + AT_ONCE], because)
        if mine:
            self._desk.tools.store.vacuum()
        return len(mine)

    def _all(self, filters: Filters = LYING) -> Iterator[Memory]:
        view, cursor = View(self._desk.access, filters), None
        while True:
            page = self._desk.tools.store.memories.page(view, PAGE_LIMIT, cursor)
            yield from page
            cursor = page.cursor
            if cursor is None:
                return

    def _erase(self, ids: Sequence[str], because: str) -> None:
        def work(unit: Unit) -> None:
            for memory_id in ids:
                unit.erase(memory_id, because)

        self._desk.tools.store.write(work, self._desk.actor)
