"""Dreaming: while nobody asks, memories are replayed, linked and strengthened."""

from __future__ import annotations

from engram.maintain.step import Step

STEPS: tuple[Step, ...] = ()
