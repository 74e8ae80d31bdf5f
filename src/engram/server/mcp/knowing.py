"""Tools about what is known: entities, facts, conflicts, documents; and about the state of the memory."""

from __future__ import annotations

from typing import Any

from engram.errors import UnknownEntity
from engram.model.plain import plain
from engram.server.mcp import shapes
from engram.server.mcp.tool import Call, Tool, objects, text, truth, whole, words


def entities(call: Call) -> dict[str, Any]:
    """Who and what is spoken of: one by name, or a list."""
    if "name" in call.given:
        return {"entities": [], "profile": profile(call, call.given["name"])}
    found = call.memory.entities.list(**call.only("type", "prefix", "limit"))
    return {"entities": [_entity(one) for one in found]}


def profile(call: Call, name: str) -> dict[str, Any]:
    """What is known about one entity. Raises UnknownEntity."""
    known = call.memory.entities.get(name)
    if known is None:
        raise UnknownEntity(name)
    return {
        **_entity(known.entity),
        "facts": [shapes.claim(one) for one in known.facts],
        "memories": [shapes.brief_memory(one) for one in known.memories],
        "beside": [name for name, _ in known.beside],
    }


def merge_entities(call: Call) -> dict[str, Any]:
    """Say that two names mean one."""
    return {"entity": _entity(call.memory.entities.alias(call.given["name"], call.given["other"]))}


def split_entity(call: Call) -> dict[str, Any]:
    """Take a name off an entity again."""
    found = call.memory.entities.split(call.given["name"])
    return {"entity": _entity(found) if found else {}}


def timeline(call: Call) -> dict[str, Any]:
    """How the knowledge about an entity grew."""
    steps = call.memory.entities.timeline(call.given["name"], limit=call.given.get("limit", 50))
    return {
        "steps": [
            {"at": one.at.isoformat(), "kind": str(one.kind), "what": one.what, "memory": one.memory.id}
            for one in steps
        ]
    }


def facts(call: Call) -> dict[str, Any]:
    """Who is what to whom."""
    given = call.only("subject", "predicate", "object", "as_of", "limit", "history")
    return {"facts": [shapes.claim(one) for one in call.memory.facts.query(**given)]}


def add_fact(call: Call) -> dict[str, Any]:
    """State a fact."""
    triple = (call.given[name] for name in ("subject", "predicate", "object"))
    given = call.only("valid_from", "valid_to", "because")
    return shapes.receipt(call.memory.facts.add(*triple, source="agent", **given))


def conflicts(call: Call) -> dict[str, Any]:
    """What contradicts what."""
    found = call.memory.conflicts.list(**call.only("limit"))
    return {
        "conflicts": [
            {"a": shapes.brief_memory(one.a), "b": shapes.brief_memory(one.b), "because": one.because}
            for one in found
        ]
    }


def resolve(call: Call) -> dict[str, Any]:
    """Settle a conflict."""
    ends = call.given["a"], call.given["b"], call.given["keep"]
    because = call.given.get("because", "")
    return shapes.changed(call.memory.conflicts.resolve(*ends, because), because)


def ingest(call: Call) -> dict[str, Any]:
    """Take in a text."""
    call.tell(0, 1, "reading")
    given = call.only("title", "tags", "format")
    report = call.memory.sources.text(call.given["text"], **given, dry=call.given.get("dry", False))
    call.tell(1, 1, "read")
    kept = [one for item in report.items for one in item.memories]
    return {"counts": report.counts, "memories": kept, "dry": report.dry}


def flush(call: Call) -> dict[str, Any]:
    """Read what waits to be read."""
    call.tell(0, None, "reading what was said")
    return shapes.observation(call.memory.flush(call.given.get("session")))


def stats(call: Call) -> dict[str, Any]:
    """How much is kept."""
    counted: dict[str, Any] = plain(call.memory.stats())
    return counted


def doctor(call: Call) -> dict[str, Any]:
    """Look for damage."""
    call.tell(0, None, "looking at every part")
    findings = call.memory.doctor()
    return {"ok": all(one.ok for one in findings), "findings": plain(findings)}


def reembed(call: Call) -> dict[str, Any]:
    """Make the vectors that are missing."""
    count = call.memory.reembed(progress=lambda done, total: call.tell(done, total, "vectors"))
    return {"embedded": count}


def spending(call: Call) -> dict[str, Any]:
    """What calls to models have cost."""
    return {"spending": plain(call.memory.spending(**call.only("days")))}


def _entity(one: Any) -> dict[str, Any]:
    shown = {"name": one.name, "type": one.type, "aliases": [*one.aliases], "mentions": one.mentions}
    return shapes.without_empty(shown)


