"""Tools of *retention* under the names its clients know: `engram mcp --tools retention`.

Its layers are working, episodic, semantic, procedural and codebase: here a layer and a kind. Times are
seconds since 1970. What it answers as a list comes as a list in the text, and under `result` in the
structured answer. How a memory is shown is a row of `SHOWN`; a tool names the columns it answers with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from engram.engine import Engram
from engram.errors import EngramError, InvalidInput, NotFound
from engram.model.event import Verb
from engram.model.memory import Filters, Kind, Layer, Memory, Mode, Type
from engram.model.recall import Hit
from engram.operations import Operation
from engram.rules.importance import effective_importance

Answer = dict[str, Any]
LAYERS = ("working", "episodic", "semantic", "procedural", "codebase")
CUT = 200
"""Characters of a content that lists show."""
TOKENS_A_WORD = 1.3
EVERYTHING = 1_000
SOURCES = {"remember:human": "human", "remember:ai": "agent"}
DIARY, HANDOFF = "diary", "handoff"
SESSIONS = ".claude/projects/*/*.jsonl"
"""Where a coding agent keeps its logs, in the home of whoever runs this."""
CHANNELS = {"vector": "dense", "text": "bm25", "graph": "graph"}
"""What a channel of ours is called there."""
DUPLICATE, KEPT_DIARY, FEW = 0.92, 50, 6


# ---------------------------------------------------------------- shapes


def layer_of(memory: Memory) -> str:
    """Its layer in their words."""
    return "working" if memory.layer is Layer.BUFFER else str(memory.kind)


SHOWN: Mapping[str, Callable[[Memory], Any]] = {
    "id": lambda one: one.id,
    "content": lambda one: one.content,
    "preview": lambda one: one.content[:CUT],
    "layer": layer_of,
    "memory_type": lambda one: str(one.type),
    "status": lambda one: str(one.status),
    "fact_date": lambda one: one.event_time.date().isoformat() if one.event_time else None,
    "importance": lambda one: round(one.importance, 3),
    "date": lambda one: f"{one.happened_at:%Y-%m-%d}",
    "created_at": lambda one: one.created_at.timestamp(),
    "access_count": lambda one: one.usage.accessed,
    "last_accessed": lambda one: one.last_accessed.timestamp() if one.last_accessed else None,
    "entities": lambda one: list(one.entities),
    "file": lambda one: one.details.get("path"),
    "project": lambda one: one.scope.project or next(iter(one.tags), None),
    "type": lambda one: one.category,
}
"""What can be told of a memory, by the name it has there."""
WHOLE = "id content layer memory_type status fact_date importance"


def _row(memory: Memory, columns: str = WHOLE) -> Answer:
    """A memory in some columns; `content:preview` tells the second under the name of the first."""
    pairs = (one.partition(":") for one in columns.split())
    return {name: SHOWN[source or name](memory) for name, _, source in pairs}


def _rows(memories: Iterable[Memory], columns: str = WHOLE) -> list[Answer]:
    return [_row(one, columns) for one in memories]


def _hits(hits: Iterable[Hit], columns: str = WHOLE, score: str = "score") -> list[Answer]:
    value = "relevance" if score == "similarity" else "score"
    return [{**_row(one.memory, columns), score: round(getattr(one, value), 4)} for one in hits]


def _fields(layer: str) -> Answer:
    if layer not in LAYERS:
        raise InvalidInput(f"{layer!r} is no layer: use one of {', '.join(LAYERS)}.")
    if layer == "working":
        return {"layer": Layer.BUFFER, "kind": Kind.EPISODIC}
    return {"layer": Layer.WORKING, "kind": Kind(layer)}


def _in_layer(layer: str) -> Filters:
    if layer == "working":
        return Filters(layers=frozenset({Layer.BUFFER}))
    return Filters(kinds=frozenset({_fields(layer)["kind"]}), layers=frozenset({Layer.WORKING, Layer.CORE}))


def _get(memory: Engram, memory_id: str) -> Memory:
    found = memory.get(memory_id)
    if found is None:
        raise NotFound(memory_id)
    return found


def _list(memory: Engram, filters: Filters | None = None, limit: int = EVERYTHING) -> list[Memory]:
    return list(memory.list(filters=filters, limit=min(max(1, limit), EVERYTHING)))


def _tagged(memory: Engram, tag: str, limit: int = EVERYTHING) -> list[Memory]:
    return _list(memory, Filters(tags_any=frozenset({tag})), limit)


def _about(memory: Engram, name: str, limit: int) -> list[Memory]:
    return _list(memory, Filters(entities=frozenset({name})), limit)


def _day(memory: Engram, text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(memory.upkeep.clock.now().tzinfo)


def _most(counted: Counter[str], limit: int) -> list[Answer]:
    return [{"name": name, "count": count} for name, count in counted.most_common(limit)]


# ---------------------------------------------------------------- recalling


def recall(memory: Engram, query: str, top_k: int = 10, mode: str = "full_context") -> Answer:
    """What helps with a question."""
    return {"result": _hits(memory.recall(query, limit=top_k, mode=Mode(mode)))}


def recall_explain(memory: Engram, query: str, top_k: int = 10, mode: str = "full_context") -> Answer:
    """The same, with how it was found."""
    found = memory.recall(query, limit=top_k, mode=Mode(mode), explain=True)
    steps = [{part.step: round(part.value, 4) for part in one.evidence} for one in found]
    sources = [{name: told[name] for name in CHANNELS if name in told} for told in steps]
    counts = {label: sum(name in one for one in sources) for name, label in CHANNELS.items()}
    return {
        "query": query,
        "intent": str(found.plan.intent),
        "expanded_terms": list(found.plan.phrases),
        "phrase_terms": list(found.plan.terms),
        "cache_hit": False,
        "latency_ms": round(found.quality.ms, 2),
        "candidate_counts": {**counts, "rrf": found.quality.candidates},
        "results": [{**row, "sources": told} for row, told in zip(_hits(found), sources, strict=True)],
    }


def recall_entity(memory: Engram, name: str) -> Answer:
    """What is known about somebody or something."""
    found = memory.entities.get(name)
    if found is None:
        return {"error": f"entity not found: {name}"}
    entity = found.entity
    return {
        "entity": {"id": entity.name, "name": entity.name, "type": entity.type, "aliases": [*entity.aliases]},
        "memories": _rows(_about(memory, name, 50), "content date layer"),
        "relationships": entity_graph(memory, name)["edges"],
    }


def recall_timeline(memory: Engram, start: str, end: str = "") -> Answer:
    """What happened between two days."""
    until = _day(memory, end) + timedelta(days=1) if end else None
    found = _list(memory, Filters(happened_since=_day(memory, start), happened_until=until), 100)
    return {"result": _rows(sorted(found, key=lambda one: one.happened_at), "content date layer importance")}


def recall_related(memory: Engram, name: str, max_hops: int = 2) -> Answer:
    """Who and what hangs together with a name."""
    far = {path.names[-1]: len(path.claims) for path in memory.facts.chain(name, hops=max_hops)}
    if not far and memory.entities.get(name) is None:
        return {"error": f"entity not found: {name}"}
    told = [
        {"eid": one, "canonical_name": one, "entity_type": _type(memory, one), "depth": depth}
        for one, depth in far.items()
    ]
    return {"result": told}


def _type(memory: Engram, name: str) -> str:
    """What sort of thing a name stands for; a concept where nobody knows."""
    found = memory.entities.get(name)
    return "concept" if found is None else found.entity.type


def recall_recent(memory: Engram, limit: int = 20) -> Answer:
    """What was kept last."""
    return {"result": _rows(_list(memory, limit=limit), f"{WHOLE} created_at")}


def recall_layer(memory: Engram, layer: str, limit: int = 20) -> Answer:
    """Memories of a layer."""
    return {"result": _rows(_list(memory, _in_layer(layer), limit), "id content importance")}


def recall_by_type(memory: Engram, memory_type: str, limit: int = 20) -> Answer:
    """Memories of a type: fact, procedure or narrative."""
    return {"result": _rows(_list(memory, Filters(types=frozenset({Type(memory_type)})), limit))}


def recall_context(memory: Engram, query: str, max_tokens: int = 2_000) -> Answer:
    """What helps with a question, as one text."""
    hits = list(memory.recall(query, budget=max_tokens))
    text = "\n---\n".join(one.memory.content for one in hits)
    return {"context": text, "tokens": int(len(text.split()) * TOKENS_A_WORD), "memories_used": len(hits)}


def recall_hints(memory: Engram, query: str, top_k: int = 10, hint_length: int = 60) -> Answer:
    """The beginnings of what helps."""
    hints = _hits(memory.recall(query, limit=top_k), "id hint:content layer importance date entities")
    shown = [{**one, "hint": one["hint"][:hint_length]} for one in hints]
    return {"query": query, "hints": shown, "note": "recall with the id's words for the whole"}


def recall_code(memory: Engram, query: str, project: str = "", top_k: int = 10) -> Answer:
    """What is known about code."""
    found = memory.recall(query, limit=top_k, filters=Filters(kinds=frozenset({Kind.CODEBASE})))
    hits = [one for one in found if project in f"{one.memory.details} {one.memory.tags}"]
    return {"results": _hits(hits, "id content project type file")}


def find_similar(memory: Engram, memory_id: str, top_k: int = 5) -> Answer:
    """What is like a memory."""
    one = _get(memory, memory_id)
    found = memory.recall(one.content[:500], limit=top_k + 1, dry=True)
    others = [hit for hit in found if hit.memory.id != one.id][:top_k]
    return {"similar": _hits(others, "id content:preview layer", "similarity")}


def search_entities(memory: Engram, query: str, limit: int = 20) -> Answer:
    """Entities whose name begins so."""
    told = [
        {"id": one.name, "canonical_name": one.name, "entity_type": one.type,
         "aliases": list(one.aliases), "mem_count": one.mentions}
        for one in memory.entities.list(prefix=query, limit=limit)
    ]  # fmt: skip
    return {"entities": told}


def entity_timeline(memory: Engram, name: str) -> Answer:
    """What happened around somebody or something, oldest first."""
    found = sorted(_about(memory, name, 100), key=lambda one: one.happened_at)
    return {"entity": name, "timeline": _rows(found, "date content:preview layer importance")}


def entity_graph(memory: Engram, name: str) -> Answer:
    """What hangs on a name, as nodes and edges."""
    facts = [one.fact for one in (*memory.facts.query(name), *memory.facts.query(object=name))]
    nodes = dict.fromkeys(part for one in facts for part in (one.subject, one.object))
    edges = [{"source": one.subject, "target": one.object, "relation": one.predicate} for one in facts]
    told = [{"id": one, "name": one, "type": _type(memory, one)} for one in nodes]
    return {"nodes": told, "edges": edges}


def focus_brief(memory: Engram, query: str, top_k: int = 8) -> Answer:
    """A question, what answers it, and what to ask next."""
    hits = list(memory.recall(query, limit=top_k, dry=True))
    found = [one.memory for one in hits]
    days = sorted(SHOWN["date"](one) for one in found)
    names = Counter(name for one in found for name in one.entities)
    told = {
        f"top_{title}": _most(Counter(str(SHOWN[column](one)) for one in found), 5)
        for title, column in (("layers", "layer"), ("types", "memory_type"), ("statuses", "status"))
    }
    return {
        "query": query,
        "summary": " ".join((one.forms.summary or one.content) for one in found[:3]),
        "result_count": len(hits),
        "time_window": {"start": days[0], "end": days[-1]} if days else None,
        **told,
        "top_sources": _most(Counter(one.source for one in found), 5),
        "top_entities": _most(names, 5),
        "key_memories": _hits(hits[:FEW], "id content:preview layer importance"),
        "suggested_queries": [f"{query} {name}" for name, _ in names.most_common(FEW)],
    }


def compare_queries(memory: Engram, query_a: str, query_b: str, top_k: int = 8) -> Answer:
    """What two questions find alike, and what each finds alone."""
    a, b = (
        {hit.memory.id: hit.memory for hit in memory.recall(query, limit=top_k, dry=True)}
        for query in (query_a, query_b)
    )

    def told(ids: Iterable[str]) -> Answer:
        found = [(a | b)[one] for one in ids]
        names = list(dict.fromkeys(name for one in found for name in one.entities))
        rows = _rows(found, "id content:preview layer importance")
        return {
            "memory_count": len(found), "entity_count": len(names), "memories": rows, "entities": names
        }  # fmt: skip

    return {
        "query_a": query_a,
        "query_b": query_b,
        "overlap": told(one for one in a if one in b),
        "only_a": told(one for one in a if one not in b),
        "only_b": told(one for one in b if one not in a),
    }


def hotspots(memory: Engram, hours: float = 72.0, limit: int = 8) -> Answer:
    """What was written or used most in the last hours."""
    since = memory.upkeep.clock.now() - timedelta(hours=hours)
    found = [one for one in _list(memory) if max(one.modified_at, one.last_accessed or since) >= since]
    used = sorted(found, key=lambda one: -one.usage.accessed)[:limit]
    return {
        "hours": hours,
        "memory_count": len(found),
        "hot_entities": _most(Counter(name for one in found for name in one.entities), limit),
        "hot_layers": _most(Counter(map(layer_of, found)), limit),
        "hot_sources": _most(Counter(one.source for one in found), limit),
        "hot_types": _most(Counter(str(one.type) for one in found), limit),
        "hot_memories": _rows(used, "id content:preview layer access_count"),
        "activity_buckets": _most(Counter(f"{one.modified_at:%Y-%m-%d %H:00}" for one in found), limit),
    }


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
    done = memory.remember(
        content,
        source=SOURCES.get(source_type, source_type.replace("remember:", "")),
        type=Type(memory_type),
        importance=importance,
        **_fields(layer),
    )
    one, known = done.memory, str(done.outcome) in ("reinforced", "merged")
    told = {
        "id": one.id, "status": "updated" if known else "stored", "operation": str(done.outcome),
        "reason": done.because, "surprise": one.surprise, "importance": one.importance,
    }  # fmt: skip
    return {**told, "duplicate_of": one.id} if known else told


def _lines(**parts: str) -> str:
    """Named parts that were given, a line each."""
    return "\n".join(f"{name}: {text}" for name, text in parts.items() if text)


def remember_interaction(memory: Engram, question: str, answer: str, importance: float = 0.5) -> Answer:
    """Keep a question with its answer."""
    return remember(memory, _lines(Q=question, A=answer), "interaction", importance=importance)


def remember_decision(memory: Engram, decision: str, rationale: str = "", importance: float = 0.8) -> Answer:
    """Keep a decision with its reason."""
    text = _lines(Decision=decision, Rationale=rationale)
    return remember(memory, text, "remember:human", "procedural", "procedure", importance)


def remember_error(memory: Engram, error: str, prevention: str = "", importance: float = 0.7) -> Answer:
    """Keep an error and how to prevent it."""
    text = _lines(Error=error, Prevention=prevention)
    return remember(memory, text, "remember:human", "procedural", "procedure", importance)


def remember_project(
    memory: Engram, name: str, status: str = "", location: str = "", notes: str = ""
) -> Answer:
    """Keep how a project stands."""
    text = _lines(Project=name, Status=status, Location=location, Notes=notes)
    return remember(memory, text, "remember:human", "semantic", "fact")


def remember_negative(
    memory: Engram, content: str, context: str = "", scope: str = "", importance: float = 0.75
) -> Answer:
    """Keep what is not so, or must not be done."""
    text = _lines(**{"NEGATIVE KNOWLEDGE": content}, Context=context, Scope=scope)
    kept = remember(memory, text, "remember:human", "semantic", "fact", importance)
    return {**kept, "type": "negative_knowledge"}


def ingest(memory: Engram, path: str) -> Answer:
    """Take in a file or a folder."""
    return {"status": "ingested", **memory.sources.file(path).counts}


def scan_codebase(memory: Engram, path: str, project_name: str = "") -> Answer:
    """Take in a source tree."""
    report = memory.sources.code(path, tags=[project_name] if project_name else [])
    files = {one.origin.partition("#")[0] for one in report.items}
    parts = [one.origin.partition("#")[2].rpartition(".")[2] for one in report.items]
    return {
        "files_scanned": len(files), "memories_created": report.counts.get("stored", 0),
        "functions": sum(part[:1].islower() or part[:1] == "_" for part in parts),
        "classes": sum(part[:1].isupper() for part in parts),
    }  # fmt: skip


def ingest_sessions(memory: Engram, limit: int = 20) -> Answer:
    """Take in the last sessions of a coding agent on this machine."""
    logs = sorted(Path.home().glob(SESSIONS), key=lambda path: -path.stat().st_mtime)[: max(0, limit)]
    reports = [memory.sources.file(path) for path in logs]
    made = sum(report.counts.get("stored", 0) for report in reports)
    exchanges = sum(len(report.items) for report in reports)
    return {"sessions": len(logs), "memories_created": made, "exchanges": exchanges}


# ---------------------------------------------------------------- changing


def forget(memory: Engram, memory_id: str) -> Answer:
    """Archive a memory; of one that is not there nothing is said."""
    with suppress(InvalidInput):
        memory.forget(memory_id, "forgotten by a client")
    return {"status": "forgotten"}


def bulk_forget(
    memory: Engram, *, confirm: bool = False, source_file: str = "", layer: str = "", older_than: str = ""
) -> Answer:
    """Archive many, by file, layer or age."""
    if not confirm or not (source_file or layer or older_than):
        return {"error": "confirm=true and at least one filter are needed"}
    until = _day(memory, older_than) if older_than else None
    wanted = [
        one
        for one in _list(memory, _in_layer(layer) if layer else Filters())
        if (until is None or one.created_at < until) and source_file in f"{one.details} {one.source}"
    ]
    for one in wanted:
        memory.forget(one.id, "forgotten by a client")
    return {"status": "forgotten", "count": len(wanted)}


def invalidate(memory: Engram, memory_id: str, reason: str = "") -> Answer:
    """Say that something is wrong."""
    if memory.get(memory_id) is None:
        return {"error": f"memory not found: {memory_id}"}
    return {"status": update_status(memory, memory_id, "invalidated", reason)["new_status"]}


def update_status(memory: Engram, memory_id: str, new_status: str, reason: str = "") -> Answer:
    """Set the status of a memory."""
    found = memory.set_status(memory_id, new_status, reason)
    return {"memory_id": found.id, "new_status": str(found.status), "reason": reason}


def status_history(memory: Engram, memory_id: str) -> Answer:
    """How the status of a memory changed, oldest first."""
    one = _get(memory, memory_id)
    told = [
        {"old_status": event.before.get("status"), "new_status": event.after["status"],
         "reason": event.because, "changed_at": event.at.timestamp()}
        for event in reversed(memory.events(one.id, limit=EVERYTHING))
        if "status" in event.after and event.verb is not Verb.STORED
    ]  # fmt: skip
    now = _row(one, "current_status:status content_preview:preview")
    return {"memory_id": one.id, "transitions": told, **now}


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
    while one.layer != wanted["layer"]:
        step = memory.promote if one.layer < wanted["layer"] else memory.demote
        one = step(one.id, f"moved to {target}")


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
        tag(memory, one.memory.id, tags)
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
    shared = [next((name for name in other.entities if name in one.entities), None) for other in found]
    rows = _rows(found, "id content layer importance")
    return {"backlinks": [{**row, "via_entity": name} for row, name in zip(rows, shared, strict=True)]}


def update_entity(
    memory: Engram,
    name: str,
    alias: str = "",
    metadata: Mapping[str, Any] | None = None,  # noqa: ARG001 - passed over there as well
) -> Answer:
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
    """The dream cycle: forget, promote, merge, learn, tie together, doubt."""
    runs = (memory.consolidate(), memory.dream())
    counts = Counter({one.rule: one.count for run in runs for one in run.tallies})
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
        "drift_score": max(0, 100 - 10 * family["drift"]),
        "drift_issues": family["drift"],
    }


def extract_patterns(
    memory: Engram, hours: float = 4.0, novelty_threshold: float = 0.25, *, dry_run: bool = False
) -> Answer:
    """What episodes of the last hours have in common, and nothing like it is known yet."""
    since = memory.upkeep.clock.now() - timedelta(hours=hours)
    report = memory.consolidate(stages=["knowledge"], dry=dry_run)
    made = [memory.get(one.memory) for one in report.decided if one.rule.startswith("pattern")]
    found = [one for one in made if one is not None and one.modified_at >= since]
    new = _rows([one for one in found if one.surprise is None or one.surprise >= novelty_threshold])
    if dry_run:
        return {"patterns": _rows(found), "total": len(found), "would_store": len(new), "dry_run": True}
    known = [one for one in _rows(found) if one not in new]
    counts = {"total_patterns": len(found), "total_stored": len(new), "total_skipped": len(known)}
    return {"stored": new, "skipped": known, **counts}


def drift_check(
    memory: Engram,
    search_roots: Sequence[str] = (),
    project_root: str = "",
    layers: Sequence[str] = (),
    *,
    check_functions: bool = True,
) -> Answer:
    """What memories claim about files and is not so."""
    found = memory.drift(project_root or next(iter(search_roots), ""))
    issues = [
        {"code": f"DEAD_{one.kind.upper()}", "severity": "error", "memory_id": one.memory,
         "claim": one.reference, "message": one.detail,
         "memory_preview": _get(memory, one.memory).content[:CUT]}
        for one in found.dead
        if (check_functions or one.kind == "path")
        and (not layers or layer_of(_get(memory, one.memory)) in layers)
    ]  # fmt: skip
    return {
        "score": max(0, 100 - 10 * len(issues)), "issues": issues, "memories_checked": found.memories,
        "claims_extracted": found.references, "claims_verified": found.references,
        "claims_valid": found.references - len(found.dead),
        "stale_memories": len({one["memory_id"] for one in issues}),
        "timestamp": memory.upkeep.clock.now().timestamp(),
        "summary": f"{len(found.dead)} of {found.references} claims are not so",
    }  # fmt: skip


def drift_fix(
    memory: Engram, search_roots: Sequence[str] = (), project_root: str = "", *, dry_run: bool = True
) -> Answer:
    """Doubt what is no longer so."""
    dead = memory.drift(project_root or next(iter(search_roots), ""), apply=not dry_run).dead
    actions = [{"memory_id": one.memory, "claim": one.reference} for one in dead]
    done = 0 if dry_run else len(dead)
    told = {"dry_run": dry_run, "total_actions": len(dead), "actions": actions}
    return {**told, "invalidated": 0, "flagged_stale": done, "forgotten": 0}


def find_duplicates(memory: Engram, threshold: float = DUPLICATE, limit: int = 20) -> Answer:
    """Pairs that say nearly the same."""
    pairs: dict[frozenset[str], Answer] = {}
    for one in _list(memory, limit=200):
        for hit in memory.recall(one.content[:500], limit=3, dry=True):
            if hit.memory.id != one.id and hit.relevance >= threshold:
                told = {"memory_1": _row(one), "memory_2": _row(hit.memory)}
                pair = frozenset({one.id, hit.memory.id})
                pairs.setdefault(pair, {**told, "similarity": round(hit.relevance, 4)})
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


def detect_communities(memory: Engram, min_size: int = 3, *, generate_summaries: bool = False) -> Answer:
    """Names that are spoken of together."""
    groups: list[set[str]] = []
    for one in _list(memory):
        names = {*one.entities}
        joined = [group for group in groups if group & names]
        groups = [group for group in groups if not group & names]
        groups += [names.union(*joined)] if names else []
    found = sorted((sorted(group) for group in groups if len(group) >= min_size), key=len, reverse=True)
    details: list[Answer] = [{"size": len(group), "entities": group} for group in found]
    if generate_summaries:
        for told in details:
            about = [each for name in told["entities"][:FEW] for each in _about(memory, name, 1)]
            told["summary"] = "; ".join(each.content[:CUT] for each in about)
    counts = {
        "communities": len(found), "entities_assigned": sum(map(len, found)),
        "largest_community": max(map(len, found), default=0), "community_details": details,
    }  # fmt: skip
    return {**counts, "summaries_generated": len(details)} if generate_summaries else counts


def recompute_importance(memory: Engram) -> Answer:
    """How many memories there are: what each matters is worked out when it is asked for."""
    return {"total": memory.count(), "updated": 0}


# ---------------------------------------------------------------- sessions


def session_summary(memory: Engram) -> Answer:
    """Where things stand."""
    loops = [one.text for one in memory.commitments.list(limit=20)]
    decided = [one.content for one in _list(memory, Filters(categories=frozenset({"decision"})), 10)]
    told = {"summary": memory.resume().text, "diary_entries": len(_tagged(memory, DIARY))}
    return {**told, **_lately(memory, 24.0), "open_loops": loops, "decisions": decided}


def _lately(memory: Engram, hours: float) -> Answer:
    """How much was written in the last hours, and how much of what is kept was read."""
    since = memory.upkeep.clock.now() - timedelta(hours=hours)
    used = sum(1 for one in _list(memory) if one.last_accessed is not None and one.last_accessed >= since)
    return {"writes": memory.count(filters=Filters(created_since=since)), "searches": used}


def session_handoff(memory: Engram, session_id: str = "", *, save: bool = True, limit: int = 8) -> Answer:
    """What the next session needs to go on; kept unless said otherwise."""
    recent = _list(memory, limit=limit)
    names = Counter(name for one in recent for name in one.entities)
    packet = {
        "session_id": session_id,
        "generated_at": memory.upkeep.clock.now().timestamp(),
        **session_summary(memory),
        "errors": [one.content for one in recent if one.content.startswith("Error: ")],
        "facts": [one.content for one in recent if one.type is Type.FACT],
        "recent_work": _rows(recent, "id content:preview layer"),
        "recent_queries": [],  # what was asked is not kept
        "touched_entities": [name for name, _ in names.most_common(limit)],
        "suggested_queries": [f"what about {name}?" for name, _ in names.most_common(3)],
        "stats": status(memory)["memories"],
    }
    packet["current_state"] = packet["summary"]
    if save:
        words = packet["recent_work"][0]["content"] if recent else "nothing yet"
        text = f"Handoff {session_id}: {words}"[:CUT]
        memory.remember(text, tags=(HANDOFF,), category="context", apart=True, details={"packet": packet})
    return packet


def session_checkpoint(memory: Engram, note: str = "", limit: int = 8) -> Answer:
    """The same in the middle of a session, with a note."""
    if note:
        memory.remember(f"Checkpoint: {note}", tags=(HANDOFF,), category="context", apart=True)
    return {**session_handoff(memory, save=False, limit=limit), "checkpoint_note": note}


def resume_context(memory: Engram, session_id: str = "", limit: int = 3) -> Answer:
    """The last handoffs; one made now where there is none."""
    packets = [one.details["packet"] for one in _tagged(memory, HANDOFF) if "packet" in one.details]
    wanted = [one for one in packets if not session_id or one.get("session_id") == session_id][:limit]
    if wanted:
        return {"latest": wanted[0], "handoffs": wanted, "note": f"{len(wanted)} kept"}
    made = session_handoff(memory, session_id, save=False)
    return {"latest": made, "handoffs": [made], "note": "made now: none was kept", "generated": True}


def diary_write(memory: Engram, entry: str) -> Answer:
    """Write into the diary."""
    text = f"[{memory.upkeep.clock.now():%H:%M:%S}] {entry}"
    memory.remember(text, tags=(DIARY,), kind=Kind.EPISODIC, category="context", apart=True)
    return {"status": "written", "entries": memory.count(filters=Filters(tags_any=frozenset({DIARY})))}


def diary_read(memory: Engram) -> Answer:
    """The last entries of the diary, oldest first."""
    return {"diary": [one.content for one in reversed(_tagged(memory, DIARY, KEPT_DIARY))]}


# ---------------------------------------------------------------- looking


def status(memory: Engram) -> Answer:
    """How much is kept, by layer."""
    counted = memory.stats()
    return {
        "memories": {
            **{one: memory.count(filters=_in_layer(one)) for one in LAYERS}, "total": memory.count()
        },
        "entities": len(memory.entities.list(limit=EVERYTHING)),
        "relationships": counted.edges,
        "db_size_mb": round(counted.size_bytes / 1_048_576, 2),
    }  # fmt: skip


def health(memory: Engram) -> Answer:
    """How the memory is."""
    counted, half_an_hour = memory.stats(), memory.upkeep.clock.now() - timedelta(minutes=30)
    return {
        **status(memory),
        "embedding_cache_loaded": True,
        "embedding_cache_size": sum(counted.vectors.values()),
        "orphaned_entities": sum(not one.mentions for one in memory.entities.list(limit=EVERYTHING)),
        "stale_working_memories": sum(
            one.created_at < half_an_hour for one in _list(memory, _in_layer("working"))
        ),
        "fts_indexed": counted.memories,
        "memories_without_embeddings": counted.pending,
    }


def memory_map(memory: Engram) -> Answer:
    """What is kept where, and since when."""
    found = _list(memory)
    days = [f"{one.created_at:%Y-%m-%d}" for one in found]
    names: dict[str, Counter[str]] = {}
    for one in found:
        names.setdefault(layer_of(one), Counter()).update(one.entities)
    counts, lately = Counter(map(layer_of, found)), _lately(memory, 1.0)
    return {
        **status(memory),
        "layers": {
            layer: {"count": counts[layer], "top_entities": _most(counted, 5)}
            for layer, counted in names.items()
        },
        "date_range": {"first": min(days, default=None), "last": max(days, default=None)},
        "last_hour": {"writes": lately["writes"], "reads": lately["searches"]},
    }


def layers(memory: Engram, query: str = "", max_tokens: int = 4_000) -> Answer:
    """What each layer tells about a question."""
    hits = memory.recall(query, budget=max_tokens) if query else ()
    told: dict[str, list[str]] = {}
    for one in [hit.memory for hit in hits] if query else _list(memory, limit=50):
        told.setdefault(layer_of(one), []).append(one.content)
    return {name: "\n".join(lines) for name, lines in told.items()}


def access_patterns(memory: Engram, limit: int = 20) -> Answer:
    """What is used most."""
    found = sorted(_list(memory), key=lambda one: -one.usage.accessed)[:limit]
    return {"result": _rows(found, "id content access_count last_accessed")}


GROUPS: Mapping[str, Callable[[Memory], Sequence[str]]] = {
    "layer": lambda one: [layer_of(one)],
    "source_type": lambda one: [one.source],
    "entity": lambda one: one.entities,
    "month": lambda one: [f"{one.created_at:%Y-%m}"],
}


def count_by(memory: Engram, group_by: str) -> Answer:
    """How many by layer, source, entity or month."""
    if group_by not in GROUPS:
        raise InvalidInput(f"group_by is one of {', '.join(GROUPS)}.")
    counted = Counter(key for one in _list(memory) for key in GROUPS[group_by](one))
    return {"counts": [{"key": key, "count": count} for key, count in counted.most_common()]}


def export(memory: Engram, format: str = "markdown", layer: str = "", limit: int = 100) -> Answer:  # noqa: A002 - their word
    """Memories as Markdown or JSON."""
    found = _list(memory, _in_layer(layer) if layer else None, limit)
    if format == "json":
        return {"memories": _rows(found)}
    lines = [f"- **{layer_of(one)}** {one.content}" for one in found]
    return {"markdown": "\n".join(lines), "count": len(found)}


def explain_importance(memory: Engram, memory_id: str) -> Answer:
    """What a memory's importance is made of."""
    one = _get(memory, memory_id)
    found = effective_importance(one, (), memory.upkeep.clock.now(), memory.config)
    factors = {name: round(getattr(found, name), 3) for name in found.__slots__ if name != "total"}
    return {"memory_id": one.id, "composite_score": round(found.total, 3), "factors": factors}


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
    total = max(1, len(found))
    counts = {
        "accessed": sum(bool(one.usage.accessed) for one in found),
        "curated": sum(one.pinned or bool(one.usage.confirmed or one.usage.helpful) for one in found),
        "enriched": sum(bool(one.entities or one.tags) for one in found),
        "evolved": sum(one.version > 1 for one in found),
        "confirmed": sum(bool(one.usage.confirmed) for one in found),
    }
    return {
        "storage_quality": round(counts["accessed"] / total, 3),
        "curation_ratio": round(counts["curated"] / total, 3),
        "enrichment_ratio": round(counts["enriched"] / total, 3),
        "avg_access_count": round(sum(one.usage.accessed for one in found) / total, 3),
        "total_memories": len(found),
        **{f"{name}_memories": count for name, count in counts.items()},
    }


