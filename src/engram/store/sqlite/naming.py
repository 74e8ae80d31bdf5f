"""Names, written: a memory's names come in; names can be joined and parted; what nobody names any more goes.

`mentions` says which memory has which name, `aliases` what a name stands for. So two entities become one, or
two again, without a look at any memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engram.errors import NotFound
from engram.model.entity import Entity, Named
from engram.store.sqlite import aliases
from engram.store.sqlite.query import Db, ask, ask_value
from engram.store.sqlite.records import names_to_json

MENTION = """
INSERT INTO mentions (row, name)
SELECT :row, value
FROM json_each(:names)
"""

MENTIONED = """
SELECT name
FROM mentions
WHERE row = :row
"""

DROP_MENTIONS = """
DELETE FROM mentions
WHERE row = :row
"""

ENTITY_OF = """
SELECT entity
FROM aliases
WHERE namespace = :namespace
  AND alias = :alias
"""

NAMESPACE = """
SELECT id
FROM namespaces
WHERE name = :name
"""

NAMESPACE_OF = """
SELECT namespace
FROM entities
WHERE id = :entity
"""

ABSORB = """
UPDATE entities
SET first_seen = min(entities.first_seen, other.first_seen),
  last_seen = max(entities.last_seen, other.last_seen),
  type = CASE entities.type WHEN 'unknown' THEN other.type ELSE entities.type END
FROM entities AS other
WHERE entities.id = :entity
  AND other.id = :other
"""

MOVE_ALIASES = """
UPDATE aliases
SET entity = :entity
WHERE entity = :other
"""

MOVE_ALIAS = """
UPDATE aliases
SET entity = :entity
WHERE namespace = :namespace
  AND alias = :alias
"""

# When a name that stood for something else was seen; the entity's own times where no memory has it.
SPLIT_OFF = """
INSERT INTO entities (namespace, name, type, first_seen, last_seen)
SELECT a.namespace, a.name, 'unknown', coalesce(min(s.at), e.first_seen), coalesce(max(s.at), e.last_seen)
FROM aliases AS a
JOIN entities AS e ON e.id = a.entity
LEFT JOIN (
  SELECT coalesce(m.event_time, m.created_at) AS at
  FROM mentions AS t
  CROSS JOIN memories AS m ON m.row = t.row
  CROSS JOIN scopes AS s ON s.id = m.scope
  WHERE t.name = :alias
    AND s.namespace = :namespace
) AS s
WHERE a.namespace = :namespace
  AND a.alias = :alias
"""

Names = Mapping[str, Named]
"""By what they are without case."""


def named(names: Sequence[Named], entities: Iterable[str]) -> Names:
    """All names of a memory: what is known of each, and those of which nothing is known."""
    found = {name.name.casefold(): name for name in names}
    for name in entities:
        if (alias := name.casefold()) not in found:
            found[alias] = Named(name)
    return found


class Naming:
    """Links names to entities for one unit of work: which memory has which at once, the rest in `finish`."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._heard: dict[int, dict[str, aliases.Heard]] = {}

    def add(self, row: int, namespace: int, names: Names, at: int) -> None:
        """Write the names of a memory that has none yet."""
        if not names:
            return
        self._db.execute(MENTION, (row, names_to_json(names)))
        heard = self._heard.setdefault(namespace, {})
        for alias, name in names.items():
            if alias in heard:
                heard[alias].again(name, at)
            else:
                heard[alias] = aliases.Heard(name, at, at, name.type)

    def change(self, row: int, places: tuple[int, int], names: Names, at: int) -> None:
        """Write other names over the old ones, and forget what nobody names any more; old and new place."""
        before, (old, new) = mentioned(self._db, row), places
        if before:
            self._db.execute(DROP_MENTIONS, {"row": row})
        self.add(row, new, names, at)
        self.sweep(old, before if old != new else [name for name in before if name not in names])

    def sweep(self, namespace: int, names: Sequence[str]) -> None:
        """Forget those of the names that no memory has any more, and entities that are left without any."""
        gone = aliases.unnamed(self._db, namespace, names)
        if gone:
            self.finish()
        for alias in gone:
            entity = self._entity_of(namespace, alias)
            if entity is not None:
                aliases.forget(self._db, namespace, entity, alias)

    def alias(self, name: str, entity: Entity) -> None:
        """Let an entity go by one more name; an entity of that name becomes part of it."""
        self.finish()
        number, namespace = self._find(entity)
        other = self._entity_of(namespace, name.casefold())
        if other is None:
            aliases.add(self._db, [(namespace, name.casefold(), number, name)])
        elif other != number:
            both = {"entity": number, "other": other}
            self._db.execute(ABSORB, both)
            self._db.execute(MOVE_ALIASES, both)
            aliases.drop_entity(self._db, other)

    def split(self, name: str, namespace: str) -> bool:
        """Make a name stand for an entity of its own again; whether it was an alias."""
        self.finish()
        here = ask_value(self._db, NAMESPACE, {"name": namespace})
        place = {"namespace": here, "alias": name.casefold()}
        entity = ask_value(self._db, ENTITY_OF, place)
        if entity is None or aliases.name_of(self._db, entity).casefold() == name.casefold():
            return False
        self._db.execute(SPLIT_OFF, place)
        self._db.execute(MOVE_ALIAS, {**place, "entity": self._db.last_insert_rowid()})
        return True

    def finish(self) -> None:
        """Link what was heard: each name once, however many memories of the unit have it."""
        for namespace, heard in self._heard.items():
            aliases.link(self._db, namespace, heard)
        self._heard = {}

    def _entity_of(self, namespace: int, alias: str) -> int | None:
        entity: int | None = ask_value(self._db, ENTITY_OF, {"namespace": namespace, "alias": alias})
        return entity

    def _find(self, entity: Entity) -> tuple[int, int]:
        """Numbers of an entity and its namespace."""
        number: int | None = entity.key
        if not number:
            here = ask_value(self._db, NAMESPACE, {"name": entity.namespace})
            number = self._entity_of(here or 0, entity.name.casefold())
        namespace = ask_value(self._db, NAMESPACE_OF, {"entity": number})
        if number is None or namespace is None:
            raise NotFound(entity.name)
        return number, namespace


def mentioned(db: Db, row: int) -> list[str]:
    """The names of a memory, without case."""
    return [line[0] for line in ask(db, MENTIONED, {"row": row})]


def drop(db: Db, row: int) -> None:
    """Forget which names a memory has; `Naming.sweep` forgets the names."""
    db.execute(DROP_MENTIONS, {"row": row})
