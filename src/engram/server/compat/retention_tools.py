"""Tools of *retention* under the names its clients know: `engram mcp --tools retention`.

Its layers are working, episodic, semantic, procedural and codebase: here a layer and a kind. Times are
seconds since 1970. What it answers as a list comes as a list in the text, and under `result` in the
structured answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from engram.engine import Engram
from engram.errors import EngramError, InvalidInput, NotFound
from engram.model.event import Verb
from engram.model.memory import Filters, Kind, Layer, Memory, Mode, Status, Type
from engram.model.recall import Hit
from engram.operations import Operation

Answer = dict[str, Any]
LAYERS = ("working", "episodic", "semantic", "procedural", "codebase")
STANDING = frozenset({Status.ACTIVE, Status.CHALLENGED})
SHOWN = 200
"""Characters of a content that lists show."""
TOKENS_A_WORD = 1.3
EVERYTHING = 1_000
SOURCES = {"remember:human": "human", "remember:ai": "agent"}
DIARY = "diary"
DUPLICATE = 0.92


# ---------------------------------------------------------------- shapes


def layer_of(memory: Memory) -> str:
    """Its layer in their words."""
    if memory.layer is Layer.BUFFER:
        return "working"
    return str(memory.kind)


def _fields(layer: str) -> Answer:
    if layer not in LAYERS:
        raise InvalidInput(f"{layer!r} is no layer: use one of {', '.join(LAYERS)}.")
    if layer == "working":
        return {"layer": Layer.BUFFER, "kind": Kind.EPISODIC}
    return {"layer": Layer.WORKING, "kind": Kind(layer)}


def _short(memory: Memory) -> Answer:
    return {
        "id": memory.id,
        "content": memory.content,
        "layer": layer_of(memory),
        "memory_type": str(memory.type),
        "status": str(memory.status),
        "fact_date": memory.event_time.date().isoformat() if memory.event_time else None,
        "importance": round(memory.importance, 3),
    }


def _hit(hit: Hit) -> Answer:
    return {**_short(hit.memory), "score": round(hit.score, 4)}


def _seconds(at: datetime | None) -> float | None:
    return at.timestamp() if at is not None else None


def _get(memory: Engram, memory_id: str) -> Memory:
    found = memory.get(memory_id)
    if found is None:
        raise NotFound(memory_id)
    return found


def _list(memory: Engram, filters: Filters | None = None, limit: int = EVERYTHING) -> list[Memory]:
    return list(memory.list(filters=filters, limit=min(max(1, limit), EVERYTHING)))


def _in_layer(layer: str) -> Filters:
    if layer == "working":
        return Filters(layers=frozenset({Layer.BUFFER}))
    return Filters(kinds=frozenset({_fields(layer)["kind"]}), layers=frozenset({Layer.WORKING, Layer.CORE}))


# ---------------------------------------------------------------- recalling


def recall(memory: Engram, query: str, top_k: int = 10, mode: str = "full_context") -> Answer:
    """What helps with a question."""
    return {"result": [_hit(one) for one in memory.recall(query, limit=top_k, mode=Mode(mode))]}


def recall_explain(memory: Engram, query: str, top_k: int = 10, mode: str = "full_context") -> Answer:
    """The same, with how it was found."""
    found = memory.recall(query, limit=top_k, mode=Mode(mode), explain=True)
    return {
        "query": query,
        "intent": str(found.plan.intent),
        "expanded_terms": list(found.plan.phrases),
        "results": [_hit(one) for one in found],
    }


def recall_entity(memory: Engram, name: str) -> Answer:
    """What is known about somebody or something."""
    found = memory.entities.get(name)
    if found is None:
        return {"error": f"entity not found: {name}"}
    claims = memory.facts.query(name)
    about = _list(memory, Filters(entities=frozenset({name})), 50)
    return {
        "entity": {
            "name": found.entity.name,
            "type": found.entity.type,
            "aliases": list(found.entity.aliases),
        },
        "memories": [
            {"content": m.content, "date": f"{m.happened_at:%Y-%m-%d}", "layer": layer_of(m)} for m in about
        ],
        "relationships": [
            {"source": c.fact.subject, "relation": c.fact.predicate, "target": c.fact.object} for c in claims
        ],
    }


def recall_timeline(memory: Engram, start: str, end: str = "") -> Answer:
    """What happened between two days."""
    since = datetime.fromisoformat(start).astimezone(memory.upkeep.clock.now().tzinfo)
    until = datetime.fromisoformat(end).astimezone(since.tzinfo) + timedelta(days=1) if end else None
    found = _list(memory, Filters(happened_since=since, happened_until=until), 100)
    told = sorted(found, key=lambda one: one.happened_at)
    return {
        "result": [
            {
                "content": m.content,
                "date": f"{m.happened_at:%Y-%m-%d}",
                "layer": layer_of(m),
                "importance": m.importance,
            }
            for m in told
        ]
    }


def recall_related(memory: Engram, name: str, max_hops: int = 2) -> Answer:
    """Who and what hangs together with a name."""
    paths = memory.facts.chain(name, hops=max_hops)
    far = {path.names[-1]: len(path.claims) for path in paths}
    return {"result": [{"canonical_name": one, "depth": depth} for one, depth in far.items()]}


def recall_recent(memory: Engram, limit: int = 20) -> Answer:
    """What was kept last."""
    return {
        "result": [
            {**_short(one), "created_at": _seconds(one.created_at)} for one in _list(memory, limit=limit)
        ]
    }


def recall_layer(memory: Engram, layer: str, limit: int = 20) -> Answer:
    """Memories of a layer."""
    found = _list(memory, _in_layer(layer), limit)
    return {"result": [{"id": m.id, "content": m.content, "importance": m.importance} for m in found]}


def recall_by_type(memory: Engram, memory_type: str, limit: int = 20) -> Answer:
    """Memories of a type: fact, procedure or narrative."""
    found = _list(memory, Filters(types=frozenset({Type(memory_type)})), limit)
    return {"result": [_short(one) for one in found]}


def recall_context(memory: Engram, query: str, max_tokens: int = 2_000) -> Answer:
    """What helps with a question, as one text."""
    hits = list(memory.recall(query, budget=max_tokens))
    text = "\n---\n".join(one.memory.content for one in hits)
    return {"context": text, "tokens": int(len(text.split()) * TOKENS_A_WORD), "memories_used": len(hits)}


def recall_hints(memory: Engram, query: str, top_k: int = 10, hint_length: int = 60) -> Answer:
    """The beginnings of what helps."""
    hints = [
        {
            "id": one.memory.id,
            "hint": one.memory.content[:hint_length],
            "layer": layer_of(one.memory),
            "importance": one.memory.importance,
            "date": f"{one.memory.happened_at:%Y-%m-%d}",
            "entities": list(one.memory.entities),
            "score": round(one.score, 4),
        }
        for one in memory.recall(query, limit=top_k)
    ]
    return {"query": query, "hints": hints, "note": "recall with the id's words for the whole"}


def recall_code(memory: Engram, query: str, project: str = "", top_k: int = 10) -> Answer:
    """What is known about code."""
    filters = Filters(kinds=frozenset({Kind.CODEBASE}))
    found = [
        one
        for one in memory.recall(query, limit=top_k, filters=filters)
        if project in str(one.memory.details)
    ]
    return {
        "results": [
            {
                "id": h.memory.id,
                "content": h.memory.content,
                "score": round(h.score, 4),
                "file": h.memory.details.get("path"),
            }
            for h in found
        ]
    }


def find_similar(memory: Engram, memory_id: str, top_k: int = 5) -> Answer:
    """What is like a memory."""
    one = _get(memory, memory_id)
    found = [
        hit for hit in memory.recall(one.content[:500], limit=top_k + 1, dry=True) if hit.memory.id != one.id
    ]
    return {
        "similar": [
            {
                "id": h.memory.id,
                "content": h.memory.content[:SHOWN],
                "similarity": round(h.relevance, 4),
                "layer": layer_of(h.memory),
            }
            for h in found[:top_k]
        ]
    }


def search_entities(memory: Engram, query: str, limit: int = 20) -> Answer:
    """Entities whose name begins so."""
    found = memory.entities.list(prefix=query, limit=limit)
    return {
        "entities": [
            {"canonical_name": one.name, "entity_type": one.type, "aliases": list(one.aliases)}
            for one in found
        ]
    }


def entity_timeline(memory: Engram, name: str) -> Answer:
    """What happened around somebody or something, oldest first."""
    found = sorted(_list(memory, Filters(entities=frozenset({name})), 100), key=lambda one: one.happened_at)
    told = [
        {
            "date": f"{m.happened_at:%Y-%m-%d}",
            "content": m.content[:SHOWN],
            "layer": layer_of(m),
            "importance": m.importance,
        }
        for m in found
    ]
    return {"entity": name, "timeline": told}


def entity_graph(memory: Engram, name: str) -> Answer:
    """What hangs on a name, as nodes and edges."""
    claims = [*memory.facts.query(name), *memory.facts.query(object=name)]
    nodes = dict.fromkeys(part for one in claims for part in (one.fact.subject, one.fact.object))
    edges = [
        {"source": c.fact.subject, "target": c.fact.object, "relation": c.fact.predicate} for c in claims
    ]
    return {"nodes": [{"id": one, "name": one} for one in nodes], "edges": edges}


# ---------------------------------------------------------------- remembering


def remember(
    memory: Engram,
    content: str,
    source_type: str = "remember:human",
    layer: str = "episodic",
    memory_type: str = "narrative",
    importance: float = 0.7,
) -> Answer:
    """Keep something."""
    return _kept(memory, content, source_type, layer, memory_type, importance)


def _kept(  # noqa: PLR0913, PLR0917 - as above
    memory: Engram,
    content: str,
    source: str,
    layer: str,
    kind: str,
    importance: float,
    tags: Sequence[str] = (),
) -> Answer:
    done = memory.remember(
        content,
        source=SOURCES.get(source, source.replace("remember:", "")),
        type=Type(kind),
        importance=importance,
        tags=tuple(tags),
        **_fields(layer),
    )
    one = done.memory
    known = str(done.outcome) in ("reinforced", "merged")
    return {
        "id": one.id,
        "status": "updated" if known else "stored",
        "operation": str(done.outcome),
        "reason": done.because,
        "surprise": one.surprise,
        "importance": one.importance,
        **({"duplicate_of": one.id} if known else {}),
    }


def remember_interaction(memory: Engram, question: str, answer: str, importance: float = 0.5) -> Answer:
    """Keep a question with its answer."""
    return _kept(memory, f"Q: {question}\nA: {answer}", "interaction", "episodic", "narrative", importance)


def remember_decision(memory: Engram, decision: str, rationale: str = "", importance: float = 0.8) -> Answer:
    """Keep a decision with its reason."""
    text = f"Decision: {decision}" + (f"\nRationale: {rationale}" if rationale else "")
    return _kept(memory, text, "remember:human", "procedural", "procedure", importance)


def remember_error(memory: Engram, error: str, prevention: str = "", importance: float = 0.7) -> Answer:
    """Keep an error and how to prevent it."""
    text = f"Error: {error}" + (f"\nPrevention: {prevention}" if prevention else "")
    return _kept(memory, text, "remember:human", "procedural", "procedure", importance)


def remember_project(
    memory: Engram, name: str, status: str = "", location: str = "", notes: str = ""
) -> Answer:
    """Keep how a project stands."""
    parts = [
        f"Project: {name}",
        *(f"{k}: {v}" for k, v in (("Status", status), ("Location", location), ("Notes", notes)) if v),
    ]
    return _kept(memory, "\n".join(parts), "remember:human", "semantic", "fact", 0.7, ("project",))


def remember_negative(
    memory: Engram, content: str, context: str = "", scope: str = "", importance: float = 0.75
) -> Answer:
    """Keep what is not so, or must not be done."""
    text = f"NEGATIVE KNOWLEDGE: {content}" + "".join(
        f"\n{k}: {v}" for k, v in (("Context", context), ("Scope", scope)) if v
    )
    return {
        **_kept(memory, text, "remember:human", "semantic", "fact", importance),
        "type": "negative_knowledge",
    }


def ingest(memory: Engram, path: str) -> Answer:
    """Take in a file or a folder."""
    report = memory.sources.file(path)
    return {"status": "ingested", **report.counts}


def scan_codebase(memory: Engram, path: str, project_name: str = "") -> Answer:
    """Take in a source tree."""
    report = memory.sources.code(path, tags=[project_name] if project_name else [])
    return {
        "files_scanned": len({one.origin.partition("#")[0] for one in report.items}),
        "memories_created": report.counts.get("stored", 0),
    }


# ---------------------------------------------------------------- changing


def forget(memory: Engram, memory_id: str) -> Answer:
    """Archive a memory; of one that is not there nothing is said."""
    with suppress(InvalidInput):
        memory.forget(memory_id, "forgotten by a client")
    return {"status": "forgotten"}


def bulk_forget(
    memory: Engram,
    *,
    confirm: bool = False,
    source_file: str = "",
    layer: str = "",
    older_than: str = "",
) -> Answer:
    """Archive many, by file, layer or age."""
    if not confirm or not (source_file or layer or older_than):
        return {"error": "confirm=true and at least one filter are needed"}
    until = (
        datetime.fromisoformat(older_than).astimezone(memory.upkeep.clock.now().tzinfo)
        if older_than
        else None
    )
    base = _in_layer(layer) if layer else Filters()
    wanted = [one for one in _list(memory, base) if until is None or one.created_at < until]
    wanted = [one for one in wanted if source_file in str(one.details) or source_file in one.source]
    for one in wanted:
        memory.forget(one.id, "forgotten by a client")
    return {"status": "forgotten", "count": len(wanted)}


def invalidate(memory: Engram, memory_id: str, reason: str = "") -> Answer:
    """Say that something is wrong."""
    memory.set_status(memory_id, Status.INVALIDATED, reason)
    return {"status": "invalidated"}


def update_status(memory: Engram, memory_id: str, new_status: str, reason: str = "") -> Answer:
    """Set the status of a memory."""
    found = memory.set_status(memory_id, new_status, reason)
    return {"memory_id": found.id, "new_status": str(found.status), "reason": reason}


def status_history(memory: Engram, memory_id: str) -> Answer:
    """How the status of a memory changed, oldest first."""
    one = _get(memory, memory_id)
    steps = [
        event
        for event in reversed(memory.events(one.id, limit=EVERYTHING))
        if "status" in event.after and event.verb is not Verb.STORED
    ]
    told = [
        {
            "old_status": e.before.get("status"),
            "new_status": e.after["status"],
            "reason": e.because,
            "changed_at": e.at.timestamp(),
        }
        for e in steps
    ]
    return {
        "memory_id": one.id,
        "transitions": told,
        "current_status": str(one.status),
        "content_preview": one.content[:SHOWN],
    }


def promote(memory: Engram, memory_id: str, target_layer: str = "semantic") -> Answer:
    """Move a memory to a higher layer."""
    _moved(memory, memory_id, target_layer)
    return {"status": "promoted"}


def demote(memory: Engram, memory_id: str, target_layer: str = "episodic") -> Answer:
    """Move a memory to a lower layer."""
    _moved(memory, memory_id, target_layer)
    return {"status": "demoted"}


def _moved(memory: Engram, memory_id: str, target: str) -> None:
    one, wanted = _get(memory, memory_id), _fields(target)
    memory.update(one.id, kind=wanted["kind"], because=f"moved to {target}")
    while one.layer < wanted["layer"]:
        one = memory.promote(one.id, f"moved to {target}")
    while one.layer > wanted["layer"]:
        one = memory.demote(one.id, f"moved to {target}")


def edit_memory(memory: Engram, memory_id: str, new_content: str) -> Answer:
    """Change the words of a memory."""
    return {"status": "edited", "id": memory.update(memory_id, content=new_content).id}


def annotate(memory: Engram, memory_id: str, note: str) -> Answer:
    """Add a note to a memory."""
    one = _get(memory, memory_id)
    notes = [*one.details.get("annotations", ()), note]
    memory.update(one.id, details={**one.details, "annotations": notes})
    return {"status": "annotated", "total_annotations": len(notes)}


def tag(memory: Engram, memory_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Answer:
    """Add tags to a memory and take others away."""
    one = _get(memory, memory_id)
    tags = sorted(({*one.tags} | {*add}) - {*remove})
    memory.update(one.id, tags=tags)
    return {"tags": tags}


def batch_tag(memory: Engram, query: str, tags: Sequence[str], top_k: int = 10) -> Answer:
    """Tag what fits a question."""
    found = list(memory.recall(query, limit=top_k, dry=True))
    for one in found:
        memory.update(one.memory.id, tags=sorted({*one.memory.tags, *tags}))
    return {"tagged": len(found), "tags_added": list(tags)}


def pin(memory: Engram, memory_id: str) -> Answer:
    """Never forget it."""
    memory.pin(memory_id)
    return {"status": "pinned"}


def unpin(memory: Engram, memory_id: str) -> Answer:
    """Let it go again."""
    memory.pin(memory_id, pinned=False)
    return {"status": "unpinned"}


def link_memories(memory: Engram, memory_id_1: str, memory_id_2: str, relation: str = "RELATED_TO") -> Answer:
    """Connect two memories."""
    edge = memory.relate(memory_id_1, memory_id_2, relation.lower())
    return {"status": "linked", "relation": str(edge.type)}


def backlinks(memory: Engram, memory_id: str) -> Answer:
    """What leads to a memory."""
    one = _get(memory, memory_id)
    ends = [edge.source if edge.target == one.id else edge.target for edge in memory.relations(one.id)]
    found = [other for other in map(memory.get, dict.fromkeys(ends)) if other is not None][:20]
    return {
        "backlinks": [
            {"id": m.id, "content": m.content, "layer": layer_of(m), "importance": m.importance}
            for m in found
        ]
    }


def update_entity(memory: Engram, name: str, alias: str = "") -> Answer:
    """Let an entity go by one more name."""
    if alias:
        memory.entities.alias(name, alias)
    return {"status": "updated", "entity_id": name}


def merge_entities(memory: Engram, source_name: str, target_name: str) -> Answer:
    """Make two names one."""
    memory.entities.merge(target_name, source_name)
    found = memory.entities.get(target_name)
    aliases = list(found.entity.aliases) if found is not None else []
    return {"status": "merged", "kept": target_name, "deleted": source_name, "aliases": aliases}


# ---------------------------------------------------------------- maintaining


def consolidate(memory: Engram) -> Answer:
    """The dream cycle: forget, promote, merge, learn, doubt."""
    counts = Counter({one.rule: one.count for one in memory.consolidate().tallies})
    family = Counter[str]()
    for rule, count in counts.items():
        family[rule.partition(".")[0]] += count
    return {
        "forgotten": family["archive"] + counts["buffer.expire"] + counts["buffer.cap"],
        "promoted": family["promote"] + counts["gate.approve"] + counts["triage.promote"],
        "clusters_found": family["pattern"],
        "memories_merged": family["merge"],
        "peer_cards_generated": counts["card.written"],
        "cross_domain_bridges": counts["dream.bridge"],
        "beliefs_challenged": counts["belief.challenged"],
        "drift_issues": family["drift"],
    }


def drift_check(memory: Engram, project_root: str = "") -> Answer:
    """What memories claim about files and is not so."""
    found = memory.drift(project_root)
    issues = [
        {
            "code": f"DEAD_{one.kind.upper()}",
            "severity": "error",
            "memory_id": one.memory,
            "claim": one.reference,
            "message": one.detail,
        }
        for one in found.dead
    ]
    return {
        "score": max(0, 100 - 10 * len(issues)),
        "issues": issues,
        "memories_checked": found.memories,
        "claims_verified": found.references,
    }


def drift_fix(memory: Engram, project_root: str = "", *, dry_run: bool = True) -> Answer:
    """Doubt what is no longer so."""
    found = memory.drift(project_root, apply=not dry_run)
    return {
        "dry_run": dry_run,
        "total_actions": len(found.dead),
        "invalidated": 0 if dry_run else len(found.dead),
    }


def find_duplicates(memory: Engram, threshold: float = DUPLICATE, limit: int = 20) -> Answer:
    """Pairs that say nearly the same."""
    pairs: dict[frozenset[str], Answer] = {}
    for one in _list(memory, limit=200):
        for hit in memory.recall(one.content[:500], limit=3, dry=True):
            if hit.memory.id != one.id and hit.relevance >= threshold:
                pairs.setdefault(
                    frozenset({one.id, hit.memory.id}),
                    {
                        "memory_1": _short(one),
                        "memory_2": _short(hit.memory),
                        "similarity": round(hit.relevance, 4),
                    },
                )
    return {"duplicates": [*pairs.values()][:limit]}


def dedup(memory: Engram, threshold: float = DUPLICATE, max_merges: int = 50) -> Answer:
    """Merge what says nearly the same."""
    found = find_duplicates(memory, threshold, max_merges)["duplicates"]
    merged = 0
    for one in found:
        with suppress(EngramError):
            memory.conflicts.resolve(one["memory_1"]["id"], one["memory_2"]["id"], "merge", "nearly the same")
            merged += 1
    return {"found": len(found), "merged": merged, "skipped": len(found) - merged}


# ---------------------------------------------------------------- looking


def status(memory: Engram) -> Answer:
    """How much is kept, by layer."""
    counted = memory.stats()
    layers = Counter(layer_of(one) for one in _list(memory))
    return {
        "memories": {**{one: layers.get(one, 0) for one in LAYERS}, "total": memory.count()},
        "entities": len(memory.entities.list(limit=EVERYTHING)),
        "relationships": counted.edges,
        "db_size_mb": round(counted.size_bytes / 1_048_576, 2),
    }


def health(memory: Engram) -> Answer:
    """How the memory is."""
    counted = memory.stats()
    return {**status(memory), "fts_indexed": counted.memories, "memories_without_embeddings": counted.pending}


def memory_map(memory: Engram) -> Answer:
    """What is kept where, and since when."""
    found = _list(memory)
    days = [f"{one.created_at:%Y-%m-%d}" for one in found]
    return {
        **status(memory),
        "date_range": {"first": min(days, default=None), "last": max(days, default=None)},
    }


def layers(memory: Engram, query: str = "", max_tokens: int = 4_000) -> Answer:
    """What each layer tells about a question."""
    found = (
        [one.memory for one in memory.recall(query, budget=max_tokens)] if query else _list(memory, limit=50)
    )
    told: dict[str, list[str]] = {}
    for one in found:
        told.setdefault(layer_of(one), []).append(one.content)
    return {name: "\n".join(lines) for name, lines in told.items()}


def access_patterns(memory: Engram, limit: int = 20) -> Answer:
    """What is used most."""
    found = sorted(_list(memory), key=lambda one: -one.usage.accessed)[:limit]
    return {
        "result": [
            {
                "id": m.id,
                "content": m.content,
                "access_count": m.usage.accessed,
                "last_accessed": _seconds(m.last_accessed),
            }
            for m in found
        ]
    }


def count_by(memory: Engram, group_by: str) -> Answer:
    """How many by layer, source, entity or month."""
    ways: dict[str, Callable[[Memory], Sequence[str]]] = {
        "layer": lambda one: [layer_of(one)],
        "source_type": lambda one: [one.source],
        "entity": lambda one: one.entities,
        "month": lambda one: [f"{one.created_at:%Y-%m}"],
    }
    if group_by not in ways:
        raise InvalidInput(f"group_by is one of {', '.join(ways)}.")
    counted = Counter(key for one in _list(memory) for key in ways[group_by](one))
    return {"counts": [{"key": key, "count": count} for key, count in counted.most_common()]}


def export(memory: Engram, format: str = "markdown", layer: str = "", limit: int = 100) -> Answer:  # noqa: A002 - their word
    """Memories as Markdown or JSON."""
    found = _list(memory, _in_layer(layer) if layer else None, limit)
    if format == "json":
        return {"memories": [_short(one) for one in found]}
    lines = [f"- **{layer_of(one)}** {one.content}" for one in found]
    return {"markdown": "\n".join(lines), "count": len(found)}


def explain_importance(memory: Engram, memory_id: str) -> Answer:
    """What a memory's importance is made of."""
    one = _get(memory, memory_id)
    factors = {
        "base": one.importance,
        "access_count": one.usage.accessed,
        "confirmations": one.usage.confirmed,
        "emotional_valence": one.affect.valence,
        "surprise": one.surprise,
        "source_trust": one.trust,
        "layer": layer_of(one),
    }
    return {"memory_id": one.id, "composite_score": round(one.importance, 3), "factors": factors}


