"""Doubt over REST: gaps and their answers, and what memories claim about a directory."""

from __future__ import annotations

from engram.engine import Engram
from engram.nouns.gaps import Gaps
from engram.server.route import Route

ROUTES: tuple[Route, ...] = (
    Route("GET", "/v1/gaps", Gaps.list, on="gaps", wrap="gaps", example={"limit": 5}),
    Route("POST", "/v1/gaps/ask", Gaps.ask, on="gaps", wrap="gaps", example={"session": "s1"}),
    Route("GET", "/v1/gaps/{gap_id}", Gaps.get, on="gaps"),
    Route("POST", "/v1/gaps/{gap_id}/answer", Gaps.answer, on="gaps", example={"text": "my neighbour"}),
    Route("POST", "/v1/gaps/{gap_id}/dismiss", Gaps.dismiss, on="gaps"),
    Route(
        "POST",
        "/v1/drift",
        Engram.drift,
        owner_only=True,
        waits=True,
        example={"directory": "/srv/app", "apply": False},
    ),
)
