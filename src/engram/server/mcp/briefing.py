"""Tools for the start of a session and its open loops: resume, recall pack, commitments, triggers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from engram.model.plain import plain
from engram.server.mcp import shapes
from engram.server.mcp.tool import Call, Tool, objects, text, truth, whole, words

if TYPE_CHECKING:
    from engram.model.briefing import BriefSection
    from engram.model.commitment import Commitment

STATES = ("open", "waiting", "done", "dropped")


def resume(call: Call) -> dict[str, Any]:
    """Where things stand, for a session that starts cold."""
    found = call.memory.resume(call.given.get("budget"), **call.only("form", "workspace"))
    return {"text": found.text, "characters": found.characters, "sections": _sections(found.sections)}


def pack(call: Call) -> dict[str, Any]:
    """The document to start a session with."""
    found = call.memory.recall_pack(call.given.get("message", ""), **call.only("tasks", "workspace"))
    return {
        "text": found.text,
        "words": found.words,
        "sections": _sections(found.sections),
        "triggered": [*found.triggered],
    }


def _sections(sections: Iterable[BriefSection]) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "ids": [*one.ids], "size": one.size, "left_out": one.left_out, "how": one.how}
        for one in sections
    ]


def loops(call: Call) -> dict[str, Any]:
    """Open loops, oldest first."""
    found = call.memory.commitments.list(call.given.get("state"), **call.only("limit"))
    return {"commitments": [_loop(one) for one in found]}


def open_loop(call: Call) -> dict[str, Any]:
    """Something promised or owed."""
    made = call.memory.commitments.open(call.given["text"], **call.only("due", "waiting_on", "session"))
    return {"commitment": _loop(made)}


def change_loop(call: Call) -> dict[str, Any]:
    """Close a loop, wait for somebody, or open it again."""
    given, noun = call.given, call.memory.commitments
    if given["state"] == "waiting":
        return {"commitment": _loop(noun.wait(given["id"], given.get("on", "")))}
    if given["state"] == "open":
        return {"commitment": _loop(noun.reopen(given["id"], **call.only("due", "because")))}
    return {"commitment": _loop(noun.close(given["id"], given["state"], **call.only("because")))}


def review(call: Call) -> dict[str, Any]:
    """What later statements say was done."""
    found = call.memory.commitments.review(**call.only("dry", "limit"))
    return {"closings": [{"commitment": _loop(one.commitment), "memory": one.memory} for one in found]}


def _loop(one: Commitment) -> dict[str, Any]:
    return {"id": one.id} | shapes.without_empty(plain(one))


def triggers(call: Call) -> dict[str, Any]:
    """Words that load pages; those a message sets off, if one is given."""
    noun = call.memory.triggers
    found = noun.match(call.given["message"]) if "message" in call.given else noun.list()
    return {"triggers": [shapes.without_empty(plain(one)) for one in found]}


def put_trigger(call: Call) -> dict[str, Any]:
    """Make or change a trigger."""
    noun, given = call.memory.triggers, call.only("words", "pages")
    if "id" in call.given:
        return {"trigger": plain(noun.update(call.given["id"], **given))}
    return {"trigger": plain(noun.add(given.get("words", ()), given.get("pages", ())))}


def remove_trigger(call: Call) -> dict[str, Any]:
    """Take a trigger away."""
    return {"trigger": plain(call.memory.triggers.remove(call.given["id"]))}


_LOOP = {"commitment": {"type": "object"}}
_PAGES = words("entity:NAME, tag:TAG, category:NAME, memory:ID or origin:BEGINNING")

MORE = (
    Tool(
        "memory_resume",
        "Go on where we stopped",
        "What a session that starts cold should know: what always matters, what goes on, what is new.",
        resume,
        {
            "budget": whole("Characters at most"),
            "form": text("", enum=["full", "compact"]),
            "workspace": text("Leave out what belongs to another one"),
        },
        (),
        {"text": text(), "characters": whole(), "sections": objects()},
        ("text", "characters", "sections"),
        reads=True,
    ),
    Tool(
        "memory_pack",
        "Get the recall pack",
        "The document to start a session with: rules, open loops, today's focus, context, procedures.",
        pack,
        {
            "message": text("The user's message; its words may load more pages"),
            "tasks": words("What is to be done today"),
            "workspace": text("Leave out what belongs to another one"),
        },
        (),
        {"text": text(), "words": whole(), "sections": objects(), "triggered": words()},
        ("text", "words", "sections"),
        reads=True,
    ),
    Tool(
        "memory_commitments",
        "Look at open loops",
        "What was promised or is waited for, oldest first.",
        loops,
        {"state": text("Default: all that are not closed", enum=[*STATES]), "limit": whole("Default 100")},
        (),
        {"commitments": objects()},
        ("commitments",),
        reads=True,
    ),
    Tool(
        "memory_commitment_open",
        "Open a loop",
        "Keep something that was promised or is owed.",
        open_loop,
        {
            "text": text("What is to be done"),
            "due": text("A time, or words: by Friday"),
            "waiting_on": text("Whom or what it waits for"),
            "session": text(),
        },
        ("text",),
        _LOOP,
        ("commitment",),
    ),
    Tool(
        "memory_commitment_change",
        "Close a loop, wait or reopen",
        "Say that a commitment is done, dropped, waiting on somebody, or open again.",
        change_loop,
        {
            "id": text("Its id, or the first characters of it"),
            "state": text("", enum=[*STATES]),
            "on": text("Whom it waits for"),
            "due": text("The new day of one that is opened again"),
            "because": text(),
        },
        ("id", "state"),
        _LOOP,
        ("commitment",),
    ),
    Tool(
        "memory_commitment_review",
        "Close what was done",
        "Close commitments that later statements say, beyond doubt, were kept.",
        review,
        {"dry": truth("Only tell"), "limit": whole("Look at so many")},
        (),
        {"closings": objects()},
        ("closings",),
    ),
    Tool(
        "memory_triggers",
        "Look at triggers",
        "Words in a message that load pages into the pack; with a message, those it sets off.",
        triggers,
        {"message": text()},
        (),
        {"triggers": objects()},
        ("triggers",),
        reads=True,
    ),
    Tool(
        "memory_trigger_put",
        "Make or change a trigger",
        "When a message holds one of the words, the pack also tells the pages.",
        put_trigger,
        {"id": text("Of the one to change"), "words": words("Words or phrases"), "pages": _PAGES},
        (),
        {"trigger": {"type": "object"}},
        ("trigger",),
        repeats=False,
    ),
    Tool(
        "memory_trigger_remove",
        "Remove a trigger",
        "Take a trigger away.",
        remove_trigger,
        {"id": text()},
        ("id",),
        {"trigger": {"type": "object"}},
        ("trigger",),
        destroys=True,
    ),
)
