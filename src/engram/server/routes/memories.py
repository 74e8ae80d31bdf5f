"""Memories over REST: keep, look at, change, take away."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from engram.api.browsing import Trash
from engram.api.sources import TEXTS, Progress, Sources
from engram.capture.change import CHANGEABLE
from engram.capture.sources.files import is_archive, unpacked_size
from engram.engine import Engram
from engram.errors import BadText, InvalidInput, NotFound, SourceTooLarge
from engram.model.capture import Draft, IngestReport, Receipt, Refusal
from engram.model.memory import Memory
from engram.model.recall import Timeline
from engram.model.scope import Scope
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


# ---------------------------------------------------------------- recalling
# Asking over REST: recall by a short address and by a body, timelines, thinking a question through.


ASKED = {"q": "query"}


def timeline(  # noqa: PLR0913 - each is a part of the question; all but the words by name
    memory: Engram,
    about: str,
    *,
    predicate: str = "",
    limit: int = 50,
    since: datetime | None = None,
    until: datetime | None = None,
    scope: Scope | None = None,
) -> Timeline:
    """How something changed, oldest first: a name, "my editor", any words; or a subject and `predicate`."""
    subject = (about, predicate) if predicate else about
    return memory.timeline(subject, limit=limit, since=since, until=until, scope=scope)


RECALLING_ROUTES: tuple[Route, ...] = (
    Route(
        "GET", "/v1/recall", Engram.recall, also=ASKED, example={"q": "which editor do I use?", "limit": 5}
    ),
    Route(
        "POST",
        "/v1/recall",
        Engram.recall,
        also=ASKED,
        reads=True,
        example={
            "query": "which editor do I use?",
            "filters": {"categories": ["preference"]},
            "explain": True,
        },
    ),
    Route("GET", "/v1/recall/health", Engram.recall_health),
    Route(
        "POST",
        "/v1/context",
        Engram.context,
        reads=True,
        example={"message": "which editor do I use?", "model": "gpt-4o", "system": "You are helpful."},
    ),
    Route("GET", "/v1/timeline", timeline, example={"about": "my editor", "limit": 20}),
    Route(
        "POST",
        "/v1/reason",
        Engram.reason,
        reads=True,
        waits=True,
        example={"question": "where does the owner of the dog live?", "depth": 2},
    ),
)


# ---------------------------------------------------------------- listening
# Listening over REST: what was said comes in, turns come out word for word.


LISTENING_ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/v1/observe",
        Engram.observe,
        example={"user": "From now on I use Helix.", "assistant": "Noted!", "session": "monday"},
    ),
    Route("POST", "/v1/flush", Engram.flush, example={"session": "monday"}),
    Route("GET", "/v1/sessions/{session:path}/turns", Engram.turns, wrap="turns", example={"limit": 100}),
)


# ---------------------------------------------------------------- sources
# What comes from elsewhere over REST: texts, summaries, results, and a file as the body of a request.


AUTO = "auto"
UNPACKED = 100_000_000
"""Bytes that an archive which comes in a request may unpack to: others wait for the same memory."""
DOCUMENTS = {".md": "markdown", ".markdown": "markdown", ".txt": "text", ".text": "text"}


def upload(  # noqa: PLR0913 - each is a thing to say of a file; all by name
    memory: Engram,
    *,
    body: bytes = b"",
    name: str = "",
    format: str = AUTO,  # noqa: A002 (the word a user knows it by)
    dry: bool = False,
    tags: Sequence[str] = (),
    progress: Progress | None = None,
) -> IngestReport:
    """Take in a file that is the body of the request. `name` is what it is known by when it comes again."""
    if not body:
        raise InvalidInput("The file is empty: send it as the body of the request.")
    clean = Path(name.replace("\\", "/")).name[:200] or "upload"
    kind = DOCUMENTS.get(Path(clean).suffix.lower(), "") if format == AUTO else format
    if kind in TEXTS:
        return memory.sources.text(_text(body), title=clean, format=kind, dry=dry, tags=tags)
    with tempfile.TemporaryDirectory(prefix="engram-upload-") as folder:
        path = Path(folder, clean)
        path.write_bytes(body)
        del body  # it lies in the file by now
        if is_archive(path) and unpacked_size(path) > UNPACKED:
            raise SourceTooLarge(clean, UNPACKED)
        return memory.sources.file(path, format=format, dry=dry, tags=tags, progress=progress)


def _text(body: bytes) -> str:
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadText("file", "bytes that are not UTF-8") from error


SOURCES_ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/v1/sources/text",
        Sources.text,
        on="sources",
        example={"text": "# House\n\nThe boiler was serviced in May 2025.", "title": "house.md"},
    ),
    Route(
        "POST",
        "/v1/sources/summary",
        Sources.summary,
        on="sources",
        example={"text": "We decided to move to Bremen.", "session": "monday"},
    ),
    Route(
        "POST",
        "/v1/sources/task",
        Sources.task,
        on="sources",
        example={"name": "nightly build", "result": "The disk was full.", "outcome": "failure"},
    ),
    Route(
        "POST",
        "/v1/sources/flow",
        Sources.flow,
        on="sources",
        example={"name": "release", "steps": ["test", "tag"], "result": "Released 1.2."},
    ),
    Route(
        "POST",
        "/v1/sources/research",
        Sources.research,
        on="sources",
        example={
            "query": "boiler service interval",
            "findings": ["Once a year."],
            "urls": ["https://example.org"],
        },
    ),
    Route(
        "POST",
        "/v1/sources/file",
        upload,
        takes="application/octet-stream",
        example={"name": "house.md", "format": "markdown"},
    ),
)
