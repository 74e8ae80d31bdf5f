"""Doubt: old beliefs, claims about files, gaps and contradictions are looked at again."""

from __future__ import annotations

from engram.maintain.step import Step

STEPS: tuple[Step, ...] = ()
