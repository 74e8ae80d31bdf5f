"""Memories over REST: keep, look at, change, take away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from engram.capture.change import CHANGEABLE
from engram.engine import Engram
from engram.errors import InvalidInput, NotFound
from engram.model.draft import Draft
from engram.model.memory import Memory
from engram.model.receipt import Receipt, Refusal
from engram.nouns.trash import Trash
from engram.server.binding import fields_of
from engram.server.route import Route

FIELDS = tuple(one for one in fields_of(Draft) if one.name != "content")
CHANGES = tuple(replace(one, default=None) for one in fields_of(Draft) if one.name in CHANGEABLE)

Kept = Receipt | dict[str, list[Receipt | Refusal]]


def remember(
    memory: Engram,
    content: str | None = None,
    memories: Sequence[Mapping[str, Any] | str] | None = None,
    partial: bool = False,  # noqa: FBT001, FBT002 (arguments come by name)
    **given: Any,
) -> Kept:
    """Keep one statement, or under `memories` many: all or none; with `partial` each that can be kept."""
    if memories is None:
        if content is None:
            raise InvalidInput("The content is missing: give `content`, or `memories` for many.")
        return memory.remember(content, **given)
    if content is not None or given:
        raise InvalidInput("Give one statement or `memories`, not both.")
    return {"receipts": memory.remember_many(memories, partial=partial)}


def get(memory: Engram, memory_id: str) -> Memory:
    """One memory by its id or the beginning of it."""
    found = memory.get(memory_id)
    if found is None:
        raise NotFound(memory_id)
    return found


def erase(memory: Engram, memory_id: str, because: str = "") -> str:
    """Remove a memory for good, everywhere: afterwards its words are nowhere in the file."""
    full = get(memory, memory_id).id
    memory.erase(full, because)
    return full


ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/v1/memories",
        remember,
        status=201,
        rest=FIELDS,
        bare="memories",
        example={"content": "My editor is Helix", "category": "preference", "tags": ["tools"]},
    ),
    Route("GET", "/v1/memories", Engram.list, example={"categories": "preference", "limit": 20}),
    Route("GET", "/v1/count", Engram.count, wrap="count", example={"categories": "preference"}),
    Route("GET", "/v1/memories/{memory_id}", get),
    Route(
        "PATCH",
        "/v1/memories/{memory_id}",
        Engram.update,
        rest=CHANGES,
        example={"content": "My editor is Helix, with vim keys", "because": "more exact"},
    ),
    Route("DELETE", "/v1/memories/{memory_id}", Engram.forget, example={"because": "no longer needed"}),
    Route("POST", "/v1/memories/{memory_id}/restore", Engram.restore, example={"because": "still true"}),
    Route("POST", "/v1/memories/{memory_id}/erase", erase, wrap="erased", example={"because": "asked to"}),
    Route("POST", "/v1/memories/{memory_id}/pin", Engram.pin, example={"pinned": True}),
    Route("POST", "/v1/memories/{memory_id}/confirm", Engram.confirm, example={"because": "checked"}),
    Route("POST", "/v1/memories/{memory_id}/promote", Engram.promote, example={"because": "it matters"}),
    Route("POST", "/v1/memories/{memory_id}/demote", Engram.demote, example={"because": "no longer"}),
    Route(
        "POST",
        "/v1/touch",
        Engram.touch,
        wrap="touched",
        example={"memory_ids": ["7f3a91c2"], "session": "monday"},
    ),
    Route("POST", "/v1/memories/{memory_id}/status", Engram.set_status, example={"status": "challenged"}),
    Route(
        "POST",
        "/v1/memories/{memory_id}/feedback",
        Engram.feedback,
        example={"helpful": False, "query": "which editor do I use?"},
    ),
    Route("GET", "/v1/memories/{memory_id}/relations", Engram.relations, wrap="relations"),
    Route(
        "POST",
        "/v1/memories/{source}/relations",
        Engram.relate,
        status=201,
        example={"target": "7f3a91c2", "type": "supports"},
    ),
    Route(
        "DELETE",
        "/v1/memories/{source}/relations",
        Engram.unrelate,
        wrap="removed",
        example={"target": "7f3a91c2", "type": "supports"},
    ),
    Route("GET", "/v1/trash", Trash.list, on="trash", example={"limit": 20}),
    Route("DELETE", "/v1/trash", Trash.purge, on="trash", wrap="purged", example={"because": "emptied"}),
    Route("POST", "/v1/trash/{memory_id}/restore", Trash.restore, on="trash"),
    Route("GET", "/v1/memories/{memory_id}/said", Engram.said, wrap="turns"),
    Route("GET", "/v1/memories/{memory_id}/events", Engram.events, wrap="events", example={"limit": 20}),
)
