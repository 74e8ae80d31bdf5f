"""Names, written: a memory's names come in, each leads to an entity, and what nobody names any more goes.

`mentions` says which memory has which name, `aliases` what a name stands for. So two entities become one, or
two again, without a look at any memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engram.errors import NotFound
from engram.model.entity import Entity, Named, words_of
from engram.store.sqlite.query import Db, ask, ask_line, ask_value
from engram.store.sqlite.records import as_list, names_to_json

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

INTRODUCE = """
INSERT INTO entities (namespace, name, type, first_seen, last_seen)
VALUES (:namespace, :name, :type, :at, :at)
"""

ADD_ALIAS = """
INSERT INTO aliases (namespace, alias, entity, name)
VALUES (:namespace, :alias, :entity, :name)
"""

ADD_WORDS = """
INSERT OR IGNORE INTO alias_words (namespace, word, alias)
SELECT :namespace, value, :alias
FROM json_each(:words)
"""

SEEN = """
UPDATE entities
SET first_seen = min(first_seen, :first),
  last_seen = max(last_seen, :last),
  type = CASE type WHEN 'unknown' THEN :type ELSE type END
WHERE id = :entity
"""

# The names among these that no memory of the namespace has.
UNNAMED = """
SELECT j.value
FROM json_each(:names) AS j
WHERE NOT EXISTS (
  SELECT 1
  FROM mentions AS t
  CROSS JOIN memories AS m ON m.row = t.row
  CROSS JOIN scopes AS s ON s.id = m.scope
  WHERE t.name = j.value
    AND s.namespace = :namespace
)
"""

ALIASES = """
SELECT alias, name
FROM aliases
WHERE entity = :entity
ORDER BY alias
"""

NAME = """
SELECT name
FROM entities
WHERE id = :entity
"""

RENAME = """
UPDATE entities
SET name = :name
WHERE id = :entity
"""

DROP_ALIAS = """
DELETE FROM aliases
WHERE namespace = :namespace
  AND alias = :alias
"""

DROP_WORDS = """
DELETE FROM alias_words
WHERE namespace = :namespace
  AND word IN (SELECT value FROM json_each(:words))
  AND alias = :alias
"""

DROP_ENTITY = """
DELETE FROM entities
WHERE id = :entity
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

UNKNOWN = "unknown"
Names = Mapping[str, Named]
"""By what they are without case."""


def named(names: Sequence[Named], entities: Iterable[str]) -> Names:
    """All names of a memory: what is known of each, and those of which nothing is known."""
    known = {name.name.casefold(): name for name in names}
    return {name.casefold(): Named(name) for name in entities if name.casefold() not in known} | known


