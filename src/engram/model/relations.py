"""How memories hang together."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class EdgeType(StrEnum):
    """What one memory is to another: read "source — type → target"."""

    DERIVED_FROM = "derived_from"
    CAUSED_BY = "caused_by"
    INSTANCE_OF = "instance_of"
    INFERRED_FROM = "inferred_from"
    SUPPORTS = "supports"
    CONTRADICTS = "contradicts"
    SUPERSEDES = "supersedes"
    UPDATES = "updates"
    """A later word on the same thing, which leaves open what of the earlier still holds."""
    RELATED_TO = "related_to"
    SIMILAR_TO = "similar_to"
    SAME_ENTITY = "same_entity"
    NEXT = "next"


ACYCLIC: frozenset[EdgeType] = frozenset(
    {EdgeType.DERIVED_FROM, EdgeType.CAUSED_BY, EdgeType.INSTANCE_OF, EdgeType.INFERRED_FROM}
)
"""Types that say where something comes from: a circle of them would have no meaning."""


@dataclass(frozen=True, slots=True)
class Edge:
    """One relation between two memories, named by their ids."""

    source: str
    target: str
    type: EdgeType
    weight: float = 1.0
    confidence: float = 1.0
    origin: str = "engine"
    last_reinforced_at: datetime | None = None
