"""The routes of *files*, under `/engram/v1`."""

from __future__ import annotations

from engram.server.compat.files import knowing, memories, recalling
from engram.server.compat.old import Old

ROUTES: tuple[Old, ...] = (*knowing.ROUTES, *recalling.ROUTES, *memories.ROUTES)
