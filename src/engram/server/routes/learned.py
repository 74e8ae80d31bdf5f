"""What consolidation worked out over REST: profile, map, tree, cards, topics, boxes and the like."""

from __future__ import annotations

from engram.nouns.knowledge import Knowledge
from engram.server.route import Route

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/knowledge/profile", Knowledge.profile, on="knowledge"),
    Route("GET", "/v1/knowledge/identity", Knowledge.identity, on="knowledge"),
    Route("GET", "/v1/knowledge/map", Knowledge.map, on="knowledge"),
    Route("GET", "/v1/knowledge/tree", Knowledge.tree, on="knowledge"),
    Route("GET", "/v1/knowledge/core", Knowledge.core, on="knowledge"),
    Route("GET", "/v1/knowledge/topics", Knowledge.topics, on="knowledge", wrap="topics"),
    Route(
        "GET", "/v1/knowledge/cards", Knowledge.cards, on="knowledge", wrap="cards", example={"prefix": "an"}
    ),
    Route("GET", "/v1/knowledge/cards/{name:path}", Knowledge.card, on="knowledge", wrap="card"),
    Route("GET", "/v1/knowledge/boxes", Knowledge.boxes, on="knowledge", wrap="boxes", example={"limit": 10}),
    Route("GET", "/v1/knowledge/traces", Knowledge.traces, on="knowledge", wrap="traces"),
    Route("GET", "/v1/knowledge/patterns", Knowledge.patterns, on="knowledge", wrap="patterns"),
    Route("GET", "/v1/knowledge/guidelines", Knowledge.guidelines, on="knowledge"),
    Route(
        "GET",
        "/v1/knowledge/knowing",
        Knowledge.knowing,
        on="knowledge",
        wrap="knowing",
        example={"about": "How do we back up the database?"},
    ),
)
