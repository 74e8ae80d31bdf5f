"""A commitment: something promised or owed, open until somebody says that it is done or dropped."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class LoopState(StrEnum):
    """Where a commitment stands."""

    OPEN = "open"
    WAITING = "waiting"
    DONE = "done"
    DROPPED = "dropped"

    @property
    def is_open(self) -> bool:
        """Whether something is still to be done, by us or by whom we wait for."""
        return self in {LoopState.OPEN, LoopState.WAITING}


@dataclass(frozen=True, slots=True)
class Commitment:
    """An open loop as a caller sees it; it is kept as a memory of category `commitment` with the same id."""

    id: str
    text: str
    state: LoopState
    opened_at: datetime
    age_days: int
    """Whole days by the calendar since it was opened; of a closed one until it was closed."""
    due: datetime | None = None
    """The moment by which it is to be done: the end of a day, where a day was named."""
    is_overdue: bool = False
    waiting_on: str = ""
    closed_at: datetime | None = None
    because: str = ""
    """Why it was closed, if somebody said."""


@dataclass(frozen=True, slots=True)
class Closing:
    """A commitment and the later statement that says it was done."""

    commitment: Commitment
    memory: str
    """The id of the statement."""
    statement: str
