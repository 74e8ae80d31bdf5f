"""Briefing and upkeep of *layers*, and how its clients are told of memories and facts."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from engram._version import __version__
from engram.api.facts import AS_SAID
from engram.errors import InvalidInput, UnknownValue, WrongType
from engram.maintain.auditing import AUDIT_MOST, AUDIT_SAFE, AUDIT_TOGETHER, SEEN
from engram.model.context import Resume
from engram.model.event import Stats
from engram.model.facts import Claim, Fact
from engram.model.knowledge import Spent
from engram.model.maintenance import Report
from engram.model.memory import Filters, Kind, Layer, Memory
from engram.model.plain import member
from engram.model.recall import Hit
from engram.model.scope import DEFAULT_NAMESPACE
from engram.operations.values import pick
from engram.rules.retention import LAYER_RATES, PROCEDURAL_RATE
from engram.server.compat.requests import LenientRequest, Old, OldAnswer

if TYPE_CHECKING:
    from engram.server.host import MemoryHost


# ---------------------------------------------------------------- briefing
# Briefing of *layers*: what a session starts with, what an action calls for, and maintenance.


FORMATS = ("json", "text")
SECTIONS = ("core", "working", "buffer", "recent", "sessions")
LEAST, MOST = 200, 10_000_000
"""Characters of a resume; those clients say 0 for no limit."""
FILLED = ("core", "sessions", "working", "recent", "buffer")
"""The order in which sections get their room."""
SHARES = {"core": 0.45, "working": 0.75}
"""What a section may take of the room at most; others take what is left."""
OF_WORKSPACES = ("working", "recent")
CORE_LOOKED_AT, CORE_MOST = 1_000, 20
LONGEST_RESUME = 64_000
"""Characters of a resume whose room nobody named."""
TRIGGER = "trigger:"
TRIGGERED_MOST = 200
CALLED = {
    "promoted": "promote buffer.rescue stuck.promote gate.approve triage.promote",
    "decayed": "archive buffer.expire buffer.cap stuck.archive",
    "demoted": "demote working.rejected core.hygiene",
    "triaged": "triage.promote", "merged": "merge", "reconciled": "reconcile", "distilled": "distill",
    "buffer_deduped": "dedup", "gate_rejected": "gate.reject", "importance_decayed": "importance.decay",
}  # fmt: skip
"""What is told there, and which rules of ours, or families of them, that is."""
UNTOLD = frozenset({"core", "triage", "lifecycle", "tags"})
"""Families of rules that are not told there, but for what stands above."""
TOLD_BY_ID = {"promoted": "promoted_ids", "decayed": "dropped_ids", "merged": "merged_ids",
              "reconciled": "reconciled_ids"}  # fmt: skip
SETTINGS = {
    "promote_threshold": ("promotion.core_reinforcement", 1.0),
    "promote_min_importance": ("promotion.core_importance", 1.0),
    "decay_drop_threshold": ("forgetting.strength_below", 1.0),
    "buffer_ttl_secs": ("promotion.ttl_hours", 1 / 3_600),
    "working_age_promote_secs": ("promotion.core_days", 1 / 86_400),
}
"""What the body of a consolidation may set, which setting of ours that is, and in what measure."""
GOOD, BAD = "Good", "Bad"
REFUSED = "audit.refused"
UNSAFE = "audit.refused: unsafe"
ALWAYS = ("promoted", "decayed", "demoted", "merged")
WOULD = {"would_promote": "promoted", "would_decay": "decayed", "would_demote": "demoted"}


def resume(ask: LenientRequest) -> OldAnswer:
    """What a session that starts cold should know: its memories, or a text where one is asked for."""
    budget = ask.number("budget")
    context = None if budget is None else int(min(max(budget, LEAST), MOST)) if budget else MOST
    document = ask.memory.resume(context)
    wanted = ask.text("format", "text" if ask.has("recent_epochs") else "json")
    if wanted not in FORMATS:
        raise UnknownValue("format", wanted, FORMATS)
    answer = _resumed(ask, document, context or LONGEST_RESUME)
    return OldAnswer(_as_text(answer) if wanted == "text" else answer)


def _as_text(answer: Mapping[str, Any]) -> str:
    """The sections as later versions write them: a headline with a count, and a line for each memory."""
    parts = (
        "\n".join((f"=== {name.title()} ({len(memories)}) ===", *(f"- {one['content']}" for one in memories)))
        for name in FILLED
        if (memories := answer[name])
    )
    return "\n\n".join(parts) or " "


def triggers(ask: LenientRequest) -> dict[str, Any]:
    """The memories that an action calls for; each counts as used."""
    action = ask.placed["action"]
    filters = Filters(tags_any=frozenset({TRIGGER + action}))
    memories = list(ask.memory.list(filters=filters, limit=TRIGGERED_MOST))
    ask.memory.touch([memory.id for memory in memories])
    return {"action": action, "count": len(memories), "memories": [*map(memory_of, memories)]}


def consolidate(ask: LenientRequest) -> dict[str, Any]:
    """Let memories mature; with `dry_run` only tell what would happen."""
    dry = ask.truth("dry_run")
    settings = {
        setting: (ask.number(name) or 0.0) * measure
        for name, (setting, measure) in SETTINGS.items()
        if ask.has(name)
    }
    report = ask.memory.maintenance.consolidate(dry=dry, settings=settings)
    ids = _ids(report)
    answer: dict[str, Any] = {name: len(ids.get(name, ())) for name in {**dict.fromkeys(ALWAYS), **ids}}
    answer |= {TOLD_BY_ID[name]: changed for name, changed in ids.items() if name in TOLD_BY_ID}
    if not dry:
        return {**answer, "run": report.run.id}
    for name, done in WOULD.items():
        memories = {id_: ask.memory.get(id_) for id_ in ids.get(done, ())}
        answer[name] = [
            {"id": id_} | ({"content": memory.content} if memory else {}) for id_, memory in memories.items()
        ]
    return {**answer, "dry_run": True}


def audit(ask: LenientRequest, *, dry: bool = False) -> OldAnswer:
    """Let a model look over what is known; each proposal with its grade, 502 when the model failed."""

    def failed() -> int:
        return sum(cost.failed for cost in ask.memory.spending(days=1) if cost.component == "audit")

    before = failed()
    report = ask.memory.audit(dry=dry)
    if not report.decided and failed() > before:
        return OldAnswer({"error": "AI backend failed: it gave no usable answer"}, HTTPStatus.BAD_GATEWAY)
    grades = [
        {
            "op": {
                "op": decision.rule.removeprefix("audit."),
                "id": decision.memory,
                "others": decision.related.split(),
            },
            "grade": BAD if decision.rule.startswith(REFUSED) and decision.rule != UNSAFE else GOOD,
            "reason": decision.why,
        }
        for decision in report.decided
    ]
    good = sum(grade["grade"] == GOOD for grade in grades)
    score = good / len(grades) if grades else 1.0
    reviewed = min(AUDIT_MOST, ask.memory.count(filters=SEEN))
    clusters = math.ceil(reviewed / AUDIT_TOGETHER)
    answer = {
        "run": report.run.id,
        "total_reviewed": reviewed,
        "cluster_count": clusters,
        "batch_count": clusters,
        "ops_proposed": len(grades),
        "grades": grades,
        "score": round(score, 4),
        "safe_to_apply": score >= AUDIT_SAFE,
        "applied": 0 if report.dry or score < AUDIT_SAFE else good,
        "skipped": len(grades) - good,
        "summary": f"{len(grades)} proposals, {good} of them good",
    }
    return OldAnswer(answer)


def _ids(report: Report) -> dict[str, list[str]]:
    """Which memories had what happen to them, by what those clients call it; else by the rule's own name."""
    by_name: dict[str, dict[str, None]] = {}
    for decision in report.decided:
        for name in _called(decision.rule):
            # Of those that say the same, the ones that went are told of.
            ids = decision.related.split() if name == "buffer_deduped" else [decision.memory]
            by_name.setdefault(name, {}).update(dict.fromkeys(id_ for id_ in ids if id_))
    return {name: list(ids) for name, ids in by_name.items() if ids}


