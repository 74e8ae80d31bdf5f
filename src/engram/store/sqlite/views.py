"""A reach and filters come in, the clauses that ask for them come out, with their named values.

Each clause is written out here; which of them stand in a statement depends on the question, what they compare
with is always bound, never pasted.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from dataclasses import fields
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from engram.lazily import dataclass
from engram.model.clock import to_micros
from engram.model.memory import Filters, Priority
from engram.model.scope import Access, Scope
from engram.ports import Reach, View
from engram.store.sqlite.connection import NOTHING, Db, Line, ask, ask_line, ask_value
from engram.store.sqlite.rows import as_list, micros, to_json
from engram.text import metadata

if TYPE_CHECKING:
    from engram.store.sqlite.readers import Readers

# ---------------------------------------------------------------- scopes
# Places and their numbers: an access comes in, what it may see comes out as numbers a query can compare.
#
# Scopes are only ever added, so what was read once stays true, and one look at the largest number tells
# whether there are new ones.


ADD_SCOPE = """
INSERT INTO scopes (namespace, project, squad, agent, channel, user)
SELECT id, :project, :squad, :agent, :channel, :user
FROM namespaces
WHERE name = :namespace
ON CONFLICT DO NOTHING
"""

FIND_SCOPE = """
SELECT s.id, s.namespace
FROM scopes AS s
JOIN namespaces AS n ON n.id = s.namespace
WHERE n.name = :namespace
  AND s.project = :project
  AND s.squad = :squad
  AND s.agent = :agent
  AND s.channel = :channel
  AND s.user = :user
"""

NEWEST = """
SELECT coalesce(max(id), 0)
FROM scopes
"""

ALL = """
SELECT s.id, s.namespace, n.name, s.project, s.squad, s.agent, s.channel, s.user
FROM scopes AS s
JOIN namespaces AS n ON n.id = s.namespace
"""

REACHES_KEPT = 1_000
"""How many callers' reaches are remembered before starting anew."""


