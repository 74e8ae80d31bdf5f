"""The routes of *layers*, at the root of the server."""

from __future__ import annotations

from engram.server.compat.layers import briefing, facts, memories, moving, recalling, upkeep
from engram.server.compat.old import Old

ROUTES: tuple[Old, ...] = (
    *memories.ROUTES,
    *recalling.ROUTES,
    *briefing.ROUTES,
    *facts.ROUTES,
    *moving.ROUTES,
    *upkeep.ROUTES,
)
