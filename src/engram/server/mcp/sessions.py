"""Tools for sessions: an agent's turns with their context, and what came of flows and projects."""

from __future__ import annotations

from typing import Any

from engram.api.bus import REGIONS
from engram.model.plain import plain
from engram.server.mcp import tool
from engram.server.mcp.tool import Schema, Tool, ToolCall, objects, text, truth, whole, words
from engram.server.mcp.upkeep import REPORT, told

SESSION: Schema = text("The session's id")


def start(call: ToolCall) -> dict[str, Any]:
    """Start a session, or wake one."""
    return {"session": plain(call.memory.sessions.start(**call.only("agent", "model", "id", "timezone")))}


def listed(call: ToolCall) -> dict[str, Any]:
    """Every session."""
    return {"sessions": plain(call.memory.sessions.list())}


def get(call: ToolCall) -> dict[str, Any]:
    """One session."""
    return {"session": plain(call.memory.sessions.get(call.given["session_id"]))}


def turn(call: ToolCall) -> dict[str, Any]:
    """Begin a turn."""
    given = call.only("system", "budget")
    begun = call.memory.sessions.turn(call.given["session_id"], call.given["message"], **given)
    return {
        "messages": plain(begun.messages),
        "topic": begun.topic.value,
        "questions": [gap.question for gap in begun.questions],
    }


def reply(call: ToolCall) -> dict[str, Any]:
    """End the open turn."""
    heard = call.memory.sessions.reply(call.given["session_id"], call.given.get("reply", ""))
    return {"learned": None if heard is None else tool.observation(heard)}


def hold(call: ToolCall) -> dict[str, Any]:
    """Put something on the mind."""
    return {"session": plain(call.memory.sessions.hold(call.given["session_id"], call.given["content"]))}


def suspend(call: ToolCall) -> dict[str, Any]:
    """Send a session to sleep."""
    return {"session": plain(call.memory.sessions.suspend(call.given["session_id"]))}


def resume(call: ToolCall) -> dict[str, Any]:
    """Wake a session."""
    return {"session": plain(call.memory.sessions.resume(call.given["session_id"]))}


def abort(call: ToolCall) -> dict[str, Any]:
    """Abort what runs."""
    return {"aborted": call.memory.sessions.abort(call.given["session_id"])}


def end(call: ToolCall) -> dict[str, Any]:
    """End a session."""
    heard = call.memory.sessions.end(call.given["session_id"])
    return {"learned": None if heard is None else tool.observation(heard)}


def learn(call: ToolCall) -> dict[str, Any]:
    """Keep how a flow ran."""
    given = call.only("outcome", "result")
    learned = call.memory.sessions.learn(call.given["name"], call.given["steps"], **given)
    return {"id": learned.memory.id, "runs": learned.runs, "success_rate": learned.success_rate}


def complete(call: ToolCall) -> dict[str, Any]:
    """End a project."""
    given = call.only("summary", "lessons")
    done = call.memory.sessions.complete(call.given["project"], **given)
    kept = [one for one in (done.summary, *done.lessons) if one is not None]
    return {"kept": [one.id for one in kept], "promoted": [one.id for one in done.promoted]}


_ONE = {"session_id": SESSION}
_NEEDS = ("session_id",)
_TOLD: dict[str, Schema] = {"session": {"type": "object"}}
_LEARNED: dict[str, Schema] = {"learned": {"type": ["object", "null"]}}

MORE = (
    Tool(
        "memory_session_start",
        "Start a session",
        "Start a conversation whose working memory lives between turns, or wake the one that sleeps.",
        start,
        {
            "agent": text("Whose session it is"),
            "model": text("The language model whose budget it keeps"),
            "id": text("An id of your own; the agent's last sleeping session when left out"),
            "timezone": text("Where the user is, such as Europe/Oslo: it tells what yesterday is"),
        },
        (),
        _TOLD,
        ("session",),
    ),
    Tool(
        "memory_session_list",
        "List sessions",
        "Sessions that are awake or asleep, the last used first.",
        listed,
        {},
        (),
        {"sessions": objects()},
        ("sessions",),
        reads=True,
    ),
    Tool(
        "memory_session_get",
        "Look at a session",
        "What is on a session's mind, how its talk goes, how often its next recall was prepared rightly.",
        get,
        _ONE,
        _NEEDS,
        _TOLD,
        ("session",),
        reads=True,
    ),
    Tool(
        "memory_session_turn",
        "Begin a turn",
        "Begin a turn with a message: the prompt for it within the budget, with what helps. Then reply.",
        turn,
        {
            **_ONE,
            "message": text(),
            "system": text("The agent's own prompt"),
            "budget": whole("Tokens the prompt may have", minimum=1),
        },
        ("session_id", "message"),
        {"messages": objects(), "topic": text(), "questions": words("Worth asking now")},
        ("messages", "topic", "questions"),
        repeats=False,
    ),
    Tool(
        "memory_session_reply",
        "End a turn",
        "Say what was answered in the open turn: it is listened to, and the next recall is prepared.",
        reply,
        {**_ONE, "reply": text()},
        _NEEDS,
        _LEARNED,
        ("learned",),
    ),
    Tool(
        "memory_session_hold",
        "Hold in mind",
        "Put something on a session's mind; what has to leave for it is offered to long-term memory.",
        hold,
        {**_ONE, "content": text()},
        ("session_id", "content"),
        _TOLD,
        ("session",),
    ),
    Tool(
        "memory_session_suspend",
        "Suspend a session",
        "Send a session to sleep: what is on its mind is sealed and kept, and wiped from memory.",
        suspend,
        _ONE,
        _NEEDS,
        _TOLD,
        ("session",),
    ),
    Tool(
        "memory_session_resume",
        "Resume a session",
        "Wake a session: whole within hours, weaker within a day, anew after that.",
        resume,
        _ONE,
        _NEEDS,
        _TOLD,
        ("session",),
    ),
    Tool(
        "memory_session_abort",
        "Abort a turn",
        "Say that the answer of the turn under way is no longer wanted.",
        abort,
        _ONE,
        _NEEDS,
        {"aborted": whole()},
        ("aborted",),
    ),
    Tool(
        "memory_session_end",
        "End a session",
        "Read what waits of a session and keep nothing to come back to.",
        end,
        _ONE,
        _NEEDS,
        _LEARNED,
        ("learned",),
        destroys=True,
    ),
    Tool(
        "memory_flow_learn",
        "Learn from a run",
        "Keep how a flow ran, as one procedure that counts its runs and knows how the last one ended.",
        learn,
        {
            "name": text("The flow"),
            "steps": {"type": "array", "items": {"type": ["string", "object"]}},
            "outcome": text("", enum=["success", "failure", "partial"]),
            "result": text(),
        },
        ("name", "steps"),
        {"id": text(), "runs": whole(), "success_rate": {"type": "number"}},
        ("id", "runs", "success_rate"),
        repeats=False,
    ),
    Tool(
        "memory_project_complete",
        "Complete a project",
        "End a project: keep what it came to and taught; what proved itself is for every agent.",
        complete,
        {"project": text(), "summary": text(), "lessons": words()},
        ("project",),
        {"kept": words(), "promoted": words()},
        ("kept", "promoted"),
    ),
)
"""Only in the full set."""


