"""Knowledge: episodes become patterns, sequences become procedures, fragments become entities."""

from __future__ import annotations

from engram.maintain.knowledge import patterns
from engram.maintain.step import Step

STAGE = "knowledge"
STEPS: tuple[Step, ...] = (Step(STAGE, patterns.NAME, patterns.look),)