def _called(rule: str) -> list[str]:
    """What those clients call what a rule did: by the rule, else by its family, else by the family's name."""
    family = rule.partition(".")[0]
    for word in (rule, family):
        if names := [name for name, rules in CALLED.items() if word in rules.split()]:
            return names
    return [] if family in UNTOLD else [family]


def _in_workspace(ask: LenientRequest) -> Callable[[Memory], bool] | None:
    """Whether a memory belongs to the workspaces asked for: by a tag, its beginning, or by having no tags."""
    names = ",".join(ask.words("workspace")) or os.environ.get("ENGRAM_WORKSPACE", "")
    wanted = {name.strip().casefold() for name in names.split(",") if name.strip()}

    def fits(memory: Memory) -> bool:
        tags = [tag.casefold() for tag in memory.tags]
        return not tags or not wanted.isdisjoint([*tags, *(tag.split(":")[0] for tag in tags)])

    return fits if wanted else None


def _within(memories: Mapping[str, Sequence[Memory]], context: int) -> dict[str, list[Memory]]:
    """As much of each section as its share of the characters takes, the first of the core in any case."""
    kept: dict[str, list[Memory]] = {name: [] for name in SECTIONS}
    left = context
    for name in FILLED:
        share = min(left, int(context * SHARES.get(name, 1.0)))
        for memory in memories[name]:
            if len(memory.content) > share and (kept[name] or name != "core"):
                break
            kept[name].append(memory)
            share -= len(memory.content)
            left -= len(memory.content)
    return kept


