"""Company: who was spoken of lately, and whose facts hang together. Asked inside the writer.

A unit that writes many memories asks for one name again and again: it is looked up once and kept in mind.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from engram.errors import NotFound
from engram.lazily import dataclass
from engram.model.facts import Entity, Fact, Named
from engram.rules.entities import keys_of
from engram.store.sqlite.connection import (
    Db,
    Line,
    ask,
    ask_value,
    delete,
    look_up,
    look_up_all,
    putting,
    update,
)
from engram.store.sqlite.rows import as_list

# ---------------------------------------------------------------- aliases
# What names stand for, written: each name leads to an entity, and goes when no memory has it any more.


ENTITIES_OF = """
SELECT a.alias, a.entity
FROM json_each(:names) AS j
CROSS JOIN aliases AS a ON a.namespace = :namespace AND a.alias = j.value
"""

FREE_NUMBERS = """
WITH RECURSIVE
  further (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM further WHERE value < :count)
SELECT value + coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'entities'), 0)
FROM further
"""

INTRODUCE = putting("entities", ("id", "namespace", "name", "type", "first_seen", "last_seen"))
ADD_ALIAS = putting("aliases", ("namespace", "alias", "entity", "name"))

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
  WHERE t.namespace = :namespace
    AND t.name = j.value
)
"""

ALIASES = """
SELECT alias, name
FROM aliases
WHERE entity = :entity
ORDER BY alias
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


def link(db: Db, namespace: int, heard: Mapping[str, Heard], known: dict[str, int]) -> None:
    """Lead each name to its entity: the one it stands for, the one it was found to be, or a new one.

    `known` are the names of the namespace that were looked up before, with their entities; it grows.
    """
    named = {*heard, *(one.name.canonical.casefold() for one in heard.values())}
    wanted = [name for name in named if name not in known]
    if wanted:
        known.update(ask(db, ENTITIES_OF, {"namespace": namespace, "names": as_list(wanted)}))
    seen = [(one.first, one.last, one.type, known[alias]) for alias, one in heard.items() if alias in known]
    new = len(heard) - len(seen)
    numbers = iter(ask(db, FREE_NUMBERS, {"count": new}) if new else ())
    entities, aliases = [], []
    for alias, one in heard.items():
        if alias in known:
            continue
        entity = known.get(one.name.canonical.casefold()) if one.name.canonical else None
        if entity is None:
            (entity,) = next(numbers)
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
        delete(db, "aliases", namespace=namespace, alias=other)
        db.execute(DROP_JOINS, {"namespace": namespace, "alias": other})
        words = {"namespace": namespace, "alias": other, "words": as_list(keys_of(other))}
        db.execute(DROP_WORDS, words)
    if not in_use:
        delete(db, "entities", id=entity)
        return
    if name_of(db, entity).casefold() == alias:
        update(db, "entities", {"name": in_use[0]}, id=entity)


def add(db: Db, aliases: Sequence[Line]) -> None:
    """Write new names, and the words of those that have several."""
    db.executemany(ADD_ALIAS, aliases)
    words = [
        (namespace, word, alias)
        for namespace, alias, *_ in aliases
        for word in keys_of(alias)
        if word != alias
    ]
    if words:
        db.executemany(ADD_WORD, words)


def name_of(db: Db, entity: int) -> str:
    """The name an entity is shown by."""
    return str(look_up(db, "entities", "name", id=entity))


# ---------------------------------------------------------------- naming
# Names, written: a memory's names come in; names can be joined and parted; what nobody names any more goes.
#
# `mentions` says which memory has which name, `aliases` what a name stands for. So two entities become one,
# or two again, without a look at any memory.


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
  WHERE t.namespace = :namespace
    AND t.name = :alias
) AS s ON TRUE
WHERE a.namespace = :namespace
  AND a.alias = :alias
GROUP BY a.namespace, a.name, e.first_seen, e.last_seen
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

    def __init__(self, db: Db, known: dict[int, dict[str, int]]) -> None:
        self._db = db
        self._known = known
        """For each namespace the names that were looked up, with their entities."""
        self._heard: dict[int, dict[str, Heard]] = {}

    def add(self, row: int, namespace: int, names: Names, at: int) -> None:
        """Write the names of a memory that has none yet."""
        if not names:
            return
        mention = putting("mentions", ("namespace", "name", "row"))
        self._db.executemany(mention, [(namespace, name, row) for name in names])
        heard = self._heard.setdefault(namespace, {})
        for alias, name in names.items():
            if alias in heard:
                heard[alias].again(name, at)
            else:
                heard[alias] = Heard(name, at, at, name.type)

    def change(self, row: int, places: tuple[int, int], names: Names, at: int) -> None:
        """Write other names over the old ones, and forget what nobody names any more; old and new place."""
        before, (old, new) = mentioned(self._db, row), places
        if before:
            delete(self._db, "mentions", row=row)
        self.add(row, new, names, at)
        self.sweep(old, before if old != new else [name for name in before if name not in names])

    def sweep(self, namespace: int, names: Sequence[str]) -> None:
        """Forget those of the names that no memory has any more, and entities that are left without any."""
        gone = unnamed(self._db, namespace, names)
        if gone:
            self.finish()
            self._known.clear()
        for alias in gone:
            entity = self._entity_of(namespace, alias)
            if entity is not None:
                forget(self._db, namespace, entity, alias)

    def alias(self, name: str, entity: Entity) -> None:
        """Let an entity go by one more name; an entity of that name becomes part of it."""
        self.finish()
        self._known.clear()
        number, namespace = self._find(entity)
        other = self._entity_of(namespace, name.casefold())
        if other is None:
            add(self._db, [(namespace, name.casefold(), number, name)])
        elif other != number:
            both = {"entity": number, "other": other}
            self._db.execute(ABSORB, both)
            self._db.execute(MOVE_ALIASES, both)
            delete(self._db, "entities", id=other)

    def split(self, name: str, namespace: str) -> bool:
        """Make a name stand for an entity of its own again; whether it was an alias."""
        self.finish()
        here = look_up(self._db, "namespaces", "id", name=namespace)
        place = {"namespace": here, "alias": name.casefold()}
        entity = self._entity_of(here, name.casefold())
        if entity is None or name_of(self._db, entity).casefold() == name.casefold():
            return False
        self._known.clear()
        if unnamed(self._db, here, [place["alias"]]):
            forget(self._db, here, entity, place["alias"])  # nobody says it: it stands for nothing
            return True
        self._db.execute(SPLIT_OFF, place)
        update(self._db, "aliases", {"entity": self._db.last_insert_rowid()}, **place)
        return True

    def finish(self) -> None:
        """Link what was heard: each name once, however many memories of the unit have it."""
        for namespace, heard in self._heard.items():
            link(self._db, namespace, heard, self._known.setdefault(namespace, {}))
        self._heard = {}

    def _entity_of(self, namespace: int, alias: str) -> int | None:
        entity: int | None = look_up(self._db, "aliases", "entity", namespace=namespace, alias=alias)
        return entity

    def _find(self, entity: Entity) -> tuple[int, int]:
        """Numbers of an entity and its namespace."""
        number: int | None = entity.key
        if not number:
            here = look_up(self._db, "namespaces", "id", name=entity.namespace)
            number = self._entity_of(here or 0, entity.name.casefold())
        namespace = look_up(self._db, "entities", "namespace", id=number)
        if number is None or namespace is None:
            raise NotFound(entity.name)
        return number, namespace


def mentioned(db: Db, row: int) -> list[str]:
    """The names of a memory, without case."""
    return look_up_all(db, "mentions", "name", row=row)


LATEST = """
SELECT m.id
FROM (
  SELECT row
  FROM mentions
  WHERE namespace = :namespace
    AND name = :name
  ORDER BY row DESC
  LIMIT :looked_at
) AS t
CROSS JOIN memories AS m ON m.row = t.row
WHERE m.scope = :scope
  AND m.status = 'active'
