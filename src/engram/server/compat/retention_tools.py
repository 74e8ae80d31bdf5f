"""Tools of *retention* under the names its clients know: `engram mcp --tools retention`.

Its layers are working, episodic, semantic, procedural and codebase: here a layer and a kind. Times are
seconds since 1970. What it answers as a list comes as a list in the text, and under `result` in the
structured answer. A tool is a row of `READING` or `WRITING`: a sentence, and what answers it; what it takes
are the parameters of that, words where no default says otherwise. How a memory is shown is a row of `SHOWN`.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter
from pathlib import Path
from types import MappingProxyType
from typing import Any

from engram.engine import Engram
from engram.errors import EngramError, InvalidInput
from engram.model.event import Verb
from engram.model.maintenance import Drifted
from engram.model.memory import Filters, Kind, Layer, Memory, Mode, Type
from engram.model.recall import Hit
from engram.operations import Operation
from engram.operations.calls import get, move_to
from engram.operations.values import pick
from engram.rules.importance import effective_importance

Answer = dict[str, Any]
LAYERS = ("working", "episodic", "semantic", "procedural", "codebase")
CUT = 200
"""Characters of a content that lists show."""
TOKENS_A_WORD, EVERYTHING = 1.3, 1_000
WHEN = attrgetter("happened_at")
NOTHING: Mapping[str, Any] = MappingProxyType({})
SOURCES = {"remember:human": "human", "remember:ai": "agent"}
DIARY, HANDOFF = "diary", "handoff"
DUPLICATE, KEPT_DIARY, FEW = 0.92, 50, 6
BECAUSE = "forgotten by a client"
SESSIONS = ".claude/projects/*/*.jsonl"
"""Where a coding agent keeps its logs, in the home of whoever runs this."""
CHANNELS = {"vector": "dense", "text": "bm25", "graph": "graph"}
"""What a channel of ours is called there."""


# ---------------------------------------------------------------- shapes


def layer_of(memory: Memory) -> str:
    """Its layer in their words."""
    return "working" if memory.layer is Layer.BUFFER else str(memory.kind)


SHOWN: Mapping[str, Callable[[Memory], Any]] = {
    "preview": lambda memory: memory.content[:CUT],
    "layer": layer_of,
    "fact_date": lambda memory: memory.event_time.date().isoformat() if memory.event_time else None,
    "importance": lambda memory: round(memory.importance, 3),
    "date": lambda memory: f"{memory.happened_at:%Y-%m-%d}",
    "file": lambda memory: memory.details.get("path"),
    "project": lambda memory: memory.scope.project or next(iter(memory.tags), None),
    "hour": lambda memory: f"{memory.modified_at:%Y-%m-%d %H:00}",
    "month": lambda memory: f"{memory.created_at:%Y-%m}",
}
"""What is worked out of a memory; everything else is one of its fields."""
WHOLE = "id content layer memory_type:type status fact_date importance"
BRIEF = "id content:preview layer importance"
USES = "access_count:usage.accessed"
COLUMNS = {"layers": "layer", "types": "type", "sources": "source"}


def _row(memory: Memory, columns: str = WHOLE) -> Answer:
    """A memory in some columns; `content:preview` tells the second under the name of the first."""
    return pick(memory, columns, SHOWN, time=datetime.timestamp)


def _rows(memories: Iterable[Memory], columns: str = WHOLE) -> list[Answer]:
    return [_row(memory, columns) for memory in memories]


def _hits(hits: Iterable[Hit], columns: str = WHOLE, score: str = "score") -> list[Answer]:
    value = "relevance" if score == "similarity" else "score"
    return [{**_row(hit.memory, columns), score: round(getattr(hit, value), 4)} for hit in hits]


def _top(memories: Iterable[Memory], column: str, limit: int = 5) -> list[Answer]:
    counted = Counter[str]()
    for memory in memories:
        value = _row(memory, column)[column]
        counted.update(value if isinstance(value, list) else [str(value)])
    return [{"name": name, "count": count} for name, count in counted.most_common(limit)]


def _names(memories: Iterable[Memory], limit: int) -> list[str]:
    return [top["name"] for top in _top(memories, "entities", limit)]


def _fields(layer: str) -> Answer:
    if layer not in LAYERS:
        raise InvalidInput(f"{layer!r} is no layer: use one of {', '.join(LAYERS)}.")
    if layer == "working":
        return {"layer": Layer.BUFFER, "kind": Kind.EPISODIC}
    return {"layer": Layer.WORKING, "kind": Kind(layer)}


def _in_layer(layer: str) -> Filters:
    if not layer:
        return Filters()
    if layer == "working":
        return Filters(layers=frozenset({Layer.BUFFER}))
    return Filters(kinds=frozenset({_fields(layer)["kind"]}), layers=frozenset({Layer.WORKING, Layer.CORE}))


CODE = Filters(kinds=frozenset({Kind.CODEBASE}))
DECIDED = Filters(categories=frozenset({"decision"}))


def _list(memory: Engram, filters: Filters | None = None, limit: int = EVERYTHING) -> list[Memory]:
    return list(memory.list(filters=filters, limit=min(max(1, limit), EVERYTHING)))


def _tagged(memory: Engram, tag: str, limit: int = EVERYTHING) -> list[Memory]:
    return _list(memory, Filters(tags_any=frozenset({tag})), limit)


def _about(memory: Engram, name: str, limit: int) -> list[Memory]:
    return _list(memory, Filters(entities=frozenset({name})), limit)


def _day(memory: Engram, text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(_now(memory).tzinfo)


def _now(memory: Engram) -> datetime:
    return memory.maintenance.clock.now()


def _type(memory: Engram, name: str) -> str:
    """What sort of thing a name stands for; a concept where nobody knows."""
    profile = memory.entities.get(name)
    return "concept" if profile is None else profile.entity.type


# ---------------------------------------------------------------- recalling


def recall_explain(memory: Engram, query: str, top_k: int = 10, mode: str = "full_context") -> Answer:
    """What helps with a question, and how it was found."""
    answer = memory.recall(query, limit=top_k, mode=Mode(mode), explain=True)
    steps = [{part.step: round(part.value, 4) for part in hit.evidence} for hit in answer]
    sources = [{name: step[name] for name in CHANNELS if name in step} for step in steps]
    counts = {label: sum(name in source for source in sources) for name, label in CHANNELS.items()}
    return {
        "query": query, "intent": str(answer.plan.intent), "expanded_terms": list(answer.plan.phrases),
        "phrase_terms": list(answer.plan.terms), "cache_hit": False,
        "latency_ms": round(answer.quality.ms, 2),
        "candidate_counts": {**counts, "rrf": answer.quality.candidates},
        "results": [{**row, "sources": source} for row, source in zip(_hits(answer), sources, strict=True)],
    }  # fmt: skip


def recall_entity(memory: Engram, name: str) -> Answer:
    """What is known about somebody or something."""
    profile = memory.entities.get(name)
    if profile is None:
        return {"error": f"entity not found: {name}"}
    return {
        "entity": pick(profile.entity, "id:name name type aliases"),
        "memories": _rows(_about(memory, name, 50), "content date layer"),
        "relationships": entity_graph(memory, name)["edges"],
    }


def entity_graph(memory: Engram, name: str) -> Answer:
    """What hangs on a name, as nodes and edges."""
    facts = [claim.fact for claim in (*memory.facts.query(name), *memory.facts.query(object=name))]
    nodes = dict.fromkeys(part for fact in facts for part in (fact.subject, fact.object))
    return {
        "nodes": [{"id": node, "name": node, "type": _type(memory, node)} for node in nodes],
        "edges": [pick(fact, "source:subject target:object relation:predicate") for fact in facts],
    }


def recall_related(memory: Engram, name: str, max_hops: int = 2) -> Answer:
    """Who and what hangs together with a name."""
    far = {path.names[-1]: len(path.claims) for path in memory.facts.chain(name, hops=max_hops)}
    if not far and memory.entities.get(name) is None:
        return {"error": f"entity not found: {name}"}
    related = [
        {"eid": other, "canonical_name": other, "entity_type": _type(memory, other), "depth": depth}
        for other, depth in far.items()
    ]
    return {"result": related}


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


def focus_brief(memory: Engram, query: str, top_k: int = 8) -> Answer:
    """A question, what answers it, and what to ask next."""
    hits = list(memory.recall(query, limit=top_k, dry=True))
    memories = [hit.memory for hit in hits]
    days = sorted(SHOWN["date"](record) for record in memories)
    columns = {**COLUMNS, "statuses": "status"}
    return {
        "query": query,
        "summary": " ".join(record.forms.summary or record.content for record in memories[:3]),
        "result_count": len(hits), "time_window": {"start": days[0], "end": days[-1]} if days else None,
        **{f"top_{title}": _top(memories, column) for title, column in columns.items()},
        "top_entities": _top(memories, "entities"), "key_memories": _hits(hits[:FEW], BRIEF),
        "suggested_queries": [f"{query} {name}" for name in _names(memories, FEW)],
    }  # fmt: skip


def compare_queries(memory: Engram, query_a: str, query_b: str, top_k: int = 8) -> Answer:
    """What two questions find alike, and what each finds alone."""
    a, b = (
        {hit.memory.id: hit.memory for hit in memory.recall(query, limit=top_k, dry=True)}
        for query in (query_a, query_b)
    )

    def part(ids: Iterable[str]) -> Answer:
        memories = [(a | b)[memory_id] for memory_id in ids]
        names = list(dict.fromkeys(name for record in memories for name in record.entities))
        counts = {"memory_count": len(memories), "entity_count": len(names)}
        return {**counts, "memories": _rows(memories, BRIEF), "entities": names}

    return {
        "query_a": query_a, "query_b": query_b, "overlap": part(id_ for id_ in a if id_ in b),
        "only_a": part(id_ for id_ in a if id_ not in b), "only_b": part(id_ for id_ in b if id_ not in a),
    }  # fmt: skip


def hotspots(memory: Engram, hours: float = 72.0, limit: int = 8) -> Answer:
    """What was written or used most in the last hours."""
    since = _now(memory) - timedelta(hours=hours)
    memories = [
        record for record in _list(memory) if max(record.modified_at, record.last_accessed or since) >= since
    ]
    columns = {"entities": "entities", **COLUMNS}
    return {
        "hours": hours, "memory_count": len(memories),
        **{f"hot_{title}": _top(memories, column, limit) for title, column in columns.items()},
        "hot_memories": _rows(_most_used(memories, limit), f"id content:preview layer {USES}"),
        "activity_buckets": _top(memories, "hour", limit),
    }  # fmt: skip


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
    record, known = done.memory, str(done.outcome) in ("reinforced", "merged")
    answer = {
        "id": record.id, "status": "updated" if known else "stored", "operation": str(done.outcome),
        "reason": done.because, "surprise": record.surprise, "importance": record.importance,
    }  # fmt: skip
    return {**answer, "duplicate_of": record.id} if known else answer


def _kept(memory: Engram, layer: str, importance: float, /, **parts: str) -> Answer:
    text = "\n".join(f"{name.replace('_', ' ')}: {words}" for name, words in parts.items() if words)
    source = "interaction" if layer == "episodic" else "remember:human"
    type_ = {"episodic": "narrative", "procedural": "procedure"}.get(layer, "fact")
    return remember(memory, text, source, layer, type_, importance)


def scan_codebase(memory: Engram, path: str, project_name: str = "") -> Answer:
    """Take in a source tree."""
    report = memory.sources.code(path, tags=[project_name] if project_name else [])
    parts = [item.origin.partition("#")[2].rpartition(".")[2] for item in report.items]
    return {
        "files_scanned": len({item.origin.partition("#")[0] for item in report.items}),
        "memories_created": report.counts.get("stored", 0),
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


def forget(memory: Engram, memory_id: str) -> Answer:
    """Archive a memory; of one that is not there nothing is said."""
    with suppress(InvalidInput):
        memory.forget(memory_id, BECAUSE)
    return {"status": "forgotten"}


def bulk_forget(
    memory: Engram, *, confirm: bool = False, source_file: str = "", layer: str = "", older_than: str = ""
) -> Answer:
    """Archive many, by file, layer or age."""
    if not confirm or not (source_file or layer or older_than):
        return {"error": "confirm=true and at least one filter are needed"}
    until = _day(memory, older_than) if older_than else None
    wanted = [
        record
        for record in _list(memory, _in_layer(layer))
        if (until is None or record.created_at < until) and source_file in f"{record.details} {record.source}"
    ]
    for record in wanted:
        memory.forget(record.id, BECAUSE)
    return {"status": "forgotten", "count": len(wanted)}


def status_history(memory: Engram, memory_id: str) -> Answer:
    """How the status of a memory changed, oldest first."""
    record = get(memory, memory_id)
    transitions = [
        {"old_status": event.before.get("status"), "new_status": event.after["status"],
         "reason": event.because, "changed_at": event.at.timestamp()}
        for event in reversed(memory.events(record.id, limit=EVERYTHING))
        if "status" in event.after and event.verb is not Verb.STORED
    ]  # fmt: skip
    now = _row(record, "current_status:status content_preview:preview")
    return {"memory_id": record.id, "transitions": transitions, **now}


def _moved(memory: Engram, memory_id: str, target: str) -> Memory:
    wanted, because = _fields(target), f"moved to {target}"
    record = memory.update(memory_id, kind=wanted["kind"], because=because)
    return move_to(memory, record, wanted["layer"], because)


def tag(memory: Engram, memory_id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Answer:
    """Add tags to a memory and take others away."""
    record = get(memory, memory_id)
    tags = sorted(({*record.tags} | {*add}) - {*remove})
    memory.update(record.id, tags=tags)
    return {"tags": tags}


def backlinks(memory: Engram, memory_id: str) -> Answer:
    """What leads to a memory."""
    record = get(memory, memory_id)
    ends = [edge.source if edge.target == record.id else edge.target for edge in memory.relations(record.id)]
    others = [other for other in map(memory.get, dict.fromkeys(ends)) if other is not None][:20]
    shared = [next((name for name in other.entities if name in record.entities), None) for other in others]
    rows = _rows(others, "id content layer importance")
    return {"backlinks": [{**row, "via_entity": name} for row, name in zip(rows, shared, strict=True)]}


# ---------------------------------------------------------------- maintaining


CYCLE = {
    "forgotten": "archive buffer.expire buffer.cap", "promoted": "promote gate.approve triage.promote",
    "clusters_found": "pattern", "memories_merged": "merge", "peer_cards_generated": "card.written",
    "cross_domain_bridges": "dream.bridge", "beliefs_challenged": "belief.challenged",
    "drift_issues": "drift",
}  # fmt: skip
"""What the dream cycle tells, and which rules of ours, or families of them, that are."""


def consolidate(memory: Engram) -> Answer:
    """The dream cycle: forget, promote, merge, learn, tie together, doubt."""
    counts = Counter[str]()
    for run in (memory.consolidate(), memory.dream()):
        for tally in run.tallies:
            counts.update(dict.fromkeys({tally.rule, tally.rule.partition(".")[0]}, tally.count))
    cycle = {name: sum(counts[rule] for rule in rules.split()) for name, rules in CYCLE.items()}
    return {**cycle, "drift_score": max(0, 100 - 10 * cycle["drift_issues"])}


def extract_patterns(
    memory: Engram, hours: float = 4.0, novelty_threshold: float = 0.25, *, dry_run: bool = False
) -> Answer:
    """What episodes of the last hours have in common, and nothing like it is known yet."""
    since = _now(memory) - timedelta(hours=hours)
    report = memory.consolidate(stages=["knowledge"], dry=dry_run)
    made = [memory.get(decision.memory) for decision in report.decided if decision.rule.startswith("pattern")]
    memories = [record for record in made if record is not None and record.modified_at >= since]
    new = _rows(new for new in memories if new.surprise is None or new.surprise >= novelty_threshold)
    if dry_run:
        return {"patterns": _rows(memories), "total": len(memories), "would_store": len(new), "dry_run": True}
    known = [row for row in _rows(memories) if row not in new]
    counts = {"total_patterns": len(memories), "total_stored": len(new), "total_skipped": len(known)}
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
    report = memory.drift(project_root or next(iter(search_roots), ""))
    wanted = [
        (reference, get(memory, reference.memory))
        for reference in report.dead
        if check_functions or reference.kind == "path"
    ]
    issues = [
        {"code": f"DEAD_{reference.kind.upper()}", "severity": "error", "memory_id": reference.memory,
         "claim": reference.reference, "message": reference.detail, "memory_preview": about.content[:CUT]}
        for reference, about in wanted
        if not layers or layer_of(about) in layers
    ]  # fmt: skip
    return {
        "score": max(0, 100 - 10 * len(issues)), "issues": issues, "memories_checked": report.memories,
        "claims_extracted": report.references, "claims_verified": report.references,
        "claims_valid": report.references - len(report.dead),
        "stale_memories": len({issue["memory_id"] for issue in issues}),
        "timestamp": _now(memory).timestamp(),
        "summary": f"{len(report.dead)} of {report.references} claims are not so",
    }  # fmt: skip


def find_duplicates(memory: Engram, threshold: float = DUPLICATE, limit: int = 20) -> Answer:
    """Pairs that say nearly the same."""
    pairs: dict[frozenset[str], Answer] = {}
    for record in _list(memory, limit=200):
        for hit in memory.recall(record.content[:500], limit=3, dry=True):
            if hit.memory.id != record.id and hit.relevance >= threshold:
                pair = {"memory_1": _row(record), "memory_2": _row(hit.memory)}
                ids = frozenset({record.id, hit.memory.id})
                pairs.setdefault(ids, {**pair, "similarity": round(hit.relevance, 4)})
    return {"duplicates": [*pairs.values()][:limit]}


def dedup(memory: Engram, threshold: float = DUPLICATE, max_merges: int = 50) -> Answer:
    """Merge what says nearly the same."""
    pairs = find_duplicates(memory, threshold, max_merges)["duplicates"]
    merged = 0
    for pair in pairs:
        with suppress(EngramError):
            ids = pair["memory_1"]["id"], pair["memory_2"]["id"]
            memory.conflicts.resolve(*ids, "merge", "nearly the same")
            merged += 1
    return {"found": len(pairs), "merged": merged, "skipped": len(pairs) - merged}


def detect_communities(memory: Engram, min_size: int = 3, *, generate_summaries: bool = False) -> Answer:
    """Names that are spoken of together."""
    groups: list[set[str]] = []
    for record in _list(memory):
        names = {*record.entities}
        joined = [group for group in groups if group & names]
        groups = [group for group in groups if not group & names]
        groups += [names.union(*joined)] if names else []
    large = sorted((sorted(group) for group in groups if len(group) >= min_size), key=len, reverse=True)
    details: list[Answer] = [{"size": len(group), "entities": group} for group in large]
    if generate_summaries:
        for community in details:
            about = [record for name in community["entities"][:FEW] for record in _about(memory, name, 1)]
            community["summary"] = "; ".join(record.content[:CUT] for record in about)
    counts = {
        "communities": len(large), "entities_assigned": sum(map(len, large)),
        "largest_community": max(map(len, large), default=0), "community_details": details,
    }  # fmt: skip
    return {**counts, "summaries_generated": len(details)} if generate_summaries else counts


def session_summary(memory: Engram) -> Answer:
    """Where things stand."""
    return {
        "summary": memory.resume().text, "diary_entries": len(_tagged(memory, DIARY)),
        **_lately(memory, 24.0), "open_loops": [loop.text for loop in memory.commitments.list(limit=20)],
        "decisions": [record.content for record in _list(memory, DECIDED, 10)],
    }  # fmt: skip


def _lately(memory: Engram, hours: float) -> Answer:
    """How much was written in the last hours, and how much of what is kept was read."""
    since = _now(memory) - timedelta(hours=hours)
    read, written = Filters(accessed_since=since), Filters(created_since=since)
    return {"writes": memory.count(filters=written), "searches": memory.count(filters=read)}


def session_handoff(memory: Engram, session_id: str = "", *, save: bool = True, limit: int = 8) -> Answer:
    """What the next session needs to go on; kept unless said otherwise."""
    recent, stands = _list(memory, limit=limit), session_summary(memory)
    packet = {
        "session_id": session_id,
        "generated_at": _now(memory).timestamp(),
        **stands,
        "current_state": stands["summary"],
        "errors": [record.content for record in recent if record.content.startswith("Error: ")],
        "facts": [record.content for record in recent if record.type is Type.FACT],
        "recent_work": _rows(recent, "id content:preview layer"),
        "recent_queries": [],  # what was asked is not kept
        "touched_entities": _names(recent, limit),
        "suggested_queries": [f"what about {name}?" for name in _names(recent, 3)],
        "stats": status(memory)["memories"],
    }
    if save:
        words = packet["recent_work"][0]["content"] if recent else "nothing yet"
        text = f"Handoff {session_id}: {words}"[:CUT]
        memory.remember(text, tags=(HANDOFF,), category="context", apart=True, details={"packet": packet})
    return packet


def resume_context(memory: Engram, session_id: str = "", limit: int = 3) -> Answer:
    """The last handoffs; one made now where there is none."""
    packets = [record.details["packet"] for record in _tagged(memory, HANDOFF) if "packet" in record.details]
    wanted = [packet for packet in packets if session_id in ("", packet.get("session_id"))][:limit]
    if wanted:
        return {"latest": wanted[0], "handoffs": wanted, "note": f"{len(wanted)} kept"}
    packet = session_handoff(memory, session_id, save=False)
    return {"latest": packet, "handoffs": [packet], "note": "made now: none was kept", "generated": True}


def status(memory: Engram) -> Answer:
    """How much is kept, by layer."""
    counted = memory.stats()
    by_layer = {layer: memory.count(filters=_in_layer(layer)) for layer in LAYERS}
    return {
        "memories": {**by_layer, "total": memory.count()},
        "entities": len(memory.entities.list(limit=EVERYTHING)),
        "relationships": counted.edges,
        "db_size_mb": round(counted.size_bytes / 1_048_576, 2),
    }


def health(memory: Engram) -> Answer:
    """How the memory is."""
    counted, half_an_hour = memory.stats(), _now(memory) - timedelta(minutes=30)
    stale = replace(_in_layer("working"), created_until=half_an_hour)
    return {
        **status(memory), "embedding_cache_loaded": True,
        "embedding_cache_size": sum(counted.vectors.values()),
        "orphaned_entities": sum(not entity.mentions for entity in memory.entities.list(limit=EVERYTHING)),
        "stale_working_memories": memory.count(filters=stale),
        "fts_indexed": counted.memories, "memories_without_embeddings": counted.pending,
    }  # fmt: skip


def _by_layer(memories: Iterable[Memory]) -> dict[str, list[Memory]]:
    parts: dict[str, list[Memory]] = {}
    for memory in memories:
        parts.setdefault(layer_of(memory), []).append(memory)
    return parts


def _texts(memories: Iterable[Memory]) -> Answer:
    return {name: "\n".join(memory.content for memory in part) for name, part in _by_layer(memories).items()}


def memory_map(memory: Engram) -> Answer:
    """What is kept where, and since when."""
    parts = _by_layer(_list(memory))
    days = [f"{record.created_at:%Y-%m-%d}" for part in parts.values() for record in part]
    lately = _lately(memory, 1.0)
    return {
        **status(memory),
        "layers": {
            name: {"count": len(part), "top_entities": _top(part, "entities")} for name, part in parts.items()
        },
        "date_range": {"first": min(days, default=None), "last": max(days, default=None)},
        "last_hour": {"writes": lately["writes"], "reads": lately["searches"]},
    }


GOOD: Mapping[str, Callable[[Memory], object]] = {
    "accessed": lambda memory: memory.usage.accessed,
    "curated": lambda memory: memory.pinned or memory.usage.confirmed or memory.usage.helpful,
    "enriched": lambda memory: memory.entities or memory.tags,
    "evolved": lambda memory: memory.version > 1,
    "confirmed": lambda memory: memory.usage.confirmed,
}
"""What speaks well of a memory."""


def quality_metrics(memory: Engram) -> Answer:
    """How well the memory serves."""
    memories = _list(memory)
    total = max(1, len(memories))
    counts = {name: sum(bool(is_so(record)) for record in memories) for name, is_so in GOOD.items()}
    shares = {"storage_quality": "accessed", "curation_ratio": "curated", "enrichment_ratio": "enriched"}
    return {
        **{name: round(counts[part] / total, 3) for name, part in shares.items()},
        "avg_access_count": round(sum(record.usage.accessed for record in memories) / total, 3),
        "total_memories": len(memories),
        **{f"{name}_memories": count for name, count in counts.items()},
    }


def get_skills(memory: Engram, query: str, max_skills: int = 3, *, format: bool = True) -> Answer:  # noqa: A002 - their word
    """Procedures that fit a task."""
    hits = list(memory.recall(query, limit=max_skills, filters=Filters(kinds=frozenset({Kind.PROCEDURAL}))))
    best = round(max((hit.relevance for hit in hits), default=0.0), 3)
    answer: Answer = {
        "should_inject": bool(hits), "confidence": best, "task_novelty": round(1.0 - best, 3),
        "domain_coverage": round(len(hits) / max(1, max_skills), 3),
        "reason": f"{len(hits)} procedures fit", "skill_count": len(hits),
    }  # fmt: skip
    text = "\n\n".join(hit.memory.content for hit in hits)
    return {**answer, "context": text} if format else {**answer, "skills": _hits(hits)}


def list_projects(memory: Engram) -> Answer:
    """Projects of which code is known."""
    types: dict[str, Counter[str]] = {}
    for record in _list(memory, CODE):
        types.setdefault(str(SHOWN["project"](record) or "default"), Counter())[record.category] += 1
    projects = [{"name": name, "memories": kinds.total(), "types": kinds} for name, kinds in types.items()]
    return {"projects": projects}


def _between(memory: Engram, start: str, end: str) -> list[Memory]:
    until = _day(memory, end) + timedelta(days=1) if end else None
    memories = _list(memory, Filters(happened_since=_day(memory, start), happened_until=until), 100)
    return sorted(memories, key=WHEN)


def _most_used(memories: Iterable[Memory], limit: int) -> list[Memory]:
    return sorted(memories, key=lambda record: -record.usage.accessed)[:limit]


def _note(memory: Engram, text: str, tag: str) -> bool:
    return bool(memory.remember(text, tags=(tag,), kind=Kind.EPISODIC, category="context", apart=True))


GROUPS = {"layer": "layer", "source_type": "source", "entity": "entities", "month": "month"}


def _counted(memory: Engram, group: str) -> list[Answer]:
    if group not in GROUPS:
        raise InvalidInput(f"group_by is one of {', '.join(GROUPS)}.")
    tops = _top(_list(memory), GROUPS[group], EVERYTHING)
    return [{"key": top["name"], "count": top["count"]} for top in tops]


def _doubted(dead: Sequence[Drifted], *, dry: bool) -> Answer:
    actions = [{"memory_id": reference.memory, "claim": reference.reference} for reference in dead]
    done = {"invalidated": 0, "flagged_stale": 0 if dry else len(dead), "forgotten": 0}
    return {"dry_run": dry, "total_actions": len(dead), "actions": actions, **done}


def _exported(memories: Sequence[Memory], form: str) -> Answer:
    if form == "json":
        return {"memories": _rows(memories)}
    lines = [f"- **{layer_of(memory)}** {memory.content}" for memory in memories]
    return {"markdown": "\n".join(lines), "count": len(memories)}


def _weighed(memory: Engram, record: Memory) -> Answer:
    weight = effective_importance(record, (), _now(memory), memory.config)
    factors = {name: round(getattr(weight, name), 3) for name in weight.__slots__ if name != "total"}
    return {"memory_id": record.id, "composite_score": round(weight.total, 3), "factors": factors}


# ---------------------------------------------------------------- the tables


Tool = Callable[..., Answer]
READING: Mapping[str, tuple[str, Tool]] = {
    **{answers.__name__: ((answers.__doc__ or "").strip(), answers) for answers in (
        recall_explain, recall_entity, recall_related,
        entity_graph, focus_brief, compare_queries, hotspots,
        status_history, backlinks, drift_check, find_duplicates, detect_communities, status, health,
        memory_map, compress, quality_metrics,
        session_summary, resume_context, get_skills, list_projects,
    )},
    "recall": ("What helps with a question.", lambda memory, query, top_k=10, mode="full_context": {
        "result": _hits(memory.recall(query, limit=top_k, mode=Mode(mode)))}),
    "recall_context": ("What helps with a question, as one text.", lambda memory, query, max_tokens=2_000: {
        "memories_used": len(hits := list(memory.recall(query, budget=max_tokens))),
        "context": (text := "\n---\n".join(hit.memory.content for hit in hits)),
        "tokens": int(len(text.split()) * TOKENS_A_WORD)}),
    "recall_recent": ("What was kept last.", lambda memory, limit=20: {
        "result": _rows(_list(memory, limit=limit), f"{WHOLE} created_at")}),
    "recall_layer": ("Memories of a layer.", lambda memory, layer, limit=20: {
        "result": _rows(_list(memory, _in_layer(layer), limit), "id content importance")}),
    "recall_by_type": ("Memories of a type: fact, procedure or narrative.",
        lambda memory, memory_type, limit=20: {
            "result": _rows(_list(memory, Filters(types=frozenset({Type(memory_type)})), limit))}),
    "layers": ("What each layer tells about a question.", lambda memory, query="", max_tokens=4_000: _texts(
        [hit.memory for hit in memory.recall(query, budget=max_tokens)] if query
        else _list(memory, limit=50))),
    "entity_timeline": ("What happened around somebody or something, oldest first.", lambda memory, name: {
        "entity": name,
        "timeline": _rows(sorted(_about(memory, name, 100), key=WHEN),
                          "date content:preview layer importance")}),
    "access_patterns": ("What is used most.", lambda memory, limit=20: {
        "result": _rows(_most_used(_list(memory), limit), f"id content {USES} last_accessed")}),
    "diary_read": ("The last entries of the diary, oldest first.", lambda memory: {
        "diary": [record.content for record in reversed(_tagged(memory, DIARY, KEPT_DIARY))]}),
    "recompute_importance": ("How many there are: what each matters is worked out when it is asked for.",
        lambda memory: {"total": memory.count(), "updated": 0}),
    "recall_timeline": ("What happened between two days.", lambda memory, start, end="": {
        "result": _rows(_between(memory, start, end), "content date layer importance")}),
    "recall_hints": ("The beginnings of what helps.", lambda memory, query, top_k=10, hint_length=60: {
        "query": query, "note": "recall with the id's words for the whole",
        "hints": [{**hit, "hint": hit["hint"][:hint_length]} for hit in _hits(
            memory.recall(query, limit=top_k), "id hint:content layer importance date entities")]}),
    "recall_code": ("What is known about code.", lambda memory, query, project="", top_k=10: {
        "results": _hits((hit for hit in memory.recall(query, limit=top_k, filters=CODE)
                          if project in f"{hit.memory.details} {hit.memory.tags}"),
                         "id content project type:category file")}),
    "find_similar": ("What is like a memory.", lambda memory, memory_id, top_k=5: {
        "similar": _hits([hit for hit in memory.recall(
            get(memory, memory_id).content[:500], limit=top_k + 1, dry=True)
            if not hit.memory.id.startswith(memory_id)][:top_k], "id content:preview layer", "similarity")}),
    "search_entities": ("Entities whose name begins so.", lambda memory, query, limit=20: {"entities": [
        pick(entity, "id:name canonical_name:name entity_type:type aliases mem_count:mentions")
        for entity in memory.entities.list(prefix=query, limit=limit)]}),
    "count_by": ("How many by layer, source, entity or month.",
        lambda memory, group_by: {"counts": _counted(memory, group_by)}),
    "export": ("Memories as Markdown or JSON.",
        lambda memory, format="markdown", layer="", limit=100: _exported(  # noqa: A006 - their word
            _list(memory, _in_layer(layer), limit), format)),
    "explain_importance": ("What a memory's importance is made of.", lambda memory, memory_id: _weighed(
        memory, get(memory, memory_id))),
    "reranker_status": ("Which reranking is on: none is trained here.", lambda memory: {
        "trained": False, "model_path": memory.config.recall.rerank, "model_exists": True}),
    "train_reranker": ("Say that nothing is trained: feedback counts from the moment it is given.",
        lambda memory, epochs=50, learning_rate=0.01: {  # noqa: ARG005 - there is no training
            "error": "nothing is trained here: feedback counts at once"}),
    "compress_embeddings": ("How the vectors are kept: with eight bits a number, none is left to compress.",
        lambda memory, dry_run=True: {  # noqa: ARG005 - nothing to do either way
            "scanned": (count := sum(memory.stats().vectors.values())), "compressed": 0,
            "by_tier": {"8bit": count}}),
}  # fmt: skip
WRITING: Mapping[str, tuple[str, Tool]] = {
    **{answers.__name__: ((answers.__doc__ or "").strip(), answers) for answers in (
        remember, scan_codebase, ingest_sessions, forget, bulk_forget,
        tag, consolidate, extract_patterns, dedup,
        session_handoff,
    )},
    "update_status": ("Set the status of a memory.", lambda memory, memory_id, new_status, reason="": {
        "memory_id": memory_id, "reason": reason,
        "new_status": str(memory.set_status(memory_id, new_status, reason).status)}),
    "invalidate": ("Say that something is wrong.", lambda memory, memory_id, reason="": (
        {"error": f"memory not found: {memory_id}"} if memory.get(memory_id) is None
        else {"status": str(memory.set_status(memory_id, "invalidated", reason).status)})),
    "session_checkpoint": ("A handoff in the middle of a session, with a note.",
        lambda memory, note="", limit=8: {
            **session_handoff(memory, save=False, limit=limit), "checkpoint_note": note,
            "kept": bool(note) and _note(memory, f"Checkpoint: {note}", HANDOFF)}),
    "diary_write": ("Write into the diary.", lambda memory, entry: {
        "status": "written", "kept": _note(memory, f"[{_now(memory):%H:%M:%S}] {entry}", DIARY),
        "entries": len(_tagged(memory, DIARY))}),
    "update_entity": ("Let an entity go by one more name.",
        lambda memory, name, alias="", metadata=NOTHING: {  # noqa: ARG005 - passed over there as well
            "status": "updated", "entity_id": name,
            "alias": alias and memory.entities.alias(name, alias) and alias}),
    "merge_entities": ("Make two names one.", lambda memory, source_name, target_name: {
        "status": "merged", "kept": target_name, "deleted": source_name,
        "aliases": [*memory.entities.merge(target_name, source_name).aliases]}),
    "annotate": ("Add a note to a memory.", lambda memory, memory_id, note: {
        "status": "annotated",
        "total_annotations": len(memory.update(memory_id, details={
            **(kept := get(memory, memory_id).details), "annotations": [*kept.get("annotations", ()), note],
        }).details["annotations"])}),
    "batch_tag": ("Tag what fits a question.", lambda memory, query, tags, top_k=10: {
        "tagged": len([tag(memory, hit.memory.id, tags)
                       for hit in memory.recall(query, limit=top_k, dry=True)]),
        "tags_added": list(tags)}),
    "drift_fix": ("Doubt what is no longer so.",
        lambda memory, search_roots=(), project_root="", dry_run=True: _doubted(
            memory.drift(project_root or next(iter(search_roots), ""), apply=not dry_run).dead, dry=dry_run)),
    "remember_interaction": ("Keep a question with its answer.",
        lambda memory, question, answer, importance=0.5: _kept(
            memory, "episodic", importance, Q=question, A=answer)),
    "remember_decision": ("Keep a decision with its reason.",
        lambda memory, decision, rationale="", importance=0.8: _kept(
            memory, "procedural", importance, Decision=decision, Rationale=rationale)),
    "remember_error": ("Keep an error and how to prevent it.",
        lambda memory, error, prevention="", importance=0.7: _kept(
            memory, "procedural", importance, Error=error, Prevention=prevention)),
    "remember_project": ("Keep how a project stands.",
        lambda memory, name, status="", location="", notes="": _kept(
            memory, "semantic", 0.7, Project=name, Status=status, Location=location, Notes=notes)),
    "remember_negative": ("Keep what is not so, or must not be done.",
        lambda memory, content, context="", scope="", importance=0.75: {**_kept(
            memory, "semantic", importance, NEGATIVE_KNOWLEDGE=content, Context=context, Scope=scope),
            "type": "negative_knowledge"}),
    "ingest": ("Take in a file or a folder.", lambda memory, path: {
        "status": "ingested", **memory.sources.file(path).counts}),
    "promote": ("Move a memory to a higher layer.", lambda memory, memory_id, target_layer="semantic": {
        "status": "promoted", "id": _moved(memory, memory_id, target_layer).id}),
    "demote": ("Move a memory to a lower layer.", lambda memory, memory_id, target_layer="episodic": {
        "status": "demoted", "id": _moved(memory, memory_id, target_layer).id}),
    "edit_memory": ("Change the words of a memory.", lambda memory, memory_id, new_content: {
        "status": "edited", "id": memory.update(memory_id, content=new_content).id}),
    "pin": ("Never forget it.", lambda memory, memory_id: {
        "status": "pinned", "id": memory.pin(memory_id).id}),
    "unpin": ("Let it go again.", lambda memory, memory_id: {
        "status": "unpinned", "id": memory.pin(memory_id, pinned=False).id}),
    "link_memories": ("Connect two memories.",
        lambda memory, memory_id_1, memory_id_2, relation="RELATED_TO": {
            "status": "linked",
            "relation": str(memory.relate(memory_id_1, memory_id_2, relation.lower()).type)}),
}  # fmt: skip


def operations() -> Mapping[str, Operation]:
    """Each tool by its name."""
    return {
        name: Operation(name, sentence, calls=_typed(calls), tool=name, reads=name in READING)
        for name, (sentence, calls) in {**READING, **WRITING}.items()
    }


TYPES = {"metadata": Mapping[str, Any], "tags": Sequence[str], "search_roots": Sequence[str]}


def _typed(calls: Tool) -> Tool:
    """What answers a row, with the types that its defaults tell: words where there is none."""
    if not calls.__annotations__:
        for name, parameter in inspect.signature(calls).parameters.items():
            usual = str if parameter.default is parameter.empty else type(parameter.default)
            calls.__annotations__[name] = TYPES.get(name, usual)
    return calls
