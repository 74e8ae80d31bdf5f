"""The routes of *layers*, at the root of the server."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

from engram._version import __version__
from engram.errors import AccessDenied, InvalidInput, NotFound, UnknownValue, WrongType
from engram.model.capture import Outcome, Receipt
from engram.model.facts import Claim
from engram.model.memory import Filters, Kind, Layer, Memory
from engram.model.plain import plain
from engram.model.recall import BUCKETS, Hit, Recall, public_score
from engram.model.scope import Access, Role, Scope
from engram.operations import calls
from engram.rules.chains import Path
from engram.rules.retention import layer_recency
from engram.rules.traits import by_layers
from engram.server.compat import layers_upkeep
from engram.server.compat.layers_upkeep import (
    SUPERSEDED_BY,
    as_said,
    fact_id,
    fact_of,
    hit_of,
    kind_from,
    layer_from,
    memory_of,
    millis,
    moment_from,
    stated_in,
)
from engram.server.compat.requests import LenientRequest, Old, OldAnswer
from engram.text.statement import canonical

if TYPE_CHECKING:
    from engram.engine import Engram


# ---------------------------------------------------------------- facts
# Facts of *layers*: stated, asked, followed, ended.


SOURCE = "fact"
MOST = 1_000
PARTS = ("subject", "predicate", "object")


def state(ask: LenientRequest) -> dict[str, Any]:
    """State facts. One with the same subject and predicate but another object ends the old fact, no more.

    What else the memory of the old fact says goes on holding.
    """
    requests = [*map(ask.of, ask.objects("facts"))]
    triples = [{part: request.text(part) for part in PARTS} for request in requests]
    stated: list[dict[str, Any]] = []
    ended: list[Claim] = []
    for request, triple in zip(requests, triples, strict=True):
        same = ask.memory.facts.query(triple["subject"], triple["predicate"])
        over = [old for old in same if is_stated(old) and old.fact.object != triple["object"].casefold()]
        claim = _state(request, triple)
        stated.append({**fact_of(claim), **triple})
        for old in over:
            _end(ask.memory, old, by=fact_id(claim))
        ended += over
    return {"facts": stated, "conflicts": [*map(fact_of, ended)], "resolved": len(ended)}


def query(ask: LenientRequest) -> dict[str, Any]:
    """Facts about somebody or something, as their subject or object."""
    name, old = ask.text("entity"), ask.truth("include_superseded")
    facts = ask.memory.facts
    claims = [*facts.query(name, history=old, limit=MOST), *facts.query(object=name, history=old, limit=MOST)]
    if not claims:
        # There a word of a name is enough.
        words = set(name.casefold().split())
        every = facts.query(history=old, limit=MOST)
        claims = [
            claim for claim in every if words & set(f"{claim.fact.subject} {claim.fact.object}".split())
        ]
    own = [claim for claim in claims if is_stated(claim)]  # what a client stated goes before what words tell
    return _listed("facts", list({fact_id(claim): claim for claim in own or claims}.values()))


def everything(ask: LenientRequest) -> dict[str, Any]:
    """All facts, newest first."""
    limit, offset = ask.page(100, MOST, deepest=MOST)
    return _listed("facts", ask.memory.facts.query(limit=min(offset + limit, MOST))[offset:])


def conflicts(ask: LenientRequest) -> dict[str, Any]:
    """What holds of a subject and a predicate, each beside the others."""
    return _listed("conflicts", ask.memory.facts.query(ask.text("subject"), ask.text("predicate")))


def history(ask: LenientRequest) -> dict[str, Any]:
    """What ever held of a subject and a predicate."""
    return _listed("history", ask.memory.facts.history(ask.text("subject"), ask.text("predicate")))


def graph(ask: LenientRequest) -> dict[str, Any]:
    """Chains of facts from a name."""
    entity, hops = ask.text("entity"), ask.whole("hops", 2, 1, 3)
    chains = _chains(ask.memory.facts.chain(entity, hops=hops))
    return {"entity": entity, "hops": hops, "chains": chains, "count": len(chains)}


def _chains(paths: Iterable[Path]) -> list[dict[str, Any]]:
    return [{"path": [as_said(claim) for claim in path.claims]} for path in paths]


def end(ask: LenientRequest) -> dict[str, Any]:
    """Say that a fact holds no longer."""
    memory_id, _, _ = ask.placed["id"].partition(".")
    for claim in ask.memory.facts.of(memory_id):
        if fact_id(claim) == ask.placed["id"] and claim.fact.valid_to is None:
            _end(ask.memory, claim)
            return {"deleted": True}
    raise NotFound(ask.placed["id"])


def _end(memory: Engram, claim: Claim, by: str = "") -> None:
    """End one fact of a memory; `by` is the fact that took its place."""
    because = "another fact took its place" if by else DELETED
    triple = as_said(claim)
    memory.facts.end(claim, because=because)
    now = memory.get(claim.memory.id)
    if now is None:
        return
    mark = {SUPERSEDED_BY: by} if by else {}
    listed = [
        {**stated, **triple, **mark}
        if isinstance(stated, Mapping) and _parts(stated) == _parts(triple)
        else stated
        for stated in now.details.get("facts", ())
    ]
    memory.update(now.id, details={**now.details, "facts": listed}, because=because)


def _parts(fact: Mapping[str, Any]) -> tuple[str, str, str]:
    subject, predicate, object_ = (str(fact.get(part, "")).lower() for part in PARTS)
    return subject, canonical(predicate), object_


def _state(ask: LenientRequest, triple: Mapping[str, str]) -> Claim:
    """State a fact, by a memory of its own or by one that is there; the fact as it is known now."""
    since = moment_from("valid_from", ask.number("valid_from"))
    if not ask.has("memory_id"):
        more: dict[str, Any] = {"functional": False, "valid_from": since, "source": SOURCE}
        memory = ask.memory.facts.add(*triple.values(), **more).memory
    else:
        memory = calls.get(ask.memory, ask.text("memory_id"))
        listed = memory.details.get("facts", [])
        if not isinstance(listed, list | tuple):
            raise InvalidInput("The details of that memory hold no list of facts.")
        details = {**memory.details, "facts": [*listed, {**triple, "valid_from": plain(since)}]}
        ask.memory.update(memory.id, details=details, because="a client stated a fact of it")
    claims, object_ = ask.memory.facts.of(memory.id), triple["object"].lower()
    return next((claim for claim in reversed(claims) if claim.fact.object == object_), claims[-1])


def is_stated(claim: Claim) -> bool:
    """Whether a client stated a fact, rather than the words of its memory."""
    triple = claim.fact.subject, claim.fact.predicate, claim.fact.object
    return any(_parts(stated) == triple for stated in stated_in(claim.memory))


def _listed(name: str, claims: list[Claim]) -> dict[str, Any]:
    return {name: [fact_of(claim) for claim in claims], "count": len(claims)}


# ---------------------------------------------------------------- memories
# Memories of *layers*: keep, look at, change, take away, and the trash.


MEMORIES_SOURCE = "api"
SESSION = "session"
IMPORTANCE = 0.5
DELETED, EMPTIED = "deleted by a client", "the trash was emptied"
KNOWN = frozenset({Outcome.REINFORCED, Outcome.MERGED})


def create(ask: LenientRequest) -> OldAnswer:
    """Keep a memory: 201 when it is new, 200 with the known one when it says the same."""
    replaced = [calls.get(ask.memory, old).id for old in ask.words("supersedes")]
    receipt = ask.memory.remember(ask.text("content").strip(), apart=ask.truth("skip_dedup"), **_usual(ask))
    for old in replaced:
        if old != receipt.memory.id:
            ask.memory.conflicts.resolve(receipt.memory.id, old, "a", "a client says so")
    known, memory = receipt.outcome in KNOWN, receipt.memory
    if known and by_layers(ask.memory.config):
        ask.memory.touch([memory.id])  # there, what is said again counts as used as well
        memory = ask.memory.get(memory.id) or memory
    answer = {**memory_of(memory), "merged": receipt.outcome is Outcome.MERGED}
    return OldAnswer(answer, 200 if known else 201)


def batch(ask: LenientRequest) -> dict[str, Any]:
    """Keep many; what cannot be kept is left out and told."""
    drafts, errors = _each(
        ask,
        lambda request: {
            "content": request.text("content").strip(),
            **_usual(request),
            **_place(request),
            "apart": True,
        },
    )
    results = ask.memory.remember_many([*drafts.values()], partial=True) if drafts else []
    for place, result in zip(drafts, results, strict=True):
        if not isinstance(result, Receipt):
            errors[place] = result.error.message
    asked = len({*drafts, *errors})
    return {"inserted": asked - len(errors), "requested": asked, "errors": _reasons(errors)}


def _reasons(errors: Mapping[int, str]) -> list[dict[str, Any]]:
    """Why items of a list were left out, in their order."""
    return [{"index": place, "reason": why} for place, why in sorted(errors.items())]


def _each(
    ask: LenientRequest, read: Callable[[LenientRequest], Mapping[str, Any]]
) -> tuple[dict[int, Mapping[str, Any]], dict[int, str]]:
    """What each item of a list is read as, by its place; and why one cannot be read."""
    good: dict[int, Mapping[str, Any]] = {}
    bad: dict[int, str] = {}
    for place, item in enumerate(ask.items_of("memories")):
        try:
            if not isinstance(item, Mapping):
                raise WrongType("memory", item, "an object")
            good[place] = read(ask.of(item))
        except InvalidInput as error:
            bad[place] = error.message
    return good, bad


def page(ask: LenientRequest) -> dict[str, Any]:
    """Memories, newest first; `total` counts all that fit."""
    filters = Filters(
        layers=frozenset(_layers(ask, "layer")),
        tags_any=frozenset(ask.words("tag")),
        kinds=frozenset({kind_from(ask.given["kind"])}) if ask.has("kind") else frozenset(),
    )
    limit, offset = ask.page(50, 200)
    memories = [*map(memory_of, calls.some_memories(ask.memory, filters, offset, limit))]
    total = ask.memory.count(filters=filters)
    return {"memories": memories, "count": len(memories), "total": total, "limit": limit, "offset": offset}


def change(ask: LenientRequest) -> dict[str, Any]:
    """Change some fields of a memory; its layer moves one at a time."""
    memory = _found(ask)
    reads: dict[str, Callable[[], Any]] = {
        "content": lambda: ask.text("content").strip(),
        "importance": lambda: ask.share("importance"),
        "tags": lambda: ask.words("tags"),
        "kind": lambda: kind_from(ask.given["kind"]),
    }
    fields = {name: read() for name, read in reads.items() if ask.has(name)}
    wanted = layer_from(ask.given["layer"]) if ask.has("layer") else memory.layer
    changed = ask.memory.update(memory.id, **fields) if fields else memory
    return memory_of(calls.move_to(ask.memory, changed, wanted, "asked for by a client"))


def delete_many(ask: LenientRequest) -> dict[str, Any]:
    """Put memories into the trash by id; or remove everything of a namespace for good."""
    if ask.has("ids"):
        return {"deleted": sum(_forgotten(ask, word) for word in ask.words("ids"))}
    if not ask.has("namespace"):
        raise InvalidInput("give ids, or a namespace")
    gone = ask.memory.count()
    ask.memory.trash.purge("its namespace was deleted", also_in_use=True)
    return {"deleted": gone}


def trash(ask: LenientRequest) -> dict[str, Any]:
    """What lies in the trash, last deleted first."""
    limit, offset = ask.page(100, 1_000, deepest=1_000_000)
    lying = ask.memory.trash.list(limit=limit, offset=offset)
    items = [{**memory_of(item.memory), "deleted_at": millis(item.deleted_at)} for item in lying.items]
    return {"total": lying.total, "count": len(items), "items": items}


def restore(ask: LenientRequest) -> dict[str, Any]:
    """Bring a memory back out of the trash."""
    ask.memory.trash.restore(ask.placed["id"])
    return {"restored": True}


def _usual(ask: LenientRequest) -> dict[str, Any]:
    """What a memory has in every form; what is not said is as those clients expect it."""
    share, tags = ask.share("importance"), ask.words("tags")
    source = ask.text("source", MEMORIES_SOURCE) or MEMORIES_SOURCE
    return {
        "importance": IMPORTANCE if share is None else share,
        "source": source,
        # There a source says that something is a note of a session; here a tag does.
        "tags": list(tags if source != SESSION else dict.fromkeys((*tags, SESSION))),
        "kind": kind_from(ask.given["kind"]) if ask.has("kind") else Kind.SEMANTIC,
        "layer": layer_from(ask.given["layer"]) if ask.has("layer") else Layer.BUFFER,
    }


def _place(ask: LenientRequest) -> dict[str, Any]:
    """The scope of an item of a list that names a namespace of its own."""
    access, name = ask.memory.access, ask.text("namespace", "")
    if not name or name == access.scope.namespace:
        return {}
    if not access.all_namespaces:
        raise AccessDenied(f"write to the namespace {name!r}")
    return {"scope": Scope(namespace=name)}


def _found(ask: LenientRequest, memory_id: str = "") -> Memory:
    wanted = memory_id or ask.placed["id"]
    memory = ask.memory.get(wanted)
    if memory is None or memory.status not in Filters().statuses:
        raise NotFound(wanted)
    return memory


def _forgotten(ask: LenientRequest, memory_id: str) -> bool:
    """Whether there was such a memory to be put into the trash."""
    try:
        ask.memory.forget(_found(ask, memory_id).id, DELETED)
    except InvalidInput:
        return False
    return True


# ---------------------------------------------------------------- moving
# Moving of *layers*: everything out, everything in again, and memories out of a text.


MOVING_SESSION = "extract"
TIMES = ("created_at", "modified_at", "last_accessed")


def export(ask: LenientRequest) -> dict[str, Any]:
    """Every memory that is in use; with `embed` each with its vector."""
    memories = [*map(memory_of, calls.every_memory(ask.memory))]
    if ask.truth("embed"):
        vectors = {record["id"]: record.get("vector") for record in ask.memory.export(vectors=True)}
        memories = [{**memory, "embedding": vectors.get(memory["id"])} for memory in memories]
    return {"version": __version__, "count": len(memories), "memories": memories}


def bring_in(ask: LenientRequest) -> dict[str, Any]:
    """Memories of an export, with their ids; those that are there already are left as they are."""
    if ask.has("text"):
        return _extracted(ask, "memories", "imported")
    whole = ask.memory.access.all_namespaces
    records, errors = _each(ask, lambda request: _record(request, keep_place=whole))
    adopted = ask.memory.adopt(records.values())
    places = list(records)
    errors |= {places[refusal.index]: refusal.error.message for refusal in adopted.refused}
    return {
        "imported": len(adopted.taken),
        "skipped": len(adopted.known) + len(errors),
        "errors": _reasons(errors),
    }


def flush(ask: LenientRequest) -> dict[str, Any]:
    """Read now what the proxy heard and what still waits."""
    ask.memory.flush()
    return {"status": "ok"}


def window(ask: LenientRequest) -> dict[str, Any]:
    """What was heard in each session and waits to be read."""
    sessions: dict[str, dict[str, int]] = {}
    for turn in ask.memory.history.unread():
        waiting = sessions.setdefault(turn.session, {"turns": 0, "chars": 0, "last_at": 0})
        waiting["turns"] += 1
        waiting["chars"] += len(turn.content)
        waiting["last_at"] = millis(turn.at)
    return {"sessions": sessions}


def _extracted(ask: LenientRequest, name: str, count: str) -> dict[str, Any]:
    """Memories that a text holds."""
    text = ask.text("text")
    session = f"{MOVING_SESSION}-{sha256(text.encode()).hexdigest()[:12]}"
    heard = ask.memory.observe(text, session=session)
    read = ask.memory.flush(session)
    receipts = (*heard.receipts, *read.receipts)
    memories = {receipt.memory.id: memory_of(receipt.memory) for receipt in receipts}
    return {name: [*memories.values()], count: len(memories)}


def _record(ask: LenientRequest, *, keep_place: bool) -> Mapping[str, Any]:
    record: dict[str, Any] = {
        "id": ask.text("id", ""),
        "content": ask.text("content"),
        **_usual(ask),
        "usage": {
            "accessed": ask.whole("access_count", 0, 0, 2**31),
            "repeated": ask.whole("repetition_count", 0, 0, 2**31),
        },
    }
    for name in TIMES:
        record[name] = plain(moment_from(name, ask.number(name)))
    if keep_place and ask.has("namespace"):
        record["scope"] = {"namespace": ask.text("namespace")}
    return record


# ---------------------------------------------------------------- recalling
# Asking of *layers*: recall, search, and what is new.


BUDGET = 2_000
RECALLING_MOST = 500
"""No recall gives more hits than this, however far a client pages."""
ORDERS: Mapping[str, Callable[[Memory], datetime | int]] = {
    "score": lambda _: 0,
    "recent": lambda memory: memory.created_at,
    "accessed": lambda memory: memory.last_accessed or memory.created_at,
}
"""What the memories of an answer may be sorted by; by score they are sorted already."""
ROUGH = {word: least for least, word in BUCKETS} | {"minimal": 0.2}
"""The number that stands for each word that those who are no owner are told."""
CHAINS = 5
USED_ABOVE = 0.5
"""Only what is as relevant as this counts as used."""
LAYER_BONUS = {Layer.BUFFER: 0.9, Layer.WORKING: 1.0, Layer.CORE: 1.1}
WIDE = re.compile("[\u2e80-\u9fff\uac00-\ud7af]")
"""Characters that are words, or syllables, by themselves."""


class ScoredMemory(NamedTuple):
    """A memory with the numbers those clients are told."""

    memory: Memory
    relevance: float
    score: float


def recall(ask: LenientRequest) -> dict[str, Any]:
    """What helps with a question, best first, within a budget of tokens."""
    limit, offset = ask.whole("limit", 20, 1, 100), ask.whole("offset", 0, 0, RECALLING_MOST - 100)
    budget = ask.whole("budget_tokens", BUDGET, 0, 10_000_000)
    order, now = ask.text("sort_by", "score") or "score", ask.memory.maintenance.clock.now()
    layered = ask.memory.config.recall.profile == "layered"
    answer = ask.memory.recall(
        ask.text("query"),
        limit=RECALLING_MOST,
        filters=_filters(ask),
        rerank="model" if ask.truth("rerank") else None,
        min_relevance=None if layered else ask.share("min_score"),
        dry=True,
        expand=ask.truth("expand") if ask.has("expand") else None,
    )
    scored, least = _scored(ask, answer, now, layered=layered), ask.share("min_score") or 0.0
    eligible = _ordered([hit for hit in scored if hit.score >= least], order)
    shown = _within(eligible[offset:], budget, limit)
    if not ask.truth("dry"):
        ask.memory.touch([hit.memory.id for hit in shown if hit.relevance > USED_ABOVE])
    memories = [
        {
            **memory_of(hit.memory),
            "score": hit.score,
            "relevance": round(hit.relevance, 4),
            "recency": recency(hit.memory, now),
        }
        for hit in shown
    ]
    return {
        "memories": memories,
        "query": ask.text("query"),
        "total_tokens": sum(tokens_of(hit.memory.content) for hit in shown),
        "layer_breakdown": Counter(str(hit.memory.layer.number) for hit in shown),
        "search_mode": mode_of(answer),
        "total": len(eligible),
        "offset": offset,
        "limit": limit,
        **_more(ask, answer, order),
    }


def _scored(ask: LenientRequest, answer: Recall, now: datetime, *, layered: bool) -> list[ScoredMemory]:
    """Every hit with its score, and what facts about a name in the question lead to."""
    access = ask.memory.access
    every = ask.memory.facts.mentioned(ask.text("query"))
    linked = {claim.memory.id: claim.memory for claim in every if "facts" in claim.memory.details}
    scored: list[ScoredMemory] = []
    for hit in answer:
        relevance = 1.0 if linked.pop(hit.memory.id, None) else hit.relevance
        score = layered_score(hit.memory, relevance, now) if layered else min(1.0, score_of(hit, access))
        scored.append(ScoredMemory(hit.memory, relevance, score))
    filters = _filters(ask)
    scored += [
        ScoredMemory(memory, 1.0, layered_score(memory, 1.0, now))
        for memory in linked.values()
        if memory.status in filters.statuses and (not filters.layers or memory.layer in filters.layers)
    ]
    if layered or linked:
        scored.sort(key=lambda hit: -hit.score)
    return scored


def layered_score(memory: Memory, relevance: float, now: datetime) -> float:
    """The score as that system works it out; at most 1."""
    weighed = 0.2 * memory.importance + 0.2 * recency(memory, now) + 0.6 * relevance
    return round(min(1.0, weighed * LAYER_BONUS[memory.layer]), 4)


def recency(memory: Memory, now: datetime) -> float:
    """How fresh a memory is: by its layer's rate, since it was last used."""
    return round(layer_recency(memory, now), 4)


