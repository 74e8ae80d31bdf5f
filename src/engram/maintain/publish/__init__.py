"""Publishing: what was decided is delivered, and the file is checked."""

from __future__ import annotations

from engram.maintain.publish import delivering
from engram.maintain.step import Step

STEPS: tuple[Step, ...] = (Step("publish", "bus", delivering.look),)
