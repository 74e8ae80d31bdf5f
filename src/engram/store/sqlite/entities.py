"""Who and what is spoken of: names come in, entities come out, with the memories that name them.

An entity is seen by those who see a memory that names it, under the names that stand in memories they see, or
that were given to it by hand. Names that somebody joined in a place are one entity for those who look from
there; for everybody else they stay what they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from engram.lazily import dataclass, replace
from engram.model.clock import from_micros
from engram.model.facts import Entity
from engram.model.memory import Filters, Memory
from engram.model.scope import Access, Role
from engram.rules.entities import keys_of, nearly_spelt
from engram.store.sqlite import rows as sqlite_rows
from engram.store.sqlite.connection import HIGHEST, Db, Line, ask, look_up_all
from engram.store.sqlite.memories import BY_KEYS
from engram.store.sqlite.rows import as_keys, as_list
from engram.store.sqlite.views import PlacedNoun, WhereClause, where

if TYPE_CHECKING:
    from engram.ports import Reach, View

BY_NAMES = """
SELECT a.entity
FROM json_each(:namespaces) AS n
CROSS JOIN json_each(:names) AS j
CROSS JOIN aliases AS a ON a.namespace = n.value AND a.alias = j.value
"""

KNOWN = """
SELECT a.alias
FROM namespaces AS n
CROSS JOIN json_each(:names) AS j
CROSS JOIN aliases AS a ON a.namespace = n.id AND a.alias = j.value
WHERE n.name = :home
"""

# Each stops somewhere: a word may stand in very many names.
WITH_WORDS = """
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
) AS found
CROSS JOIN aliases AS a ON a.namespace = :namespace AND a.alias = found.alias
"""

THAT_BEGIN_SO = """
SELECT entity, alias
FROM aliases
WHERE namespace = :namespace
  AND alias >= :low
  AND alias < :high
LIMIT :most
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
SELECT e.id
FROM aliases AS b
CROSS JOIN entities AS e ON e.id = b.entity
WHERE b.namespace = :namespace
  AND b.alias >= :low
  AND b.alias < :high
  AND (:type = '' OR e.type = :type)
  AND EXISTS ({mentions})
GROUP BY e.id
ORDER BY e.last_seen DESC, e.id DESC
LIMIT :limit
"""

READ = """
SELECT
  e.id, e.name, n.name, e.type, e.first_seen, e.last_seen,
  (
    SELECT json_group_array(json_array(a.alias, a.name))
    FROM aliases AS a
    WHERE a.entity = e.id
      AND {known}
  ),
  {mentions}
FROM entities AS e
JOIN namespaces AS n ON n.id = e.namespace
WHERE e.id IN ({which})
ORDER BY e.last_seen DESC, e.id DESC
"""

OF_THESE = "SELECT value FROM json_each(:keys)"

# To count memories, and to tell when they spoke, takes many times as long as to know that there is one.
IS_MENTIONED = "json_array(EXISTS ({mentions}), NULL, NULL)"
COUNT_MENTIONS = "(SELECT json_array(count(*), min(at), max(at)) FROM ({mentions} LIMIT :counted))"

# Rows of memories that name an entity `e`; the first wording is for who sees its namespace whole.
ALL_MENTIONS = """
  SELECT DISTINCT t.row, NULL AS at
  FROM aliases AS a
  CROSS JOIN mentions AS t ON t.namespace = a.namespace AND t.name = a.alias
  WHERE a.entity = e.id
"""

SEEN_MENTIONS = """
  SELECT DISTINCT t.row, coalesce(m.event_time, m.created_at) AS at
  FROM aliases AS a
  CROSS JOIN mentions AS t ON t.namespace = a.namespace AND t.name = a.alias
  CROSS JOIN memories AS m ON m.row = t.row
  WHERE a.entity = e.id
    AND {seen}
"""

# Names of which others alone have spoken would tell what they speak of. One that stands in no memory at all
# was given by hand, to everybody.
KNOWN_NAMES = """
  (
    EXISTS (
      SELECT 1
      FROM mentions AS t
      CROSS JOIN memories AS m ON m.row = t.row
      WHERE t.namespace = a.namespace
        AND t.name = a.alias
        AND {seen}
    )
    OR NOT EXISTS (
      SELECT 1
      FROM mentions AS t
      WHERE t.namespace = a.namespace
        AND t.name = a.alias
    )
  )
