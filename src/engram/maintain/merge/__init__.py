"""Merging: what says the same twice becomes one."""

from __future__ import annotations

from engram.maintain.merge import joining
from engram.maintain.step import Step

STEPS: tuple[Step, ...] = (Step("merge", "merge", joining.look),)
