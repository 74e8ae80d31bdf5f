"""What names stand for, written: each name leads to an entity, and goes when no memory has it any more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engram.model.entity import Named, words_of
from engram.store.sqlite.query import Db, Line, ask, ask_value
from engram.store.sqlite.records import as_list

ENTITIES_OF = """
SELECT a.alias, a.entity
FROM json_each(:names) AS j
CROSS JOIN aliases AS a ON a.namespace = :namespace AND a.alias = j.value
"""

HIGHEST_NUMBER = """
SELECT seq
FROM sqlite_sequence
WHERE name = 'entities'
"""

INTRODUCE = """
INSERT INTO entities (id, namespace, name, type, first_seen, last_seen)
VALUES (:id, :namespace, :name, :type, :first, :last)
"""

ADD_ALIAS = """
INSERT INTO aliases (namespace, alias, entity, name)
VALUES (:namespace, :alias, :entity, :name)
"""

ADD_WORD = """
INSERT OR IGNORE INTO alias_words (namespace, word, alias)
VALUES (:namespace, :word, :alias)
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

DROP_JOINS = """
DELETE FROM sketches
WHERE kind = 'joined'
  AND scope IN (SELECT id FROM scopes WHERE namespace = :namespace)
  AND (key = :alias OR body ->> 'to' = :alias)
"""

DROP_ENTITY = """
DELETE FROM entities
WHERE id = :entity
"""

UNKNOWN = "unknown"


@dataclass(slots=True)
class Heard:
    """What one unit of work has heard of a name."""

    name: Named
    first: int
    last: int
    type: str = UNKNOWN

    def again(self, name: Named, at: int) -> None:
        """Heard once more."""
        self.first, self.last = min(self.first, at), max(self.last, at)
        self.type = name.type if self.type == UNKNOWN else self.type


def link(db: Db, namespace: int, heard: Mapping[str, Heard]) -> None:
    """Lead each name to its entity: the one it stands for, the one it was found to be, or a new one."""
    wanted = {*heard, *(one.name.canonical.casefold() for one in heard.values())}
    known: dict[str, int] = dict(ask(db, ENTITIES_OF, {"namespace": namespace, "names": as_list(wanted)}))
    seen = [(one.first, one.last, one.type, known[alias]) for alias, one in heard.items() if alias in known]
    number = ask_value(db, HIGHEST_NUMBER) or 0
    entities, aliases = [], []
    for alias, one in heard.items():
        if alias in known:
            continue
        entity = known.get(one.name.canonical.casefold()) if one.name.canonical else None
        if entity is None:
            number = entity = number + 1
            entities.append((entity, namespace, one.name.name, one.type, one.first, one.last))
        else:
            seen.append((one.first, one.last, one.type, entity))
        known[alias] = entity
        aliases.append((namespace, alias, entity, one.name.name))
    if aliases:
        db.executemany(INTRODUCE, entities)
        add(db, aliases)
    if seen:
        db.executemany(SEEN, seen)


def unnamed(db: Db, namespace: int, names: Sequence[str]) -> list[str]:
    """Those of the names that no memory of the namespace has."""
    if not names:
        return []
    return [line[0] for line in ask(db, UNNAMED, {"namespace": namespace, "names": as_list(names)})]


def forget(db: Db, namespace: int, entity: int, alias: str) -> None:
    """Forget a name that nobody uses; with it the entity, unless it is known by another one."""
    names: dict[str, str] = dict(ask(db, ALIASES, {"entity": entity}))
    idle = set(unnamed(db, namespace, list(names)))
    in_use = [name for other, name in names.items() if other not in idle]
    for other in [alias] if in_use else names:
        db.execute(DROP_ALIAS, {"namespace": namespace, "alias": other})
        db.execute(DROP_JOINS, {"namespace": namespace, "alias": other})
        words = {"namespace": namespace, "alias": other, "words": as_list(words_of(other))}
        db.execute(DROP_WORDS, words)
    if not in_use:
        drop_entity(db, entity)
        return
    if name_of(db, entity).casefold() == alias:
        db.execute(RENAME, {"entity": entity, "name": in_use[0]})


def add(db: Db, aliases: Sequence[Line]) -> None:
    """Write new names, and the words of those that have several."""
    db.executemany(ADD_ALIAS, aliases)
    words = [
        (namespace, word, alias)
        for namespace, alias, *_ in aliases
        for word in words_of(alias)
        if word != alias
    ]
    if words:
        db.executemany(ADD_WORD, words)


def drop_entity(db: Db, entity: int) -> None:
    """Forget an entity that has no name left."""
    db.execute(DROP_ENTITY, {"entity": entity})


def name_of(db: Db, entity: int) -> str:
    """The name an entity is shown by."""
    return str(ask_value(db, NAME, {"entity": entity}))
