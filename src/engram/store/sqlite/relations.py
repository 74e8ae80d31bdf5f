"""The edges: how memories hang together, seen from one memory or from many keys at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from engram.errors import CycleRefused
from engram.model.clock import from_micros
from engram.model.facts import ACYCLIC, Edge, EdgeType
from engram.model.memory import ANY_STATUS
from engram.ports import EdgeLine, Link, View
from engram.store.sqlite import memories, rows
from engram.store.sqlite.connection import Db, ask, ask_value, delete, delete_where
from engram.store.sqlite.views import PlacedNoun

if TYPE_CHECKING:
    from engram.model.scope import Access


def _both_ways(sql: str) -> tuple[str, str]:
    """A statement for edges that lead from here to there, and for those that lead back."""
    onward = sql.replace("{here}", "source").replace("{there}", "target").replace("{forward}", "1")
    return onward, sql.replace("{here}", "target").replace("{there}", "source").replace("{forward}", "0")


# `m` is the far end, so that the view is asked of it.
OF = _both_ways("""
SELECT m.id, e.type, e.weight, e.confidence, e.origin, e.last_reinforced_at
FROM edges AS e
JOIN memories AS m ON m.row = e.{there}
WHERE e.{here} = :row
  AND {seen}
ORDER BY e.id
""")

LINKS = "UNION ALL".join(
    _both_ways("""
SELECT e.{here}, e.{there}, e.type, {forward}, e.weight, e.confidence
FROM json_each(:keys) AS k
CROSS JOIN edges AS e ON e.{here} = k.value
CROSS JOIN memories AS m ON m.row = e.{there}
WHERE e.type IN (SELECT value FROM json_each(:edge_types))
  AND {seen}
""")
)

# Most edges are those of the order of a talk and of later words, which no walk goes along.
AT = "UNION ALL".join(
    _both_ways("""
SELECT e.{here}, e.{there}, e.type, {forward}, e.weight, e.confidence, e.last_reinforced_at
FROM json_each(:keys) AS k
CROSS JOIN edges AS e ON e.{here} = k.value
WHERE e.type NOT IN ('next', 'updates')
  AND e.weight * e.confidence >= :least
""")
)

IS_THERE = """
SELECT EXISTS (SELECT 1 FROM edges WHERE source = :source AND target = :target AND type = :type)
"""

ADD = """
INSERT INTO edges (source, target, type, weight, confidence, origin, last_reinforced_at)
VALUES (:source, :target, :type, :weight, :confidence, :origin, :last_reinforced_at)
ON CONFLICT (source, target, type) DO UPDATE SET
  confidence = min(edges.confidence + :gain, 1.0),
  last_reinforced_at = :at
"""

# Rows of memories by id, and how many edges lead to each, up to a limit.
LED_TO = """
SELECT m.id, m.row, (SELECT count(*) FROM (SELECT 1 FROM edges WHERE target = m.row LIMIT :most))
FROM json_each(:ids) AS j
CROSS JOIN memories AS m ON m.id = j.value
"""

# An edge that comes by itself changes none that is there.
DRAW = """
INSERT INTO edges (source, target, type, weight, confidence, origin, last_reinforced_at)
VALUES (:source, :target, :type, :weight, :confidence, :origin, :at)
ON CONFLICT (source, target, type) DO NOTHING
"""

CONFIRM = """
UPDATE edges
SET confidence = min(confidence + :gain, 1.0),
  last_reinforced_at = :at
