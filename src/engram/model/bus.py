"""The bus: what agents tell each other. A memory is published, whoever subscribed receives a copy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from engram.model.scope import Scope

Clock = Mapping[str, int]
"""A version vector: how many changes of each agent a content has seen."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A memory that an agent offers to others."""

    id: str
    memory: str
    agent: str
    """Who offers it; never delivered back there."""
    scope: Scope
    """Where the memory belongs."""
    region: Scope
    """Subscribers at this place or below may receive it."""
    published_at: datetime
    agents: tuple[str, ...] = ()
    """Only these may; empty: all of the region."""
    topics: tuple[str, ...] = ()
    importance: float = 0.5
    clock: Clock = field(default_factory=dict, hash=False)
    number: int = 0
    """Its place in the order of publishing; given by the store."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """What an agent wants to hear of."""

    id: str
    agent: str
    scope: Scope
    """Where copies are put."""
    made_at: datetime
    topics: tuple[str, ...] = ()
    """At least one of these; empty: all."""
    agents: tuple[str, ...] = ()
    """Only from these; empty: from all."""
    min_importance: float = 0.0
    rate: int = 10
    """Copies in one delivery at most; the rest waits for the next."""
    place: int = 0
    """The publication looked at last."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A copy that was delivered."""

    memory: str
    """The copy."""
    origin: str
    """The memory it is a copy of."""
    publication: str
    subscription: str
    clock: Clock = field(default_factory=dict, hash=False)
    """What the copy had seen when it was delivered."""
    version: int = 1
    """The copy's version then: a higher one says that its new owner has changed it since."""