def compress(memory: Engram, query: str, max_tokens: int = 2_000) -> Answer:
    """What helps with a question, in few words."""
    hits = list(memory.recall(query, limit=50))
    lines: list[str] = []
    spent = 0.0
    for hit in hits:
        words = hit.memory.forms.summary or hit.memory.content
        spent += len(words.split()) * TOKENS_A_WORD
        if spent > max_tokens:
            break
        lines.append(words)
    return {"compressed": "\n".join(lines), "original_count": len(hits)}


def quality_metrics(memory: Engram) -> Answer:
    """How well the memory serves."""
    found = _list(memory)
    used = sum(1 for one in found if one.usage.accessed)
    total = max(1, len(found))
    return {
        "total_memories": len(found),
        "accessed_memories": used,
        "storage_quality": round(used / total, 3),
        "avg_access_count": round(sum(one.usage.accessed for one in found) / total, 3),
    }


def diary_write(memory: Engram, entry: str) -> Answer:
    """Write into the diary."""
    now = memory.upkeep.clock.now()
    memory.remember(
        f"[{now:%H:%M:%S}] {entry}", tags=(DIARY,), kind=Kind.EPISODIC, category="context", apart=True
    )
    return {"status": "written", "entries": memory.count(filters=Filters(tags_any=frozenset({DIARY})))}