ORDER BY t.row DESC
LIMIT :kept
"""

COUNT = """
SELECT count(*)
FROM (SELECT 1 FROM mentions WHERE namespace = :namespace AND name = :name LIMIT :most)
"""

# What goes on where the fact ends, and what ends where it begins; each part looks at a few facts only.
HANGING_ON = """
SELECT m.id
FROM (
  SELECT row
  FROM (SELECT row FROM facts WHERE subject = :object LIMIT :looked_at)
  UNION
  SELECT row
  FROM (SELECT row FROM facts WHERE object = :subject LIMIT :looked_at)
) AS f
CROSS JOIN memories AS m ON m.row = f.row
WHERE m.scope = :scope
  AND m.status = 'active'
GROUP BY m.row
ORDER BY m.row DESC
LIMIT :limit
"""

LOOKED_AT = 20
"""How many memories or facts of one name are looked at."""
KEPT = 20
"""How many of them are kept in mind for each name."""


class RecentMentions:
    """Who was spoken of lately, as far as somebody asked. Lives in the writer's thread."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._counts: dict[tuple[int, str], int] = {}
        self._latest: dict[tuple[int, str], list[str]] = {}

    def heard(self, names: Iterable[str], place: tuple[int, int], memory_id: str) -> None:
        """Take in the names, without case, of a memory that was just added."""
        scope, namespace = place
        for name in names:
            if (namespace, name) in self._counts:
                self._counts[namespace, name] += 1
            latest = self._latest.get((scope, name))
            if latest is not None:
                latest.insert(0, memory_id)
                del latest[KEPT:]

    def __len__(self) -> int:
        return len(self._counts) + len(self._latest)

    def changed(self) -> None:
        """Keep nothing in mind that may have become wrong."""
        self._counts.clear()
        self._latest.clear()

    def count(self, name: str, namespace: int, most: int) -> int:
        """How many memories of a namespace have a name, counted up to `most`."""
        if (namespace, name) not in self._counts:
            values = {"namespace": namespace, "name": name, "most": most}
            self._counts[namespace, name] = ask_value(self._db, COUNT, values)
        return min(most, self._counts[namespace, name])

    def latest(self, name: str, place: tuple[int, int], limit: int) -> list[str]:
        """The active memories of a scope that have a name, the newest first."""
        scope, namespace = place
        found = self._latest.get((scope, name))
        if found is None:
            here = {"scope": scope, "namespace": namespace}
            values = {**here, "name": name, "looked_at": LOOKED_AT, "kept": KEPT}
            found = self._latest[scope, name] = [line[0] for line in ask(self._db, LATEST, values)]
        return found[:limit]

    def hanging_on(self, fact: Fact, scope: int, limit: int) -> list[str]:
        """Active memories of a scope whose facts go on where this one ends, or end where it begins."""
        ends = {"subject": fact.subject, "object": fact.object}
        values = {**ends, "scope": scope, "looked_at": LOOKED_AT, "limit": limit}
        return [line[0] for line in ask(self._db, HANGING_ON, values)]
