"""Tools that write: a statement, a change, an opinion or a talk goes in; what became of it comes out."""

from __future__ import annotations

from typing import Any

from engram.errors import InvalidInput
from engram.model.capture import IngestReport
from engram.model.facts import EdgeType
from engram.server.mcp import tool
from engram.server.mcp.tool import Tool, ToolCall, number, objects, text, truth, whole, words

SOURCE = "agent"
"""What comes through this door was said by an agent, and is trusted as far."""
_FIELDS = ("category", "tags", "importance", "event_time")
_ID = text("Its id, or the first characters of it")
_CHANGED = {"id": text(), "status": text(), "content": text(), "because": text()}


def store(call: ToolCall) -> dict[str, Any]:
    """Keep one statement."""
    given = call.only(*_FIELDS, "pinned", "session")
    return tool.receipt(call.memory.remember(call.given["content"], source=SOURCE, **given))


def update(call: ToolCall) -> dict[str, Any]:
    """Change fields of a memory."""
    changes = call.only("content", *_FIELDS)
    if not changes:
        raise InvalidInput("Nothing to change: give a new content, category, tags, importance or event_time.")
    because = call.given.get("because", "")
    return tool.changed(call.memory.update(call.given["id"], because=because, **changes), because)


def delete(call: ToolCall) -> dict[str, Any]:
    """Archive a memory, or erase it."""
    because = call.given.get("because", "")
    if call.given.get("erase"):
        found = call.memory.get(call.given["id"])
        call.memory.erase(call.given["id"], because)
        return {"id": found.id if found else call.given["id"], "status": "erased", "because": because}
    gone = call.memory.forget(call.given["id"], because)
    return {"id": gone.id, "status": str(gone.status), "because": because}


def move(call: ToolCall) -> dict[str, Any]:
    """Move a memory one layer up or down."""
    because = call.given.get("because", "")
    down = call.given.get("down", False)
    mover = call.memory.demote if down else call.memory.promote
    moved = mover(call.given["id"], because)
    return {"id": moved.id, "layer": moved.layer.name.lower(), "because": because}


def touch(call: ToolCall) -> dict[str, Any]:
    """Count a use of memories."""
    return {"touched": call.memory.touch(call.given["ids"], **call.only("session"))}


def trash(call: ToolCall) -> dict[str, Any]:
    """Look into the trash, or empty it."""
    if call.given.get("empty"):
        return {"purged": call.memory.trash.purge("emptied by an agent"), "total": 0, "memories": []}
    lying = call.memory.trash.list(**call.only("limit"))
    memories = [
        {"id": one.memory.id, "content": one.memory.content, "deleted_at": one.deleted_at.isoformat()}
        for one in lying.items
    ]
    return {"memories": memories, "total": lying.total}


def feedback(call: ToolCall) -> dict[str, Any]:
    """Say whether a memory helped."""
    memory = call.memory.feedback(
        call.given["id"], helpful=call.given["helpful"], **call.only("query", "because")
    )
    return {"id": memory.id, "helpful": memory.usage.helpful, "unhelpful": memory.usage.unhelpful}


def relate(call: ToolCall) -> dict[str, Any]:
    """Connect two memories."""
    edge = call.memory.relate(
        call.given["source"], call.given["target"], call.given.get("type", EdgeType.RELATED_TO)
    )
    return {"source": edge.source, "target": edge.target, "type": str(edge.type)}


def unrelate(call: ToolCall) -> dict[str, Any]:
    """Take a connection away."""
    kind = call.given.get("type", EdgeType.RELATED_TO)
    return {"removed": call.memory.unrelate(call.given["source"], call.given["target"], kind)}


def capture(call: ToolCall) -> dict[str, Any]:
    """Listen to what was said."""
    given = call.only("user", "assistant", "messages", "session")
    heard = call.memory.observe(**given, message_id=call.given.get("request_id", ""))
    return tool.observation(heard)


def pin(call: ToolCall) -> dict[str, Any]:
    """Keep a memory from being forgotten, or let it go."""
    memory = call.memory.pin(call.given["id"], pinned=call.given.get("pinned", True))
    return {"id": memory.id, "pinned": memory.pinned}


def restore(call: ToolCall) -> dict[str, Any]:
    """Bring back what was archived or superseded."""
    because = call.given.get("because", "")
    return tool.changed(call.memory.restore(call.given["id"], because), because)


def confirm(call: ToolCall) -> dict[str, Any]:
    """Vouch for a memory."""
    because = call.given.get("because", "")
    return tool.changed(call.memory.confirm(call.given["id"], because), because)


def status(call: ToolCall) -> dict[str, Any]:
    """Say whether a memory still holds."""
    because = call.given.get("because", "")
    return tool.changed(call.memory.set_status(call.given["id"], call.given["status"], because), because)


