"""Names and links put right: what follows from the records is compared with them and mended.

For the doctor, who goes through all of it.
"""

from __future__ import annotations

from engram.model.entity import Named, words_of
from engram.store.sqlite import aliases
from engram.store.sqlite.query import Db, ask, ask_value

# What only says how other lines hang together goes when one of its ends is gone.
DROP_LOST_TURNS = """
DELETE FROM turn_memories
WHERE NOT EXISTS (SELECT 1 FROM turns AS t WHERE t.key = turn_memories.turn)
  OR NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.row = turn_memories.row)
"""

DROP_LOST_ORIGINS = """
DELETE FROM origins
WHERE NOT EXISTS (SELECT 1 FROM memories AS m WHERE m.row = origins.row)
"""

DROP_LOST_ALIASES = """
DELETE FROM aliases
WHERE NOT EXISTS (SELECT 1 FROM entities AS e WHERE e.id = aliases.entity)
"""

UNLINKED = """
SELECT
  s.namespace,
  t.name,
  min(coalesce(m.event_time, m.created_at)),
  max(coalesce(m.event_time, m.created_at))
FROM mentions AS t
JOIN memories AS m ON m.row = t.row
JOIN scopes AS s ON s.id = m.scope
WHERE NOT EXISTS (SELECT 1 FROM aliases AS a WHERE a.namespace = s.namespace AND a.alias = t.name)
GROUP BY s.namespace, t.name
"""

# One name of each entity that no memory of its namespace mentions by any name.
IDLE = """
SELECT e.namespace, e.id, min(a.alias)
FROM entities AS e
JOIN aliases AS a ON a.entity = e.id
WHERE NOT EXISTS (
  SELECT 1
  FROM aliases AS o
  CROSS JOIN mentions AS t ON t.name = o.alias
  CROSS JOIN memories AS m ON m.row = t.row
  CROSS JOIN scopes AS s ON s.id = m.scope AND s.namespace = e.namespace
  WHERE o.entity = e.id
)
GROUP BY e.id
"""

DROP_NAMELESS = """
DELETE FROM entities
WHERE NOT EXISTS (SELECT 1 FROM aliases AS a WHERE a.entity = entities.id)
"""

ALIASES = """
SELECT namespace, alias
FROM aliases
"""

WORDS = """
SELECT namespace, word, alias
FROM alias_words
"""

DROP_WORD = """
DELETE FROM alias_words
WHERE namespace = :namespace
  AND word = :word
  AND alias = :alias
"""

WAITING = """
SELECT count(*)
FROM turns
WHERE captured_at IS NULL
"""


def links(db: Db) -> int:
    """Drop what says that a memory came from somewhere when it or its turn is gone; how much."""
    before = db.total_changes()
    for sql in (DROP_LOST_TURNS, DROP_LOST_ORIGINS):
        db.execute(sql)
    return db.total_changes() - before


def names(db: Db) -> int:
    """See to it that every name mentioned stands for an entity, and no other does; how much was wrong."""
    before = db.total_changes()
    with db:
        db.execute(DROP_LOST_ALIASES)
        for namespace, name, first, last in ask(db, UNLINKED):
            aliases.link(db, namespace, {name: aliases.Heard(Named(name), first, last)})
        for namespace, entity, alias in ask(db, IDLE):
            aliases.forget(db, namespace, entity, alias)
        db.execute(DROP_NAMELESS)
        _words(db)
    return db.total_changes() - before


def waiting(db: Db) -> int:
    """How many turns wait to be captured."""
    return int(ask_value(db, WAITING))


def _words(db: Db) -> None:
    right = {
        (namespace, word, alias)
        for namespace, alias in ask(db, ALIASES)
        for word in words_of(alias)
        if word != alias
    }
    there = set(ask(db, WORDS))
    db.executemany(DROP_WORD, there - right)
    db.executemany(aliases.ADD_WORD, right - there)
