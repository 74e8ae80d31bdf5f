"""A reach and filters come in, the clauses that ask for them come out, with their named values.

Each clause is written out here; which of them stand in a statement depends on the question, what they compare
with is always bound, never pasted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engram.model.axes import Priority
from engram.model.clock import to_micros
from engram.model.filters import Filters
from engram.ports import Reach
from engram.store.sqlite import speaks
from engram.store.sqlite.records import as_list, micros

IN_NAMESPACE = "m.scope IN (SELECT id FROM scopes WHERE namespace = :namespace)"
IN_SCOPES = "m.scope IN (SELECT value FROM json_each(:scopes))"
# The plus keeps the index on scope out of it: for a place that holds much of the file.
IN_WIDE_NAMESPACE = "+m.scope IN (SELECT id FROM scopes WHERE namespace = :namespace)"
IN_WIDE_SCOPES = "+m.scope IN (SELECT value FROM json_each(:scopes))"

EVENT_IN_NAMESPACE = "e.scope IN (SELECT id FROM scopes WHERE namespace = :namespace)"
EVENT_IN_SCOPES = "e.scope IN (SELECT value FROM json_each(:scopes))"

TURN_IN_NAMESPACE = "t.scope IN (SELECT id FROM scopes WHERE namespace = :namespace)"
TURN_IN_SCOPES = "t.scope IN (SELECT value FROM json_each(:scopes))"

# An entity is asked for by any of its names: the second half of that clause goes over its other names.
ONE_OF = {
    "statuses": "m.status IN (SELECT value FROM json_each(:statuses))",
    "ids": "m.id IN (SELECT value FROM json_each(:ids))",
    "kinds": "m.kind IN (SELECT value FROM json_each(:kinds))",
    "categories": "m.category IN (SELECT value FROM json_each(:categories))",
    "types": "m.type IN (SELECT value FROM json_each(:types))",
    "layers": "m.layer IN (SELECT value FROM json_each(:layers))",
    "verifications": "m.verification IN (SELECT value FROM json_each(:verifications))",
    "tiers": "m.tier IN (SELECT value FROM json_each(:tiers))",
    "priorities": "m.priority IN (SELECT value FROM json_each(:priorities))",
    # The second half names what the index of speakers leaves out; without it the index is not used.
    "speakers": "m.speaker IN (SELECT value FROM json_each(:speakers)) AND m.speaker <> ''",
    "sources": "m.source IN (SELECT value FROM json_each(:sources))",
    "tags_any": """m.row IN (
      SELECT row
      FROM memory_tags
      WHERE tag IN (SELECT value FROM json_each(:tags_any))
    )""",
    "tags_all": """m.row IN (
      SELECT row
      FROM memory_tags
      WHERE tag IN (SELECT value FROM json_each(:tags_all))
      GROUP BY row
      HAVING count(*) = json_array_length(:tags_all)
    )""",
    "not_tags": """NOT EXISTS (
      SELECT 1
      FROM memory_tags AS t
      WHERE t.row = m.row
        AND t.tag IN (SELECT value FROM json_each(:not_tags))
    )""",
    "entities": """m.row IN (
      SELECT row
      FROM mentions
      WHERE name IN (SELECT value FROM json_each(:entities))
      UNION ALL
      SELECT t.row
      FROM json_each(:entities) AS j
      CROSS JOIN namespaces AS n
      CROSS JOIN aliases AS a ON a.namespace = n.id AND a.alias = j.value
      CROSS JOIN aliases AS o ON o.entity = a.entity AND o.alias <> a.alias
      CROSS JOIN mentions AS t ON t.name = o.alias
      CROSS JOIN memories AS x ON x.row = t.row
      CROSS JOIN scopes AS s ON s.id = x.scope AND s.namespace = n.id
    )""",
}

# Written out, so that the index of just these is seen to fit.
FIRST_PRIORITY = "m.priority = 'P0'"

# The same of a row that is at hand: a look at its own tags and names, no list of all rows that have them.
ITS_OWN = {
    "tags_any": """EXISTS (
      SELECT 1
      FROM memory_tags AS t
      WHERE t.row = m.row
        AND t.tag IN (SELECT value FROM json_each(:tags_any))
    )""",
    "tags_all": """json_array_length(:tags_all) = (
      SELECT count(*)
      FROM memory_tags AS t
      WHERE t.row = m.row
        AND t.tag IN (SELECT value FROM json_each(:tags_all))
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

SINCE_OR_UNTIL = {
    "created_since": "m.created_at >= :created_since",
    "created_until": "m.created_at <= :created_until",
    "happened_since": "coalesce(m.event_time, m.created_at) >= :happened_since",
    "happened_until": "coalesce(m.event_time, m.created_at) <= :happened_until",
    "accessed_since": "m.last_accessed >= :accessed_since",
    "accessed_until": "m.last_accessed <= :accessed_until",
    "modified_since": "m.modified_at >= :modified_since",
    "modified_until": "m.modified_at <= :modified_until",
    "holds_at": "coalesce(m.expires_at > :holds_at, TRUE) AND coalesce(m.valid_to > :holds_at, TRUE)",
}

AT_LEAST = {
    "min_importance": "m.importance >= :min_importance",
    "min_confidence": "m.confidence >= :min_confidence",
    "min_trust": "m.trust >= :min_trust",
    "min_arousal": "m.arousal >= :min_arousal",
}


@dataclass(frozen=True, slots=True)
class Where:
    """Clauses that all hold, and the values they name."""

    clauses: tuple[str, ...]
    values: dict[str, Any]

    @property
    def sql(self) -> str:
        """The clauses as a condition; `TRUE` when nothing is asked."""
        return "\n  AND ".join(self.clauses) or "TRUE"


def where(reach: Reach, filters: Filters, *, wide: bool = False, at_hand: bool = False) -> Where:
    """What a memory `m` must satisfy to be seen.

    `wide` says that the reach covers much of the file, `at_hand` that the rows come from elsewhere and are
    only to be checked: the clauses are then worded for another plan.
    """
    clauses: list[str] = []
    values: dict[str, Any] = {}
    _place(reach, clauses, values, wide=wide or at_hand)
    _one_of(filters, clauses, values, ONE_OF | ITS_OWN if at_hand else ONE_OF)
    _then(filters, clauses, values)
    speaks.clauses(filters, clauses, values, at_hand=at_hand)
    _times(filters, clauses, values)
    _levels(filters, clauses, values)
    return Where(tuple(clauses), values)


def where_event(reach: Reach) -> Where:
    """What an event `e` must satisfy to be seen: its memory belonged to a place the reach covers."""
    return _only_place(reach, EVENT_IN_NAMESPACE, EVENT_IN_SCOPES)


def where_turn(reach: Reach) -> Where:
    """What a turn `t` must satisfy to be seen."""
    return _only_place(reach, TURN_IN_NAMESPACE, TURN_IN_SCOPES)


def _only_place(reach: Reach, in_namespace: str, in_scopes: str) -> Where:
    if reach.everything:
        return Where((), {})
    if reach.namespace is not None:
        return Where((in_namespace,), {"namespace": reach.namespace})
    return Where((in_scopes,), {"scopes": as_list(sorted(reach.scopes))})


def _place(reach: Reach, clauses: list[str], values: dict[str, Any], *, wide: bool) -> None:
    if reach.everything:
        return
    if reach.namespace is not None:
        clauses.append(IN_WIDE_NAMESPACE if wide else IN_NAMESPACE)
        values["namespace"] = reach.namespace
    else:
        clauses.append(IN_WIDE_SCOPES if wide else IN_SCOPES)
        values["scopes"] = as_list(sorted(reach.scopes))


def _one_of(filters: Filters, clauses: list[str], values: dict[str, Any], wording: Mapping[str, str]) -> None:
    for name, clause in wording.items():
        wanted = getattr(filters, name)
        if name == "priorities" and wanted == {Priority.P0}:
            clauses.append(FIRST_PRIORITY)
        elif wanted and not (name == "statuses" and filters.as_of):
            clauses.append(clause)
            values[name] = as_list(wanted)
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
