"""The routes of *layers*, at the root of the server."""

from __future__ import annotations

from engram.server.compat.layers import facts, memories, moving, recalling, upkeep
from engram.server.compat.old import Old

ROUTES: tuple[Old, ...] = (
    *memories.ROUTES,
    *recalling.ROUTES,
    *facts.ROUTES,
    *moving.ROUTES,
    *upkeep.ROUTES,
)
