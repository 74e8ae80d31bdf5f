"""The routes of *files*, under `/engram/v1`."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from engram.api.conflicts import Conflict
from engram.api.contexts import data_block, line_of
from engram.errors import AccessDenied, InvalidInput, UnknownValue, WrongType
from engram.model.capture import Outcome
from engram.model.facts import Entity
from engram.model.memory import Filters, Kind, Memory, Status
from engram.model.plain import member, moment, plain
from engram.model.recall import Hit, Recall, public_score
from engram.model.scope import Access, Role, Scope
from engram.operations.calls import some_memories
from engram.operations.values import pick
from engram.rules import screen
from engram.server.compat.requests import FILES, LenientRequest, Old, OldAnswer

# ---------------------------------------------------------------- shapes
# What these clients are told of a value, and how they call it.

MEMORY = (
    "id content category status lifecycleState:lifecycle verificationState:verification policyClass:policy "
    "confidence importance tags entityRef namespace:scope.namespace source created:created_at "
    "updated:modified_at lastAccessed:last_accessed accessCount:usage.accessed"
)
MADE: Mapping[str, Callable[[Memory], Any]] = {
    "category": lambda memory: memory.category.replace("-", "_"),
    "entityRef": lambda memory: memory.details.get("entityRef") or next(iter(memory.entities), None),
}
EVENT = "eventId:id memoryId:memory eventType:verb timestamp:at actor reason:because relatedMemoryId:related"
TURN = "sessionKey:session role:part content timestamp:at"
RUN = "runId:id kind state startedAt:started_at finishedAt:finished_at"
PAIR = "memoryIdA:a.id memoryIdB:b.id contentA:a.content contentB:b.content rationale:because"
PREVIEW = 200
"""Characters of a memory that a list shows."""


def memory_of(memory: Memory) -> dict[str, Any]:
    """A whole memory."""
    return pick(memory, MEMORY, MADE)


def row_of(memory: Memory) -> dict[str, Any]:
    """A memory in a list, with a line of its words."""
    return {**memory_of(memory), "preview": memory.content[:PREVIEW]}


def hit_of(hit: Hit, access: Access) -> dict[str, Any]:
    """A memory that was found, and how well it fits."""
    return {**row_of(hit.memory), "text": hit.text, "score": public_score(hit, access)}


def entity_of(entity: Entity) -> dict[str, Any]:
    """Somebody or something that memories speak of."""
    return {
        **pick(entity, "name type aliases mentions"),
        "updated": plain(entity.last_seen or entity.first_seen),
    }


def _peer(entity: Entity) -> dict[str, Any]:
    return {**pick(entity, "id:name displayName:name aliases"), "kind": "human"}


def _pair(conflict: Conflict) -> dict[str, Any]:
    return {**pick(conflict, PAIR), "pairId": f"{conflict.a.id}..{conflict.b.id}", "verdict": "contradicts"}


def _listed(ask: LenientRequest, name: str, items: list[Any], **more: Any) -> dict[str, Any]:
    """A list under its name, with how many there are and where."""
    return {"namespace": namespace_of(ask), "count": len(items), **more, name: items}


def _found_or_not(ask: LenientRequest, name: str, value: Mapping[str, Any] | None) -> OldAnswer:
    """What was asked for under its name, or that there is none."""
    answer = {"found": value is not None, "namespace": namespace_of(ask)}
    return OldAnswer(answer, 404) if value is None else OldAnswer({**answer, name: value})


# ---------------------------------------------------------------- recalling
# Asking of *files*: recall with a context ready for a prompt, search, and what was said.


MODES = {"auto": 12, "minimal": 8, "full": 24, "graph_mode": 24, "no_recall": 0}
"""How many hits each mode gives when nobody says."""
DISCLOSURES = ("chunk", "section", "raw")
MATCHES = ("any", "all")
MOST = 200
TAGS = 50
SESSION = 128
PROJECTS = 10_000
"""Sessions whose project is known at a time; the one that told first is forgotten first."""


def recall(ask: LenientRequest) -> dict[str, Any]:
    """What helps with a question: the hits, and a block of them ready to stand in a prompt."""
    begun = time.perf_counter()
    query, mode = ask.text("query"), one_of(ask, "mode", "auto", tuple(MODES))
    disclosure = one_of(ask, "disclosure", "chunk", DISCLOSURES)
    top = _within(ask, "topK", MODES[mode], MOST)
    recalled = _recalled(ask, query, top) if mode != "no_recall" and top else None
    hits = [] if recalled is None else list(recalled)
    answer: dict[str, Any] = {
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
        "budgetsApplied": {"topK": top, "matched": len(hits)},
        "auditAnomalies": [],
        "budgetWarning": None,
        "latencyMs": round((time.perf_counter() - begun) * 1_000, 2),
    }
    if ask.truth("includeDebug") and recalled is not None:
        answer["debug"] = {"plan": plain(recalled.plan), "quality": plain(recalled.quality)}
    return answer


def search(ask: LenientRequest) -> dict[str, Any]:
    """Hits alone, without counting as a use."""
    query = ask.text("query")
    top = ask.whole("topK", ask.whole("maxResults", 10, 1, MOST), 1, MOST)
    hits = ask.memory.recall(query, limit=top, dry=True, expand=False)
    return {"query": query, **_listed(ask, "results", [hit_of(hit, ask.memory.access) for hit in hits])}


def xray(ask: LenientRequest) -> dict[str, Any]:
    """Every step that put each hit where it stands. Exact figures are the owner's."""
    if ask.memory.access.role is not Role.OWNER:
        raise AccessDenied("look through a recall; only an owner may")
    query = ask.text("q") if ask.has("q") else ask.text("query")
    budget = ask.whole("budget", 0, 0, 1_000_000)
    recalled = ask.memory.recall(query, budget=budget or None, dry=True, explain=True)
    return {"snapshotFound": True, "query": query, "snapshot": plain(recalled)}


