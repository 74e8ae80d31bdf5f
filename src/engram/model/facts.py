"""A fact: what a statement says about something, as subject, predicate and object."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from engram.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Fact:
    """Read "subject — predicate → object"; all three in lower case, without hedges.

    Two facts are equal when they say the same, however sure they are and whenever they hold.
    """

    subject: str
    predicate: str
    object: str
    functional: bool = False
    """Whether there is one object at a time: a person has one birthday but likes many things."""
    confidence: float = field(default=1.0, compare=False)
    valid_from: datetime | None = field(default=None, compare=False)
    """Since when it holds; None: since it was said."""
    valid_to: datetime | None = field(default=None, compare=False)
    """Until when it held; None: as long as the memory that states it holds."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A fact and the memory that states it."""

    fact: Fact
    memory: Memory


@dataclass(frozen=True, slots=True)
class Told:
    """A fact and the key of the memory that states it: what a walk needs, without the record."""

    key: int
    fact: Fact
    sure: float = 1.0
    """No surer than the fact, and no surer than its memory."""
    until: datetime | None = None
    """Until when it held, by the fact or by its memory."""


@dataclass(frozen=True, slots=True)
class FactQuery:
    """Which facts are looked for; an empty part is not asked. Compared without case."""

    subjects: frozenset[str] = frozenset()
    predicates: frozenset[str] = frozenset()
    objects: frozenset[str] = frozenset()
    as_of: datetime | None = None
    """Only what held at this time; None: whatever the filters let through."""
