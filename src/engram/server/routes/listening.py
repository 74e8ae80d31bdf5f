"""Listening over REST: what was said comes in, turns come out word for word."""

from __future__ import annotations

from engram.engine import Engram
from engram.server.route import Route

ROUTES: tuple[Route, ...] = (
    Route(
        "POST",
        "/v1/observe",
        Engram.observe,
        example={"user": "From now on I use Helix.", "assistant": "Noted!", "session": "monday"},
    ),
    Route("POST", "/v1/flush", Engram.flush, example={"session": "monday"}),
    Route("GET", "/v1/sessions/{session:path}/turns", Engram.turns, wrap="turns", example={"limit": 100}),
)
