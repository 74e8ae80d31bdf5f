"""Tools about what is known: entities, facts, conflicts, how things changed and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engram.errors import UnknownEntity, UnknownValue
from engram.model.plain import plain
from engram.server.mcp import tool
from engram.server.mcp.tool import Tool, ToolCall, objects, text, truth, whole, words

if TYPE_CHECKING:
    from engram.model.session import Gap


def entities(call: ToolCall) -> dict[str, Any]:
    """Who and what is spoken of: one by name, or a list."""
    if "name" in call.given:
        return {"entities": [], "profile": profile(call, call.given["name"])}
    found = call.memory.entities.list(**call.only("type", "prefix", "limit"))
    return {"entities": [_entity(one) for one in found]}


def profile(call: ToolCall, name: str) -> dict[str, Any]:
    """What is known about one entity. Raises UnknownEntity."""
    known = call.memory.entities.get(name)
    if known is None:
        raise UnknownEntity(name)
    return {
        **_entity(known.entity),
        "facts": [tool.claim(one) for one in known.facts],
        "memories": [tool.brief_memory(one) for one in known.memories],
        "beside": [name for name, _ in known.beside],
        **tool.without_empty({"card": known.card.text if known.card else ""}),
    }


def merge_entities(call: ToolCall) -> dict[str, Any]:
    """Say that two names mean one."""
    return {"entity": _entity(call.memory.entities.alias(call.given["name"], call.given["other"]))}


def split_entity(call: ToolCall) -> dict[str, Any]:
    """Take a name off an entity again."""
    found = call.memory.entities.split(call.given["name"])
    return {"entity": _entity(found) if found else {}}


def timeline(call: ToolCall) -> dict[str, Any]:
    """How something changed, step by step."""
    told = call.memory.timeline(call.given["about"], **call.only("limit", "since", "until"))
    steps = [
        {"at": one.at.isoformat(), "kind": str(one.kind), "what": one.what, "memory": one.memory.id}
        | tool.without_empty({"change": one.change})
        for one in told
    ]
    return {"about": told.about, "steps": steps}


def reason(call: ToolCall) -> dict[str, Any]:
    """Think a question through."""
    call.tell(0, None, "thinking it through")
    thought = call.memory.reason(call.given["question"], **call.only("depth", "budget"))
    return {
        "answer": [{"claim": one.claim, "memories": [*one.memories]} for one in thought.answer],
        "tree": _branch(call, thought.tree),
        "gaps": [*thought.gaps],
        "notes": [*thought.notes],
    }


def _branch(call: ToolCall, one: Any) -> dict[str, Any]:
    shown = {
        "question": one.question,
        "memories": [tool.hit(hit, call.memory.access) for hit in one.hits],
        "branches": [_branch(call, branch) for branch in one.branches],
    }
    return tool.without_empty(shown)


def facts(call: ToolCall) -> dict[str, Any]:
    """Who is what to whom."""
    given = call.only("subject", "predicate", "object", "as_of", "limit", "history")
    return {"facts": [tool.claim(one) for one in call.memory.facts.query(**given)]}


def add_fact(call: ToolCall) -> dict[str, Any]:
    """State a fact."""
    triple = (call.given[name] for name in ("subject", "predicate", "object"))
    given = call.only("valid_from", "valid_to", "because")
    return tool.receipt(call.memory.facts.add(*triple, source="agent", **given))


def end_fact(call: ToolCall) -> dict[str, Any]:
    """Say that a fact holds no longer."""
    because = call.given.get("because", "")
    ended = call.memory.facts.end(call.given["id"], because=because, **call.only("at"))
    return tool.changed(ended, because)


def chain(call: ToolCall) -> dict[str, Any]:
    """What follows from what."""
    paths = call.memory.facts.chain(call.given["start"], **call.only("hops", "goal", "limit"))
    return {"paths": [{"names": [*path.names], "text": str(path)} for path in paths]}


def conflicts(call: ToolCall) -> dict[str, Any]:
    """What contradicts what."""
    found = call.memory.conflicts.list(**call.only("limit"))
    return {
        "conflicts": [
            {"a": tool.brief_memory(one.a), "b": tool.brief_memory(one.b), "because": one.because}
            for one in found
        ]
    }


def resolve(call: ToolCall) -> dict[str, Any]:
    """Settle a conflict."""
    ends = call.given["a"], call.given["b"], call.given["keep"]
    because = call.given.get("because", "")
    return tool.changed(call.memory.conflicts.resolve(*ends, because), because)


def _entity(one: Any) -> dict[str, Any]:
    shown = {"name": one.name, "type": one.type, "aliases": [*one.aliases], "mentions": one.mentions}
    return tool.without_empty(shown)


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


# ---------------------------------------------------------------- learned
# A tool that tells what consolidation worked out from memories taken together.


WHAT = (
    "profile", "identity", "core", "map", "tree", "topics", "cards", "boxes", "traces", "patterns",
    "guidelines",
)  # fmt: skip
LIMITED = frozenset({"cards", "boxes", "traces", "patterns"})


def knowledge(call: ToolCall) -> dict[str, Any]:
    """One part of what is known about everything kept, or the card of one name."""
    nouns = call.memory.knowledge
    if "name" in call.given:
        found = nouns.card(call.given["name"])
        return {"what": "card", "known": {} if found is None else plain(found)}
    if "about" in call.given:
        return {"what": "knowing", "known": plain(nouns.knowing(call.given["about"])) or {}}
    what = call.given.get("what", "profile")
    if what not in WHAT:
        raise UnknownValue("what", what, WHAT)
    given = call.only("limit") if what in LIMITED else {}
    told = plain(getattr(nouns, what)(**given))
    return {"what": what, "known": told if isinstance(told, dict) else {what: told}}


LEARNED_MORE = (
    Tool(
        "memory_knowledge",
        "Tell what was learned",
        "What was learned from memories taken together: profile, core, map of how well things are known, "
        "tree, topics and more. With a name: its card. With `about`: whether little is known of it.",
        knowledge,
        {
            "what": text("Default profile", enum=list(WHAT)),
            "name": text("Somebody or something: its card"),
            "about": text("A question: is little known of what it is about?"),
            "limit": whole("Of cards, boxes, traces, patterns; default 50"),
        },
        (),
        {"what": text(), "known": {"type": "object"}},
        ("what", "known"),
        reads=True,
    ),
)


# ---------------------------------------------------------------- doubting
# Tools of doubt: what is not known, its answers, and claims about a directory that no longer hold.


def gaps(call: ToolCall) -> dict[str, Any]:
    """What is not known, or the few questions to ask now."""
    noun = call.memory.gaps
    if call.given.get("ask"):
        found = noun.ask(**call.only("session", "about"))
    else:
        found = noun.list(**call.only("limit"))
    return {"gaps": [_gap(one) for one in found]}


def answer(call: ToolCall) -> dict[str, Any]:
    """Remember an answer and close its gap."""
    held = call.memory.gaps.answer(call.given["id"], call.given["text"])
    return {"id": held.id, "content": held.content}


def dismiss(call: ToolCall) -> dict[str, Any]:
    """Close a gap without an answer."""
    return {"gap": _gap(call.memory.gaps.dismiss(call.given["id"]))}


def drift(call: ToolCall) -> dict[str, Any]:
    """What memories claim about a directory and is not there."""
    found: dict[str, Any] = plain(call.memory.drift(**call.only("directory", "apply", "limit")))
    run = found.pop("run")
    return found | ({"run": run["run"]["id"]} if run else {})


def _gap(one: Gap) -> dict[str, Any]:
    return tool.without_empty(plain(one))


DOUBTING_MORE = (
    Tool(
        "memory_gaps",
        "Look at what is not known",
        "Questions about what is missing or contradictory. With `ask`: the few to ask now, each once a week.",
        gaps,
        {
            "ask": truth("Only those to ask now; they count as asked"),
            "session": text("At most two are asked in one"),
            "about": words("Names that are spoken of now"),
            "limit": whole("Default 50"),
        },
        (),
        {"gaps": objects()},
        ("gaps",),
        repeats=False,
    ),
    Tool(
        "memory_gap_answer",
        "Answer a question of the memory",
        "Remember the answer to a gap and close it.",
        answer,
        {"id": text("The key of the gap"), "text": text("What the user said")},
        ("id", "text"),
        {"id": text(), "content": text()},
        ("id", "content"),
    ),
    Tool(
        "memory_gap_dismiss",
        "Let a question be",
        "Close a gap without an answer: it is not asked again.",
        dismiss,
        {"id": text("The key of the gap")},
        ("id",),
        {"gap": {"type": "object"}},
        ("gap",),
    ),
    Tool(
        "memory_drift",
        "Check claims against a directory",
        "Files, symbols, versions and addresses that memories name and that are not there. Owners only.",
        drift,
        {
            "directory": text("Default: the configured one"),
            "apply": truth("Challenge or invalidate those memories; memory_undo takes it back"),
            "limit": whole("Dead references told at most"),
        },
        (),
        {
            "directory": text(),
            "files": whole(),
            "complete": truth(),
            "memories": whole(),
            "references": whole(),
            "dead": objects(),
            "run": text(),
        },
        ("directory", "dead"),
    ),
)