class Places:
    """What this process knows of the scopes that are on disk. Shared by all reading threads."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers
        self._lock = threading.Lock()
        self._newest = -1
        self._scopes: list[tuple[int, int, Scope]] = []
        self._numbers: dict[Scope, tuple[int, int]] = {}
        self._reaches: dict[Access, Reach] = {}

    def reach(self, db: Db, access: Access) -> Reach:
        """The access, resolved to numbers."""
        if access.all_namespaces:
            return Reach(everything=True)
        return self._readers.once(access, lambda: self._reach(db, access))

    def _reach(self, db: Db, access: Access) -> Reach:
        with self._lock:
            self._refresh(db)
            found = self._reaches.get(access)
            if found is None:
                if len(self._reaches) >= REACHES_KEPT:
                    self._reaches.clear()
                found = self._reaches[access] = _resolve(self._scopes, access)
            return found

    def numbers(self, scope: Scope) -> tuple[int, int] | None:
        """Numbers of the scope and its namespace, if some reader has seen them on disk."""
        return self._numbers.get(scope)

    def namespaces(self, reach: Reach) -> set[int]:
        """The namespaces of the scopes that are reached."""
        return {namespace for id_, namespace, _ in self._scopes if id_ in reach.scopes}

    def _refresh(self, db: Db) -> None:
        newest = ask_value(db, NEWEST)
        if newest != self._newest:
            self._scopes = [(id_, namespace, Scope(*parts)) for id_, namespace, *parts in ask(db, ALL)]
            self._numbers = {scope: (id_, namespace) for id_, namespace, scope in self._scopes}
            self._reaches.clear()
            self._newest = newest


class PlacedNoun:
    """A noun of the store that shows what a caller may see."""

    def __init__(self, readers: Readers, places: Places) -> None:
        self._readers = readers
        self._places = places

    def _ask(self, sql: str, values: Mapping[str, Any] = NOTHING) -> list[Line]:
        with self._readers.lend() as db:
            return ask(db, sql, values)

    def _ask_seen(self, sql: str, view: View, **values: Any) -> list[Line]:
        """The same of a statement about rows `m` that are at hand: those that a view allows, as `{seen}`."""
        with self._readers.lend() as db:
            seen = where(self._places.reach(db, view.access), view.filters, at_hand=True)
            return ask(db, sql.replace("{seen}", seen.sql), {**seen.values, **values})

    def _scope(self, db: Db, scope: Scope) -> int | None:
        """The number of a scope, if anything was ever stored there."""
        place = self._places.numbers(scope) or find(db, scope)
        return place and place[0]


def size(db: Db, reach: Reach) -> int:
    """How many memories a reach covers, in any status."""
    held = "SELECT coalesce(sum(memories), 0) FROM scopes"
    if reach.everything:
        return int(ask_value(db, held))
    if reach.namespace is not None:
        return int(ask_value(db, held + " WHERE namespace = :namespace", {"namespace": reach.namespace}))
    in_scopes = held + " WHERE id IN (SELECT value FROM json_each(:scopes))"  # noqa: S608 (both are written out here)
    return int(ask_value(db, in_scopes, {"scopes": as_list(reach.scopes)}))


def find(db: Db, scope: Scope) -> tuple[int, int] | None:
    """Numbers of the scope and its namespace, if anything was ever stored there."""
    found = ask_line(db, FIND_SCOPE, _named(scope))
    return None if found is None else (found[0], found[1])


def find_or_add(db: Db, scope: Scope) -> tuple[int, int]:
    """Numbers of the scope and its namespace; they are given out when first asked for."""
    found = find(db, scope)
    if found is None:
        named = _named(scope)
        db.execute("INSERT INTO namespaces (name) VALUES (:namespace) ON CONFLICT DO NOTHING", named)
        db.execute(ADD_SCOPE, named)
        return find_or_add(db, scope)
    return found


def _resolve(scopes: Iterable[tuple[int, int, Scope]], access: Access) -> Reach:
    if access.owns_namespace:
        home = access.scope.namespace
        numbers = {namespace for _, namespace, scope in scopes if scope.namespace == home}
        return Reach(namespace=min(numbers, default=None))
    return Reach(scopes=frozenset(id_ for id_, _, scope in scopes if access.may_read(scope)))


def _named(scope: Scope) -> dict[str, str]:
    return {one.name: getattr(scope, one.name) for one in fields(Scope)}


# ---------------------------------------------------------------- speaks
# What memories speak of, carry along and came from, as clauses: filters come in, conditions come out.
#
# Like `views`, which asks for them: each clause is written out, what it compares with is always bound.
# Plain clauses find rows by an index; those that begin with ITSELF look at a row that is at hand.


MEASURES = ("importance", "confidence", "trust", "arousal")
"""What may be asked to be so much at least."""


def _of_row(tables: str, condition: str, at_hand: str = "") -> dict[bool, str]:
    """That a row has lines `t` of which a condition holds, by whether it is at hand.

    Else an index finds all rows that have such; `at_hand` are the tables in the order for a row's own lines.
    """
    return {
        False: f"m.row IN (SELECT t.row FROM {tables} WHERE {condition})",  # noqa: S608 - written out below
        True: f"EXISTS (SELECT 1 FROM {at_hand or tables} WHERE t.row = m.row AND {condition})",  # noqa: S608
    }


# The words in braces are put in by `_facet_clauses`, from the names of the facets.
SPEAKS_OF = _of_row(
    "facets AS t", "t.facet = '{facet}' AND t.value IN (SELECT value FROM json_each(:{filter}))"
)
SPEAKS_OF_BEGINNING = _of_row(
    "json_each(:{filter}) AS j CROSS JOIN facets AS t",
    "t.facet = '{facet}' AND t.value >= j.value AND t.value < j.value || char(1114111)",
    at_hand="facets AS t CROSS JOIN json_each(:{filter}) AS j",
)
SPEAKS_OF_DAY = _of_row("facets AS t", "t.facet = 'dates' AND t.value BETWEEN :about_since AND :about_until")
BEGINS_SO = "t.origin >= :origin_prefix AND t.origin < :origin_prefix || char(1114111)"
FROM_ORIGIN = _of_row(
    "scopes AS s CROSS JOIN origins AS t ON t.scope = s.id", BEGINS_SO, at_hand="origins AS t"
)
ANY_TAG = _of_row("memory_tags AS t", "t.tag IN (SELECT lower(value) FROM json_each(:tags_any))")
MAYBE_NEUTRAL = """coalesce(m.metadata ->> 'sentiment', 'neutral') IN (
      SELECT value FROM json_each(:sentiments)
    )"""

HAS_DETAILS = """NOT EXISTS (
      SELECT 1
      FROM json_each(:details) AS w
      WHERE NOT EXISTS (
        SELECT 1
        FROM json_each(m.details) AS d
        WHERE d.key = w.key
          AND CASE w.type
            WHEN 'text' THEN
              (d.type = 'text' AND d.atom = w.atom)
              OR (d.type = 'integer' AND CAST(d.atom AS TEXT) = w.atom)
              OR (d.type IN ('true', 'false') AND d.type = w.atom)
            WHEN 'integer' THEN d.type IN ('integer', 'real') AND d.atom = w.atom
            WHEN 'real' THEN d.type IN ('integer', 'real') AND d.atom = w.atom
            ELSE d.type = w.type
          END
      )
    )"""


def _facet_clauses(*, at_hand: bool) -> dict[str, str]:
    equal = {name: name for name in metadata.EQUAL} | {"sentiments": metadata.SENTIMENT}
    wording = {name: (SPEAKS_OF[at_hand], facet) for name, facet in equal.items()}
    wording |= {name: (SPEAKS_OF_BEGINNING[at_hand], name) for name in metadata.BEGINNING}
    return {
        name: clause.replace("{facet}", facet).replace("{filter}", name)
        for name, (clause, facet) in wording.items()
    }


# By whether the rows are at hand.
FACET_CLAUSES = {at_hand: _facet_clauses(at_hand=at_hand) for at_hand in (False, True)}


def _facets(filters: Filters, clauses: list[str], values: dict[str, Any], *, at_hand: bool) -> None:
    """Add what a memory `m` has to speak of, to carry along and to come from."""
    for name, wording in FACET_CLAUSES[at_hand].items():
        wanted = getattr(filters, name)
        if wanted:
            clauses.append(MAYBE_NEUTRAL if name == "sentiments" and metadata.NEUTRAL in wanted else wording)
            values[name] = as_list({metadata.asked(name, value) for value in wanted})
    if filters.about_since or filters.about_until:
        clauses.append(SPEAKS_OF_DAY[at_hand])
        values["about_since"], values["about_until"] = metadata.days(filters)
    if filters.origin_prefix:
        clauses.append(FROM_ORIGIN[at_hand])
        values["origin_prefix"] = filters.origin_prefix
    if filters.details:
        clauses.append(HAS_DETAILS)
        values["details"] = to_json(dict(filters.details))


COLUMN_OF = {
    "statuses": "status", "ids": "id", "kinds": "kind", "categories": "category", "types": "type",
    "layers": "layer", "verifications": "verification", "tiers": "tier", "priorities": "priority",
    "speakers": "speaker", "sources": "source",
}  # fmt: skip
"""Filters that name values of one column."""

# An entity is asked for by any of its names: the second half of that clause goes over its other names.
ONE_OF = {
    name: f"m.{column} IN (SELECT value FROM json_each(:{name}))"  # noqa: S608 - names of ours, as below
    for name, column in COLUMN_OF.items()
} | {
    # The second half names what the index of speakers leaves out; without it the index is not used.
    "speakers": "m.speaker IN (SELECT value FROM json_each(:speakers)) AND m.speaker <> ''",
    "tags_any": ANY_TAG[False],
    "tags_all": """m.row IN (
      SELECT row
      FROM memory_tags
      WHERE tag IN (SELECT lower(value) FROM json_each(:tags_all))
      GROUP BY row
      HAVING count(*) = (SELECT count(DISTINCT lower(value)) FROM json_each(:tags_all))
    )""",
    "not_tags": """NOT EXISTS (
      SELECT 1
      FROM memory_tags AS t
      WHERE t.row = m.row
        AND t.tag IN (SELECT lower(value) FROM json_each(:not_tags))
    )""",
    "entities": """m.row IN (
      SELECT t.row
      FROM json_each(:entities) AS j
      CROSS JOIN namespaces AS n
      CROSS JOIN mentions AS t ON t.namespace = n.id AND t.name = j.value
      UNION ALL
      SELECT t.row
      FROM json_each(:entities) AS j
      CROSS JOIN namespaces AS n
      CROSS JOIN aliases AS a ON a.namespace = n.id AND a.alias = j.value
      CROSS JOIN aliases AS o ON o.entity = a.entity AND o.alias <> a.alias
      CROSS JOIN mentions AS t ON t.namespace = n.id AND t.name = o.alias
    )""",
}

# Written out, so that the index of just these is seen to fit.
FIRST_PRIORITY = "m.priority = 'P0'"

# The same of a row that is at hand: a look at its own tags and names, no list of all rows that have them.
ITS_OWN = {
    "tags_any": ANY_TAG[True],
    "tags_all": """(SELECT count(DISTINCT lower(value)) FROM json_each(:tags_all)) = (
      SELECT count(*)
      FROM memory_tags AS t
      WHERE t.row = m.row
        AND t.tag IN (SELECT lower(value) FROM json_each(:tags_all))
    )""",
    "entities": """EXISTS (
      SELECT 1
      FROM mentions AS t
      WHERE t.row = m.row
        AND (
          t.name IN (SELECT value FROM json_each(:entities))
          OR EXISTS (
            SELECT 1
            FROM scopes AS s
            CROSS JOIN aliases AS o ON o.namespace = s.namespace AND o.alias = t.name
            CROSS JOIN aliases AS a ON a.entity = o.entity
            WHERE s.id = m.scope
              AND a.alias IN (SELECT value FROM json_each(:entities))
          )
        )
    )""",
}

# The first change of status after that time says what it was before.
STATUS_THEN = """coalesce((
      SELECT e.before ->> 'status'
      FROM events AS e
      WHERE e.memory = m.id
        AND e.at > :believed_at
        AND e.before ->> 'status' IS NOT NULL
      ORDER BY e.seq
      LIMIT 1
    ), m.status) IN (SELECT value FROM json_each(:statuses))"""
STORED_BY_THEN = "m.created_at <= :believed_at"

TIME_OF = {
    "created": "m.created_at",
    "happened": "coalesce(m.event_time, m.created_at)",
    "accessed": "m.last_accessed",
    "modified": "m.modified_at",
}
SINCE_OR_UNTIL = {
    f"{name}_{end}": f"{time} {sign} :{name}_{end}"
    for name, time in TIME_OF.items()
    for end, sign in (("since", ">="), ("until", "<="))
} | {"holds_at": "coalesce(m.expires_at > :holds_at, TRUE) AND coalesce(m.valid_to > :holds_at, TRUE)"}

AT_LEAST = {f"min_{name}": f"m.{name} >= :min_{name}" for name in MEASURES}


@dataclass(frozen=True, slots=True)
class WhereClause:
    """Clauses that all hold, and the values they name."""

    clauses: tuple[str, ...]
    values: dict[str, Any]

    @property
    def sql(self) -> str:
        """The clauses as a condition; `TRUE` when nothing is asked."""
        return "\n  AND ".join(self.clauses) or "TRUE"


@lru_cache(maxsize=256)
def where(reach: Reach, filters: Filters, *, wide: bool = False, at_hand: bool = False) -> WhereClause:
    """What a memory `m` must satisfy to be seen.

    `wide` says that the reach covers much of the file, `at_hand` that the rows come from elsewhere and are
    only to be checked: the clauses are then worded for another plan.
    """
    # The plus keeps the index on scope out of it: for a place that holds much of the file.
    placed = _place(reach, "+m" if wide or at_hand else "m")
    clauses, values = list(placed.clauses), placed.values
    _one_of(filters, clauses, values, ONE_OF | ITS_OWN if at_hand else ONE_OF)
    _then(filters, clauses, values)
    _facets(filters, clauses, values, at_hand=at_hand)
    _times(filters, clauses, values)
    _levels(filters, clauses, values)
    return WhereClause(tuple(clauses), values)


def where_event(reach: Reach) -> WhereClause:
    """What an event `e` must satisfy to be seen: its memory belonged to a place the reach covers."""
    return _place(reach, "e")


def where_turn(reach: Reach) -> WhereClause:
    """What a turn `t` must satisfy to be seen."""
    return _place(reach, "t")


def _place(reach: Reach, owner: str) -> WhereClause:
    """That what a statement calls `owner` belongs to a place that the reach covers."""
    if reach.everything:
        return WhereClause((), {})
    if reach.namespace is not None:
        in_namespace = f"{owner}.scope IN (SELECT id FROM scopes WHERE namespace = :namespace)"  # noqa: S608
        return WhereClause((in_namespace,), {"namespace": reach.namespace})
    in_scopes = f"{owner}.scope IN (SELECT value FROM json_each(:scopes))"  # noqa: S608
    return WhereClause((in_scopes,), {"scopes": as_list(sorted(reach.scopes))})


def _one_of(filters: Filters, clauses: list[str], values: dict[str, Any], wording: Mapping[str, str]) -> None:
    for name, clause in wording.items():
        wanted = getattr(filters, name)
        if name == "priorities" and wanted == {Priority.P0}:
            clauses.append(FIRST_PRIORITY)
        elif wanted and not (name == "statuses" and filters.as_of):
            clauses.append(clause)
            values[name] = as_list(wanted)
    if filters.layers:
        values["layers"] = as_list(layer.number for layer in filters.layers)
    if filters.entities:
        values["entities"] = as_list({name.casefold() for name in filters.entities})
    if filters.session:
        clauses.append("m.session = :session AND m.session <> ''")
        values["session"] = filters.session


def _then(filters: Filters, clauses: list[str], values: dict[str, Any]) -> None:
    """What was stored by a time and in which status it was."""
    if filters.as_of is None:
        return
    clauses.append(STORED_BY_THEN)
    values["believed_at"] = to_micros(filters.as_of)
    if filters.statuses:
        clauses.append(STATUS_THEN)
        values["statuses"] = as_list(filters.statuses)


def _times(filters: Filters, clauses: list[str], values: dict[str, Any]) -> None:
    for name, clause in SINCE_OR_UNTIL.items():
        moment = getattr(filters, name)
        if moment is not None:
            clauses.append(clause)
            values[name] = micros(moment)


def _levels(filters: Filters, clauses: list[str], values: dict[str, Any]) -> None:
    for name, clause in AT_LEAST.items():
        least = getattr(filters, name)
        if least > 0:
            clauses.append(clause)
            values[name] = least
    if filters.max_importance < 1:
        clauses.append("m.importance <= :max_importance")
        values["max_importance"] = filters.max_importance
    if filters.pinned is not None:
        clauses.append("m.pinned = :pinned")
        values["pinned"] = int(filters.pinned)