def tokens_of(text: str) -> int:
    """Tokens as those clients are told them.

    >>> tokens_of("twelve bytes"), tokens_of("中文")
    (3, 2)
    """
    wide = len(WIDE.findall(text))
    rest = len(WIDE.sub("", text).encode())
    return max(1, math.ceil(wide / 1.5 + rest / 4))


def _within(scored: list[ScoredMemory], budget: int, limit: int) -> list[ScoredMemory]:
    """As many as the budget takes; the first in any case."""
    shown: list[ScoredMemory] = []
    spent = 0
    for hit in scored[:limit]:
        cost = tokens_of(hit.memory.content)
        if budget and shown and spent + cost > budget:
            break
        shown.append(hit)
        spent += cost
    return shown


def search(ask: LenientRequest) -> dict[str, Any]:
    """A quick look that leaves no trace."""
    query = ask.text("q") if ask.has("q") else ask.text("query")
    answer = ask.memory.recall(query, limit=ask.whole("limit", 10, 1, 50), dry=True, expand=False)
    access = ask.memory.access
    memories = [hit_of(hit, score_of(hit, access)) for hit in answer]
    return {"memories": memories, "count": len(memories)}


def recent(ask: LenientRequest) -> dict[str, Any]:
    """What was kept in the last hours, newest first."""
    hours = ask.number("hours")
    hours = min(max(2.0 if hours is None else hours, 0.0), 87_600.0)
    since = datetime.now(UTC) - timedelta(hours=hours)
    filters = Filters(
        created_since=since,
        layers=frozenset(_layers(ask, "layer")),
        min_importance=ask.share("min_importance") or 0.0,
        sources=frozenset(ask.words("source")),
    )
    memories = [*map(memory_of, ask.memory.list(filters=filters, limit=ask.whole("limit", 20, 1, 100)))]
    return {"memories": memories, "count": len(memories), "since_ms": millis(since), "hours": hours}


