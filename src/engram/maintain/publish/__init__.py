"""Publishing: what was decided is delivered and summed up, and the file is checked."""

from __future__ import annotations

from engram.maintain.publish import checking, delivering, summing
from engram.maintain.step import Step

STAGE = "publish"
STEPS: tuple[Step, ...] = (
    Step(STAGE, "bus", delivering.look),
    Step(STAGE, summing.NAME, summing.look),
    Step(STAGE, checking.NAME, checking.look),
)