def _resumed(ask: LenientRequest, document: Resume, context: int) -> dict[str, Any]:
    hours = ask.number("hours")
    hours = 4.0 if hours is None else min(max(hours, 0.0), 87_600.0)
    since, most = datetime.now(UTC) - timedelta(hours=hours), ask.whole("limit", 100, 1, 1_000)
    sections = {section.name: section for section in document.sections}
    memories: dict[str, list[Memory]] = {name: [] for name in SECTIONS}
    for name, section in sections.items():
        memories[name] = [memory for memory in map(ask.memory.get, section.ids) if memory is not None]
    memories["recent"] = [memory for memory in memories["recent"] if memory.modified_at >= since]
    fits = _in_workspace(ask)
    if fits is not None:
        # Who names a workspace gets all of its core: its tags decide, not what is spoken of just now.
        every = ask.memory.list(filters=Filters(layers=frozenset({Layer.CORE})), limit=CORE_LOOKED_AT)
        memories["core"] = [memory for memory in every if fits(memory)][:CORE_MOST]
        for name in OF_WORKSPACES:
            memories[name] = [memory for memory in memories[name] if fits(memory)]
    total = len(memories["core"])
    shape = brief_of if ask.truth("compact", default=True) else memory_of
    kept = _within(memories, context)
    answer = {name: [shape(memory) for memory in every[:most]] for name, every in kept.items()}
    core = sections.get("core")
    return {
        **answer,
        "hours": hours,
        "core_total": total + (core.left_out if core else 0),
        "core_summary_used": core is not None and core.how in {"model", "cached"},
        **{f"{name.removesuffix('s')}_count": len(answer[name]) for name in SECTIONS},
    }


ROUTES: tuple[Old, ...] = (
    Old("GET", "/resume", resume),
    Old("GET", "/triggers/{action:path}", triggers, waits=True),
    Old("POST", "/consolidate", consolidate, owner_only=True),
    Old("POST", "/audit", audit, owner_only=True),
    Old("POST", "/audit/sandbox", partial(audit, dry=True), owner_only=True),
)


MEGA = 1_048_576
WORDS = frozenset({"recall table", "words"})
"""What the doctor says of the text index under."""


def repair(ask: LenientRequest) -> dict[str, Any]:
    """Put right what can be put right, and make the vectors that are missing."""
    findings = ask.memory.doctor(repair=True)
    words = sum(finding.mended for finding in findings if finding.name in WORDS)
    orphans = sum(finding.mended for finding in findings) - words
    made = ask.memory.reembed()
    return {"orphans_removed": orphans, "fts_rebuilt": words, "embed_backfill_queued": made}


def stats(ask: LenientRequest) -> dict[str, Any]:
    """How much is kept, layer by layer; over all namespaces also which there are."""
    counted = ask.memory.stats()
    whole = ask.memory.access.all_namespaces
    return counts_of(counted) | ({"namespaces": list(counted.by_namespace)} if whole else {})


def vacuum(ask: LenientRequest) -> dict[str, Any]:
    """Give freed space back."""
    full = ask.truth("full")
    return {"freed_bytes": ask.memory.vacuum(full=full), "mode": "full" if full else "incremental"}


