"""Housekeeping: what is stuck, stale or in the wrong place is seen to first."""

from __future__ import annotations

from engram.maintain.housekeeping import layers, overlap, stuck, tags
from engram.maintain.step import Step

STEPS: tuple[Step, ...] = (
    Step("housekeeping", "stale tags", tags.look),
    Step("housekeeping", "stuck buffer", stuck.look),
    Step("housekeeping", "working quality", layers.working),
    Step("housekeeping", "core hygiene", layers.core),
    Step("housekeeping", "core overlap", overlap.look),
)
