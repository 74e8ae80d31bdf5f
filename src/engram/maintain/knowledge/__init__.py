"""Knowledge: episodes become patterns, sequences become procedures, fragments become entities."""

from __future__ import annotations

from engram.maintain.step import Step

STEPS: tuple[Step, ...] = ()
