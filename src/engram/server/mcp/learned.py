"""A tool that tells what consolidation worked out from memories taken together."""

from __future__ import annotations

from typing import Any

from engram.errors import UnknownValue
from engram.model.plain import plain
from engram.server.mcp.tool import Call, Tool, text, whole

WHAT = (
    "profile", "identity", "core", "map", "tree", "topics", "cards", "boxes", "traces", "patterns",
    "guidelines",
)  # fmt: skip
LIMITED = frozenset({"cards", "boxes", "traces", "patterns"})


def knowledge(call: Call) -> dict[str, Any]:
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


MORE = (
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