def said(ask: LenientRequest) -> dict[str, Any]:
    """What was said, word for word, where it led to a memory that fits."""
    query, limit = ask.text("query"), ask.whole("limit", 10, 1, 100)
    filters = Filters(session=session_of(ask))
    turns = {
        (turn.session, turn.id): {**pick(turn, TURN), "memoryId": hit.memory.id}
        for hit in ask.memory.recall(query, limit=limit, filters=filters, dry=True, expand=False)
        for turn in ask.memory.said(hit.memory.id)
    }
    return {"query": query, **_listed(ask, "results", [*turns.values()][:limit]), "lcmEnabled": True}


def health_of_recalls(ask: LenientRequest) -> dict[str, Any]:
    """How the last recalls have been going; nothing for those who may not know of all callers' recalls."""
    try:
        snapshot = plain(ask.memory.recall_health())
    except AccessDenied:
        snapshot = None
    return {"sessionKey": session_of(ask), "snapshot": snapshot}


def session_of(ask: LenientRequest) -> str:
    """The session a client names, in the body or in a header."""
    key = ask.text("sessionKey", "") or ask.text("session", "") or ask.headers.get("x-hermes-session-id", "")
    return key[:SESSION]


def namespace_of(ask: LenientRequest) -> str:
    """Where the asker stands."""
    return ask.memory.access.scope.namespace


def coding(ask: LenientRequest) -> dict[str, Any]:
    """Say which project a session works on; null ends it."""
    if not session_of(ask):
        raise InvalidInput("sessionKey is required")
    project = _project(ask)
    return {"ok": True, "sessionKey": session_of(ask), "project": project or None}


def _project(ask: LenientRequest) -> str:
    """The project a call is about: the one it names, else the one its session works on."""
    place = namespace_of(ask), session_of(ask)
    if "codingContext" in ask.given:
        context = ask.given["codingContext"]
        if context is not None and not isinstance(context, Mapping):
            raise WrongType("codingContext", context, "an object or null")
        inner = ask.of(context or {})
        project = inner.text("projectId", "") or inner.text("rootPath", "")
        screen.name("projectId", project)
        ask.projects.pop(place, None)
        if project:
            ask.projects[place] = project
            while len(ask.projects) > PROJECTS:
                ask.projects.pop(next(iter(ask.projects)))
    return ask.text("projectTag", "") or ask.projects.get(place, "")


