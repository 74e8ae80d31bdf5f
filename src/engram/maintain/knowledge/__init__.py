"""Knowledge: episodes become patterns, sequences become procedures, fragments become entities."""

from __future__ import annotations

from engram.maintain.knowledge import boxing, cards, fragments, inference, metadata, patterns, procedures
from engram.maintain.step import Step

STAGE = "knowledge"
STEPS: tuple[Step, ...] = (
    Step(STAGE, metadata.NAME, metadata.look),
    Step(STAGE, patterns.NAME, patterns.look),
    Step(STAGE, procedures.NAME, procedures.look),
    Step(STAGE, fragments.NAME, fragments.look),
    Step(STAGE, inference.NAME, inference.look),
    Step(STAGE, cards.NAME, cards.look),
    Step(STAGE, boxing.NAME, boxing.look),
)
