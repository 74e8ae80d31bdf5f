"""Tools by which agents tell each other what they learned."""

from __future__ import annotations

from typing import Any

from engram.model.plain import plain
from engram.nouns.bus import REGIONS
from engram.server.mcp.maintaining import REPORT, told
from engram.server.mcp.tool import Call, Tool, objects, text, truth, whole, words


def publish(call: Call) -> dict[str, Any]:
    """Offer a memory."""
    return {
        "publication": plain(call.memory.bus.publish(call.given["id"], **call.only("to", "agents", "topics")))
    }


def withdraw(call: Call) -> dict[str, Any]:
    """Take an offer back."""
    return {"withdrawn": call.memory.bus.withdraw(call.given["publication_id"])}


def publications(call: Call) -> dict[str, Any]:
    """What is offered."""
    return {"publications": plain(call.memory.bus.publications(**call.only("limit", "after")))}


def subscribe(call: Call) -> dict[str, Any]:
    """Ask for what others offer."""
    given = call.only("topics", "agents", "min_importance", "rate", "earlier")
    return {"subscription": plain(call.memory.bus.subscribe(**given))}


def unsubscribe(call: Call) -> dict[str, Any]:
    """End a subscription."""
    return {"ended": call.memory.bus.unsubscribe(call.given["subscription_id"])}


def subscriptions(call: Call) -> dict[str, Any]:
    """Who wants what."""
    return {"subscriptions": plain(call.memory.bus.subscriptions())}


def deliver(call: Call) -> dict[str, Any]:
    """Deliver what waits."""
    return told(plain(call.memory.bus.deliver()))


MORE = (
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
