"""The table of routes: every one the server knows, in the order in which they are tried."""

from __future__ import annotations

from engram.server.route import Route
from engram.server.routes import knowledge, memories

ROUTES: tuple[Route, ...] = (
    *memories.ROUTES,
    *memories.RECALLING_ROUTES,
    *knowledge.BRIEFING_ROUTES,
    *memories.LISTENING_ROUTES,
    *knowledge.SESSIONS_ROUTES,
    *knowledge.ROUTES,
    *knowledge.LEARNED_ROUTES,
    *memories.SOURCES_ROUTES,
    *knowledge.UPKEEP_ROUTES,
    *knowledge.MAINTAINING_ROUTES,
    *knowledge.DOUBTING_ROUTES,
    *knowledge.BUS_ROUTES,
)
