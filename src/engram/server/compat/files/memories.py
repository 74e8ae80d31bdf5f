"""Memories of *files*: keep, list, look at, and what happened to them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

from engram.errors import InvalidInput, UnknownValue
from engram.model.axes import Status
from engram.model.filters import Filters
from engram.model.plain import member, moment
from engram.model.receipt import Outcome
from engram.server.compat.ask import Ask
from engram.server.compat.files.recalling import namespace_of, scope_of, session_of
from engram.server.compat.files.shapes import event_of, memory_of, row_of
from engram.server.compat.layers.memories import some
from engram.server.compat.old import Old, Told

SCHEMA = 1
SOURCE = "agent"
SORTS = ("updated_desc", "updated_asc", "created_desc", "created_asc")
SORTED_MOST = 1_000
"""Orders other than newest first are made of so many."""
KNOWN = frozenset({Outcome.REINFORCED, Outcome.MERGED})
TIMES = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"(\d{1,6})\s*([mhdw])\w*", re.IGNORECASE)


def store(ask: Ask) -> Told:
    """Keep a memory: 201 when it is new, 200 when it is known or only tried."""
    return _store(ask, "memory_store")


def suggest(ask: Ask) -> Told:
    """Keep a suggestion: a memory that counts as a guess until somebody confirms it."""
    return _store(ask, "suggestion_submit")


def page(ask: Ask) -> dict[str, Any]:
    """Memories, newest first or in another order; with `q` those that fit a question."""
    limit, offset = ask.whole("limit", 50, 1, 200), ask.whole("offset", 0, 0, 10_000_000)
    sort = ask.text("sort", "created_desc") or "created_desc"
    if sort not in SORTS:
        raise UnknownValue("sort", sort, SORTS)
    filters = _filters(ask)
    if ask.text("q", ""):
        hits = ask.memory.recall(ask.text("q"), limit=min(offset + limit, 500), filters=filters, dry=True)
        memories, total = [hit.memory for hit in hits][offset:], len(hits)
    else:
        memories, total = _sorted(ask, filters, sort, offset, limit), ask.memory.count(filters=filters)
    return {
        "namespace": namespace_of(ask),
        "sort": sort,
        "total": total,
        "count": len(memories),
        "limit": limit,
        "offset": offset,
        "memories": [row_of(one) for one in memories],
    }


def get(ask: Ask) -> Told:
    """One memory."""
    found = ask.memory.get(_id(ask))
    if found is None:
        return Told({"found": False, "namespace": namespace_of(ask)}, 404)
    return Told({"found": True, "namespace": namespace_of(ask), "memory": memory_of(found)})


def timeline(ask: Ask) -> Told:
    """What happened to a memory, oldest first."""
    found = ask.memory.get(_id(ask))
    if found is None:
        return Told({"found": False, "namespace": namespace_of(ask), "count": 0, "timeline": []}, 404)
    events = ask.memory.events(found.id, limit=ask.whole("limit", 200, 1, 1_000))
    told = [event_of(one) for one in reversed(events)]
    return Told({"found": True, "namespace": namespace_of(ask), "count": len(told), "timeline": told})


def _store(ask: Ask, operation: str) -> Told:
    content, fields = ask.text("content").strip(), _fields(ask)
    told: dict[str, Any] = {
        "schemaVersion": SCHEMA,
        "operation": operation,
        "namespace": namespace_of(ask),
        "dryRun": ask.truth("dryRun"),
        "accepted": True,
        "queued": False,
        "idempotencyKey": ask.text("idempotencyKey", "") or None,
        "idempotencyReplay": False,
    }
    if told["dryRun"]:
        return Told({**told, "status": "validated"})
    if operation == "suggestion_submit":
        fields["confidence"] = min(fields.get("confidence", 0.5), 0.5)
    receipt = ask.memory.remember(content, **fields)
    known = receipt.outcome in KNOWN
    told |= {"status": "duplicate" if known else "stored", "memoryId": receipt.memory.id}
    if known:
        told["duplicateOf"] = receipt.memory.id
    return Told(told, 200 if known else 201)


def _fields(ask: Ask) -> dict[str, Any]:
    fields: dict[str, Any] = {"source": SOURCE, "tags": ask.words("tags"), "session": session_of(ask)}
    if ask.text("category", ""):
        fields["category"] = ask.text("category").replace("_", "-")
    if ask.has("confidence"):
        fields["confidence"] = ask.share("confidence")
    if ask.text("ttl", ""):
        fields["expires_at"] = _until(ask.text("ttl"))
    details = {name: ask.text(name) for name in ("entityRef", "sourceReason") if ask.text(name, "")}
    if details:
        fields["details"] = details
    scope = scope_of(ask)
    return fields if scope is None else {**fields, "scope": scope}


def _until(ttl: str) -> datetime:
    """When a memory goes that is to stay so long: "30d", "12 hours", or a time."""
    span = _SPAN.fullmatch(ttl.strip())
    if span is None:
        return moment("ttl", ttl.strip())
    try:
        return datetime.now(UTC) + timedelta(**{TIMES[span[2].lower()]: int(span[1])})
    except OverflowError as error:
        raise InvalidInput(f"ttl is too long: {ttl}") from error


def _filters(ask: Ask) -> Filters:
    filters = Filters(categories=frozenset(ask.words("category")))
    if not ask.text("status", ""):
        return filters
    wanted: Status = member("status", Status, ask.text("status"))
    return Filters(categories=filters.categories, statuses=frozenset({wanted}))


def _sorted(ask: Ask, filters: Filters, sort: str, offset: int, limit: int) -> list[Any]:
    if sort == "created_desc":
        return some(ask.memory, filters, offset, limit)
    by, _, way = sort.partition("_")
    name = "modified_at" if by == "updated" else "created_at"
    every = some(ask.memory, filters, 0, SORTED_MOST)
    return sorted(every, key=lambda one: getattr(one, name), reverse=way == "desc")[offset : offset + limit]


def _id(ask: Ask) -> str:
    return ask.placed.get("id") or ask.text("memoryId")


ROUTES: tuple[Old, ...] = (
    Old("POST", "/engram/v1/memories", store, in_default=True),
    Old("POST", "/engram/v1/suggestions", suggest, in_default=True),
    Old("GET", "/engram/v1/memories", page, in_default=True),
    Old("GET", "/engram/v1/memories/{id}", get, in_default=True),
    Old("GET", "/engram/v1/memories/{id}/timeline", timeline, in_default=True),
)