def usage(ask: LenientRequest) -> dict[str, Any]:
    """What calls to models have cost, in all, by component, by model and by day."""
    spent = ask.memory.spending(days=ask.whole("days", 7, 1, 3_650), daily=True)
    today = datetime.now(UTC).date().isoformat()
    summary = {
        **_sums("total_", spent),
        **_sums("today_", [cost for cost in spent if cost.day == today]),
        "by_component": _grouped(spent, "component"),
        "by_model": _grouped(spent, "model"),
    }
    by_day = sorted(_grouped(spent, "day").items(), reverse=True)
    return {"summary": summary, "daily": [{"date": day, **sums} for day, sums in by_day]}


NO_CACHE = {"size": 0, "capacity": 0, "hits": 0, "misses": 0}
"""The model is in this process: nothing is kept of what it was asked."""


def health_of(memory_host: MemoryHost) -> dict[str, Any]:
    """What `/health` tells beside our own words."""
    counted, memory = memory_host.stats(), memory_host.memory
    return {
        "name": "engram",
        "version": __version__,
        "rss_kb": memory.pressure.resident // 1024,
        "db_size_mb": round(counted.size_bytes / MEGA, 2),
        "ai_enabled": bool(memory.config.llm.base_url) and memory.config.llm.level != "off",
        "embed_queue_pending": counted.pending,
        "embed_cache": NO_CACHE,
        "proxy": {"enabled": bool(memory.config.proxy.base_url), **memory_host.proxied},
        "integrity": {
            "total": counted.memories,
            "fts_indexed": counted.memories,
            "orphan_fts": 0,
            "missing_fts": 0,
            "missing_embedding": counted.pending,
            "ok": counted.pending == 0,
        },
        "stats": counts_of(counted),
    }


def counts_of(counted: Stats) -> dict[str, Any]:
    """Counts as those clients know them: of what is in use."""
    kinds = {kind.value: counted.in_use_by_kind.get(kind.value, 0) for kind in KINDS}
    kinds[Kind.SEMANTIC.value] += counted.in_use_by_kind.get(Kind.CODEBASE.value, 0)
    layers = {layer.name.lower(): counted.in_use_by_layer.get(layer.name.lower(), 0) for layer in Layer}
    return {"total": sum(layers.values()), **layers, "by_kind": kinds}


def _sums(prefix: str, spent: Sequence[Spent]) -> dict[str, Any]:
    read, written = sum(cost.prompt_tokens for cost in spent), sum(cost.answer_tokens for cost in spent)
    answer = {
        "calls": sum(cost.calls for cost in spent),
        "input_tokens": read,
        "output_tokens": written,
        "cached_tokens": 0,
        "tokens": read + written,
        "duration_ms": sum(cost.ms for cost in spent),
        "cost": round(sum(cost.cost for cost in spent), 6),
    }
    return {f"{prefix}{name}": value for name, value in answer.items()}


def _grouped(spent: Sequence[Spent], name: str) -> dict[str, Mapping[str, Any]]:
    keys = dict.fromkeys(str(getattr(cost, name)) for cost in spent)
    return {key: _sums("", [cost for cost in spent if getattr(cost, name) == key]) for key in keys}


UPKEEP_ROUTES: tuple[Old, ...] = (
    Old("GET", "/stats", stats),
    Old("POST", "/repair", repair, owner_only=True),
    Old("POST", "/vacuum", vacuum, owner_only=True),
    Old("GET", "/llm-usage", usage, owner_only=True),
    Old("DELETE", "/llm-usage", lambda ask: {"deleted": ask.memory.forget_spending()}, owner_only=True),
)


SUPERSEDED_BY = "superseded_by"
"""With a fact in the details of a memory: the fact that took its place."""
KINDS = (Kind.SEMANTIC, Kind.EPISODIC, Kind.PROCEDURAL)
LATEST_MS = 253_402_300_799_000
"""The end of the year 9999."""
MEMORY = (
    "id content layer:layer.number layer_name:layer importance created_at last_accessed modified_at "
    "decay_rate access_count:usage.accessed repetition_count:usage.repeated source tags kind"
)
MADE: Mapping[str, Callable[[Memory], Any]] = {
    "last_accessed": lambda memory: memory.last_accessed or memory.created_at,
    "decay_rate": lambda memory: (
        PROCEDURAL_RATE if memory.kind is Kind.PROCEDURAL else LAYER_RATES[memory.layer]
    ),
    "kind": lambda memory: memory.kind if memory.kind in KINDS else Kind.SEMANTIC,
}


