"""How much is kept, of what: a reach comes in, counts of what it covers come out."""

from __future__ import annotations

from collections import Counter
from typing import Any

from engram.model.axes import Layer
from engram.model.filters import ANY_STATUS, Filters
from engram.model.pages import Stats
from engram.model.vectors import Space
from engram.ports import Reach
from engram.store.sqlite import vectors
from engram.store.sqlite.query import Db, ask, ask_value
from engram.store.sqlite.views import where, where_event

GROUPS = """
SELECT m.status, m.kind, m.category, m.layer, count(*)
FROM memories AS m
WHERE {seen}
GROUP BY m.status, m.kind, m.category, m.layer
"""

NAMESPACES = """
SELECT n.name, count(*)
FROM memories AS m
JOIN scopes AS s ON s.id = m.scope
JOIN namespaces AS n ON n.id = s.namespace
WHERE {seen}
GROUP BY n.name
ORDER BY n.name
"""

# The pluses keep the index out of it: with it, every visible source would be tried with every visible target.
EDGES = """
SELECT count(*)
FROM edges AS e
WHERE +e.source IN (SELECT m.row FROM memories AS m WHERE {seen})
  AND +e.target IN (SELECT m.row FROM memories AS m WHERE {seen})
"""

EVENTS = """
SELECT count(*)
FROM events AS e
WHERE {seen}
"""

ALL_EDGES = """
SELECT count(*)
FROM edges
"""

PENDING = """
SELECT count(*)
FROM memories AS m
WHERE m.status = 'active'
  AND NOT EXISTS (SELECT 1 FROM embeddings AS e WHERE e.id = :base + m.row)
  AND {seen}
"""

VECTORS = """
SELECT p.key, count(*)
FROM marks AS k
JOIN spaces AS p ON p.id = k.space
JOIN memories AS m ON m.row = k.row
WHERE k.gone = 0
  AND {seen}
GROUP BY p.key
"""


IN_USE = frozenset(status.value for status in Filters().statuses)


def stats(db: Db, reach: Reach, space: Space | None) -> Stats:
    """Counts of what the reach covers."""
    seen, told = where(reach, ANY_STATUS), where_event(reach)
    by: tuple[Counter[str], ...] = (Counter(), Counter(), Counter(), Counter())
    used: tuple[Counter[str], ...] = (Counter(), Counter(), Counter(), Counter())
    for *names, layer, count in ask(db, _seen(GROUPS, seen.sql), seen.values):
        for group in (by, used) if names[0] in IN_USE else (by,):
            for counter, name in zip(group, (*names, Layer(layer).name.lower()), strict=True):
                counter[name] += count
    status, kind, category, layers = by
    return Stats(
        memories=status.total(),
        by_status=dict(status),
        by_kind=dict(kind),
        by_category=dict(category),
        by_layer=dict(layers),
        by_namespace=dict(ask(db, _seen(NAMESPACES, seen.sql), seen.values)),
        in_use_by_kind=dict(used[1]),
        in_use_by_layer=dict(used[3]),
        edges=_count(db, ALL_EDGES if reach.everything else EDGES, seen.sql, seen.values),
        events=_count(db, EVENTS, told.sql, told.values),
        vectors=_vectors(db, reach, seen.sql, seen.values),
        pending=_pending(db, space, seen.sql, seen.values),
        size_bytes=db.pragma("page_count") * db.pragma("page_size"),
    )


def _pending(db: Db, space: Space | None, seen: str, values: dict[str, Any]) -> int:
    if space is None:
        return 0
    return _count(db, PENDING, seen, {**values, "base": vectors.base_of(db, space)})


def _vectors(db: Db, reach: Reach, seen: str, values: dict[str, Any]) -> dict[str, int]:
    if reach.everything:
        return vectors.sizes(db)
    return dict(ask(db, _seen(VECTORS, seen), values))


def _count(db: Db, sql: str, seen: str, values: dict[str, Any]) -> int:
    return int(ask_value(db, _seen(sql, seen), values))


def _seen(sql: str, clauses: str) -> str:
    """The statement with the view's own clauses in their place; both are written out in this package."""
    return sql.replace("{seen}", clauses)