def scope_of(ask: LenientRequest) -> Scope | None:
    """The place of a project, for those who may look into it."""
    access, project = ask.memory.access, _project(ask)
    if not project or not access.sees_below or access.scope.project:
        return None
    return replace(access.scope, project=project)


def _recalled(ask: LenientRequest, query: str, top: int) -> Recall:
    tags = frozenset(_tags(ask) or ask.words("tag"))
    every = one_of(ask, "tagMatch", ask.text("tag_match", "any") or "any", MATCHES) == "all"
    return ask.memory.recall(
        query,
        limit=top,
        filters=Filters(tags_all=tags) if every else Filters(tags_any=tags),
        scope=scope_of(ask),
        session=session_of(ask),
        as_of=ask.text("asOf", ask.text("as_of", "")) or None,
    )


def _tags(ask: LenientRequest) -> tuple[str, ...]:
    given = ask.given.get("tags")
    if isinstance(given, list) and len(given) > TAGS:
        raise InvalidInput(f"at most {TAGS} tags are taken")
    return ask.words("tags")


def _within(ask: LenientRequest, name: str, default: int, most: int) -> int:
    """A number that must lie in its range: these clients are told when it does not."""
    number = ask.number(name)
    if number is not None and not 0 <= number <= most:
        raise InvalidInput(f"{name} must be between 0 and {most}")
    return default if number is None else int(number)


def one_of(ask: LenientRequest, name: str, default: str, known: tuple[str, ...]) -> str:
    """One of a few words. Raises UnknownValue."""
    value = ask.text(name, default) or default
    if value not in known:
        raise UnknownValue(name, value, known)
    return value


# ---------------------------------------------------------------- knowing
# Listening and knowing of *files*: what was said, who is spoken of, what contradicts what, how it is.


VERBS = {"keep-a": "a", "keep-b": "b", "merge": "merge", "both-valid": "both"}
LATER = "needs-more-context"
MESSAGE = frozenset({"role", "content", "name", "id"})
PHASES = ("lightSleep", "rem", "deepSleep")
DISPOSITIONS = {
    "active": Status.ACTIVE,
    "pending_review": Status.CHALLENGED,
    "quarantined": Status.CHALLENGED,
    "rejected": Status.INVALIDATED,
    "superseded": Status.SUPERSEDED,
    "archived": Status.ARCHIVED,
}
"""What those clients may make of a memory, in our words."""
IN_DOUBT = Filters(statuses=frozenset({Status.CHALLENGED, Status.QUARANTINED}))
PROCEDURES = Filters(kinds=frozenset({Kind.PROCEDURAL}))


def health(ask: LenientRequest) -> dict[str, Any]:
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


def observe(ask: LenientRequest) -> dict[str, Any]:
    """Listen to what was said: kept word for word, and read for memories."""
    session = session_of(ask)
    if not session:
        raise InvalidInput("sessionKey is required")
    # What only its own service needs is left out.
    messages = [{name: sent[name] for name in sent if name in MESSAGE} for sent in ask.objects("messages")]
    heard = ask.memory.observe(messages=messages, session=session, scope=scope_of(ask))
    return {
        "accepted": heard.logged,
        "sessionKey": session,
        "namespace": namespace_of(ask),
        "lcmArchived": True,
        "extractionQueued": bool(heard.waiting or heard.captured),
    }


def entities(ask: LenientRequest) -> dict[str, Any]:
    """Who and what is spoken of, last seen first."""
    limit, offset = ask.page(50, 500, deepest=500)
    known = ask.memory.entities.list(prefix=ask.text("q", ""), limit=offset + limit)[offset:]
    return _listed(ask, "entities", [*map(entity_of, known)], limit=limit, offset=offset)


def entity(ask: LenientRequest) -> OldAnswer:
    """What is known about somebody or something."""
    profile = ask.memory.entities.get(ask.placed.get("name") or ask.text("name"))
    if profile is None:
        return _found_or_not(ask, "entity", None)
    more = {
        "facts": [plain(claim.fact) for claim in profile.facts],
        "memories": [*map(memory_of, profile.memories)],
        "related": [{"name": name, "count": count} for name, count in profile.beside],
    }
    return _found_or_not(ask, "entity", {**entity_of(profile.entity), **more})