def diary_read(memory: Engram) -> Answer:
    """The last entries of the diary, oldest first."""
    found = _list(memory, Filters(tags_any=frozenset({DIARY})), 50)
    return {"diary": [one.content for one in reversed(found)]}


def session_summary(memory: Engram) -> Answer:
    """Where things stand."""
    found = memory.resume()
    loops = [one.text for one in memory.commitments.list(limit=20)]
    decisions = [one.content for one in _list(memory, Filters(categories=frozenset({"decision"})), 10)]
    return {"summary": found.text, "open_loops": loops, "decisions": decisions}


def get_skills(memory: Engram, query: str, max_skills: int = 3) -> Answer:
    """Procedures that fit a task."""
    filters = Filters(kinds=frozenset({Kind.PROCEDURAL}))
    hits = list(memory.recall(query, limit=max_skills, filters=filters))
    best = max((one.relevance for one in hits), default=0.0)
    return {
        "should_inject": bool(hits),
        "confidence": round(best, 3),
        "skill_count": len(hits),
        "context": "\n\n".join(one.memory.content for one in hits),
    }


def list_projects(memory: Engram) -> Answer:
    """Projects of which code is known."""
    found = _list(memory, Filters(kinds=frozenset({Kind.CODEBASE})))
    counted = Counter(one.tags[0] if one.tags else one.scope.project or "default" for one in found)
    return {"projects": [{"name": name, "memories": count} for name, count in counted.items()]}