"""

JOINED = """
SELECT key, body ->> 'to'
FROM sketches
WHERE kind = 'joined'
  AND scope IN (SELECT value FROM json_each(:scopes))
"""

LATEST_ROWS = """
SELECT t.row
FROM namespaces AS n
CROSS JOIN mentions AS t ON t.namespace = n.id AND t.name = :alias
WHERE n.name = :home
ORDER BY t.row DESC
LIMIT :looked_at
"""

LATEST_HAPPENING = """
SELECT m.row
FROM json_each(:keys) AS k
CROSS JOIN memories AS m ON m.row = k.value
WHERE {seen}
ORDER BY coalesce(m.event_time, m.created_at) DESC, m.row DESC
LIMIT :limit
"""

COUNTED = 1_000
"""How many memories that name an entity are counted at most."""
LOOKED_AT = 20_000
"""How many memories of each name are looked at for the latest happening, the newest ones."""
BEGINNING = 4
"""How many letters two names begin with that may differ by a slip of the pen."""
SHARE = 10
"""How many names are looked at for each entity that may be alike."""
ANYTHING = Filters(statuses=frozenset())


class SqliteEntities(PlacedNoun):
    """Who and what is spoken of.

    An entity is seen by those who see a memory that names it. Used by any thread.
    """

    def get(self, name: str, access: Access) -> Entity | None:
        """The entity with this name or alias; where several namespaces are seen, the caller's own first."""
        with self._readers.lend() as db:
            joins = self._joins(db, access)
            for entity in _by_names(db, joins.names([name]), self._homes(db, access)):
                found = self._read(db, [entity], access, joins)
                if found and name.casefold() in found[0].aliases:
                    return found[0]
        return None

    def known(self, names: Iterable[str], namespace: str) -> set[str]:
        """Those of the names, without case, that stand for something in a namespace, whoever may see it."""
        with self._readers.lend() as db:
            values = {"names": as_list(map(str.casefold, names)), "home": namespace}
            return {line[0] for line in ask(db, KNOWN, values)}

    def among(self, words: Sequence[str], access: Access) -> list[Entity]:
        """Entities one of whose names is in `words`: how a question's entities are recognised."""
        asked = frozenset(map(str.casefold, words))
        with self._readers.lend() as db:
            joins = self._joins(db, access)
            if joins:
                ids = _by_names(db, joins.names(asked), self._homes(db, access))
                found = self._read(db, ids, access, joins, counted=1)
            else:
                values = {"names": as_list(asked), "namespaces": as_keys(self._homes(db, access))}
                found = self._seen(db, BY_NAMES, values, access, 1)
        return [entity for entity in found if not asked.isdisjoint(entity.aliases)]

    def page(self, access: Access, limit: int, entity_type: str = "", prefix: str = "") -> list[Entity]:
        """Entities, last seen first; of one type; with a name or alias that begins so."""
        with self._readers.lend() as db:
            seen = _mentions(self._places.reach(db, access))
            sql = (LATEST_THAT_BEGIN_SO if prefix else LATEST).format(mentions=seen.sql)
            values = {**seen.values, **_range(prefix), "type": entity_type, "limit": limit}
            found = [
                line[0]
                for namespace in self._homes(db, access)
                for line in ask(db, sql, {**values, "namespace": namespace})
            ]
            read = self._read(db, found, access, self._joins(db, access))
        low = prefix.casefold()
        return [one for one in read if any(alias.startswith(low) for alias in one.aliases)][:limit]

    def like(self, name: str, access: Access, limit: int) -> list[Entity]:
        """Entities with a name that shares a word with this one or differs by a slip, last seen first."""
        return self.like_each([name], access, limit)[0]

    def like_each(self, names: Sequence[str], access: Access, limit: int) -> list[list[Entity]]:
        """The same for many names, read together."""
        with self._readers.lend() as db:
            places = self._homes(db, access)
            found = [set(_alike(db, name, places, limit)) for name in names]
            joins = self._joins(db, access)
            read = self._read(db, set().union(*found), access, joins, counted=1) if any(found) else []
        if joins:
            return [[one for one in read if _is_like(one, name)][:limit] for name in names]
        order = {one.key: place for place, one in enumerate(read)}
        alike = (sorted(order[key] for key in keys if key in order) for keys in found)
        pairs = zip(names, alike, strict=True)
        return [[read[at] for at in some if _is_like(read[at], name)][:limit] for name, some in pairs]

    def memories(self, entity: Entity, view: View, limit: int) -> list[tuple[int, Memory]]:
        """Memories that name it, by any of its names, the latest happening first, with their keys."""
        with self._readers.lend() as db:
            seen = where(self._places.reach(db, view.access), view.filters, at_hand=True)
            home = {"home": entity.namespace, "looked_at": LOOKED_AT}
            lines = (ask(db, LATEST_ROWS, {**home, "alias": alias}) for alias in _aliases(db, entity))
            keys = {row for found in lines for (row,) in found}
            values = {**seen.values, "keys": as_list(keys), "limit": limit}
            rows = [line[0] for line in ask(db, LATEST_HAPPENING.format(seen=seen.sql), values)]
            read = dict(map(sqlite_rows.from_row, ask(db, BY_KEYS, {"keys": as_list(rows)})))
        return [(row, read[row]) for row in rows if row in read]

    def _read(
        self, db: Db, ids: Iterable[int], access: Access, joins: Joins, counted: int = COUNTED
    ) -> list[Entity]:
        """Those of the entities that the caller may see, last seen first, their mentions counted so far."""
        found = self._numbered(db, ids, access, counted)
        if not joins:
            return found
        together: dict[str, Entity] = {}
        for entity in found:
            one = self._together(db, entity, access, joins, counted)
            together.setdefault(min(one.aliases, default=one.name), one)
        return list(together.values())

    def _numbered(self, db: Db, ids: Iterable[int], access: Access, counted: int) -> list[Entity]:
        wanted = as_list(ids)
        return [] if wanted == "[]" else self._seen(db, OF_THESE, {"keys": wanted}, access, counted)

    def _seen(
        self, db: Db, which: str, values: Mapping[str, Any], access: Access, counted: int
    ) -> list[Entity]:
        reach = self._places.reach(db, access)
        seen = _mentions(reach)
        wording = IS_MENTIONED if counted == 1 and _is_all(reach) else COUNT_MENTIONS
        sql = _reading(which, _known_names(reach), wording.replace("{mentions}", seen.sql))
        lines = ask(db, sql, {**seen.values, **values, "counted": counted})
        return [entity for entity in map(_entity, lines) if entity.mentions and entity.aliases]

    def _together(self, db: Db, entity: Entity, access: Access, joins: Joins, counted: int) -> Entity:
        """An entity with all that was joined to it where the caller looks from."""
        parts, names = {entity.key: entity}, frozenset(entity.aliases)
        while (more := joins.names(names)) > names:
            ids = [id_ for id_ in _by_names(db, more, self._homes(db, access)) if id_ not in parts]
            others = [
                one for one in self._numbered(db, ids, access, counted) if one.namespace == entity.namespace
            ]
            parts.update((one.key, one) for one in others)
            names = more.union(*(one.aliases for one in others))
        shown = next((one for one in parts.values() if joins.is_shown(one.aliases)), entity)
        return shown if names == frozenset(shown.aliases) else _one_of(shown, [*parts.values()], names)

    def _homes(self, db: Db, access: Access) -> list[int]:
        """Numbers of the namespaces a caller may look into, its own first."""
        which = "ORDER BY name <> :home, id" if access.all_namespaces else "WHERE name = :home"
        sql, home = f"SELECT id FROM namespaces {which}", access.scope.namespace  # noqa: S608 - as above
        return self._readers.once((sql, home), lambda: [line[0] for line in ask(db, sql, {"home": home})])

    def _joins(self, db: Db, access: Access) -> Joins:
        """Which names are one where the caller looks from: joined in its own place or above."""
        if access.owns_namespace:
            return Joins()
        above = self._places.reach(db, replace(access, role=Role.READER))
        return Joins(dict(ask(db, JOINED, {"scopes": as_list(above.scopes)})))


