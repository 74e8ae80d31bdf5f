"""What memories state, as subject, predicate and object: questions come in, claims come out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from engram.model.clock import Clock, from_micros, to_micros
from engram.model.facts import Claim, Fact, FactQuery, ToldFact
from engram.model.scope import Scope
from engram.ports import View
from engram.store.sqlite import rows
from engram.store.sqlite.connection import Db, Line, ask, delete, putting, update
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.rows import as_list
from engram.store.sqlite.views import PlacedNoun, Places
from engram.text.statement import plain_name

FACT = "f.subject, f.predicate, f.object, f.functional, f.confidence, f.valid_from, f.valid_to"
WIDTH = 7
Topic = tuple[str, str]
"""A subject and a predicate: what something is said of, and what of it."""

STATED = """
SELECT m.row
FROM facts AS f
CROSS JOIN memories AS m ON m.row = f.row
WHERE f.subject = :subject
  AND f.predicate = :predicate
  AND m.scope = :scope
  AND m.status = 'active'
ORDER BY m.created_at DESC, m.row DESC
LIMIT :limit
"""

# By subject or object the facts lead to the memories; else memories are gone through, the newest first.
FROM_FACTS = """
SELECT f.id
FROM facts AS f
CROSS JOIN memories AS m ON m.row = f.row
WHERE {clauses}
ORDER BY m.created_at DESC, m.row DESC, f.id
LIMIT :limit
"""

FROM_MEMORIES = """
SELECT f.id
FROM memories AS m
CROSS JOIN facts AS f ON f.row = m.row
WHERE {clauses}
ORDER BY m.created_at DESC, m.row DESC, f.id
LIMIT :limit
"""

TOLD = """
SELECT
  m.row, f.subject, f.predicate, f.object,
  min(coalesce(f.confidence, m.confidence), m.confidence), coalesce(f.valid_to, m.valid_to)
FROM facts AS f
CROSS JOIN memories AS m ON m.row = f.row
WHERE {clauses}
ORDER BY m.created_at DESC, m.row DESC, f.id
LIMIT :limit
"""

CLAIMS = rows.select(
    """
JOIN facts AS f ON f.row = m.row
WHERE f.id IN (SELECT value FROM json_each(:keys))
""",
    also=f"f.id, {FACT}",
)

PARTS = {
    "subjects": "f.subject IN (SELECT value FROM json_each(:subjects))",
    "predicates": "f.predicate IN (SELECT value FROM json_each(:predicates))",
    "objects": "f.object IN (SELECT value FROM json_each(:objects))",
}

SAID = "coalesce(m.event_time, m.created_at) <= :as_of"
BEGUN = "coalesce(f.valid_from, m.valid_from, :as_of) <= :as_of"
NOT_ENDED = "coalesce(f.valid_to, m.valid_to, :as_of + 1) > :as_of"

# The first part reads one narrow index from end to end and leaves the few groups that name two objects.
DISPUTED = """
WITH torn AS (
  SELECT subject, predicate
  FROM facts INDEXED BY facts_functional
  WHERE functional = 1
  GROUP BY subject, predicate
  HAVING min(object) <> max(object)
)
SELECT f.id, m.row, m.scope, f.subject, f.predicate, f.object
FROM torn AS g
CROSS JOIN facts AS f ON f.subject = g.subject AND f.predicate = g.predicate
CROSS JOIN memories AS m ON m.row = f.row
WHERE f.functional = 1
  AND m.status IN ('active', 'challenged')
  AND {clauses}
ORDER BY m.created_at DESC, m.row DESC, f.id
LIMIT :limit
"""

ADD = putting(
    "facts", ("row", "subject", "predicate", "object", "functional", "confidence", "valid_from", "valid_to")
)

ENDED = """
SELECT subject, predicate, object, functional, valid_to
FROM facts
WHERE row = :row
  AND valid_to IS NOT NULL