def compress_embeddings(memory: Engram, *, dry_run: bool = True) -> Answer:  # noqa: ARG001 - nothing to do either way
    """How the vectors are kept: each with eight bits a number, so that none is left to compress."""
    vectors = sum(memory.stats().vectors.values())
    return {"scanned": vectors, "compressed": 0, "by_tier": {"8bit": vectors}}


def reranker_status(memory: Engram) -> Answer:
    """Which reranking is on: none is trained here, a ready one is chosen in the settings."""
    chosen = memory.config.recall.rerank
    return {"trained": False, "model_path": chosen, "model_exists": chosen != "none", "rerank": chosen}


def train_reranker(memory: Engram, epochs: int = 50, learning_rate: float = 0.01) -> Answer:  # noqa: ARG001 - there is no training
    """Say that nothing is trained: what helped and what did not counts from the moment it is said."""
    return {**reranker_status(memory), "error": "nothing is trained here: feedback counts at once"}


def get_skills(memory: Engram, query: str, max_skills: int = 3, *, format: bool = True) -> Answer:  # noqa: A002 - their word
    """Procedures that fit a task."""
    hits = list(memory.recall(query, limit=max_skills, filters=Filters(kinds=frozenset({Kind.PROCEDURAL}))))
    best = round(max((one.relevance for one in hits), default=0.0), 3)
    told: Answer = {
        "should_inject": bool(hits), "confidence": best, "task_novelty": round(1.0 - best, 3),
        "domain_coverage": round(len(hits) / max(1, max_skills), 3),
        "reason": f"{len(hits)} procedures fit", "skill_count": len(hits),
    }  # fmt: skip
    text = "\n\n".join(one.memory.content for one in hits)
    return {**told, "context": text} if format else {**told, "skills": _hits(hits)}


