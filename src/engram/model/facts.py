"""A fact: what a statement says about something, as subject, predicate and object."""

from __future__ import annotations

import re
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from functools import lru_cache

from engram.lazily import dataclass
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
class ToldFact:
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


# ---------------------------------------------------------------- entity
# An entity: somebody or something that memories speak of, under one name or several.


@dataclass(frozen=True, slots=True)
class Named:
    """A name in a text and what it seems to be the name of."""

    name: str
    type: str = "unknown"
    canonical: str = ""
    """The name of the entity it was found to be; empty: nobody else is known under it."""


@dataclass(frozen=True, slots=True)
class Entity:
    """One thing with all its names, inside one namespace."""

    name: str
    """The name it is shown by."""
    namespace: str = "default"
    type: str = "unknown"
    """person, project, technology, file, service, organization, concept, location or unknown."""
    aliases: tuple[str, ...] = ()
    """Every name it goes by, without case, its own among them."""
    first_seen: datetime | None = None
    last_seen: datetime | None = None
    mentions: int = 0
    """How many memories name it, of those the caller may see; up to a limit, 1 where it is only found."""
    key: int = 0
    """Its number in the store."""


ENTITY_TYPES: tuple[str, ...] = (
    "person", "project", "technology", "file", "service", "organization", "concept", "location", "unknown",
)  # fmt: skip

_BETWEEN_WORDS = re.compile(r"[ \-_./]+")


def mark_of(namespace: str, name: str) -> str:
    """What stands for an entity where its name, which is somebody's words, must not stand.

    >>> mark_of("default", "Anna") == mark_of("default", "anna")
    True
    """
    from hashlib import blake2b  # only reports and judgements need it

    known_by = f"{namespace}\n{name.casefold()}".encode()
    return f"entity-{blake2b(known_by, digest_size=8).hexdigest()}"


@lru_cache(maxsize=1 << 12)
def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, without case: what it may share with another name.

    >>> words_of("Ada King-Lovelace")
    ('ada', 'king', 'lovelace')
    """
    return tuple(dict.fromkeys(word for word in _BETWEEN_WORDS.split(name.casefold()) if word))


# ---------------------------------------------------------------- relations
# How memories hang together.


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