def _alike(db: Db, name: str, namespaces: Sequence[int], limit: int) -> Iterator[int]:
    """Entities that may have a name like this one."""
    beginning, most = name.casefold()[:BEGINNING], limit * SHARE
    for namespace in namespaces if beginning else ():
        here = {"namespace": namespace, "most": most}
        yield from (line[0] for line in ask(db, WITH_WORDS, {**here, "words": as_list(keys_of(name))}))
        begun = ask(db, THAT_BEGIN_SO, {**here, **_range(beginning)})
        yield from (entity for entity, alias in begun if nearly_spelt(name, alias))


@dataclass(frozen=True, slots=True)
class Joins:
    """Names that were joined in a place: which name leads to which."""

    leads: Mapping[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.leads)

    def names(self, given: Iterable[str]) -> frozenset[str]:
        """These names and those that a join leads to or from."""
        names = frozenset(map(str.casefold, given))
        from_ = {name for name, to in self.leads.items() if to in names}
        return names | from_ | {self.leads[name] for name in names if name in self.leads}

    def is_shown(self, aliases: Iterable[str]) -> bool:
        """Whether an entity of these names is the one that others were joined to, and was joined to none."""
        names = frozenset(aliases)
        return not names & self.leads.keys() and bool(names.intersection(self.leads.values()))