READING: tuple[Callable[..., Answer], ...] = (
    recall, recall_explain, recall_entity, recall_timeline, recall_related, recall_recent, recall_layer,
    recall_by_type, recall_context, recall_hints, recall_code, find_similar, search_entities,
    entity_timeline, entity_graph, status_history, backlinks, drift_check, find_duplicates, status, health,
    memory_map, layers, access_patterns, count_by, export, explain_importance, compress, quality_metrics,
    diary_read, session_summary, get_skills, list_projects,
)  # fmt: skip
WRITING: tuple[Callable[..., Answer], ...] = (
    remember, remember_interaction, remember_decision, remember_error, remember_project, remember_negative,
    ingest, scan_codebase, forget, bulk_forget, invalidate, update_status, promote, demote, edit_memory,
    annotate, tag, batch_tag, pin, unpin, link_memories, update_entity, merge_entities, consolidate,
    drift_fix, dedup, diary_write,
)  # fmt: skip


def operations() -> Mapping[str, Operation]:
    """Each tool by its name."""
    made = {}
    for calls in (*READING, *WRITING):
        name = calls.__name__
        sentence = (calls.__doc__ or name).strip().split("\n")[0]
        made[name] = Operation(name, sentence, calls=calls, tool=name, reads=calls in READING)
    return made
