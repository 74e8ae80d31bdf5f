"""Tools that take in documents and look after the memory: how much is kept, how it is, what is new."""

from __future__ import annotations

from typing import Any

from engram.model.memory import Filters
from engram.model.plain import plain
from engram.server.mcp import tool
from engram.server.mcp.tool import Tool, ToolCall, objects, text, truth, whole, words


def ingest(call: ToolCall) -> dict[str, Any]:
    """Take in a text."""
    call.tell(0, 1, "reading")
    given = call.only("title", "tags", "format")
    report = call.memory.sources.text(call.given["text"], **given, dry=call.given.get("dry", False))
    call.tell(1, 1, "read")
    kept = [one for item in report.items for one in item.memories]
    return {"counts": report.counts, "memories": kept, "dry": report.dry}


def flush(call: ToolCall) -> dict[str, Any]:
    """Read what waits to be read."""
    call.tell(0, None, "reading what was said")
    return tool.observation(call.memory.flush(call.given.get("session")))


def stats(call: ToolCall) -> dict[str, Any]:
    """How much is kept."""
    counted: dict[str, Any] = plain(call.memory.stats())
    return counted


def count(call: ToolCall) -> dict[str, Any]:
    """How many memories fit."""
    categories, tags, sources = (frozenset(call.given.get(name, ())) for name in _COUNTED)
    filters = Filters(categories=categories, tags_any=tags, sources=sources)
    return {"count": call.memory.count(filters=filters)}


def doctor(call: ToolCall) -> dict[str, Any]:
    """Look for damage."""
    call.tell(0, None, "looking at every part")
    findings = call.memory.doctor(**call.only("repair"))
    return {"ok": all(one.ok for one in findings), "findings": plain(findings)}


def reembed(call: ToolCall) -> dict[str, Any]:
    """Make the vectors that are missing."""
    count = call.memory.reembed(progress=lambda done, total: call.tell(done, total, "vectors"))
    return {"embedded": count}


def spending(call: ToolCall) -> dict[str, Any]:
    """What calls to models have cost."""
    return {"spending": plain(call.memory.spending(**call.only("days", "daily")))}


def recall_health(call: ToolCall) -> dict[str, Any]:
    """How the last recalls have been going."""
    health = call.memory.recall_health()
    return {"ok": health.ok, "health": plain(health)}


def news(call: ToolCall) -> dict[str, Any]:
    """What has happened since."""
    told = call.memory.news(call.given.get("after"), **call.only("limit"))
    return {"events": [tool.event(one) for one in told.events], "place": told.place}


_COUNTED = ("categories", "tags_any", "sources")

MORE = (
    Tool(
        "memory_count",
        "Count what fits",
        "How many memories are of these categories, with one of these tags, from these sources.",
        count,
        {name: words() for name in _COUNTED},
        (),
        {"count": whole()},
        ("count",),
        reads=True,
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
        "Look at every part and say what to do; with repair, mend what can be rebuilt.",
        doctor,
        {"repair": truth()},
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
        {"days": whole("Default 30"), "daily": truth("Day by day")},
        (),
        {"spending": objects()},
        ("spending",),
        reads=True,
    ),
    Tool(
        "memory_recall_health",
        "Tell how searches go",
        "How the last searches have been going, and warnings.",
        recall_health,
        {},
        (),
        {"ok": truth(), "health": {"type": "object"}},
        ("ok", "health"),
        reads=True,
    ),
    Tool(
        "memory_news",
        "Tell what is new",
        "What has happened since a place in the ledger; without one, where the ledger ends now.",
        news,
        {"after": text("A place from an earlier answer"), "limit": whole()},
        (),
        {"events": objects(), "place": text()},
        ("events", "place"),
        reads=True,
    ),
)


# ---------------------------------------------------------------- maintaining
# Tools that maintain the memory: consolidate, dream, what a run did, taking it back.


SHOWN = 50
"""Decisions told to a model; the counts tell of all."""


def consolidate(call: ToolCall) -> dict[str, Any]:
    """Let memories mature."""
    report = call.memory.consolidate(
        **call.only("dry", "stages"), progress=lambda done, total: call.tell(done, total, "consolidating")
    )
    return told(plain(report))


def dream(call: ToolCall) -> dict[str, Any]:
    """Replay and link."""
    call.tell(0, None, "dreaming")
    return told(plain(call.memory.dream(**call.only("dry"))))


def audit(call: ToolCall) -> dict[str, Any]:
    """Let a model look over what is known for good."""
    call.tell(0, None, "auditing")
    return told(plain(call.memory.audit(**call.only("dry"))))


def runs(call: ToolCall) -> dict[str, Any]:
    """The last runs."""
    return {"runs": plain(call.memory.upkeep.runs(**call.only("limit")))}


def report(call: ToolCall) -> dict[str, Any]:
    """What a run did."""
    found = call.memory.upkeep.report(call.given["run_id"], **call.only("limit", "after"))
    return told(plain(found), most=None)


def undo(call: ToolCall) -> dict[str, Any]:
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

MAINTAINING_MORE = (
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
