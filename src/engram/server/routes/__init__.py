"""The table of routes: every one the server knows, in the order in which they are tried."""

from __future__ import annotations

from engram.server.route import Route
from engram.server.routes import (
    briefing,
    bus,
    doubting,
    knowing,
    learned,
    listening,
    maintaining,
    memories,
    recalling,
    sessions,
    sources,
    upkeep,
)

ROUTES: tuple[Route, ...] = (
    *memories.ROUTES,
    *recalling.ROUTES,
    *briefing.ROUTES,
    *listening.ROUTES,
    *sessions.ROUTES,
    *knowing.ROUTES,
    *learned.ROUTES,
    *sources.ROUTES,
    *upkeep.ROUTES,
    *maintaining.ROUTES,
    *doubting.ROUTES,
    *bus.ROUTES,
)
