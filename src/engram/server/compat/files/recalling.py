"""Asking of *files*: recall with a context ready for a prompt, search, and what was said."""

from __future__ import annotations

import time
import uuid
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from engram.errors import AccessDenied, InvalidInput, UnknownValue
from engram.model.filters import Filters
from engram.model.plain import plain
from engram.model.recall import Recall
from engram.model.scope import Role, Scope
from engram.server.brief import data_block, line_of
from engram.server.compat.ask import Ask
from engram.server.compat.files.shapes import hit_of, turn_of
from engram.server.compat.old import Old

MODES = {"auto": 12, "minimal": 8, "full": 24, "graph_mode": 24, "no_recall": 0}
"""How many hits each mode gives when nobody says."""
DISCLOSURES = ("chunk", "section", "raw")
MATCHES = ("any", "all")
MOST = 200
TAGS = 50
SESSION = 128


def recall(ask: Ask) -> dict[str, Any]:
    """What helps with a question: the hits, and a block of them ready to stand in a prompt."""
    begun = time.perf_counter()
    query, mode = ask.text("query"), _one_of(ask, "mode", "auto", tuple(MODES))
    disclosure = _one_of(ask, "disclosure", "chunk", DISCLOSURES)
    top = ask.whole("topK", MODES[mode], 0, MOST)
    found = _found(ask, query, top) if mode != "no_recall" and top else None
    hits = [] if found is None else list(found)
    told: dict[str, Any] = {
        "query": query,
        "sessionKey": session_of(ask),
        "namespace": namespace_of(ask),
        "context": data_block(line_of(hit.memory, hit.text) for hit in hits) if hits else "",
        "count": len(hits),
        "memoryIds": [hit.memory.id for hit in hits],
        "results": [hit_of(hit, ask.memory.access) for hit in hits],
        "recordedAt": datetime.now(UTC).isoformat(),
        "traceId": uuid.uuid4().hex,
        "mode": mode,
        "plannerMode": mode,
        "fallbackUsed": False,
        "sourcesUsed": ["memories"] if hits else [],
        "disclosure": disclosure,
        "latencyMs": round((time.perf_counter() - begun) * 1_000, 2),
    }
    if ask.truth("includeDebug") and found is not None:
        told["debug"] = {"plan": plain(found.plan), "quality": plain(found.quality)}
    return told


def search(ask: Ask) -> dict[str, Any]:
    """Hits alone, without counting as a use."""
    query = ask.text("query")
    top = ask.whole("topK", ask.whole("maxResults", 10, 1, MOST), 1, MOST)
    found = ask.memory.recall(query, limit=top, dry=True, expand=False)
    results = [hit_of(hit, ask.memory.access) for hit in found]
    return {"query": query, "namespace": namespace_of(ask), "results": results, "count": len(results)}


def xray(ask: Ask) -> dict[str, Any]:
    """Every step that put each hit where it stands. Exact figures are the owner's."""
    if ask.memory.access.role is not Role.OWNER:
        raise AccessDenied("look through a recall; only an owner may")
    query = ask.text("q") if ask.has("q") else ask.text("query")
    budget = ask.whole("budget", 0, 0, 1_000_000)
    found = ask.memory.recall(query, budget=budget or None, dry=True, explain=True)
    return {"snapshotFound": True, "query": query, "snapshot": plain(found)}


def said(ask: Ask) -> dict[str, Any]:
    """What was said, word for word, where it led to a memory that fits."""
    query, limit = ask.text("query"), ask.whole("limit", 10, 1, 100)
    filters = Filters(session=session_of(ask))
    found = ask.memory.recall(query, limit=limit, filters=filters, dry=True, expand=False)
    turns = {
        (turn.session, turn.id): {**turn_of(turn), "memoryId": hit.memory.id}
        for hit in found
        for turn in ask.memory.said(hit.memory.id)
    }
    results = [*turns.values()][:limit]
    return {
        "query": query,
        "namespace": namespace_of(ask),
        "results": results,
        "count": len(results),
        "lcmEnabled": True,
    }


def archive(ask: Ask) -> dict[str, Any]:
    """Whether what is said is kept word for word: it is."""
    return {"enabled": True, "namespace": namespace_of(ask)}


def health_of_recalls(ask: Ask) -> dict[str, Any]:
    """How the last recalls have been going; nothing for those who may not know of all callers' recalls."""
    try:
        snapshot = plain(ask.memory.recall_health())
    except AccessDenied:
        snapshot = None
    return {"sessionKey": session_of(ask), "snapshot": snapshot}


def session_of(ask: Ask) -> str:
    """The session a client names, in the body or in a header."""
    key = ask.text("sessionKey", "") or ask.text("session", "") or ask.headers.get("x-hermes-session-id", "")
    return key[:SESSION]


def namespace_of(ask: Ask) -> str:
    """Where the asker stands."""
    return ask.memory.access.scope.namespace


def scope_of(ask: Ask) -> Scope | None:
    """The place of a project, for those who may look into it."""
    access, project = ask.memory.access, ask.text("projectTag", "")
    if not project or not access.sees_below or access.scope.project:
        return None
    return replace(access.scope, project=project)


def _found(ask: Ask, query: str, top: int) -> Recall:
    tags = frozenset(ask.words("tags") or ask.words("tag"))
    if len(tags) > TAGS:
        raise InvalidInput(f"at most {TAGS} tags are taken")
    every = _one_of(ask, "tagMatch", ask.text("tag_match", "any") or "any", MATCHES) == "all"
    return ask.memory.recall(
        query,
        limit=top,
        filters=Filters(tags_all=tags if every else frozenset(), tags_any=frozenset() if every else tags),
        scope=scope_of(ask),
        session=session_of(ask),
        as_of=ask.text("asOf", ask.text("as_of", "")) or None,
    )


def _one_of(ask: Ask, name: str, default: str, known: tuple[str, ...]) -> str:
    value = ask.text(name, default) or default
    if value not in known:
        raise UnknownValue(name, value, known)
    return value


ROUTES: tuple[Old, ...] = (
    Old("POST", "/engram/v1/recall", recall, in_default=True, waits=False),
    Old("POST", "/engram/v1/recall/explain", health_of_recalls, in_default=True, waits=False),
    Old("GET", "/engram/v1/recall/xray", xray, in_default=True),
    Old("POST", "/engram/v1/search", search, in_default=True, waits=False),
    Old("POST", "/engram/v1/lcm/search", said, in_default=True, waits=False),
    Old("GET", "/engram/v1/lcm/status", archive, in_default=True),
)