def contradictions(ask: LenientRequest) -> dict[str, Any]:
    """Pairs that cannot both be true."""
    pairs = ask.memory.conflicts.list(ask.whole("limit", 50, 1, 500))
    return _listed(ask, "pairs", [*map(_pair, pairs)])


def resolve(ask: LenientRequest) -> dict[str, Any]:
    """Settle a pair."""
    pair, verb = ask.text("pairId"), one_of(ask, "verb", "", (*VERBS, LATER))
    first, _, second = pair.partition("..")
    if verb == LATER:
        return {"pairId": pair, "verb": verb, "resolved": False}
    memory = ask.memory.conflicts.resolve(first, second, VERBS[verb], "decided by a client")
    return {"pairId": pair, "verb": verb, "resolved": True, "memory": memory_of(memory)}


def scan(ask: LenientRequest) -> dict[str, Any]:
    """Have a model look at the pairs; without one they stay open."""
    settled = ask.memory.conflicts.review()
    return {"namespace": namespace_of(ask), "settled": [*map(_pair, settled)]}


def contradiction(ask: LenientRequest) -> OldAnswer:
    """One pair that cannot both be true."""
    wanted, pairs = ask.placed["id"], map(_pair, ask.memory.conflicts.list(500))
    found = next((pair for pair in pairs if pair["pairId"] == wanted), None)
    return OldAnswer({"found": found is not None, "pair": found}, 404 if found is None else 200)


def dispose(ask: LenientRequest) -> dict[str, Any]:
    """Say what becomes of a memory that was to be looked at."""
    status, reason = one_of(ask, "status", "", tuple(DISPOSITIONS)), ask.text("reasonCode")
    changed = ask.memory.set_status(ask.text("memoryId"), DISPOSITIONS[status], reason)
    return {"memoryId": changed.id, "status": status, "reasonCode": reason, "applied": True}


def queue(ask: LenientRequest) -> dict[str, Any]:
    """What waits for somebody to look at it: what is in doubt, and what was put aside."""
    return _listed(ask, "items", [*map(row_of, ask.memory.list(filters=IN_DOUBT, limit=MOST))])


def upkeep(ask: LenientRequest) -> dict[str, Any]:
    """The last runs of maintenance."""
    return _listed(ask, "runs", [pick(run, RUN) for run in ask.memory.maintenance.runs(20)])


def quality(ask: LenientRequest) -> dict[str, Any]:
    """How much is kept, by status and category, and what is wrong with it."""
    return {
        "namespace": namespace_of(ask),
        **pick(
            ask.memory.stats(),
            "total:memories byStatus:by_status byCategory:by_category withoutVector:pending",
        ),
        "contradictions": len(ask.memory.conflicts.list(500)),
    }


def console(ask: LenientRequest) -> dict[str, Any]:
    """How everything is, at one glance."""
    return {**quality(ask), "maintenance": upkeep(ask)["runs"], "reviewQueue": queue(ask)["count"]}


def dream(ask: LenientRequest) -> dict[str, Any]:
    """Sleep: in its deep phase memories mature, in the others they are replayed and linked."""
    phase, dry = one_of(ask, "phase", "", PHASES), ask.truth("dryRun")
    report = (ask.memory.consolidate if phase == "deepSleep" else ask.memory.dream)(dry=dry)
    return {"phase": phase, **pick(report, "runId:run.id dryRun:dry changes")}


def procedures(ask: LenientRequest) -> dict[str, Any]:
    """How many procedures are known."""
    return {"procedures": ask.memory.count(filters=PROCEDURES)}


def graph(ask: LenientRequest) -> dict[str, Any]:
    """Memories and what is between them."""
    filters = Filters(categories=frozenset(ask.words("categories")))
    memories = some_memories(ask.memory, filters, 0, ask.whole("limit", 500, 1, 5_000))
    focus = ask.text("focusNodeId", "")
    relations = [
        edge
        for memory in memories
        if not focus or memory.id == focus
        for edge in ask.memory.relations(memory.id)
    ]
    # The same relation hangs on both of its ends.
    edges = {(edge.source, edge.target, edge.type): edge for edge in relations}
    near = {focus, *(end for edge in relations for end in (edge.source, edge.target))}
    return {
        "namespace": namespace_of(ask),
        "nodes": [row_of(memory) for memory in memories if not focus or memory.id in near],
        "edges": [pick(edge, "source target type confidence") for edge in edges.values()],
    }


