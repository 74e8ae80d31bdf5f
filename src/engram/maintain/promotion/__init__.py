"""Promotion: what proved itself leaves the buffer; what did not is let go in time."""

from __future__ import annotations

from engram.maintain.step import Step

STEPS: tuple[Step, ...] = ()
