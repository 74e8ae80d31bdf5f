"""The records: ids, keys and views come in, memories come out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engram.errors import AmbiguousId, BadCursor, NotFound
from engram.model.clock import to_micros
from engram.model.memory import ANY_STATUS, Filters, Layer, Memory, Space, Tier
from engram.ports import WORDING, Reach, View
from engram.store.sqlite import rows as sqlite_rows
from engram.store.sqlite import vectors, views
from engram.store.sqlite.connection import HIGHEST, Db, ask, ask_line, ask_value
from engram.store.sqlite.views import PlacedNoun, WhereClause, where, where_event

if TYPE_CHECKING:
    from engram.model.event import Page, Stats
    from engram.model.scope import Access
    from engram.ports import Keys


# ---------------------------------------------------------------- counts
# How much is kept, of what: a reach comes in, counts of what it covers come out.


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


SIZE = """
SELECT page_count * page_size
FROM pragma_page_count, pragma_page_size
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
    from engram.model.event import Stats

    return Stats(
        memories=status.total(),
        by_status=dict(status),
        by_kind=dict(kind),
        by_category=dict(category),
        by_layer=dict(layers),
        by_namespace=dict(ask(db, _seen(NAMESPACES, seen.sql), seen.values)),
        in_use_by_kind=dict(used[1]),
        in_use_by_layer=dict(used[3]),
        edges=_count(db, "SELECT count(*) FROM edges" if reach.everything else EDGES, seen.sql, seen.values),
        events=_count(db, EVENTS, told.sql, told.values),
        vectors=_vectors(db, reach, seen.sql, seen.values),
        pending=_pending(db, space, seen.sql, seen.values),
        size_bytes=ask_value(db, SIZE),
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


BY_ID = sqlite_rows.select("""
WHERE m.id = :id
""")

BY_IDS = sqlite_rows.select("""
WHERE m.id IN (SELECT value FROM json_each(:ids))
""")

# From the newest use backwards, by the key of the log: how long the log is does not matter.
USED = """
SELECT row
FROM (
  SELECT row, at
  FROM access_log
  ORDER BY id DESC
  LIMIT :limit
)
WHERE at >= :at
"""

BY_KEYS = sqlite_rows.select("""
WHERE m.row IN (SELECT value FROM json_each(:keys))
""")

# By the ids first: by what the caller may see, every memory of a place would be looked at.
BY_PREFIX = """
SELECT m.id
FROM (
  SELECT row
  FROM memories
  WHERE id >= :low
    AND id < :high
) AS p
CROSS JOIN memories AS m ON m.row = p.row
WHERE """

NEWEST = """
ORDER BY m.created_at DESC, m.row DESC
LIMIT :limit
"""

AFTER_CURSOR = "(m.created_at, m.row) < (:cursor_at, :cursor_row)"

ALL_KEYS = """
SELECT m.row
FROM memories AS m
"""

IN_ORDER = """
ORDER BY m.row
LIMIT :limit
"""

AMONG = "m.row IN (SELECT value FROM json_each(:keys))"

UNEMBEDDED = sqlite_rows.select("""
WHERE m.row > :after
  AND NOT EXISTS (SELECT 1 FROM embeddings AS e WHERE e.id = :base + m.row)
ORDER BY m.row
LIMIT :limit
""")

WITHOUT_WORDS = sqlite_rows.select("""
WHERE m.row > :after
  AND NOT EXISTS (SELECT 1 FROM texts AS t WHERE t.row = m.row AND t.wording = :wording)
ORDER BY m.row
LIMIT :limit
""")

UNSEALED = sqlite_rows.select("""
WHERE m.tier = :tier
  AND m.tier <> 'clear'
  AND m.sealed IS NULL
LIMIT :limit
""")

SEALED = sqlite_rows.select("""
WHERE m.sealed IS NOT NULL
LIMIT :limit
""")

WIDE_SHARE = 0.1
"""A caller who sees more of the file than this is served by going through all of it in order."""


class SqliteMemories(PlacedNoun):
    """The records. Used by any thread."""

    def get(self, memory_id: str, access: Access) -> Memory | None:
        """The memory with this full id, in any status, if the caller may see it."""
        with self._readers.lend() as db:
            found = by_id(db, memory_id)
        return found[1] if found and access.may_read(found[1].scope) else None

    def resolve(self, prefix: str, access: Access) -> str:
        """The full id that begins with `prefix`. Raises NotFound or AmbiguousId."""
        if not prefix:
            raise NotFound(prefix)
        with self._readers.lend() as db:
            seen = where(self._places.reach(db, access), ANY_STATUS)
            values = {**seen.values, "low": prefix, "high": prefix + HIGHEST}
            ids = [line[0] for line in ask(db, BY_PREFIX + seen.sql, values)]
        if not ids:
            raise NotFound(prefix)
        if prefix in ids:
            return prefix
        if len(ids) > 1:
            raise AmbiguousId(prefix, len(ids))
        return str(ids[0])

    def read(self, keys: Sequence[int]) -> dict[int, Memory]:
        """The records of keys that a search has already allowed. Missing keys are left out."""
        if len(keys) == 0:
            return {}
        lines = self._ask(BY_KEYS, {"keys": sqlite_rows.as_keys(keys)})
        return dict(map(sqlite_rows.from_row, lines))

    def used_since(self, at: datetime, limit: int) -> list[Memory]:
        """What the latest recalls since a time have used; at most so many uses are looked at."""
        rows = {line[0] for line in self._ask(USED, {"at": to_micros(at), "limit": limit})}
        return list(self.read(sorted(rows)).values())

    def keys(self, ids: Sequence[str]) -> dict[str, int]:
        """The keys of full ids. Missing ids are left out."""
        with self._readers.lend() as db:
            return keys_of(db, ids)

    def page(self, view: View, limit: int, cursor: str | None = None) -> Page:
        """Newest first. Raises BadCursor."""
        with self._readers.lend() as db:
            seen = _clauses(db, self._places.reach(db, view.access), view)
            sql = sqlite_rows.select("WHERE " + seen.sql)
            values = {**seen.values, "limit": limit + 1}
            if cursor is not None:
                sql += "\n  AND " + AFTER_CURSOR
                values.update(_parse(cursor))
            found = [sqlite_rows.from_row(line) for line in ask(db, sql + NEWEST, values)]
        shown = found[:limit]
        more = len(found) > limit and bool(shown)
        from engram.model.event import Page

        return Page(tuple(memory for _, memory in shown), _cursor(*shown[-1]) if more else None)

    def every(self, view: View, at_a_time: int = 1_000) -> Iterator[Memory]:
        """All that the view allows, newest first, read page by page."""
        cursor: str | None = ""
        while cursor is not None:
            page = self.page(view, at_a_time, cursor or None)
            yield from page
            cursor = page.cursor

    def count(self, view: View) -> int:
        """How many the view allows."""
        with self._readers.lend() as db:
            seen = _clauses(db, self._places.reach(db, view.access), view)
            return _count(db, "SELECT count(*) FROM memories AS m WHERE {seen}", seen.sql, seen.values)

    def select(self, view: View, limit: int) -> Keys | None:
        """All keys the view allows, in order; None when they are more than `limit`."""
        with self._readers.lend() as db:
            return selected(db, self._places.reach(db, view.access), view, limit)

    def allow(self, view: View, keys: Sequence[int]) -> set[int]:
        """Those of the keys that the view allows."""
        with self._readers.lend() as db:
            return allowed(db, self._places.reach(db, view.access), view, keys)

    def unembedded(self, space: Space, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories without a vector in this space, by key, beginning after a key."""
        with self._readers.lend() as db:
            if vectors.sizes(db).get(space.key, 0) == views.size(db, Reach(everything=True)):
                return []  # the usual case, which would otherwise mean to look at every memory
            values = {"after": after, "limit": limit, "base": vectors.base_of(db, space)}
            return [sqlite_rows.from_row(line) for line in ask(db, UNEMBEDDED, values)]

    def unsealed(self, tier: Tier, limit: int) -> list[Memory]:
        """Memories of a tier whose words are not sealed."""
        lines = self._ask(UNSEALED, {"tier": tier.value, "limit": limit})
        return [sqlite_rows.from_row(line)[1] for line in lines]

    def sealed(self, limit: int) -> list[Memory]:
        """Memories whose words are sealed."""
        return [sqlite_rows.from_row(line)[1] for line in self._ask(SEALED, {"limit": limit})]

    def without_words(self, limit: int, after: int = 0) -> list[tuple[int, Memory]]:
        """Memories whose words were lost, or read by rules that were others than today's, by key."""
        given = {"after": after, "wording": WORDING, "limit": limit}
        return [sqlite_rows.from_row(line) for line in self._ask(WITHOUT_WORDS, given)]

    def reach(self, access: Access) -> Reach:
        """The access, resolved."""
        with self._readers.lend() as db:
            return self._places.reach(db, access)

    def stats(self, access: Access, space: Space | None) -> Stats:
        """Counts of what the caller may see; pending counts active memories without a vector in `space`."""
        with self._readers.lend() as db:
            return stats(db, self._places.reach(db, access), space)


def keys_of(db: Db, ids: Sequence[str]) -> dict[str, int]:
    """The keys of full ids; those of nobody are left out."""
    sql = "SELECT id, row FROM memories WHERE id IN (SELECT value FROM json_each(:ids))"
    return dict(ask(db, sql, {"ids": sqlite_rows.as_list(ids)}))


def by_id(db: Db, memory_id: str) -> tuple[int, Memory] | None:
    """Key and memory of a full id."""
    line = ask_line(db, BY_ID, {"id": memory_id})
    return None if line is None else sqlite_rows.from_row(line)


def by_ids(db: Db, ids: Sequence[str]) -> list[tuple[int, Memory]]:
    """The same of many ids; those of nobody are left out."""
    return [sqlite_rows.from_row(line) for line in ask(db, BY_IDS, {"ids": sqlite_rows.as_list(ids)})]


def allowed(db: Db, reach: Reach, view: View, keys: Sequence[int]) -> set[int]:
    """Those of the keys that the view allows."""
    seen = where(reach, view.filters, at_hand=True)
    sql = ALL_KEYS + "WHERE " + AMONG + "\n  AND " + seen.sql
    values = {**seen.values, "keys": sqlite_rows.as_keys(keys)}
    return {line[0] for line in ask(db, sql, values)}


def selected(db: Db, reach: Reach, view: View, limit: int) -> Keys | None:
    """All keys the view allows, in order; None when they are more than `limit`."""
    import numpy as np

    seen = _clauses(db, reach, view)
    sql = ALL_KEYS + "WHERE " + seen.sql + IN_ORDER
    found = ask(db, sql, {**seen.values, "limit": limit + 1})
    if len(found) > limit:
        return None
    return np.fromiter((line[0] for line in found), dtype=np.int64, count=len(found))


def _clauses(db: Db, reach: Reach, view: View) -> WhereClause:
    """The clauses of a view that is gone through in order: best where much of the file is seen."""
    covered, whole = views.size(db, reach), views.size(db, Reach(everything=True))
    return where(reach, view.filters, wide=covered > WIDE_SHARE * whole)


def _cursor(key: int, memory: Memory) -> str:
    return f"{to_micros(memory.created_at)}.{key}"


def _parse(cursor: str) -> Mapping[str, int]:
    at, _, row = cursor.partition(".")
    try:
        return {"cursor_at": int(at), "cursor_row": int(row)}
    except ValueError as error:
        raise BadCursor(cursor) from error