def _by_names(db: Db, names: Iterable[str], namespaces: Iterable[int]) -> list[int]:
    values = {"names": as_list(map(str.casefold, names)), "namespaces": as_list(namespaces)}
    return list(dict.fromkeys(line[0] for line in ask(db, BY_NAMES, values)))


@lru_cache(maxsize=64)
def _reading(which: str, known: str, mentions: str) -> str:
    return READ.replace("{which}", which).replace("{known}", known).replace("{mentions}", mentions)


def _mentions(reach: Reach) -> WhereClause:
    """The statement for rows that name an entity `e` and are seen, as the only clause."""
    if _is_all(reach):
        return WhereClause((ALL_MENTIONS,), {})
    seen = where(reach, ANYTHING, at_hand=True)
    return WhereClause((SEEN_MENTIONS.format(seen=seen.sql),), seen.values)


def _is_all(reach: Reach) -> bool:
    """Whether each namespace that is looked into is seen whole."""
    return reach.everything or reach.namespace is not None


def _range(beginning: str) -> dict[str, Any]:
    low = beginning.casefold()
    return {"low": low, "high": low + HIGHEST}


def _aliases(db: Db, entity: Entity) -> list[str]:
    """All its names as they are now; those it was read with, if it has no number."""
    if not entity.key:
        return list(entity.aliases or [entity.name.casefold()])
    return look_up_all(db, "aliases", "alias", entity=entity.key)


def _known_names(reach: Reach) -> str:
    """The clause for those names of an entity that the caller knows."""
    if _is_all(reach):
        return "TRUE"
    return KNOWN_NAMES.replace("{seen}", where(reach, ANYTHING, at_hand=True).sql)


def _is_like(entity: Entity, name: str) -> bool:
    keys = keys_of(name)
    return any(nearly_spelt(name, one) or not keys.isdisjoint(keys_of(one)) for one in entity.aliases)


def _one_of(shown: Entity, parts: Sequence[Entity], names: frozenset[str]) -> Entity:
    """Several entities as one, shown by the name of the first."""
    known = [one.type for one in (shown, *parts) if one.type != "unknown"]
    times = [at for one in parts for at in (one.first_seen, one.last_seen) if at is not None]
    return replace(
        shown,
        type=known[0] if known else shown.type,
        aliases=tuple(sorted(names)),
        first_seen=min(times, default=None),
        last_seen=max(times, default=None),
        mentions=sum(one.mentions for one in parts),
        key=0,
    )


def _entity(line: Line) -> Entity:
    id_, name, namespace, type_, first, last, aliases, mentions = line
    names: dict[str, str] = dict(sorted(json.loads(aliases)))
    count, *seen = json.loads(mentions)
    if seen != [None, None]:  # not all memories are seen: nor is when the others spoke of it
        first, last = seen
    shown = name if name.casefold() in names else next(iter(names.values()), "")
    return Entity(shown, namespace, type_, tuple(names), from_micros(first), from_micros(last), count, id_)
