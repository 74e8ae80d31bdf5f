"""Doubt: old beliefs, claims about files, gaps and contradictions are looked at again."""

from __future__ import annotations

from engram.maintain.doubt import gaps
from engram.maintain.step import Step

STAGE = "doubt"
STEPS: tuple[Step, ...] = (Step(STAGE, gaps.NAME, gaps.look),)
