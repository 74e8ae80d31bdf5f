"""Tools that maintain the memory: consolidate, dream, what a run did, taking it back."""

from __future__ import annotations

from typing import Any

from engram.model.plain import plain
from engram.server.mcp.tool import Call, Tool, objects, text, truth, whole, words

SHOWN = 50
"""Decisions told to a model; the counts tell of all."""


def consolidate(call: Call) -> dict[str, Any]:
    """Let memories mature."""
    report = call.memory.consolidate(
        **call.only("dry", "stages"), progress=lambda done, total: call.tell(done, total, "consolidating")
    )
    return told(plain(report))


def dream(call: Call) -> dict[str, Any]:
    """Replay and link."""
    call.tell(0, None, "dreaming")
    return told(plain(call.memory.dream(**call.only("dry"))))


def audit(call: Call) -> dict[str, Any]:
    """Let a model look over what is known for good."""
    call.tell(0, None, "auditing")
    return told(plain(call.memory.audit(**call.only("dry"))))


def runs(call: Call) -> dict[str, Any]:
    """The last runs."""
    return {"runs": plain(call.memory.upkeep.runs(**call.only("limit")))}


def report(call: Call) -> dict[str, Any]:
    """What a run did."""
    found = call.memory.upkeep.report(call.given["run_id"], **call.only("limit", "after"))
    return told(plain(found), most=None)


def undo(call: Call) -> dict[str, Any]:
    """Take a run back."""
    undone: dict[str, Any] = plain(call.memory.undo(call.given["run_id"]))
    return undone


def told(report: dict[str, Any], most: int | None = SHOWN) -> dict[str, Any]:
    """The report, with no more decisions than a model can use."""
    more = report["more"] or (most is not None and len(report["decided"]) > most)
    return {**report, "decided": report["decided"][:most], "more": more}


REPORT: dict[str, Any] = {
    "run": {"type": "object"},
    "tallies": objects(),
    "decided": objects(),
    "dry": truth(),
    "more": truth(),
}

MORE = (
    Tool(
        "memory_consolidate",
        "Let memories mature",
        "Promote, merge, learn, doubt and forget, by rule; `dry` only tells what would happen.",
        consolidate,
        {"dry": truth("Only say what would happen"), "stages": words("Only these stages")},
        (),
        REPORT,
        ("run", "tallies"),
    ),
    Tool(
        "memory_dream",
        "Dream",
        "Replay what is at risk, link what belongs together, strengthen what matters.",
        dream,
        {"dry": truth("Only say what would happen")},
        (),
        REPORT,
        ("run", "tallies"),
    ),
    Tool(
        "memory_audit",
        "Audit",
        "Let a model look over what is known for good; it may move, weigh and merge, never delete.",
        audit,
        {"dry": truth("Only say what would happen")},
        (),
        REPORT,
        ("run", "tallies"),
    ),
    Tool(
        "memory_runs",
        "List runs of maintenance",
        "The last runs of maintenance, newest first.",
        runs,
        {"limit": whole("How many", minimum=1, maximum=1000)},
        (),
        {"runs": objects()},
        ("runs",),
        reads=True,
    ),
    Tool(
        "memory_run_report",
        "Tell what a run did",
        "Counts by rule and each decision of a run, in order, after a number.",
        report,
        {
            "run_id": text(),
            "limit": whole("How many decisions", minimum=0, maximum=1000),
            "after": whole(minimum=0),
        },
        ("run_id",),
        REPORT,
        ("run", "tallies", "decided"),
        reads=True,
    ),
    Tool(
        "memory_undo",
        "Take a run back",
        "Take a whole run of maintenance back; what was changed since stays.",
        undo,
        {"run_id": text()},
        ("run_id",),
        {"run": {"type": "object"}, "restored": whole(), "left": words()},
        ("restored",),
    ),
)