def memory_of(memory: Memory) -> dict[str, Any]:
    """A memory as those clients know it."""
    namespace = memory.scope.namespace
    elsewhere = {} if namespace == DEFAULT_NAMESPACE else {"namespace": namespace}
    return pick(memory, MEMORY, MADE, time=millis) | elsewhere


def hit_of(hit: Hit, score: float | str) -> dict[str, Any]:
    """A memory that was found, with its numbers."""
    return {
        **memory_of(hit.memory),
        "score": score,
        "relevance": round(hit.relevance, 4),
        "recency": round(hit.trust.freshness, 4),
    }


def brief_of(memory: Memory) -> dict[str, Any]:
    """A memory as a summary shows it: what is usual is left out."""
    answer = memory_of(memory)
    usual = {"tags": [], "kind": Kind.SEMANTIC.value}
    names = ("content", "layer", "importance", "created_at", "tags", "kind")
    return {name: answer[name] for name in names if name not in usual or answer[name] != usual[name]}


def fact_of(claim: Claim) -> dict[str, Any]:
    """A fact as those clients know it; what holds without an end has no end."""
    fact, memory = claim.fact, claim.memory
    since, until = fact.valid_from or memory.valid_from, fact.valid_to or memory.valid_to
    seldom = {
        "valid_from": since and millis(since),
        "valid_until": until and millis(until),
        "superseded_by": str(_as_stated(claim).get(SUPERSEDED_BY) or "") or None,
    }
    return {
        "id": fact_id(claim),
        **as_said(claim),
        **pick(memory, "memory_id:id namespace:scope.namespace created_at", time=millis),
        **{name: value for name, value in seldom.items() if value is not None},
    }


def stated_in(memory: Memory) -> list[Mapping[str, Any]]:
    """The facts that clients stated in the details of a memory."""
    listed = memory.details.get("facts")
    return (
        [stated for stated in listed if isinstance(stated, Mapping)]
        if isinstance(listed, list | tuple)
        else []
    )


def _as_stated(claim: Claim) -> Mapping[str, Any]:
    """A fact as a client stated it in the details of its memory; empty where none did."""
    for stated in stated_in(claim.memory):
        ends = tuple(str(stated.get(name, "")).lower() for name in ("subject", "object"))
        if ends == (claim.fact.subject, claim.fact.object):
            return stated
    return {}


def as_said(claim: Claim) -> dict[str, str]:
    """The fact with its names as they were written, where it was stated as a fact."""
    triple, stated = triple_of(claim.fact), _as_stated(claim)
    if not stated:
        return triple
    predicate = str(stated.get(AS_SAID) or stated.get("predicate") or triple["predicate"])
    return {"subject": str(stated["subject"]), "predicate": predicate, "object": str(stated["object"])}


def triple_of(fact: Fact) -> dict[str, str]:
    """What a fact says."""
    return pick(fact, "subject predicate object")


def fact_id(claim: Claim) -> str:
    """A name for a fact: its memory's id, and what tells it from the other facts of that memory."""
    words = "\n".join(triple_of(claim.fact).values())
    return f"{claim.memory.id}.{sha256(words.encode()).hexdigest()[:8]}"


def kind_from(value: Any) -> Kind:
    """The kind a client names. Raises UnknownValue."""
    kind: Kind = member("kind", Kind, value)
    return kind


def layer_from(value: Any) -> Layer:
    """The layer a client names, by number or by name."""
    if isinstance(value, str) and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or (isinstance(value, int) and value not in {layer.number for layer in Layer}):
        raise InvalidInput(f"invalid layer: {value}; 1 is buffer, 2 working, 3 core")
    layer: Layer = member("layer", Layer, value)
    return layer


def millis(at: datetime) -> int:
    """Milliseconds since 1970.

    >>> millis(datetime(1970, 1, 2, tzinfo=UTC))
    86400000
    """
    return round(at.timestamp() * 1_000)


def moment_from(name: str, value: float | None) -> datetime | None:
    """The time that milliseconds since 1970 stand for.

    >>> moment_from("since", 86_400_000)
    datetime.datetime(1970, 1, 2, 0, 0, tzinfo=datetime.timezone.utc)
    """
    if value is None:
        return None
    if not 0 <= value <= LATEST_MS:
        raise WrongType(name, value, "milliseconds since 1970")
    return datetime.fromtimestamp(value / 1_000, UTC)
