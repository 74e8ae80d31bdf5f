"""Tools of doubt: what is not known, its answers, and claims about a directory that no longer hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engram.model.plain import plain
from engram.server.mcp import shapes
from engram.server.mcp.tool import Call, Tool, objects, text, truth, whole, words

if TYPE_CHECKING:
    from engram.model.session import Gap


def gaps(call: Call) -> dict[str, Any]:
    """What is not known, or the few questions to ask now."""
    noun = call.memory.gaps
    if call.given.get("ask"):
        found = noun.ask(**call.only("session", "about"))
    else:
        found = noun.list(**call.only("limit"))
    return {"gaps": [_gap(one) for one in found]}


def answer(call: Call) -> dict[str, Any]:
    """Remember an answer and close its gap."""
    held = call.memory.gaps.answer(call.given["id"], call.given["text"])
    return {"id": held.id, "content": held.content}


def dismiss(call: Call) -> dict[str, Any]:
    """Close a gap without an answer."""
    return {"gap": _gap(call.memory.gaps.dismiss(call.given["id"]))}


def drift(call: Call) -> dict[str, Any]:
    """What memories claim about a directory and is not there."""
    found: dict[str, Any] = plain(call.memory.drift(**call.only("directory", "apply", "limit")))
    run = found.pop("run")
    return found | ({"run": run["run"]["id"]} if run else {})


def _gap(one: Gap) -> dict[str, Any]:
    return shapes.without_empty(plain(one))


MORE = (
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