def score_of(hit: Hit, access: Access) -> float:
    """The score: exact for the owner, a rough number for everybody else."""
    if access.role is Role.OWNER:
        return round(hit.score, 4)
    return ROUGH[str(public_score(hit, access))]


def mode_of(answer: Recall) -> str:
    """How it was searched, in that system's words."""
    mode = "semantic+fts" if answer.plan.space else "fts"
    return f"{mode}+rerank" if answer.quality.rerank == "model" else mode


def _filters(ask: LenientRequest) -> Filters:
    return Filters(
        layers=frozenset(_layers(ask, "layers")),
        min_importance=ask.share("min_importance") or 0.0,
        sources=frozenset(ask.words("source")),
        tags_all=frozenset(ask.words("tags")),
        created_since=moment_from("since", ask.number("since")),
        created_until=moment_from("until", ask.number("until")),
    )


def _layers(ask: LenientRequest, name: str) -> list[Layer]:
    given = ask.given.get(name) or []
    return [*map(layer_from, given if isinstance(given, list) else [given])]


def _ordered(scored: list[ScoredMemory], order: str) -> list[ScoredMemory]:
    if order not in ORDERS:
        raise UnknownValue("sort_by", order, tuple(ORDERS))
    return sorted(scored, key=lambda hit: ORDERS[order](hit.memory), reverse=True)


