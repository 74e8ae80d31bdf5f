"""Browsing: filters come in, memories go out, page by page or all of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import Any

from engram.api.caller import PAGE_LIMIT, CallerContext, whole
from engram.api.recalling import checked
from engram.capture import change
from engram.errors import AccessDenied, NotFound
from engram.model.event import Audited, Event, News, Page
from engram.model.memory import ANY_STATUS, Filters, Memory, Status, in_force
from engram.model.plain import moment, plain
from engram.model.scope import Role, Scope
from engram.ports import Unit, View
from engram.recall.past import then


def get(caller: CallerContext, memory_id: str) -> Memory | None:
    """One memory by its id or the beginning of it."""
    try:
        found = caller.tools.store.memories.get(caller.resolve(memory_id), caller.access)
    except NotFound:
        return None
    return None if found is None else caller.shown([found])[0]


def page(
    caller: CallerContext,
    filters: Filters | None,
    window: tuple[int, str | None],
    scope: Scope | None,
    as_of: datetime | str | None,
) -> Page:
    """One page, newest first; `window` is the limit and the cursor. With `as_of` as it was then."""
    view = View(caller.at(scope), in_force(checked(caller, filters, as_of), caller.tools.clock.now()))
    found = caller.tools.store.memories.page(view, whole("limit", window[0], 1, PAGE_LIMIT), window[1])
    if view.filters.as_of is None:
        return found
    was = then(found, caller.tools.store, view.filters.as_of)
    return replace(found, memories=tuple(was[one.id] for one in found if one.id in was))


def count(caller: CallerContext, filters: Filters | None, scope: Scope | None) -> int:
    """How many memories fit."""
    wanted = in_force(checked(caller, filters, None), caller.tools.clock.now())
    return caller.tools.store.memories.count(View(caller.at(scope), wanted))


def everything(
    caller: CallerContext, scope: Scope | None, *, vectors: bool = False
) -> Iterator[dict[str, Any]]:
    """Every memory in every status as plain data, newest first, with its relations; its vector if asked."""
    cursor: str | None = None
    while True:
        found = page(caller, ANY_STATUS, (PAGE_LIMIT, cursor), scope, None)
        vector_of = _vectors(caller, [memory.id for memory in found]) if vectors else {}
        for memory in found:
            edges = caller.tools.store.relations.of(memory.id, caller.at(scope))
            also = {"vector": vector_of.get(memory.id)} if vectors else {}
            yield {**plain(memory), "edges": plain(edges), **also}
        caller.note(Audited.EXPORTED, "", {"memories": len(found)})
        cursor = found.cursor
        if cursor is None:
            return


def _vectors(caller: CallerContext, ids: list[str]) -> dict[str, list[float]]:
    """The vectors in the present space, as far as they are there."""
    space = caller.space()
    if space is None:
        return {}
    keys = caller.tools.store.memories.keys(ids)
    rows = caller.tools.store.vectors.rows(space, sorted(keys.values()))
    whole_rows = rows.rows * rows.scales[:, None]
    by_key = {int(key): row.tolist() for key, row in zip(rows.keys, whole_rows, strict=True)}
    return {memory_id: by_key[key] for memory_id, key in keys.items() if key in by_key}


# ---------------------------------------------------------------- history
# The ledger as a caller may read it: what happened to a memory, to all, and since a place.


def events(caller: CallerContext, memory_id: str | None, limit: int, before: str | None) -> list[Event]:
    """Newest first. An erased memory has a history too: its full id still finds the bare facts."""
    most = whole("limit", limit, 1, PAGE_LIMIT)
    ledger = caller.tools.store.ledger
    try:
        full = None if memory_id is None else caller.resolve(memory_id)
    except NotFound:
        found = ledger.events(str(memory_id).strip().lower(), caller.access, most, before)
        if not found:
            raise
        return found
    return ledger.events(full, caller.access, most, before)


def news(caller: CallerContext, after: str | None, limit: int) -> News:
    """Since a place, oldest first, and the place to go on from; without one, where the ledger ends now."""
    ledger = caller.tools.store.ledger
    end = ledger.newest()
    if after is None:
        return News((), end)
    found = ledger.after(after, caller.access, whole("limit", limit, 1, PAGE_LIMIT))
    # `end` was looked up first: what came in between is found the next time, and nothing twice.
    return News(tuple(found), found[-1].id if found else end)


# ---------------------------------------------------------------- trash
# The trash: what was forgotten, replaced or merged and can be brought back.
#
# `memory.trash` lists, restores and empties it.


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

    def __init__(self, caller: CallerContext) -> None:
        self._caller = caller

    def list(self, *, limit: int = 100, offset: int = 0) -> Lying:
        """What lies there, the newest memory first."""
        first, most = whole("offset", offset, 0, FURTHEST), whole("limit", limit, 1, PAGE_LIMIT)
        total = self._caller.tools.store.memories.count(View(self._caller.access, LYING))
        found = islice(self._all(), first, first + most) if first < total else ()
        return Lying(tuple(Discarded(one, one.modified_at) for one in found), total)

    def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring a memory back. Raises NotFound when it does not lie there."""
        full = self._caller.own(memory_id)
        memory = self._caller.tools.store.memories.get(full, self._caller.access)
        if memory is None or memory.status not in GONE:
            raise NotFound(memory_id)
        return change.set_status(full, Status.ACTIVE, self._caller.tools, self._caller.actor, because)

    def purge(
        self, because: str = "", *, before: datetime | str | None = None, also_in_use: bool = False
    ) -> int:
        """Remove what lies there for good, all of it or what was forgotten before a time; how many.

        With `also_in_use` everything of the caller's place goes; only an owner may ask for that.
        """
        until = None if before is None else moment("before", before, self._caller.tools.zone)
        if also_in_use and self._caller.access.role is not Role.OWNER:
            raise AccessDenied("remove what is in use; only an owner may")
        mine = [
            one.id
            for one in self._all(ANY_STATUS if also_in_use else LYING)
            if self._caller.access.may_write(one.scope) and (until is None or one.modified_at < until)
        ]
        for start in range(0, len(mine), AT_ONCE):
            self._erase(mine[start : start + AT_ONCE], because)
        if mine:
            self._caller.tools.store.leave_nothing(compact=True)
        return len(mine)

    def _all(self, filters: Filters = LYING) -> Iterator[Memory]:
        view, cursor = View(self._caller.access, filters), None
        while True:
            page = self._caller.tools.store.memories.page(view, PAGE_LIMIT, cursor)
            yield from page
            cursor = page.cursor
            if cursor is None:
                return

    def _erase(self, ids: Sequence[str], because: str) -> None:
        def work(unit: Unit) -> None:
            for memory_id in ids:
                unit.erase(memory_id, because)

        self._caller.tools.store.write(work, self._caller.actor)
