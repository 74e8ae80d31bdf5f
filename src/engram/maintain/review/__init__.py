"""Review: candidates for the core, waiting memories, near pairs and session notes are judged, once each."""

from __future__ import annotations

from engram.maintain.step import Step

STEPS: tuple[Step, ...] = ()