def _more(ask: LenientRequest, answer: Recall, order: str) -> dict[str, Any]:
    """What is told only where there is something to tell."""
    more: dict[str, Any] = {}
    times: dict[str, Any] = {name: ask.number(name) for name in ("since", "until") if ask.has(name)}
    if times or order != "score":
        more["time_filter"] = {**times, "sort_by": order}
    if answer.plan.phrases:
        more["expanded_queries"] = list(answer.plan.phrases)
    names = answer.plan.entities[:CHAINS]
    chains = _chains(path for name in names for path in ask.memory.facts.chain(name, limit=CHAINS))
    return {**more, "fact_chains": chains} if chains else more


ROUTES: tuple[Old, ...] = (
    Old("POST", "/memories", create),
    Old("GET", "/memories", page),
    Old("DELETE", "/memories", delete_many),
    Old("POST", "/memories/batch", batch),
    Old("GET", "/memories/{id}", lambda ask: memory_of(_found(ask))),
    Old("PATCH", "/memories/{id}", change),
    Old("DELETE", "/memories/{id}", lambda ask: {"ok": _forgotten(ask, _found(ask).id)}),
    Old("GET", "/trash", trash, in_default=True),
    Old("DELETE", "/trash", lambda ask: {"purged": ask.memory.trash.purge(EMPTIED)}, in_default=True),
    Old("POST", "/trash/{id}/restore", restore, in_default=True),
    Old("POST", "/recall", recall, waits=False),
    Old("GET", "/search", search),
    Old("GET", "/recent", recent),
    *layers_upkeep.ROUTES,
    Old("POST", "/facts", state, in_default=True),
    Old("GET", "/facts", query, in_default=True),
    Old("GET", "/facts/all", everything, in_default=True),
    Old("GET", "/facts/graph", graph, in_default=True),
    Old("GET", "/facts/conflicts", conflicts, in_default=True),
    Old("GET", "/facts/history", history, in_default=True),
    Old("DELETE", "/facts/{id}", end, in_default=True),
    Old("GET", "/export", export, waits=True),
    Old("POST", "/import", bring_in),
    Old("POST", "/extract", lambda ask: _extracted(ask, "extracted", "count")),
    Old("POST", "/proxy/flush", flush),
    Old("GET", "/proxy/window", window),
    *layers_upkeep.UPKEEP_ROUTES,
)
