"""Tools about what is known: entities, facts, conflicts, how things changed and what follows from them."""

from __future__ import annotations

from typing import Any

from engram.errors import UnknownEntity
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
        **shapes.without_empty({"card": known.card.text if known.card else ""}),
    }


def merge_entities(call: Call) -> dict[str, Any]:
    """Say that two names mean one."""
    return {"entity": _entity(call.memory.entities.alias(call.given["name"], call.given["other"]))}


def split_entity(call: Call) -> dict[str, Any]:
    """Take a name off an entity again."""
    found = call.memory.entities.split(call.given["name"])
    return {"entity": _entity(found) if found else {}}


def timeline(call: Call) -> dict[str, Any]:
    """How something changed, step by step."""
    told = call.memory.timeline(call.given["about"], **call.only("limit", "since", "until"))
    steps = [
        {"at": one.at.isoformat(), "kind": str(one.kind), "what": one.what, "memory": one.memory.id}
        | shapes.without_empty({"change": one.change})
        for one in told
    ]
    return {"about": told.about, "steps": steps}


def reason(call: Call) -> dict[str, Any]:
    """Think a question through."""
    call.tell(0, None, "thinking it through")
    thought = call.memory.reason(call.given["question"], **call.only("depth", "budget"))
    return {
        "answer": [{"claim": one.claim, "memories": [*one.memories]} for one in thought.answer],
        "tree": _branch(call, thought.tree),
        "gaps": [*thought.gaps],
        "notes": [*thought.notes],
    }


def _branch(call: Call, one: Any) -> dict[str, Any]:
    shown = {
        "question": one.question,
        "memories": [shapes.hit(hit, call.memory.access) for hit in one.hits],
        "branches": [_branch(call, branch) for branch in one.branches],
    }
    return shapes.without_empty(shown)


def facts(call: Call) -> dict[str, Any]:
    """Who is what to whom."""
    given = call.only("subject", "predicate", "object", "as_of", "limit", "history")
    return {"facts": [shapes.claim(one) for one in call.memory.facts.query(**given)]}


def add_fact(call: Call) -> dict[str, Any]:
    """State a fact."""
    triple = (call.given[name] for name in ("subject", "predicate", "object"))
    given = call.only("valid_from", "valid_to", "because")
    return shapes.receipt(call.memory.facts.add(*triple, source="agent", **given))


def end_fact(call: Call) -> dict[str, Any]:
    """Say that a fact holds no longer."""
    because = call.given.get("because", "")
    ended = call.memory.facts.end(call.given["id"], because=because, **call.only("at"))
    return shapes.changed(ended, because)


def chain(call: Call) -> dict[str, Any]:
    """What follows from what."""
    paths = call.memory.facts.chain(call.given["start"], **call.only("hops", "goal", "limit"))
    return {"paths": [{"names": [*path.names], "text": str(path)} for path in paths]}


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
        "Tell how something changed",
        'How something changed, oldest first: a name, "my editor", or any words.',
        timeline,
        {"about": text(), "limit": whole(), "since": text("ISO 8601"), "until": text()},
        ("about",),
        {"about": text(), "steps": objects()},
        ("steps",),
        reads=True,
    ),
    Tool(
        "memory_reason",
        "Think a question through",
        "For questions that one search does not answer: takes them apart and answers with what it rests on.",
        reason,
        {"question": text(), "depth": whole("1 to 5"), "budget": whole("Tokens it may rest on")},
        ("question",),
        {"answer": objects(), "tree": {"type": "object"}, "gaps": words(), "notes": words()},
        ("answer", "tree", "gaps"),
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
        "memory_fact_end",
        "End a fact",
        "Say that the fact a memory states holds no longer.",
        end_fact,
        {"id": text("The memory's id"), "at": text("Since when, ISO 8601"), "because": text()},
        ("id",),
        {"id": text(), "status": text()},
        ("id",),
        destroys=True,
    ),
    Tool(
        "memory_chain",
        "Follow facts",
        "Paths of facts from a name, the surest first; to a goal if one is named.",
        chain,
        {"start": text(), "goal": text(), "hops": whole("1 to 5"), "limit": whole()},
        ("start",),
        {"paths": objects()},
        ("paths",),
        reads=True,
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
)
