"""Doubt: old beliefs, claims about files, gaps and contradictions are looked at again."""

from __future__ import annotations

from engram.maintain.doubt import drifting, gaps, probing
from engram.maintain.step import Step

STAGE = "doubt"
DRIFT = Step(STAGE, drifting.NAME, drifting.look)
STEPS: tuple[Step, ...] = (
    Step(STAGE, probing.NAME, probing.look),
    DRIFT,
    Step(STAGE, gaps.NAME, gaps.look),
)
