"""Who and what is spoken of: names come in, entities come out, with the memories that name them.

An entity is seen by those who see a memory that names it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from engram.model.clock import from_micros
from engram.model.entity import Entity, words_of
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access
from engram.ports import Reach, View
from engram.store.sqlite import records
from engram.store.sqlite.memories import BY_KEYS
from engram.store.sqlite.query import HIGHEST, Db, Line, ask, ask_value
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.records import as_list
from engram.store.sqlite.scopes import Places
from engram.store.sqlite.views import Where, where

NAMESPACES = """
SELECT id
FROM namespaces
ORDER BY name <> :home, id
"""

NAMESPACE = """
SELECT id
FROM namespaces
WHERE name = :home
"""

BY_NAMES = """
SELECT a.entity
FROM json_each(:namespaces) AS n
CROSS JOIN json_each(:names) AS j
CROSS JOIN aliases AS a ON a.namespace = n.value AND a.alias = j.value
"""

# Each part stops somewhere: a word may stand in very many names.
ALIKE = """
SELECT a.entity
FROM (
  SELECT alias
  FROM (
    SELECT w.alias
    FROM json_each(:words) AS j
    CROSS JOIN alias_words AS w ON w.namespace = :namespace AND w.word = j.value
    LIMIT :most
  )
  UNION
  SELECT value
  FROM json_each(:words)
  UNION
  SELECT alias
  FROM (
    SELECT alias
    FROM aliases
    WHERE namespace = :namespace
      AND alias >= :low
      AND alias < :high
    LIMIT :most
  )
) AS found
CROSS JOIN aliases AS a ON a.namespace = :namespace AND a.alias = found.alias
"""

LATEST = """
SELECT e.id
FROM entities AS e
WHERE e.namespace = :namespace
  AND (:type = '' OR e.type = :type)
  AND EXISTS ({mentions})
ORDER BY e.last_seen DESC, e.id DESC
LIMIT :limit
"""

LATEST_THAT_BEGIN_SO = """
SELECT DISTINCT e.id
FROM aliases AS b
CROSS JOIN entities AS e ON e.id = b.entity
WHERE b.namespace = :namespace
  AND b.alias >= :low
  AND b.alias < :high
  AND (:type = '' OR e.type = :type)
  AND EXISTS ({mentions})
ORDER BY e.last_seen DESC, e.id DESC
LIMIT :limit
"""

READ = """
SELECT
  e.id, e.name, n.name, e.type, e.first_seen, e.last_seen,
  (SELECT json_group_array(a.alias ORDER BY a.alias) FROM aliases AS a WHERE a.entity = e.id),
  (SELECT count(*) FROM ({mentions} LIMIT :counted))
FROM entities AS e
JOIN namespaces AS n ON n.id = e.namespace
WHERE e.id IN (SELECT value FROM json_each(:ids))
ORDER BY e.last_seen DESC, e.id DESC
"""

# Rows of memories that name an entity `e`; the first wording is for who sees the only namespace whole.
ALL_MENTIONS = """
  SELECT DISTINCT t.row
  FROM aliases AS a
  CROSS JOIN mentions AS t ON t.name = a.alias
  WHERE a.entity = e.id
"""

SEEN_MENTIONS = """
  SELECT DISTINCT t.row
  FROM aliases AS a
  CROSS JOIN mentions AS t ON t.name = a.alias
  CROSS JOIN memories AS m ON m.row = t.row
  WHERE a.entity = e.id
    AND m.scope IN (SELECT id FROM scopes WHERE namespace = e.namespace)
    AND {seen}
"""

ALIASES_OF = """
SELECT alias
FROM aliases
WHERE entity = :entity
"""

LATEST_ROWS = """
SELECT row
FROM mentions
WHERE name = :alias
ORDER BY row DESC
LIMIT :looked_at
"""

LATEST_HAPPENING = """
SELECT m.row
FROM json_each(:keys) AS k
CROSS JOIN memories AS m ON m.row = k.value
WHERE m.scope IN (
    SELECT s.id
    FROM scopes AS s
    JOIN namespaces AS n ON n.id = s.namespace
    WHERE n.name = :home
  )
  AND {seen}
