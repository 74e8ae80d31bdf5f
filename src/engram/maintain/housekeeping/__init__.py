"""Housekeeping: what is stuck, stale or in the wrong place is seen to first."""

from __future__ import annotations

from engram.maintain.step import Step

STEPS: tuple[Step, ...] = ()
