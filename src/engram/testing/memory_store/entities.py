"""Who and what is spoken of, read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from engram.model.entity import Entity, words_of
from engram.model.memory import Memory
from engram.model.scope import Access
from engram.ports import View
from engram.testing.memory_store.filtering import allows
from engram.testing.memory_store.naming import aliases_of
from engram.testing.memory_store.tables import Tables

COUNTED = 1_000
"""How many memories that name an entity are counted at most."""
BEGINNING = 4
"""How many letters two names begin with to be alike."""


class MemoryEntities:
    """`Entities` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def get(self, name: str, access: Access) -> Entity | None:
        """The entity with this name; the caller's own namespace comes first."""
        found = self._named([name], access)
        home = access.scope.namespace
        numbers = self._tables().namespaces
        return min(found, key=lambda one: (one.namespace != home, numbers[one.namespace]), default=None)

    def page(self, access: Access, limit: int, entity_type: str = "", prefix: str = "") -> list[Entity]:
        """Last seen first."""
        found = [
            entity
            for entity in _seen(self._tables(), access)
            if entity_type in ("", entity.type)
            and any(name.startswith(prefix.casefold()) for name in entity.aliases)
        ]
        return found[:limit]

    def like(self, name: str, access: Access, limit: int) -> list[Entity]:
        """A word or the beginning in common."""
        words, beginning = set(words_of(name)), name.casefold()[:BEGINNING]
        if not beginning:
            return []
        seen = (replace(entity, mentions=1) for entity in _seen(self._tables(), access))
        return [entity for entity in seen if _is_like(entity.aliases, words, beginning)][:limit]

    def among(self, words: Sequence[str], access: Access) -> list[Entity]:
        """Whose name is one of these."""
        return [replace(entity, mentions=1) for entity in self._named(words, access)]

    def _named(self, words: Sequence[str], access: Access) -> list[Entity]:
        wanted = {word.casefold() for word in words}
        return [entity for entity in _seen(self._tables(), access) if not wanted.isdisjoint(entity.aliases)]

    def memories(self, entity: Entity, view: View, limit: int) -> list[tuple[int, Memory]]:
        """Who names it, the latest happening first."""
        tables = self._tables()
        aliases = aliases_of(tables, entity.key) or entity.aliases or (entity.name.casefold(),)
        found = [
            (key, memory)
            for key, memory in _naming(tables, aliases, entity.namespace)
            if allows(tables, view, memory)
        ]
        return sorted(found, key=lambda one: (one[1].happened_at, one[0]), reverse=True)[:limit]


def _seen(tables: Tables, access: Access) -> list[Entity]:
    """Entities that a memory names which the caller may see, last seen first."""
    found = []
    for number, entity in tables.entities.items():
        aliases = aliases_of(tables, number)
        naming = _naming(tables, aliases, entity.namespace)
        mentions = sum(access.may_read(memory.scope) for _, memory in naming)
        if mentions:
            found.append(replace(entity, aliases=aliases, mentions=min(mentions, COUNTED)))
    return sorted(found, key=lambda one: (one.last_seen, one.key), reverse=True)


def _naming(tables: Tables, aliases: Iterable[str], namespace: str) -> list[tuple[int, Memory]]:
    wanted = set(aliases)
    return [
        (key, tables.records[key])
        for key, names in tables.mentions.items()
        if not wanted.isdisjoint(names) and tables.records[key].scope.namespace == namespace
    ]


def _is_like(aliases: Iterable[str], words: set[str], beginning: str) -> bool:
    return any(name.startswith(beginning) or not words.isdisjoint(words_of(name)) for name in aliases)