"""

COMPARED = 10_000
"""How many facts are looked at for disputes at most, the newest ones."""


class SqliteFacts(PlacedNoun):
    """What memories state, as subject, predicate and object. Used by any thread."""

    def __init__(self, readers: Readers, places: Places, clock: Clock) -> None:
        super().__init__(readers, places)
        self._clock = clock

    def stated(self, asked: Iterable[Topic], scope: Scope, limit: int) -> dict[Topic, list[int]]:
        """For each subject and predicate the keys of active memories of this very scope, newest first."""
        with self._readers.lend() as db:
            values = {"scope": self._scope(db, scope), "limit": limit}
            found = {
                topic: ask(db, STATED, {"subject": topic[0], "predicate": topic[1], **values})
                for topic in (dict.fromkeys(asked) if values["scope"] else ())
            }
        return {topic: [line[0] for line in lines] for topic, lines in found.items() if lines}

    def find(self, query: FactQuery, view: View, limit: int) -> list[Claim]:
        """Facts that fit the query, of memories that the view allows, newest first.

        With `as_of`, those that held then: said and begun before it, not ended by it, whatever the memory's
        status is today.
        """
        clauses, values, view = _asked(query, view)
        is_led = bool(query.subjects or query.objects)
        sql = (FROM_FACTS if is_led else FROM_MEMORIES).format(clauses=_all(*clauses, "{seen}"))
        facts = [line[0] for line in self._ask_seen(sql, view, **values, limit=limit)]
        return list(self._claims(facts).values())

    def told(self, query: FactQuery, view: View, limit: int) -> list[ToldFact]:
        """As `find`, without the records."""
        clauses, values, view = _asked(query, view)
        sql = TOLD.format(clauses=_all(*clauses, "{seen}"))
        return [_told(line) for line in self._ask_seen(sql, view, **values, limit=limit)]

    def disputed(self, view: View, limit: int) -> list[tuple[Claim, Claim]]:
        """Pairs that cannot both be true, of active or challenged memories, newest first.

        Two functional facts of one scope with one subject and predicate but two objects, both held at
        present: the newest with the newest of each other object.
        """
        sql = DISPUTED.format(clauses=_all(BEGUN, NOT_ENDED, "{seen}"))
        lines = self._ask_seen(sql, view, as_of=to_micros(self._clock.now()), limit=COMPARED)
        pairs = _pairs(lines)[:limit]
        claims = self._claims([fact for pair in pairs for fact in pair])
        return [
            (claims[newer], claims[older]) for newer, older in pairs if newer in claims and older in claims
        ]

    def _claims(self, facts: Sequence[int]) -> dict[int, Claim]:
        """Claims by the number of their fact, in the order asked."""
        lines = self._ask(CLAIMS, {"keys": as_list(facts)}) if facts else []
        claims = {line[-WIDTH - 1]: _claim(line[: -WIDTH - 1], line[-WIDTH:]) for line in lines}
        return {fact: claims[fact] for fact in facts if fact in claims}


def _asked(query: FactQuery, view: View) -> tuple[list[str], dict[str, Any], View]:
    """The clauses of a query, their values, and the view: what held at a time is asked in any status."""
    asked = {"subjects": query.subjects, "predicates": query.predicates, "objects": query.objects}
    clauses = [PARTS[name] for name, parts in asked.items() if parts]
    values: dict[str, Any] = {name: as_list(map(plain_name, parts)) for name, parts in asked.items() if parts}
    if query.as_of is not None:
        clauses += [SAID, BEGUN, NOT_ENDED]
        values["as_of"] = to_micros(query.as_of)
        view = replace(view, filters=replace(view.filters, statuses=frozenset()))
    return clauses, values, view


def _all(*clauses: str) -> str:
    return "\n  AND ".join(clauses)


def _pairs(lines: Sequence[Line]) -> list[tuple[int, int]]:
    """The newest fact of each group with the newest of every other object, the newest pairs first."""
    groups: dict[tuple[Any, ...], list[tuple[int, int]]] = {}
    known: dict[tuple[Any, ...], set[str]] = {}
    for id_, row, scope, subject, predicate, object_ in lines:
        group, objects = (scope, subject, predicate), known.setdefault((scope, subject, predicate), set())
        if object_ not in objects:
            objects.add(object_)
            groups.setdefault(group, []).append((id_, row))
    return [
        (newest[0], other[0])
        for newest, *others in groups.values()
        for other in others
        if other[1] != newest[1]
    ]


def _told(line: Line) -> ToldFact:
    key, subject, predicate, object_, sure, until = line
    return ToldFact(
        key, Fact(subject, predicate, object_), sure, None if until is None else from_micros(until)
    )


def _claim(memory_line: Line, fact_line: Line) -> Claim:
    memory = rows.from_row(memory_line)[1]
    subject, predicate, object_, functional, confidence, valid_from, valid_to = fact_line
    fact = Fact(
        subject,
        predicate,
        object_,
        functional == 1,
        memory.confidence if confidence is None else confidence,
        None if valid_from is None else from_micros(valid_from),
        None if valid_to is None else from_micros(valid_to),
    )
    return Claim(fact, memory)


# ---------------------------------------------------------------- inside the writer


def add(db: Db, row: int, facts: Iterable[Fact]) -> None:
    """Write the facts of a memory that has none yet. One that is quite sure is as sure as the memory."""
    for fact in facts:
        values = (
            row,
            fact.subject,
            fact.predicate,
            fact.object,
            int(fact.functional),
            fact.confidence if fact.confidence < 1 else None,
            rows.micros(fact.valid_from),
            rows.micros(fact.valid_to),
        )
        db.execute(ADD, values)


def change(db: Db, row: int, facts: Iterable[Fact]) -> None:
    """Replace the facts of a memory; one that had ended and is stated again has still ended."""
    ended = {
        Fact(subject, predicate, object_, functional == 1): from_micros(at)
        for subject, predicate, object_, functional, at in ask(db, ENDED, {"row": row})
    }
    delete(db, "facts", row=row)
    add(db, row, (replace(fact, valid_to=fact.valid_to or ended.get(fact)) for fact in facts))


def end(db: Db, row: int, fact: Fact, at: datetime) -> None:
    """Say until when a fact held."""
    parts = {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
    update(db, "facts", {"valid_to": to_micros(at)}, row=row, **parts)
