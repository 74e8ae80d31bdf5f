"""What came of listening: which turns were kept, what memories were made of them, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass

from engram.model.receipt import Receipt
from engram.model.turn import Turn


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Words of a turn that became no memory, and why."""

    turn: str
    """The turn's id."""
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Observation:
    """The answer to `observe`, and to a flush."""

    logged: int = 0
    """Turns that are new in the log."""
    known: int = 0
    """Turns that were there already."""
    signal: str = "none"
    """The strongest signal among the new ones: none, low, medium, high."""
    captured: tuple[Turn, ...] = ()
    """Turns that were read now."""
    receipts: tuple[Receipt, ...] = ()
    """What was made of them."""
    left_out: tuple[LeftOut, ...] = ()
    waiting: int = 0
    """Turns that still wait in this scope."""
    because: str = ""
    """Why they were read now, or why they wait."""
    by: str = "rules"
    """Who found the statements: rules, or a model."""
    trouble: str = ""
    """Why it was not the model, where one is configured and fails."""