def list_projects(memory: Engram) -> Answer:
    """Projects of which code is known."""
    found = _list(memory, Filters(kinds=frozenset({Kind.CODEBASE})))
    types: dict[str, Counter[str]] = {}
    for one in found:
        types.setdefault(str(SHOWN["project"](one) or "default"), Counter())[str(one.category)] += 1
    told = [{"name": name, "memories": sum(kinds.values()), "types": kinds} for name, kinds in types.items()]
    return {"projects": told}


READING: tuple[Callable[..., Answer], ...] = (
    recall, recall_explain, recall_entity, recall_timeline, recall_related, recall_recent, recall_layer,
    recall_by_type, recall_context, recall_hints, recall_code, find_similar, search_entities,
    entity_timeline, entity_graph, focus_brief, compare_queries, hotspots, status_history, backlinks,
    drift_check, find_duplicates, detect_communities, recompute_importance, status, health, memory_map,
    layers, access_patterns, count_by, export, explain_importance, compress, quality_metrics, diary_read,
    session_summary, resume_context, get_skills, list_projects, compress_embeddings, reranker_status,
    train_reranker,
)  # fmt: skip
WRITING: tuple[Callable[..., Answer], ...] = (
    remember, remember_interaction, remember_decision, remember_error, remember_project, remember_negative,
    ingest, ingest_sessions, scan_codebase, forget, bulk_forget, invalidate, update_status, promote, demote,
    edit_memory, annotate, tag, batch_tag, pin, unpin, link_memories, update_entity, merge_entities,
    consolidate, extract_patterns, drift_fix, dedup, session_handoff, session_checkpoint, diary_write,
)  # fmt: skip


def operations() -> Mapping[str, Operation]:
    """Each tool by its name."""
    made = {}
    for calls in (*READING, *WRITING):
        name = calls.__name__
        sentence = (calls.__doc__ or name).strip().split("\n")[0]
        made[name] = Operation(name, sentence, calls=calls, tool=name, reads=calls in READING)
    return made
