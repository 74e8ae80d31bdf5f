"""Which memories a question may find at all. Applied inside every channel, before ranking."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import datetime

from engram.model.axes import Kind, Layer, Mode, Status, Tier, Type, Verification


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all hold; an empty one is not asked."""

    kinds: frozenset[Kind] = frozenset()
    categories: frozenset[str] = frozenset()
    types: frozenset[Type] = frozenset()
    layers: frozenset[Layer] = frozenset()
    statuses: frozenset[Status] = frozenset({Status.ACTIVE, Status.CHALLENGED})
    """Which statuses are found; challenged ones are shown with a mark."""
    verifications: frozenset[Verification] = frozenset()
    tiers: frozenset[Tier] = frozenset()
    tags_any: frozenset[str] = frozenset()
    tags_all: frozenset[str] = frozenset()
    entities: frozenset[str] = frozenset()
    """At least one of these names is mentioned (compared without case)."""
    speakers: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    session: str = ""
    created_since: datetime | None = None
    created_until: datetime | None = None
    happened_since: datetime | None = None
    happened_until: datetime | None = None
    accessed_since: datetime | None = None
    min_importance: float = 0.0
    min_confidence: float = 0.0
    pinned: bool | None = None

    @property
    def only_status(self) -> bool:
        """Whether nothing but the status is asked: the common case, which an index answers by itself."""
        plain = Filters(statuses=self.statuses)
        return all(getattr(self, f.name) == getattr(plain, f.name) for f in fields(self))


ANY_STATUS = Filters(statuses=frozenset(Status))
"""Finds memories in every status."""


def types_for(mode: Mode) -> frozenset[Type]:
    """The type filter of a recall mode; empty when every type may come."""
    return frozenset() if mode is Mode.FULL_CONTEXT else mode.types
