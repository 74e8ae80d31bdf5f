"""How something changed, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from engram.model.memory import Memory


class StepKind(StrEnum):
    """What a step did to what was known."""

    FIRST = "first mention"
    ADDED = "addition"
    CORRECTED = "correction"
    REINFORCED = "reinforcement"
    ENDED = "end"


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a timeline."""

    at: datetime
    kind: StepKind
    what: str
    """What the memory says, in short."""
    memory: Memory
    change: str = ""
    """What became different, in words."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """How something changed, oldest step first."""

    about: str
    found_by: str
    """`fact`, `entity` or `words`."""
    steps: tuple[Step, ...] = ()

    def __iter__(self) -> Iterator[Step]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> Step:
        return self.steps[place]
