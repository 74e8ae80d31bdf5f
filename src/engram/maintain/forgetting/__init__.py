"""Forgetting: what faded is archived, what was archived long enough is erased."""

from __future__ import annotations

from engram.maintain.step import Step

STEPS: tuple[Step, ...] = ()
