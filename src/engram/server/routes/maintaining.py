"""Maintenance over REST: consolidate, dream, the reports of runs, taking one back."""

from __future__ import annotations

from engram.engine import Engram
from engram.nouns.upkeep import Upkeep
from engram.server.route import Route

ROUTES: tuple[Route, ...] = (
    Route("POST", "/v1/consolidate", Engram.consolidate, owner_only=True, example={"dry": True}),
    Route("POST", "/v1/dream", Engram.dream, owner_only=True, example={"dry": True}),
    Route("POST", "/v1/audit", Engram.audit, owner_only=True, example={"dry": True}),
    Route("GET", "/v1/runs", Upkeep.runs, on="upkeep", wrap="runs", owner_only=True, example={"limit": 5}),
    Route("GET", "/v1/runs/{run_id}", Upkeep.report, on="upkeep", owner_only=True),
    Route("POST", "/v1/runs/{run_id}/undo", Engram.undo, owner_only=True),
)
