"""What came of a write."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engram.errors import EngramError
from engram.model.memory import Memory


class Outcome(StrEnum):
    """What became of a statement."""

    STORED = "stored"
    REINFORCED = "reinforced"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    """It was stored and an older memory gave way to it."""
    CHALLENGED = "challenged"
    """It was stored; it and an older memory cannot both be true, and one of them is marked as in doubt."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The memory as it is now, what happened, and why."""

    memory: Memory
    outcome: Outcome
    because: str
    other: str = ""
    """The id of the older memory that was superseded or challenged."""
    embedded: bool = True
    """False when its vector is still to come; it is found by its words meanwhile."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One statement of a batch that could not be taken, and why."""

    index: int
    error: EngramError
