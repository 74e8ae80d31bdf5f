"""Names, written: each name of a memory leads to an entity, and what nobody names any more goes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from engram.errors import NotFound
from engram.model.entity import Entity, Named
from engram.model.memory import Memory
from engram.ports import Findable
from engram.testing.memory_store.tables import Tables

UNKNOWN = "unknown"


def mention(tables: Tables, key: int, memory: Memory, findable: Findable | None) -> None:
    """Write a memory's names over those it had."""
    names = {name.name.casefold(): name for name in findable.names} if findable else {}
    for bare in memory.entities:
        names.setdefault(bare.casefold(), Named(bare))
    tables.mentions[key] = frozenset(names)
    for name in names.values():
        _link(tables, memory.scope.namespace, name, memory.happened_at)


def sweep(tables: Tables, namespace: str, names: Iterable[str]) -> None:
    """Forget those of the names that no memory has any more, and entities left without any."""
    for alias in names:
        known = tables.aliases.get((namespace, alias))
        if known is None or is_mentioned(tables, namespace, alias):
            continue
        others = [name for name in aliases_of(tables, known[0]) if is_mentioned(tables, namespace, name)]
        if others:
            _drop_alias(tables, namespace, alias, tables.aliases[namespace, others[0]][1])
        else:
            _drop_entity(tables, known[0])


def alias(tables: Tables, name: str, entity: Entity) -> None:
    """Let an entity go by one more name."""
    namespace = entity.namespace
    number = entity.key or tables.aliases.get((namespace, entity.name.casefold()), (0, ""))[0]
    kept = tables.entities.get(number)
    if kept is None:
        raise NotFound(entity.name)
    other = tables.aliases.get((namespace, name.casefold()))
    if other is None:
        tables.aliases[namespace, name.casefold()] = (number, name)
    elif other[0] != number:
        gone = tables.entities.pop(other[0])
        for moved in [place for place, known in tables.aliases.items() if known[0] == other[0]]:
            tables.aliases[moved] = (number, tables.aliases[moved][1])
        seen = _seen_at(_seen_at(kept, gone.first_seen), gone.last_seen)
        tables.entities[number] = _typed(seen, gone.type)


def split(tables: Tables, name: str, namespace: str) -> bool:
    """Make a name stand for itself again."""
    place = (namespace, name.casefold())
    known = tables.aliases.get(place)
    if known is None or tables.entities[known[0]].name.casefold() == name.casefold():
        return False
    whole = tables.entities[known[0]]
    moments = [memory.happened_at for memory in _naming(tables, *place)]
    number = tables.next_number("entity")
    tables.entities[number] = Entity(
        known[1],
        namespace,
        first_seen=min(moments, default=whole.first_seen),
        last_seen=max(moments, default=whole.last_seen),
        key=number,
    )
    tables.aliases[place] = (number, known[1])
    return True


def aliases_of(tables: Tables, number: int) -> tuple[str, ...]:
    """Every name of an entity."""
    return tuple(sorted(name for (_, name), known in tables.aliases.items() if known[0] == number))


def is_mentioned(tables: Tables, namespace: str, name: str) -> bool:
    """Whether a memory of the namespace has this name."""
    return bool(_naming(tables, namespace, name))


def _naming(tables: Tables, namespace: str, name: str) -> list[Memory]:
    keys = (key for key, names in tables.mentions.items() if name in names)
    return [tables.records[key] for key in keys if tables.records[key].scope.namespace == namespace]


def _link(tables: Tables, namespace: str, name: Named, at: datetime) -> None:
    place = (namespace, name.name.casefold())
    if place not in tables.aliases:
        leads_to = tables.aliases.get((namespace, name.canonical.casefold())) if name.canonical else None
        tables.aliases[place] = (leads_to[0] if leads_to else _introduce(tables, namespace, name), name.name)
    number = tables.aliases[place][0]
    tables.entities[number] = _typed(_seen_at(tables.entities[number], at), name.type)


def _introduce(tables: Tables, namespace: str, name: Named) -> int:
    number = tables.next_number("entity")
    tables.entities[number] = Entity(name.name, namespace, name.type, key=number)
    return number


def _seen_at(entity: Entity, at: datetime | None) -> Entity:
    moments = [moment for moment in (entity.first_seen, entity.last_seen, at) if moment is not None]
    return replace(entity, first_seen=min(moments), last_seen=max(moments))


def _typed(entity: Entity, better: str) -> Entity:
    return replace(entity, type=better) if entity.type == UNKNOWN else entity


def _drop_alias(tables: Tables, namespace: str, name: str, instead: str) -> None:
    number, _ = tables.aliases.pop((namespace, name))
    if tables.entities[number].name.casefold() == name:
        tables.entities[number] = replace(tables.entities[number], name=instead)


def _drop_entity(tables: Tables, number: int) -> None:
    del tables.entities[number]
    tables.aliases = {place: known for place, known in tables.aliases.items() if known[0] != number}