_RECEIPT = {"id": text(), "outcome": text(), "because": text()}

MORE = (
    Tool(
        "memory_entities",
        "Look at who and what is known",
        "Entities, last seen first; with a name, what is known about that one.",
        entities,
        {"name": text(), "type": text("person, project, technology …"), "prefix": text(), "limit": whole()},
        (),
        {"entities": objects(), "profile": {"type": "object"}},
        ("entities",),
        reads=True,
    ),
    Tool(
        "memory_entity_merge",
        "Join two names",
        "Say that another name means the same entity.",
        merge_entities,
        {"name": text("The entity"), "other": text("Its other name")},
        ("name", "other"),
        {"entity": {"type": "object"}},
        ("entity",),
    ),
    Tool(
        "memory_entity_split",
        "Part two names",
        "Make a name stand for an entity of its own again.",
        split_entity,
        {"name": text()},
        ("name",),
        {"entity": {"type": "object"}},
        ("entity",),
        destroys=True,
    ),
    Tool(
        "memory_timeline",
        "Tell how knowledge grew",
        "How the knowledge about an entity grew, oldest first.",
        timeline,
        {"name": text(), "limit": whole()},
        ("name",),
        {"steps": objects()},
        ("steps",),
        reads=True,
    ),
    Tool(
        "memory_facts",
        "Ask for facts",
        "Who is what to whom; any part may be left open.",
        facts,
        {
            "subject": text(),
            "predicate": text(),
            "object": text(),
            "as_of": text("What held then, ISO 8601"),
            "history": truth("Whatever was ever said"),
            "limit": whole(),
        },
        (),
        {"facts": objects()},
        ("facts",),
        reads=True,
    ),
    Tool(
        "memory_fact_add",
        "State a fact",
        "State a fact; it takes the place of one that cannot be true beside it.",
        add_fact,
        {
            "subject": text(),
            "predicate": text(),
            "object": text(),
            "valid_from": text(),
            "valid_to": text(),
            "because": text(),
        },
        ("subject", "predicate", "object"),
        _RECEIPT,
        ("id", "outcome"),
    ),
    Tool(
        "memory_conflicts",
        "Look at contradictions",
        "Pairs of memories that cannot both be true.",
        conflicts,
        {"limit": whole()},
        (),
        {"conflicts": objects()},
        ("conflicts",),
        reads=True,
    ),
    Tool(
        "memory_conflict_resolve",
        "Settle a contradiction",
        "Settle a pair: keep a, b, both, or merge them.",
        resolve,
        {
            "a": text("An id"),
            "b": text("An id"),
            "keep": text("", enum=["a", "b", "both", "merge"]),
            "because": text(),
        },
        ("a", "b", "keep"),
        {"id": text(), "status": text(), "content": text()},
        ("id",),
        destroys=True,
    ),
    Tool(
        "memory_ingest_text",
        "Take in a document",
        "Take in a text; what is worth keeping becomes memories. With a title it may be given again when it "
        "has changed.",
        ingest,
        {
            "text": text(),
            "title": text(),
            "format": text("", enum=["markdown", "text"]),
            "tags": words(),
            "dry": truth("Only say what would happen"),
        },
        ("text",),
        {"counts": {"type": "object"}, "memories": words(), "dry": truth()},
        ("counts", "memories"),
    ),
    Tool(
        "memory_flush",
        "Read what waits",
        "Read now what was captured and still waits to be read.",
        flush,
        {"session": text()},
        (),
        {"logged": whole(), "memories": objects(), "waiting": whole(), "because": text()},
        ("memories",),
    ),
    Tool(
        "memory_stats",
        "Count memories",
        "How much is kept, of what.",
        stats,
        {},
        (),
        {"memories": whole()},
        ("memories",),
        reads=True,
    ),
    Tool(
        "memory_doctor",
        "Check the memory's health",
        "Look at every part, rebuild what can be rebuilt, say what to do about the rest.",
        doctor,
        {},
        (),
        {"ok": truth(), "findings": objects()},
        ("ok", "findings"),
    ),
    Tool(
        "memory_reembed",
        "Make missing vectors",
        "Make the vectors that are still missing.",
        reembed,
        {},
        (),
        {"embedded": whole()},
        ("embedded",),
    ),
    Tool(
        "memory_spending",
        "Tell what models cost",
        "What calls to models have cost in the last days.",
        spending,
        {"days": whole("Default 30")},
        (),
        {"spending": objects()},
        ("spending",),
        reads=True,
    ),
)
