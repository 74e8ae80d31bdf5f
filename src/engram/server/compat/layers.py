"""The routes of *layers*, at the root of the server."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from engram._version import __version__
from engram.errors import AccessDenied, InvalidInput, NotFound, UnknownValue, WrongType
from engram.model.capture import Outcome, Receipt, Turn
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
)
from engram.server.compat.requests import LenientRequest, Old, OldAnswer
from engram.text.statement import canonical

if TYPE_CHECKING:
    from engram.engine import Engram


# ---------------------------------------------------------------- facts
# Facts of *layers*: stated, asked, followed, ended.


SOURCE = "fact"
MOST = 1_000


def state(ask: LenientRequest) -> dict[str, Any]:
    """State facts. One with the same subject and predicate but another object ends the old fact, no more.

    What else the memory of the old fact says goes on holding.
    """
    given = [(one, _named(one)) for one in map(ask.of, ask.objects("facts"))]
    stated: list[dict[str, Any]] = []
    ended: list[Claim] = []
    for request, names in given:
        same = ask.memory.facts.query(names["subject"], names["predicate"])
        over = [old for old in same if is_stated(old) and old.fact.object != names["object"].casefold()]
        claim = _state(request, names)
        stated.append({**fact_of(claim), **names})
        for old in over:
            _end(ask.memory, old, by=fact_id(claim))
        ended += over
    return {"facts": stated, "conflicts": [fact_of(old) for old in ended], "resolved": len(ended)}


def _named(ask: LenientRequest) -> dict[str, str]:
    return {part: ask.text(part) for part in ("subject", "predicate", "object")}


def query(ask: LenientRequest) -> dict[str, Any]:
    """Facts about somebody or something, as their subject or object."""
    entity, old = ask.text("entity"), ask.truth("include_superseded")
    facts = ask.memory.facts
    claims = [
        *facts.query(entity, history=old, limit=MOST),
        *facts.query(object=entity, history=old, limit=MOST),
    ]
    if not claims:
        # There a word of a name is enough.
        asked = set(entity.casefold().split())
        every = facts.query(history=old, limit=MOST)
        claims = [
            claim for claim in every if asked & {*claim.fact.subject.split(), *claim.fact.object.split()}
        ]
    own = [claim for claim in claims if is_stated(claim)]  # what a client stated goes before what words tell
    return _listed("facts", list({fact_id(claim): claim for claim in own or claims}.values()))


def everything(ask: LenientRequest) -> dict[str, Any]:
    """All facts, newest first."""
    limit, offset = ask.whole("limit", 100, 1, MOST), ask.whole("offset", 0, 0, MOST)
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
    names = as_said(claim)
    memory.facts.end(claim, because=because)
    now = memory.get(claim.memory.id)
    if now is None:
        return
    mark = {SUPERSEDED_BY: by} if by else {}
    listed = [
        {**one, **names, **mark} if _parts(one) == _parts(names) else one
        for one in now.details.get("facts", ())
    ]
    memory.update(now.id, details={**now.details, "facts": listed}, because=because)


def _parts(fact: Mapping[str, Any]) -> tuple[str, str, str]:
    subject, predicate, object_ = (
        str(fact.get(part, "")).lower() for part in ("subject", "predicate", "object")
    )
    return subject, canonical(predicate), object_


def _state(ask: LenientRequest, names: Mapping[str, str]) -> Claim:
    """State a fact, by a memory of its own or by one that is there; the fact as it is known now."""
    since = moment_from("valid_from", ask.number("valid_from"))
    if not ask.has("memory_id"):
        more: dict[str, Any] = {"functional": False, "valid_from": since, "source": SOURCE}
        memory = ask.memory.facts.add(*names.values(), **more).memory
    else:
        memory = calls.get(ask.memory, ask.text("memory_id"))
        listed = memory.details.get("facts", [])
        if not isinstance(listed, list | tuple):
            raise InvalidInput("The details of that memory hold no list of facts.")
        details = {**memory.details, "facts": [*listed, {**names, "valid_from": plain(since)}]}
        ask.memory.update(memory.id, details=details, because="a client stated a fact of it")
    claims, said = ask.memory.facts.of(memory.id), names["object"].lower()
    return next((claim for claim in reversed(claims) if claim.fact.object == said), claims[-1])


def is_stated(claim: Claim) -> bool:
    """Whether a client stated a fact, rather than the words of its memory."""
    listed = claim.memory.details.get("facts")
    told = listed if isinstance(listed, list | tuple) else ()
    said = claim.fact.subject, claim.fact.predicate, claim.fact.object
    return any(_parts(one) == said for one in told if isinstance(one, Mapping))


def _listed(name: str, claims: list[Claim]) -> dict[str, Any]:
    return {name: [fact_of(claim) for claim in claims], "count": len(claims)}


# ---------------------------------------------------------------- memories
# Memories of *layers*: keep, look at, change, take away, and the trash.


MEMORIES_SOURCE = "api"
SESSION = "session"
IMPORTANCE = 0.5
DELETED, EMPTIED = "deleted by a client", "the trash was emptied"
PAGE = 200
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
    told = [{"index": place, "reason": why} for place, why in sorted(errors.items())]
    return {"inserted": asked - len(errors), "requested": asked, "errors": told}


def _each(
    ask: LenientRequest, read: Callable[[LenientRequest], Mapping[str, Any]]
) -> tuple[dict[int, Mapping[str, Any]], dict[int, str]]:
    """What each item of a list is read as, by its place; and why one cannot be read."""
    good: dict[int, Mapping[str, Any]] = {}
    bad: dict[int, str] = {}
    for place, one in enumerate(ask.items_of("memories")):
        try:
            if not isinstance(one, Mapping):
                raise WrongType("memory", one, "an object")
            good[place] = read(ask.of(one))
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
    limit, offset = ask.whole("limit", 50, 1, PAGE), ask.whole("offset", 0, 0, 10_000_000)
    found = [memory_of(memory) for memory in some(ask.memory, filters, offset, limit)]
    total = ask.memory.count(filters=filters)
    return {"memories": found, "count": len(found), "total": total, "limit": limit, "offset": offset}


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
    return memory_of(moved(ask.memory, changed, wanted))


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
    limit, offset = ask.whole("limit", 100, 1, 1_000), ask.whole("offset", 0, 0, 1_000_000)
    lying = ask.memory.trash.list(limit=limit, offset=offset)
    items = [{**memory_of(item.memory), "deleted_at": millis(item.deleted_at)} for item in lying.items]
    return {"total": lying.total, "count": len(items), "items": items}


def restore(ask: LenientRequest) -> dict[str, Any]:
    """Bring a memory back out of the trash."""
    ask.memory.trash.restore(ask.placed["id"])
    return {"restored": True}


def moved(memory: Engram, one: Memory, wanted: Layer) -> Memory:
    """The memory in another layer, brought there step by step."""
    while one.layer < wanted:
        one = memory.promote(one.id, "asked for by a client")
    while one.layer > wanted:
        one = memory.demote(one.id, "asked for by a client")
    return one


def everything_memories(memory: Engram, filters: Filters | None = None) -> Iterator[Memory]:
    """All memories that fit, newest first, a page at a time."""
    cursor: str | None = None
    while True:
        found = memory.list(filters=filters, limit=1_000, cursor=cursor)
        yield from found
        cursor = found.cursor
        if cursor is None:
            return


def some(memory: Engram, filters: Filters, offset: int, limit: int) -> list[Memory]:
    """The memories from a place on."""
    if not offset:
        return list(memory.list(filters=filters, limit=limit))
    return list(islice(everything_memories(memory, filters), offset, offset + limit))


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
    memories = [memory_of(one) for one in everything_memories(ask.memory)]
    if ask.truth("embed"):
        vectors = {one["id"]: one.get("vector") for one in ask.memory.export(vectors=True)}
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
        "errors": [{"index": place, "reason": why} for place, why in sorted(errors.items())],
    }


def flush(ask: LenientRequest) -> dict[str, Any]:
    """Read now what the proxy heard and what still waits."""
    ask.memory.flush()
    return {"status": "ok"}


def window(ask: LenientRequest) -> dict[str, Any]:
    """What was heard in each session and waits to be read."""
    waiting: dict[str, list[Turn]] = {}
    for turn in ask.memory.history.unread():
        waiting.setdefault(turn.session, []).append(turn)
    sizes = {session: sum(len(one.content) for one in turns) for session, turns in waiting.items()}
    answer = {
        session: {"turns": len(turns), "chars": sizes[session], "last_at": millis(turns[-1].at)}
        for session, turns in waiting.items()
    }
    return {"sessions": answer}


def _extracted(ask: LenientRequest, name: str, count: str) -> dict[str, Any]:
    """Memories that a text holds."""
    text = ask.text("text")
    session = f"{MOVING_SESSION}-{sha256(text.encode()).hexdigest()[:12]}"
    heard = ask.memory.observe(text, session=session)
    read = ask.memory.flush(session)
    receipts = (*heard.receipts, *read.receipts)
    found = {receipt.memory.id: memory_of(receipt.memory) for receipt in receipts}
    return {name: [*found.values()], count: len(found)}


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
ORDERS = ("score", "recent", "accessed")
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
    scored = _scored(ask, answer, now, layered=layered)
    eligible = _ordered([one for one in scored if one.score >= (ask.share("min_score") or 0.0)], order)
    shown = _within(eligible[offset:], budget, limit)
    if not ask.truth("dry"):
        ask.memory.touch([one.memory.id for one in shown if one.relevance > USED_ABOVE])
    told: dict[str, Any] = {
        "memories": [
            {
                **memory_of(one.memory),
                "score": one.score,
                "relevance": round(one.relevance, 4),
                "recency": recency(one.memory, now),
            }
            for one in shown
        ],
        "query": ask.text("query"),
        "total_tokens": sum(tokens_of(one.memory.content) for one in shown),
        "layer_breakdown": Counter(str(one.memory.layer.number) for one in shown),
        "search_mode": mode_of(answer),
        "total": len(eligible),
        "offset": offset,
        "limit": limit,
    }
    return told | _more(ask, answer, order)


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
    kept = _filters(ask)
    others = [
        memory
        for memory in linked.values()
        if memory.status in kept.statuses and (not kept.layers or memory.layer in kept.layers)
    ]
    scored += [ScoredMemory(other, 1.0, layered_score(other, 1.0, now)) for other in others]
    if layered or linked:
        scored.sort(key=lambda one: -one.score)
    return scored


def layered_score(memory: Memory, relevance: float, now: datetime) -> float:
    """The score as that system works it out; at most 1."""
    told = 0.2 * memory.importance + 0.2 * recency(memory, now) + 0.6 * relevance
    return round(min(1.0, told * LAYER_BONUS[memory.layer]), 4)


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
    for one in scored[:limit]:
        cost = tokens_of(one.memory.content)
        if budget and shown and spent + cost > budget:
            break
        shown.append(one)
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
    found: list[Memory] = list(ask.memory.list(filters=filters, limit=ask.whole("limit", 20, 1, 100)))
    memories = [memory_of(memory) for memory in found]
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
    return [layer_from(one) for one in (given if isinstance(given, list) else [given])]


def _ordered(scored: list[ScoredMemory], order: str) -> list[ScoredMemory]:
    if order not in ORDERS:
        raise UnknownValue("sort_by", order, ORDERS)
    if order == "recent":
        return sorted(scored, key=lambda one: one.memory.created_at, reverse=True)
    if order == "accessed":
        return sorted(scored, key=lambda one: one.memory.last_accessed or one.memory.created_at, reverse=True)
    return scored


def _more(ask: LenientRequest, answer: Recall, order: str) -> dict[str, Any]:
    """What is told only where there is something to tell."""
    told: dict[str, Any] = {}
    times: dict[str, Any] = {name: ask.number(name) for name in ("since", "until") if ask.has(name)}
    if times or order != "score":
        told["time_filter"] = {**times, "sort_by": order}
    if answer.plan.phrases:
        told["expanded_queries"] = list(answer.plan.phrases)
    names = answer.plan.entities[:CHAINS]
    chains = _chains(path for name in names for path in ask.memory.facts.chain(name, limit=CHAINS))
    return {**told, "fact_chains": chains} if chains else told


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