class Naming:
    """Links names to entities for one unit of work. What it knows is written by `finish`."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._known: dict[tuple[int, str], int] = {}
        self._seen: dict[int, tuple[int, int, str]] = {}

    def add(self, row: int, namespace: int, names: Names, at: int) -> None:
        """Write the names of a memory that has none yet."""
        if names:
            self._db.execute(MENTION, (row, names_to_json(names)))
            for alias, name in names.items():
                self._link(namespace, alias, name, at)

    def change(self, row: int, places: tuple[int, int], names: Names, at: int) -> None:
        """Write other names over the old ones, and forget what nobody names any more; old and new place."""
        before, (old, new) = mentioned(self._db, row), places
        if before:
            self._db.execute(DROP_MENTIONS, {"row": row})
        self.add(row, new, names, at)
        self.sweep(old, before if old != new else [name for name in before if name not in names])

    def sweep(self, namespace: int, names: Sequence[str]) -> None:
        """Forget those of the names that no memory has any more, and entities that are left without any."""
        gone = unnamed(self._db, namespace, names)
        if gone:
            self.finish()
        for alias in gone:
            entity = self._entity_of(namespace, alias)
            if entity is not None:
                _forget(self._db, namespace, entity, alias)
        self._known.clear()

    def alias(self, name: str, entity: Entity) -> None:
        """Let an entity go by one more name; an entity of that name becomes part of it."""
        self.finish()
        number, namespace = self._find(entity)
        other = self._entity_of(namespace, name.casefold())
        if other is None:
            _add_alias(self._db, namespace, number, name)
        elif other != number:
            both = {"entity": number, "other": other}
            self._db.execute(ABSORB, both)
            self._db.execute(MOVE_ALIASES, both)
            self._db.execute(DROP_ENTITY, {"entity": other})
        self._known.clear()

    def split(self, name: str, namespace: str) -> bool:
        """Make a name stand for an entity of its own again; whether it was an alias."""
        self.finish()
        here = ask_value(self._db, NAMESPACE, {"name": namespace})
        place = {"namespace": here, "alias": name.casefold()}
        entity = ask_value(self._db, ENTITY_OF, place)
        if entity is None or ask_value(self._db, NAME, {"entity": entity}).casefold() == name.casefold():
            return False
        self._db.execute(SPLIT_OFF, place)
        self._db.execute(MOVE_ALIAS, {**place, "entity": self._db.last_insert_rowid()})
        self._known.clear()
        return True

    def finish(self) -> None:
        """Write when entities were seen: once for each, however often the unit named it."""
        for entity, (first, last, type_) in self._seen.items():
            self._db.execute(SEEN, {"entity": entity, "first": first, "last": last, "type": type_})
        self._seen.clear()

    def _link(self, namespace: int, alias: str, name: Named, at: int) -> None:
        entity = self._entity_of(namespace, alias)
        if entity is None:
            entity = self._entity_of(namespace, name.canonical.casefold()) if name.canonical else None
            if entity is None:
                values = {"namespace": namespace, "name": name.name, "type": name.type, "at": at}
                self._db.execute(INTRODUCE, values)
                entity = self._db.last_insert_rowid()
            _add_alias(self._db, namespace, entity, name.name)
            self._known[namespace, alias] = entity
        first, last, type_ = self._seen.get(entity, (at, at, UNKNOWN))
        better = name.type if type_ == UNKNOWN else type_
        self._seen[entity] = (min(first, at), max(last, at), better)

    def _entity_of(self, namespace: int, alias: str) -> int | None:
        entity = self._known.get((namespace, alias))
        if entity is None:
            entity = ask_value(self._db, ENTITY_OF, {"namespace": namespace, "alias": alias})
            if entity is not None:
                self._known[namespace, alias] = entity
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


def unnamed(db: Db, namespace: int, names: Sequence[str]) -> list[str]:
    """Those of the names that no memory of the namespace has."""
    if not names:
        return []
    return [line[0] for line in ask(db, UNNAMED, {"namespace": namespace, "names": as_list(names)})]


def _forget(db: Db, namespace: int, entity: int, alias: str) -> None:
    """Forget a name that nobody uses; with it the entity, unless it is known by another one."""
    names = dict(ask(db, ALIASES, {"entity": entity}))
    idle = set(unnamed(db, namespace, list(names)))
    in_use = [name for other, name in names.items() if other not in idle]
    for other in [alias] if in_use else names:
        db.execute(DROP_ALIAS, {"namespace": namespace, "alias": other})
        words = {"namespace": namespace, "alias": other, "words": as_list(words_of(other))}
        db.execute(DROP_WORDS, words)
    if not in_use:
        db.execute(DROP_ENTITY, {"entity": entity})
        return
    line = ask_line(db, NAME, {"entity": entity})
    if line is not None and line[0].casefold() == alias:
        db.execute(RENAME, {"entity": entity, "name": in_use[0]})


def _add_alias(db: Db, namespace: int, entity: int, name: str) -> None:
    alias = name.casefold()
    db.execute(ADD_ALIAS, {"namespace": namespace, "alias": alias, "entity": entity, "name": name})
    words = {"namespace": namespace, "alias": alias, "words": as_list(words_of(name))}
    db.execute(ADD_WORDS, words)
