"""Self-knowledge: what the memory as a whole is like, in profiles, maps and a tree."""

from __future__ import annotations

from engram.maintain.step import Step

STEPS: tuple[Step, ...] = ()
