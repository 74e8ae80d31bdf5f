"""Review: candidates for the core, waiting memories, near pairs and session notes are judged, once each."""

from __future__ import annotations

from engram.maintain.review import (
    contradictions,
    deduplicating,
    distilling,
    gate,
    keeping,
    reconciling,
    triage,
)
from engram.maintain.step import Step

STEPS: tuple[Step, ...] = (
    Step("review", "gate", gate.look),
    Step("review", "triage", triage.look),
    Step("review", "reconcile", reconciling.look),
    Step("review", "contradictions", contradictions.look),
    Step("review", "commitments", keeping.look),
    Step("review", "session notes", distilling.look),
    Step("review", "buffer repetitions", deduplicating.look),
)