WHERE id IN (
  SELECT e.id
  FROM json_each(:keys) AS k
  CROSS JOIN edges AS e ON e.source = k.value
  WHERE e.target IN (SELECT value FROM json_each(:keys))
    AND e.type IN (SELECT value FROM json_each(:edge_types))
)
"""

LEADS_BACK = """
WITH RECURSIVE reached (row) AS (
  SELECT :target
  UNION
  SELECT e.target
  FROM edges AS e
  JOIN reached AS r ON r.row = e.source
  WHERE e.type IN (SELECT value FROM json_each(:acyclic))
)
SELECT EXISTS (SELECT 1 FROM reached WHERE row = :source)
"""


TYPES = {kind.value: kind for kind in EdgeType}
"""Asked for a hundred times in a recall, so looked up and not called."""
REINFORCEMENT = 0.1
"""What an edge gains in confidence each time it is drawn again."""


class SqliteRelations(PlacedNoun):
    """The edges. Used by any thread."""

    def of(self, memory_id: str, access: Access) -> list[Edge]:
        """Edges from and to a memory; the far ends are visible to the caller too."""
        with self._readers.lend() as db:
            here = memories.by_id(db, memory_id)
        if here is None or not access.may_read(here[1].scope):
            return []
        onward, back = (self._ask_seen(sql, View(access, ANY_STATUS), row=here[0]) for sql in OF)
        edges = [_edge(memory_id, other, *rest) for other, *rest in onward]
        return [*edges, *(_edge(other, memory_id, *rest) for other, *rest in back)]

    def links(self, keys: Sequence[int], types: Iterable[EdgeType], view: View) -> list[Link]:
        """Edges of these types at these keys, in both directions, whose far ends the view allows."""
        lines = self._ask_seen(LINKS, view, keys=rows.as_keys(keys), edge_types=rows.as_list(types))
        return [_link(line) for line in lines]

    def at(self, keys: Sequence[int], least: float) -> list[EdgeLine]:
        """The edges at these keys that a walk may go along, in both directions, whoever may see their ends.

        Those of less weight times confidence are left out, and those that tell an order of time.
        """
        return self._ask(AT, {"keys": rows.as_keys(keys), "least": least})


# ---------------------------------------------------------------- inside the writer


def put(db: Db, source: int, target: int, edge: Edge, at: int) -> bool:
    """Add an edge between two rows, or reinforce the one that is there; whether it is new.

    Raises CycleRefused.
    """
    ends = (source, target, edge.type.value)
    in_order = edge.type is EdgeType.NEXT  # drawn once, and told by no event: nobody asks whether it is new
    there = not in_order and ask_value(
        db, IS_THERE, dict(zip(("source", "target", "type"), ends, strict=True))
    )
    if source == target or (not there and edge.type in ACYCLIC and _closes_a_circle(db, source, target)):
        raise CycleRefused(edge.type.value)
    drawn = None if in_order else rows.micros(edge.last_reinforced_at) or at
    db.execute(ADD, (*ends, edge.weight, edge.confidence, edge.origin, drawn, REINFORCEMENT, at))
    return not there


def draw(db: Db, edges: Sequence[tuple[int, Edge, int]], at: int) -> None:
    """Add edges that come by themselves to memories that are there; what is drawn stays.

    Each comes with the row it leads from, and with how many lead to a memory that is left alone.
    """
    ids = rows.as_list(dict.fromkeys(edge.target for _, edge, _ in edges))
    values = {"ids": ids, "most": max(most for *_, most in edges)}
    led_to = {one: [row, count] for one, row, count in ask(db, LED_TO, values)}
    lines = []
    for source, edge, most in edges:
        target = led_to.get(edge.target)
        if target is not None and target[1] < most:
            target[1] += 1
            lines.append((source, target[0], edge.type.value, edge.weight, edge.confidence, edge.origin, at))
    db.executemany(DRAW, lines)


def confirm(db: Db, keys: Iterable[int], types: Iterable[EdgeType], gain: float, at: int) -> None:
    """Let edges among these memories gain confidence."""
    values = {"keys": rows.as_keys(keys), "edge_types": rows.as_list(types), "gain": gain, "at": at}
    db.execute(CONFIRM, values)


def remove(db: Db, source: int, target: int, edge_type: EdgeType) -> bool:
    """Take an edge away; whether there was one."""
    return delete(db, "edges", source=source, target=target, type=edge_type.value) > 0


def drop(db: Db, row: int) -> None:
    """Take away every edge of a memory."""
    delete_where(db, "edges", "source = :row OR target = :row", row=row)


def _closes_a_circle(db: Db, source: int, target: int) -> bool:
    """Whether an edge that is not there yet would lead back to where it begins."""
    ends = {"source": source, "target": target}
    return bool(ask_value(db, LEADS_BACK, {**ends, "acyclic": rows.as_list(ACYCLIC)}))


def _edge(source: str, target: str, kind: str, *rest: Any) -> Edge:
    weight, confidence, origin, at = rest
    when = None if at is None else from_micros(at)
    return Edge(source, target, EdgeType(kind), weight, confidence, origin, when)


def _link(line: tuple[Any, ...]) -> Link:
    key, other, type_, forward, weight, confidence = line
    return Link(key, other, TYPES[type_], forward == 1, weight, confidence)
