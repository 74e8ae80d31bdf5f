"""An entity: somebody or something that memories speak of, under one name or several."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime


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


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name, without case: what it may share with another name.

    >>> words_of("Ada King-Lovelace")
    ('ada', 'king', 'lovelace')
    """
    return tuple(dict.fromkeys(word for word in _BETWEEN_WORDS.split(name.casefold()) if word))
