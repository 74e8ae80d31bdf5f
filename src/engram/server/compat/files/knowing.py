"""Listening and knowing of *files*: what was said, who is spoken of, what contradicts what, how it is."""

from __future__ import annotations

from typing import Any

from engram.errors import InvalidInput, UnknownValue
from engram.model.plain import plain
from engram.model.scope import Access
from engram.nouns.conflicts import Conflict
from engram.server.compat.ask import Ask
from engram.server.compat.files.recalling import namespace_of, scope_of, session_of
from engram.server.compat.files.shapes import entity_of, memory_of
from engram.server.compat.old import Old, Told

VERBS = {"keep-a": "a", "keep-b": "b", "merge": "merge", "both-valid": "both"}
LATER = "needs-more-context"


def health(ask: Ask) -> dict[str, Any]:
    """That it is there. Those who may not look are told no more."""
    return {
        "ok": True,
        "memoryDir": ask.memory.path if ask.memory.access.covers(Access()) else "",
        "namespacesEnabled": True,
        "defaultNamespace": "default",
        "searchBackend": "engram",
        "qmdEnabled": False,
        "nativeKnowledgeEnabled": False,
        "projectionAvailable": False,
    }


def adapters(ask: Ask) -> dict[str, Any]:
    """Which client this is, as it says itself."""
    name = ask.headers.get("x-engram-client-id") or None
    return {"adaptersEnabled": True, "registered": [], "resolved": name}


def observe(ask: Ask) -> dict[str, Any]:
    """Listen to what was said: kept word for word, and read for memories."""
    session = session_of(ask)
    if not session:
        raise InvalidInput("sessionKey is required")
    messages = [_message(one) for one in ask.objects("messages")]
    heard = ask.memory.observe(messages=messages, session=session, scope=scope_of(ask))
    return {
        "accepted": heard.logged,
        "sessionKey": session,
        "namespace": namespace_of(ask),
        "lcmArchived": True,
        "extractionQueued": bool(heard.waiting or heard.captured),
    }


def entities(ask: Ask) -> dict[str, Any]:
    """Who and what is spoken of, last seen first."""
    limit, offset = ask.whole("limit", 50, 1, 500), ask.whole("offset", 0, 0, 500)
    found = ask.memory.entities.list(prefix=ask.text("q", ""), limit=offset + limit)[offset:]
    told = [entity_of(one) for one in found]
    return {
        "namespace": namespace_of(ask),
        "count": len(told),
        "limit": limit,
        "offset": offset,
        "entities": told,
    }


def entity(ask: Ask) -> Told:
    """What is known about somebody or something."""
    found = ask.memory.entities.get(ask.placed.get("name") or ask.text("name"))
    if found is None:
        return Told({"found": False, "namespace": namespace_of(ask)}, 404)
    told = entity_of(found.entity) | {
        "facts": [plain(one.fact) for one in found.facts],
        "memories": [memory_of(one) for one in found.memories],
        "related": [{"name": name, "count": count} for name, count in found.beside],
    }
    return Told({"found": True, "namespace": namespace_of(ask), "entity": told})


def contradictions(ask: Ask) -> dict[str, Any]:
    """Pairs that cannot both be true."""
    pairs = ask.memory.conflicts.list(ask.whole("limit", 50, 1, 500))
    told = [_pair(one) for one in pairs]
    return {"namespace": namespace_of(ask), "pairs": told, "count": len(told)}


def resolve(ask: Ask) -> dict[str, Any]:
    """Settle a pair."""
    pair, verb = ask.text("pairId"), ask.text("verb")
    if verb not in (*VERBS, LATER):
        raise UnknownValue("verb", verb, (*VERBS, LATER))
    one, _, two = pair.partition("..")
    if verb == LATER:
        return {"pairId": pair, "verb": verb, "resolved": False}
    kept = ask.memory.conflicts.resolve(one, two, VERBS[verb], "decided by a client")
    return {"pairId": pair, "verb": verb, "resolved": True, "memory": memory_of(kept)}


def scan(ask: Ask) -> dict[str, Any]:
    """Have a model look at the pairs; without one they stay open."""
    settled = ask.memory.conflicts.review()
    return {"namespace": namespace_of(ask), "settled": [_pair(one) for one in settled]}


def _pair(conflict: Conflict) -> dict[str, Any]:
    return {
        "pairId": f"{conflict.a.id}..{conflict.b.id}",
        "memoryIdA": conflict.a.id,
        "memoryIdB": conflict.b.id,
        "contentA": conflict.a.content,
        "contentB": conflict.b.content,
        "verdict": "contradicts",
        "rationale": conflict.because,
    }


def _message(given: Any) -> dict[str, Any]:
    """A message without what only its own service needs."""
    return {name: value for name, value in given.items() if name in {"role", "content", "name", "id"}}


ROUTES: tuple[Old, ...] = (
    Old("GET", "/engram/v1/health", health, in_default=True),
    Old("GET", "/engram/v1/adapters", adapters, in_default=True),
    Old("POST", "/engram/v1/observe", observe, status=202, in_default=True),
    Old("GET", "/engram/v1/entities", entities, in_default=True),
    Old("GET", "/engram/v1/entities/{name:path}", entity, in_default=True),
    Old("GET", "/engram/v1/review/contradictions", contradictions, in_default=True),
    Old("POST", "/engram/v1/review/resolve", resolve, in_default=True),
    Old("POST", "/engram/v1/contradiction-scan", scan, in_default=True),
)
