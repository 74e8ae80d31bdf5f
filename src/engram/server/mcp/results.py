"""Tools that take in what work came to: a task, a flow of steps, a search, the summary of a session."""

from __future__ import annotations

from typing import Any

from engram.model.ingest import IngestReport
from engram.server.mcp.tool import Call, Tool, objects, text, truth, words

OUTCOME = text("success, failure or partial", enum=["success", "failure", "partial"])
REPORT = {"counts": {"type": "object"}, "memories": words(), "dry": truth()}


def task(call: Call) -> dict[str, Any]:
    """What a task came to, or a flow of several steps."""
    name, more = call.given["name"], call.only("result", "outcome", "dry")
    if "steps" in call.given:
        return told(call.memory.sources.flow(name, call.given["steps"], **more))
    return told(call.memory.sources.task(name, **more))


def research(call: Call) -> dict[str, Any]:
    """What a search found."""
    found = call.memory.sources.research(
        call.given["findings"], query=call.given["query"], **call.only("urls", "dry")
    )
    return told(found)


def summary(call: Call) -> dict[str, Any]:
    """What a session came to."""
    found = call.memory.sources.summary(call.given["text"], session=call.given["session"], **call.only("dry"))
    return told(found)


def told(report: IngestReport) -> dict[str, Any]:
    """A report as a tool gives it: how many items came to what, and the memories."""
    kept = [one for item in report.items for one in item.memories]
    return {"counts": report.counts, "memories": kept, "dry": report.dry}


MORE = (
    Tool(
        "memory_ingest_task",
        "Keep what a task came to",
        "Keep the result of a task; with steps, of a flow of several.",
        task,
        {
            "name": text(),
            "result": text(),
            "outcome": OUTCOME,
            "steps": objects("name, outcome and result of each"),
            "dry": truth(),
        },
        ("name",),
        REPORT,
        ("counts", "memories"),
    ),
    Tool(
        "memory_ingest_research",
        "Keep what a search found",
        "Keep findings with the question and the addresses they came from.",
        research,
        {"query": text(), "findings": words(), "urls": words(), "dry": truth()},
        ("query", "findings"),
        REPORT,
        ("counts", "memories"),
    ),
    Tool(
        "memory_ingest_summary",
        "Keep the summary of a session",
        "Keep what a session came to, statement by statement.",
        summary,
        {"text": text(), "session": text(), "dry": truth()},
        ("text", "session"),
        REPORT,
        ("counts", "memories"),
    ),
)
