"""The ledger as a caller may read it: what happened to a memory, to all, and since a place."""

from __future__ import annotations

from engram.errors import NotFound
from engram.model.event import Event
from engram.model.pages import News
from engram.nouns.desk import PAGE_LIMIT, Desk, whole


def events(desk: Desk, memory_id: str | None, limit: int, before: str | None) -> list[Event]:
    """Newest first. An erased memory has a history too: its full id still finds the bare facts."""
    most = whole("limit", limit, 1, PAGE_LIMIT)
    ledger = desk.tools.store.ledger
    try:
        full = None if memory_id is None else desk.resolve(memory_id)
    except NotFound:
        found = ledger.events(str(memory_id).strip().lower(), desk.access, most, before)
        if not found:
            raise
        return found
    return ledger.events(full, desk.access, most, before)


def news(desk: Desk, after: str | None, limit: int) -> News:
    """Since a place, oldest first, and the place to go on from; without one, where the ledger ends now."""
    ledger = desk.tools.store.ledger
    end = ledger.newest()
    if after is None:
        return News((), end)
    found = ledger.after(after, desk.access, whole("limit", limit, 1, PAGE_LIMIT))
    # `end` was looked up first: what came in between is found the next time, and nothing twice.
    return News(tuple(found), found[-1].id if found else end)
