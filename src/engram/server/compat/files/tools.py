"""Tools of *files*: what its clients call over MCP by names of their own, answered as over REST.

Each is known as `engram.x` and as `remnic.x`. A tool that is not here is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from engram.errors import UnknownValue
from engram.model.axes import Kind
from engram.model.filters import Filters
from engram.server.compat.ask import Ask
from engram.server.compat.files import knowing, memories, recalling
from engram.server.compat.files.shapes import memory_of
from engram.server.compat.old import Told

PREFIXES = ("engram.", "remnic.")
VOTES = {"up": True, "down": False}
OUTCOMES = {"success": True, "failure": False}
MODES = ("shadow", "apply")
IDENTITY = Filters(categories=frozenset({"identity"}))
SHOWN = 50

Answers = Callable[[Ask], Any]


def feedback(ask: Ask) -> dict[str, Any]:
    """Say whether a memory helped."""
    helpful = _of(VOTES, "vote", ask.text("vote"))
    found = ask.memory.feedback(ask.text("memoryId"), helpful=helpful, because=ask.text("note", ""))
    return {"memoryId": found.id, "vote": ask.text("vote"), "recorded": True}


def outcome(ask: Ask) -> dict[str, Any]:
    """Say how it went with a memory."""
    helpful = _of(OUTCOMES, "outcome", ask.text("outcome"))
    found = ask.memory.feedback(ask.text("memoryId"), helpful=helpful, because=ask.text("outcome"))
    return {"memoryId": found.id, "outcome": ask.text("outcome"), "recorded": True}


def promote(ask: Ask) -> dict[str, Any]:
    """Move a memory one layer up."""
    moved = ask.memory.promote(ask.text("memoryId"), "promoted by a client")
    return {"memoryId": moved.id, "promoted": True, "layer": moved.layer.name.lower()}


def briefing(ask: Ask) -> dict[str, Any]:
    """What a session that starts cold should know."""
    found = ask.memory.resume()
    sections = [{"name": one.name, "text": one.text, "memoryIds": list(one.ids)} for one in found.sections]
    return {"format": "markdown", "markdown": found.text, "sections": sections}


def checkpoint(ask: Ask) -> dict[str, Any]:
    """Keep where a session stands."""
    report = ask.memory.sources.summary(ask.text("context"), session=recalling.session_of(ask))
    ids = [one for item in report.items for one in item.memories]
    return {"ok": True, "sessionKey": recalling.session_of(ask), "memoryIds": ids}


def identity(ask: Ask) -> dict[str, Any]:
    """What is remembered about who somebody is."""
    found = [memory_of(one) for one in ask.memory.list(filters=IDENTITY, limit=SHOWN)]
    return {"memories": found, "count": len(found)}


def governance(ask: Ask) -> dict[str, Any]:
    """Let memories mature; `shadow` only tells what would happen."""
    mode = ask.text("mode", "shadow") or "shadow"
    if mode not in MODES:
        raise UnknownValue("mode", mode, MODES)
    report = ask.memory.consolidate(dry=mode == "shadow")
    rules = [{"rule": one.rule, "count": one.count} for one in report.tallies]
    return {"runId": report.run.id, "mode": mode, "changes": report.changes, "rules": rules}


def dreams(ask: Ask) -> dict[str, Any]:
    """Replay and link memories."""
    report = ask.memory.dream(dry=ask.truth("dryRun"))
    return {"runId": report.run.id, "dryRun": report.dry, "changes": report.changes}


def procedures(ask: Ask) -> dict[str, Any]:
    """How many procedures are known."""
    return {"procedures": ask.memory.count(filters=Filters(kinds=frozenset({Kind.PROCEDURAL})))}


TOOLS: Mapping[str, Answers] = MappingProxyType(
    {
        "recall": recalling.recall,
        "recall_explain": recalling.health_of_recalls,
        "recall_xray": recalling.xray,
        "memory_last_recall": recalling.health_of_recalls,
        "memory_search": recalling.search,
        "lcm_search": recalling.said,
        "memory_store": memories.store,
        "suggestion_submit": memories.suggest,
        "memory_get": memories.get,
        "memory_timeline": memories.timeline,
        "memory_feedback": feedback,
        "memory_outcome": outcome,
        "memory_promote": promote,
        "memory_identity": identity,
        "memory_governance_run": governance,
        "observe": knowing.observe,
        "entity_get": knowing.entity,
        "memory_entities_list": knowing.entities,
        "review_list": knowing.contradictions,
        "review_resolve": knowing.resolve,
        "contradiction_scan_run": knowing.scan,
        "briefing": briefing,
        "context_checkpoint": checkpoint,
        "dreams_run": dreams,
        "procedural_stats": procedures,
    }
)


def own_name(name: Any) -> str | None:
    """The name of a tool without the system's own; None when it is no tool of that system.

    >>> own_name("remnic.recall"), own_name("memory_search")
    ('recall', None)
    """
    if not isinstance(name, str):
        return None
    return next((name.removeprefix(one) for one in PREFIXES if name.startswith(one)), None)


def run(name: str, ask: Ask) -> Any:
    """What a tool comes to. Raises UnknownValue for one that is not here."""
    if name not in TOOLS:
        raise UnknownValue("tool", name, tuple(TOOLS))
    found = TOOLS[name](ask)
    return found.value if isinstance(found, Told) else found


def _of(known: Mapping[str, bool], name: str, value: str) -> bool:
    if value not in known:
        raise UnknownValue(name, value, tuple(known))
    return known[value]