def peers(ask: LenientRequest) -> dict[str, Any]:
    """The people who are spoken of."""
    people = ask.memory.entities.list(type="person", limit=MOST)
    return {"peers": [*map(_peer, people)], "count": len(people)}


def peer(ask: LenientRequest) -> OldAnswer:
    """What is known about one of them; as a profile, in lines."""
    profile = ask.memory.entities.get(ask.placed.get("id") or ask.text("id"))
    if profile is None:
        return OldAnswer({"found": False}, 404)
    lines = [memory.content for memory in profile.memories]
    return OldAnswer({"found": True, "peer": _peer(profile.entity), "profile": lines})


# ---------------------------------------------------------------- memories
# Memories of *files*: keep, list, look at, and what happened to them.


SCHEMA = 1
CATEGORIES = (
    "fact", "preference", "correction", "entity", "decision", "relationship", "principle", "commitment",
    "moment", "skill", "rule", "procedure", "reasoning_trace",
)  # fmt: skip
SOURCE = "agent"
SORTS = ("updated_desc", "updated_asc", "created_desc", "created_asc")
SORTED_MOST = 1_000
"""Orders other than newest first are made of so many."""
KNOWN = frozenset({Outcome.REINFORCED, Outcome.MERGED})
LONGEST = {"entityRef": 512, "ttl": 128, "sourceReason": 2_000}
TIMES = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_SPAN = re.compile(r"(\d{1,6})\s*([mhdw])\w*", re.IGNORECASE)


def store(ask: LenientRequest) -> OldAnswer:
    """Keep a memory: 201 when it is new, 200 when it is known or only tried."""
    return _store(ask, "memory_store")


def suggest(ask: LenientRequest) -> OldAnswer:
    """Keep a suggestion: a memory that counts as a guess until somebody confirms it."""
    return _store(ask, "suggestion_submit")


def page(ask: LenientRequest) -> dict[str, Any]:
    """Memories, newest first or in another order; with `q` those that fit a question."""
    limit, offset = ask.page(50, 200)
    sort = one_of(ask, "sort", "created_desc", SORTS)
    filters = _filters(ask)
    if query := ask.text("q", ""):
        hits = ask.memory.recall(query, limit=min(offset + limit, 500), filters=filters, dry=True)
        memories, total = [hit.memory for hit in hits][offset:], len(hits)
    else:
        memories, total = _sorted(ask, filters, sort, offset, limit), ask.memory.count(filters=filters)
    rows = [*map(row_of, memories)]
    return _listed(ask, "memories", rows, sort=sort, total=total, limit=limit, offset=offset)


def get(ask: LenientRequest) -> OldAnswer:
    """One memory."""
    memory = ask.memory.get(_id(ask))
    return _found_or_not(ask, "memory", None if memory is None else memory_of(memory))


def timeline(ask: LenientRequest) -> OldAnswer:
    """What happened to a memory, oldest first."""
    memory = ask.memory.get(_id(ask))
    events = ask.memory.events(memory.id, limit=ask.whole("limit", 200, 1, 1_000)) if memory else []
    told = [{**pick(event, EVENT), "relatedMemoryId": event.related or None} for event in reversed(events)]
    answer = {"found": memory is not None, **_listed(ask, "timeline", told)}
    return OldAnswer(answer, 404 if memory is None else 200)


def _store(ask: LenientRequest, operation: str) -> OldAnswer:
    content, fields = ask.text("content").strip(), _fields(ask)
    answer: dict[str, Any] = {
        "schemaVersion": SCHEMA,
        "operation": operation,
        "namespace": namespace_of(ask),
        "dryRun": ask.truth("dryRun"),
        "accepted": True,
        "queued": False,
        "idempotencyKey": ask.text("idempotencyKey", "") or None,
        "idempotencyReplay": False,
    }
    if answer["dryRun"]:
        return OldAnswer({**answer, "status": "validated"})
    if operation == "suggestion_submit":
        fields["confidence"] = min(fields.get("confidence", 0.5), 0.5)
    receipt = ask.memory.remember(content, **fields)
    known = receipt.outcome in KNOWN
    answer |= {"status": "duplicate" if known else "stored", "memoryId": receipt.memory.id}
    if known:
        answer["duplicateOf"] = receipt.memory.id
    elif operation == "suggestion_submit":
        ask.memory.set_status(receipt.memory.id, Status.CHALLENGED, "a suggestion that waits for a review")
        answer |= {"status": "queued_for_review", "queued": True}
    return OldAnswer(answer, 200 if known else 201)