PINNED = (
    Tool(
        "memory_store",
        "Store a memory",
        "Remember one statement that will still matter later: a preference, decision, fact or lesson. Known "
        "statements are reinforced, outdated ones superseded.",
        store,
        {
            "content": text("One self-contained statement"),
            "category": text("preference, decision, fact, procedure, …"),
            "tags": words(),
            "importance": number("0 to 1"),
            "event_time": text("When it happened, ISO 8601"),
            "pinned": truth("Never forget it"),
            "request_id": text("Repeating it changes nothing"),
        },
        ("content",),
        {
            "id": text(),
            "outcome": text("stored, reinforced, merged, superseded or challenged"),
            "because": text(),
        },
        ("id", "outcome"),
    ),
    Tool(
        "memory_update",
        "Change a memory",
        "Change a memory; its old words stay in its history.",
        update,
        {
            "id": _ID,
            "content": text("The new words"),
            "category": text(),
            "tags": words(),
            "importance": number(),
            "because": text("Why"),
        },
        ("id",),
        {"id": text(), "status": text(), "content": text()},
        ("id", "status"),
    ),
    Tool(
        "memory_delete",
        "Forget a memory",
        "Archive a memory: found no more, can be restored. With erase it is gone for good.",
        delete,
        {"id": _ID, "because": text("Why"), "erase": truth("Only when the user asks to erase it")},
        ("id",),
        {"id": text(), "status": text()},
        ("id", "status"),
        destroys=True,
    ),
    Tool(
        "memory_feedback",
        "Say whether a memory helped",
        "Say whether a memory helped with a question; an unhelpful one stays out of questions like it.",
        feedback,
        {"id": _ID, "helpful": truth(), "query": text("The question")},
        ("id", "helpful"),
        {"id": text(), "helpful": whole(), "unhelpful": whole()},
        ("id",),
        repeats=False,
    ),
    Tool(
        "memory_relate",
        "Connect two memories",
        "Say what one memory is to another.",
        relate,
        {
            "source": text("An id"),
            "target": text("An id"),
            "type": text("Default related_to", enum=[str(kind) for kind in EdgeType]),
        },
        ("source", "target"),
        {"source": text(), "target": text(), "type": text()},
        ("source", "target", "type"),
    ),
    Tool(
        "memory_capture",
        "Listen to a conversation",
        "Hand over what was said; what is worth keeping becomes memories, the rest is left out.",
        capture,
        {
            "user": text("What the user said"),
            "assistant": text("What you answered"),
            "messages": objects("Or chat messages with role and content"),
            "session": text("Name of the conversation"),
            "request_id": text("Repeating it changes nothing"),
        },
        (),
        {"logged": whole(), "memories": objects(), "waiting": whole(), "because": text()},
        ("logged", "memories"),
    ),
)

MORE = (
    Tool(
        "memory_promote",
        "Move a memory up",
        "Move a memory one layer up, towards the core; with down, one layer down.",
        move,
        {"id": _ID, "down": truth(), "because": text("Why")},
        ("id",),
        {"id": text(), "layer": text(), "because": text()},
        ("id", "layer"),
        repeats=False,
    ),
    Tool(
        "memory_touch",
        "Count a use",
        "Say that memories were used that no search brought.",
        touch,
        {"ids": words(), "session": text()},
        ("ids",),
        {"touched": whole()},
        ("touched",),
        repeats=False,
    ),
    Tool(
        "memory_trash",
        "Look into the trash",
        "What was forgotten and can still be restored; with empty, all of it goes for good.",
        trash,
        {"limit": whole("Default 100"), "empty": truth("Only when the user asks for it")},
        (),
        {"memories": objects(), "total": whole(), "purged": whole()},
        ("total",),
        destroys=True,
    ),
    Tool(
        "memory_pin",
        "Pin a memory",
        "Keep a memory from ever being forgotten; pinned false lets it go.",
        pin,
        {"id": _ID, "pinned": truth()},
        ("id",),
        {"id": text(), "pinned": truth()},
        ("id", "pinned"),
    ),
    Tool(
        "memory_restore",
        "Bring a memory back",
        "Bring back what was archived, superseded or invalidated.",
        restore,
        {"id": _ID, "because": text("Why")},
        ("id",),
        _CHANGED,
        ("id", "status"),
    ),
    Tool(
        "memory_confirm",
        "Vouch for a memory",
        "Say that a memory is still true.",
        confirm,
        {"id": _ID, "because": text("Why")},
        ("id",),
        _CHANGED,
        ("id", "status"),
        repeats=False,
    ),
    Tool(
        "memory_status",
        "Set whether a memory holds",
        "Set a memory's status: active, challenged, invalidated, archived …",
        status,
        {"id": _ID, "status": text(), "because": text("Why")},
        ("id", "status"),
        _CHANGED,
        ("id", "status"),
        destroys=True,
    ),
    Tool(
        "memory_unrelate",
        "Take a connection away",
        "Take away what one memory is to another.",
        unrelate,
        {"source": text("An id"), "target": text("An id"), "type": text("Default related_to")},
        ("source", "target"),
        {"removed": truth()},
        ("removed",),
        destroys=True,
    ),
)


# ---------------------------------------------------------------- results
# Tools that take in what work came to: a task, a flow of steps, a search, the summary of a session.


OUTCOME = text("success, failure or partial", enum=["success", "failure", "partial"])
REPORT = {"counts": {"type": "object"}, "memories": words(), "dry": truth()}


def task(call: ToolCall) -> dict[str, Any]:
    """What a task came to, or a flow of several steps."""
    name, more = call.given["name"], call.only("result", "outcome", "dry")
    if "steps" in call.given:
        return told(call.memory.sources.flow(name, call.given["steps"], **more))
    return told(call.memory.sources.task(name, **more))


def research(call: ToolCall) -> dict[str, Any]:
    """What a search found."""
    found = call.memory.sources.research(
        call.given["findings"], query=call.given["query"], **call.only("urls", "dry")
    )
    return told(found)


def summary(call: ToolCall) -> dict[str, Any]:
    """What a session came to."""
    found = call.memory.sources.summary(call.given["text"], session=call.given["session"], **call.only("dry"))
    return told(found)


def told(report: IngestReport) -> dict[str, Any]:
    """A report as a tool gives it: how many items came to what, and the memories."""
    kept = [one for item in report.items for one in item.memories]
    return {"counts": report.counts, "memories": kept, "dry": report.dry}


RESULTS_MORE = (
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
