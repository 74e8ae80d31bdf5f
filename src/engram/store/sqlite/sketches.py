"""Sketches: what was worked out from memories comes in and out; erasing a source takes the sketch away."""

from __future__ import annotations

import json
from typing import Any

from engram.model.clock import from_micros, to_micros
from engram.model.scope import Scope
from engram.model.upkeep import Sketch
from engram.ports import Reach
from engram.store.sqlite import records
from engram.store.sqlite.query import HIGHEST, Db, ask, ask_line, ask_value

ONE = """
SELECT k.id, n.name, s.project, s.squad, s.agent, s.channel, s.user,
  k.kind, k.key, k.title, k.run, k.made_at, k.body
FROM sketches AS k
JOIN scopes AS s ON s.id = k.scope
JOIN namespaces AS n ON n.id = s.namespace
WHERE k.kind = :kind
  AND k.scope = :scope
  AND k.key = :key
"""

MANY = """
SELECT k.id, n.name, s.project, s.squad, s.agent, s.channel, s.user,
  k.kind, k.key, k.title, k.run, k.made_at, k.body
FROM sketches AS k
JOIN scopes AS s ON s.id = k.scope
JOIN namespaces AS n ON n.id = s.namespace
WHERE k.kind = :kind
  AND k.key >= :low
  AND k.key < :high
  AND (
    :everything
    OR s.namespace = :namespace
    OR k.scope IN (SELECT value FROM json_each(:scopes))
  )
ORDER BY k.key, k.id
LIMIT :limit
"""

SOURCES = """
SELECT m.id
FROM sketch_sources AS o
JOIN memories AS m ON m.row = o.row
WHERE o.sketch = :sketch
ORDER BY o.row
"""

PUT = """
INSERT INTO sketches (scope, kind, key, title, run, made_at, body)
VALUES (:scope, :kind, :key, :title, :run, :made_at, :body)
ON CONFLICT (kind, scope, key) DO UPDATE SET
  title = :title,
  run = :run,
  made_at = :made_at,
  body = :body
RETURNING id
"""

DROP_SOURCES = """
DELETE FROM sketch_sources
WHERE sketch = :sketch
"""

ADD_SOURCES = """
INSERT INTO sketch_sources (sketch, row)
SELECT :sketch, m.row
FROM json_each(:ids) AS j
CROSS JOIN memories AS m ON m.id = j.value
"""

ID_OF = """
SELECT id
FROM sketches
WHERE kind = :kind
  AND scope = :scope
  AND key = :key
"""

REMOVE = """
DELETE FROM sketches
WHERE id = :sketch
"""

MADE_OF = """
SELECT sketch
FROM sketch_sources
WHERE row = :row
"""


OF_RUN = """
SELECT id
FROM sketches
WHERE run = :run
"""


def one(db: Db, scope: int, kind: str, key: str) -> Sketch | None:
    """One sketch of a scope."""
    line = ask_line(db, ONE, {"scope": scope, "kind": kind, "key": key})
    return None if line is None else _sketch(db, line)


def many(db: Db, reach: Reach, kind: str, limit: int, prefix: str) -> list[Sketch]:
    """Sketches of a kind that a reach covers, by key."""
    values = {
        "kind": kind,
        "low": prefix,
        "high": prefix + HIGHEST,
        "everything": int(reach.everything),
        "namespace": -1 if reach.namespace is None else reach.namespace,
        "scopes": records.as_list(sorted(reach.scopes)),
        "limit": limit,
    }
    return [_sketch(db, line) for line in ask(db, MANY, values)]


# ---------------------------------------------------------------- inside the writer


def put(db: Db, scope: int, sketch: Sketch) -> None:
    """Keep a sketch in place of the former one."""
    values = {
        "scope": scope,
        "kind": sketch.kind,
        "key": sketch.key,
        "title": sketch.title,
        "run": sketch.run,
        "made_at": to_micros(sketch.made_at),
        "body": records.to_json(sketch.body),
    }
    number = ask_value(db, PUT, values)
    db.execute(DROP_SOURCES, {"sketch": number})
    db.execute(ADD_SOURCES, {"sketch": number, "ids": records.as_list(dict.fromkeys(sketch.sources))})


def remove(db: Db, scope: int, kind: str, key: str) -> bool:
    """Drop a sketch; whether there was one."""
    number = ask_value(db, ID_OF, {"kind": kind, "scope": scope, "key": key})
    if number is not None:
        _remove(db, number)
    return number is not None


def drop(db: Db, row: int) -> None:
    """Drop every sketch that has words of a memory."""
    for (number,) in list(ask(db, MADE_OF, {"row": row})):
        _remove(db, number)


def drop_run(db: Db, run_id: str) -> None:
    """Drop every sketch that a run made."""
    for (number,) in list(ask(db, OF_RUN, {"run": run_id})):
        _remove(db, number)


def _remove(db: Db, number: int) -> None:
    for sql in (DROP_SOURCES, REMOVE):
        db.execute(sql, {"sketch": number})


def _sketch(db: Db, line: tuple[Any, ...]) -> Sketch:
    number, *place, kind, key, title, run, made_at, body = line
    sources = tuple(source for (source,) in ask(db, SOURCES, {"sketch": number}))
    return Sketch(Scope(*place), kind, key, json.loads(body), from_micros(made_at), title, sources, run)