def _fields(ask: LenientRequest) -> dict[str, Any]:
    for name, most in LONGEST.items():
        if len(ask.text(name, "")) > most:
            raise InvalidInput(f"{name} may have {most} characters")
    fields: dict[str, Any] = {"source": SOURCE, "tags": _tags(ask), "session": session_of(ask)}
    if ask.text("category", ""):
        fields["category"] = one_of(ask, "category", "", CATEGORIES).replace("_", "-")
    if ask.has("confidence"):
        confidence = ask.number("confidence") or 0.0
        if not 0.0 <= confidence <= 1.0:
            raise InvalidInput("confidence must be between 0 and 1")
        fields["confidence"] = confidence
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


def _filters(ask: LenientRequest) -> Filters:
    filters, status = Filters(categories=frozenset(ask.words("category"))), ask.text("status", "")
    if not status:
        return filters
    wanted: Status = DISPOSITIONS.get(status) or member("status", Status, status)
    return replace(filters, statuses=frozenset({wanted}))


def _sorted(ask: LenientRequest, filters: Filters, sort: str, offset: int, limit: int) -> list[Memory]:
    if sort == "created_desc":
        return some_memories(ask.memory, filters, offset, limit)
    by, _, way = sort.partition("_")
    name = "modified_at" if by == "updated" else "created_at"
    every = some_memories(ask.memory, filters, 0, SORTED_MOST)
    ordered = sorted(every, key=lambda memory: getattr(memory, name), reverse=way == "desc")
    return ordered[offset : offset + limit]


def _id(ask: LenientRequest) -> str:
    return ask.placed.get("id") or ask.text("memoryId")


def adapters(ask: LenientRequest) -> dict[str, Any]:
    """That the client is known by the name it goes by; none has to be set up."""
    named = ask.headers.get("x-engram-client-id") or None
    return {"adaptersEnabled": True, "registered": [], "resolved": named}


def _route(address: str, call: Callable[[LenientRequest], Any], **more: Any) -> Old:
    method, _, path = address.partition(" ")
    return Old(method, f"{FILES}/{path}", call, in_default=True, **more)


ROUTES: tuple[Old, ...] = (
    _route("GET health", health),
    _route("GET adapters", adapters),
    _route("POST observe", observe, status=202),
    _route("GET entities", entities),
    _route("GET entities/{name:path}", entity),
    _route("GET review/contradictions", contradictions),
    _route("GET review/contradictions/{id}", contradiction),
    _route("POST review/resolve", resolve),
    _route("POST review-disposition", dispose),
    _route("GET review-queue", queue),
    _route("GET maintenance", upkeep),
    _route("GET quality", quality),
    _route("GET console/state", console),
    _route("GET procedural/stats", procedures),
    _route("GET graph/snapshot", graph),
    _route("GET peers", peers),
    _route("GET peers/{id}", peer),
    _route("GET peers/{id}/profile", peer),
    _route("GET dreams/status", upkeep),
    _route("POST dreams/run", dream, owner_only=True),
    _route("POST contradiction-scan", scan),
    _route("POST recall", recall, waits=False),
    _route("POST recall/explain", health_of_recalls, waits=False),
    _route("GET recall/tier-explain", health_of_recalls),
    _route("GET recall/xray", xray),
    _route("POST coding-context", coding),
    _route("POST search", search, waits=False),
    _route("POST lcm/search", said, waits=False),
    _route("GET lcm/status", lambda ask: {"enabled": True, "namespace": namespace_of(ask)}),
    _route("POST memories", store),
    _route("POST suggestions", suggest),
    _route("GET memories", page),
    _route("GET memories/{id}", get),
    _route("GET memories/{id}/timeline", timeline),
)