# ---------------------------------------------------------------- bus
# Tools by which agents tell each other what they learned.


def publish(call: ToolCall) -> dict[str, Any]:
    """Offer a memory."""
    return {
        "publication": plain(call.memory.bus.publish(call.given["id"], **call.only("to", "agents", "topics")))
    }


def withdraw(call: ToolCall) -> dict[str, Any]:
    """Take an offer back."""
    return {"withdrawn": call.memory.bus.withdraw(call.given["publication_id"])}


def publications(call: ToolCall) -> dict[str, Any]:
    """What is offered."""
    return {"publications": plain(call.memory.bus.publications(**call.only("limit", "after")))}


def subscribe(call: ToolCall) -> dict[str, Any]:
    """Ask for what others offer."""
    given = call.only("topics", "agents", "min_importance", "rate", "earlier")
    return {"subscription": plain(call.memory.bus.subscribe(**given))}


def unsubscribe(call: ToolCall) -> dict[str, Any]:
    """End a subscription."""
    return {"ended": call.memory.bus.unsubscribe(call.given["subscription_id"])}


def subscriptions(call: ToolCall) -> dict[str, Any]:
    """Who wants what."""
    return {"subscriptions": plain(call.memory.bus.subscriptions())}


def deliver(call: ToolCall) -> dict[str, Any]:
    """Deliver what waits."""
    return told(plain(call.memory.bus.deliver()))


BUS_MORE = (
    Tool(
        "memory_publish",
        "Tell other agents",
        "Offer a memory to other agents of the squad, the project or everyone; subscribers receive a copy.",
        publish,
        {
            "id": text("The memory"),
            "to": text("", enum=list(REGIONS)),
            "agents": words("Only these"),
            "topics": words("What it is about"),
        },
        ("id",),
        {"publication": {"type": "object"}},
        ("publication",),
    ),
    Tool(
        "memory_withdraw",
        "Take an offer back",
        "Take an offer to other agents back; copies that were delivered stay.",
        withdraw,
        {"publication_id": text()},
        ("publication_id",),
        {"withdrawn": truth()},
        ("withdrawn",),
    ),
    Tool(
        "memory_publications",
        "List offers",
        "What agents offer each other.",
        publications,
        {"limit": whole(minimum=1, maximum=1000), "after": whole(minimum=0)},
        (),
        {"publications": objects()},
        ("publications",),
        reads=True,
    ),
    Tool(
        "memory_subscribe",
        "Hear of other agents",
        "Ask for copies of what other agents offer, by topic, agent and importance.",
        subscribe,
        {
            "topics": words("One of these; none: all"),
            "agents": words("Only from these"),
            "min_importance": {"type": "number", "minimum": 0, "maximum": 1},
            "rate": whole("Copies in one delivery", minimum=1, maximum=1000),
            "earlier": truth("Also what was offered before"),
        },
        (),
        {"subscription": {"type": "object"}},
        ("subscription",),
    ),
    Tool(
        "memory_unsubscribe",
        "End a subscription",
        "Hear no more of what other agents offer; copies stay.",
        unsubscribe,
        {"subscription_id": text()},
        ("subscription_id",),
        {"ended": truth()},
        ("ended",),
    ),
    Tool(
        "memory_subscriptions",
        "List subscriptions",
        "Which agents want to hear of what.",
        subscriptions,
        {},
        (),
        {"subscriptions": objects()},
        ("subscriptions",),
        reads=True,
    ),
    Tool(
        "memory_deliver",
        "Deliver offers",
        "Deliver now what agents have offered each other.",
        deliver,
        {},
        (),
        REPORT,
        ("run", "tallies"),
    ),
)
