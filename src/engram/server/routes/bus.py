"""The bus over REST: agents offer memories, ask for those of others, and receive copies."""

from __future__ import annotations

from engram.nouns.bus import Bus
from engram.server.route import Route

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/bus/publications", Bus.publications, on="bus", wrap="publications"),
    Route(
        "POST",
        "/v1/memories/{memory_id}/publish",
        Bus.publish,
        on="bus",
        status=201,
        example={"to": "project", "topics": ["deploy"]},
    ),
    Route("DELETE", "/v1/bus/publications/{publication_id}", Bus.withdraw, on="bus", wrap="withdrawn"),
    Route("GET", "/v1/bus/subscriptions", Bus.subscriptions, on="bus", wrap="subscriptions"),
    Route(
        "POST",
        "/v1/bus/subscriptions",
        Bus.subscribe,
        on="bus",
        status=201,
        example={"topics": ["deploy"], "min_importance": 0.6, "rate": 5},
    ),
    Route("DELETE", "/v1/bus/subscriptions/{subscription_id}", Bus.unsubscribe, on="bus", wrap="ended"),
    Route("POST", "/v1/bus/deliver", Bus.deliver, on="bus", owner_only=True),
)
