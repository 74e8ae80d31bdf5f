"""Forgetting: what faded is archived, what was archived long enough is erased."""

from __future__ import annotations

from engram.maintain.forgetting import ageing, archiving, pruning, purging
from engram.maintain.step import Step

STEPS: tuple[Step, ...] = (
    Step("forgetting", "archive", archiving.look),
    Step("forgetting", "purge", purging.look),
    Step("forgetting", "lifecycle state", ageing.look),
    Step("forgetting", "prune logs", pruning.look),
)