ORDER BY coalesce(m.event_time, m.created_at) DESC, m.row DESC
LIMIT :limit
"""

COUNTED = 1_000
"""How many memories that name an entity are counted at most."""
LOOKED_AT = 20_000
"""How many memories of each name are looked at for the latest happening, the newest ones."""
BEGINNING = 4
"""How many letters two names begin with to be alike."""
SHARE = 10
"""How many names are looked at for each entity that may be alike."""
ANYTHING = Filters(statuses=frozenset())


class SqliteEntities:
    """Implements `ports.Entities`. Used by any thread."""

    def __init__(self, readers: Readers, places: Places) -> None:
        self._readers = readers
        self._places = places

    def get(self, name: str, access: Access) -> Entity | None:
        """The entity with this name or alias; where several namespaces are seen, the caller's own first."""
        with self._readers.lend() as db:
            for entity in _by_names(db, [name], _namespaces(db, access)):
                found = self._read(db, [entity], access)
                if found:
                    return found[0]
        return None

    def among(self, words: Sequence[str], access: Access) -> list[Entity]:
        """Entities one of whose names is in `words`, last seen first."""
        with self._readers.lend() as db:
            return self._read(db, _by_names(db, words, _namespaces(db, access)), access, counted=1)

    def page(self, access: Access, limit: int, entity_type: str = "", prefix: str = "") -> list[Entity]:
        """Entities, last seen first; of one type; with a name or alias that begins so."""
        with self._readers.lend() as db:
            seen = _mentions(db, self._places.reach(db, access))
            sql = (LATEST_THAT_BEGIN_SO if prefix else LATEST).format(mentions=seen.sql)
            values = {**seen.values, **_range(prefix), "type": entity_type, "limit": limit}
            found = [
                line[0]
                for namespace in _namespaces(db, access)
                for line in ask(db, sql, {**values, "namespace": namespace})
            ]
            return self._read(db, found, access)[:limit]

    def like(self, name: str, access: Access, limit: int) -> list[Entity]:
        """Entities with a name that shares a word or the beginning with this one, last seen first."""
        words, beginning = as_list(words_of(name)), name.casefold()[:BEGINNING]
        values = {"words": words, "most": limit * SHARE, **_range(beginning)}
        with self._readers.lend() as db:
            found: dict[int, None] = {}
            for namespace in _namespaces(db, access) if beginning else ():
                lines = ask(db, ALIKE, {**values, "namespace": namespace})
                found.update((line[0], None) for line in lines)
            return self._read(db, found, access, counted=1)[:limit]

    def memories(self, entity: Entity, view: View, limit: int) -> list[tuple[int, Memory]]:
        """Memories that name it, by any of its names, the latest happening first, with their keys."""
        with self._readers.lend() as db:
            seen = where(self._places.reach(db, view.access), view.filters, at_hand=True)
            keys = {row for alias in _aliases(db, entity) for row in _latest_rows(db, alias)}
            values = {**seen.values, "keys": as_list(keys), "home": entity.namespace, "limit": limit}
            rows = [line[0] for line in ask(db, LATEST_HAPPENING.format(seen=seen.sql), values)]
            read = dict(map(records.from_row, ask(db, BY_KEYS, {"keys": as_list(rows)})))
        return [(row, read[row]) for row in rows if row in read]

    def _read(self, db: Db, ids: Iterable[int], access: Access, counted: int = COUNTED) -> list[Entity]:
        """Those of the entities that the caller may see, last seen first, their mentions counted so far."""
        wanted = as_list(ids)
        if wanted == "[]":
            return []
        seen = _mentions(db, self._places.reach(db, access))
        values = {**seen.values, "ids": wanted, "counted": counted}
        found = [_entity(line) for line in ask(db, READ.format(mentions=seen.sql), values)]
        return [entity for entity in found if entity.mentions]


def _namespaces(db: Db, access: Access) -> list[int]:
    """Numbers of the namespaces a caller may look into, its own first."""
    sql = NAMESPACES if access.all_namespaces else NAMESPACE
    return [line[0] for line in ask(db, sql, {"home": access.scope.namespace})]


def _by_names(db: Db, names: Iterable[str], namespaces: Iterable[int]) -> list[int]:
    values = {"names": as_list(map(str.casefold, names)), "namespaces": as_list(namespaces)}
    return list(dict.fromkeys(line[0] for line in ask(db, BY_NAMES, values)))


def _mentions(db: Db, reach: Reach) -> Where:
    """The statement for rows that name an entity `e` and are seen, as the only clause."""
    is_whole = reach.everything or reach.namespace is not None
    if is_whole and ask_value(db, "SELECT count(*) FROM namespaces") == 1:
        return Where((ALL_MENTIONS,), {})
    seen = where(reach, ANYTHING, at_hand=True)
    return Where((SEEN_MENTIONS.format(seen=seen.sql),), seen.values)


def _range(beginning: str) -> dict[str, Any]:
    low = beginning.casefold()
    return {"low": low, "high": low + HIGHEST}


def _aliases(db: Db, entity: Entity) -> list[str]:
    """All its names as they are now; those it was read with, if it has no number."""
    if not entity.key:
        return list(entity.aliases or [entity.name.casefold()])
    return [line[0] for line in ask(db, ALIASES_OF, {"entity": entity.key})]


def _latest_rows(db: Db, alias: str) -> list[int]:
    return [line[0] for line in ask(db, LATEST_ROWS, {"alias": alias, "looked_at": LOOKED_AT})]


def _entity(line: Line) -> Entity:
    id_, name, namespace, type_, first, last, aliases, mentions = line
    known_as = tuple(json.loads(aliases))
    return Entity(name, namespace, type_, known_as, from_micros(first), from_micros(last), mentions, id_)
