"""What maintenance reads and writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from engram.model.clock import from_micros, to_micros
from engram.model.event import Event
from engram.model.maintenance import Carried, Decided, Judgement, Run, RunKind, RunState, Sketch, Tally
from engram.model.memory import Filters, Memory
from engram.model.scope import Access, Scope
from engram.ports import Reach
from engram.store.sqlite import ledger, rows, views
from engram.store.sqlite.connection import HIGHEST, Db, ask, ask_line, ask_value
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.views import Places, where

# ---------------------------------------------------------------- judgements
# Judgements: what was decided about a memory or a pair comes in, and is known the next time.


JUDGE = """
INSERT INTO judgements (kind, key, verdict, at, again_at, times)
VALUES (:kind, :key, :verdict, :at, :again_at, :times)
ON CONFLICT (kind, key) DO UPDATE SET
  verdict = :verdict,
  at = :at,
  again_at = :again_at,
  times = :times
"""

KNOWN = """
SELECT j.kind, j.key, j.verdict, j.at, j.again_at, j.times
FROM json_each(:names) AS k
CROSS JOIN judgements AS j ON j.kind = :kind AND j.key = k.value
"""

LAST = """
SELECT kind, key, verdict, at, again_at, times
FROM judgements
WHERE kind = :kind
  AND (:verdict = '' OR verdict = :verdict)
ORDER BY at DESC, key
LIMIT :limit
"""


def known(db: Db, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
    """Those of the keys about which something was decided."""
    lines = ask(db, KNOWN, {"kind": kind, "names": rows.as_list(keys)})
    return {line[1]: _judgement(line) for line in lines}


def last(db: Db, kind: str, limit: int, verdict: str) -> list[Judgement]:
    """What was decided last under a kind."""
    return [_judgement(line) for line in ask(db, LAST, {"kind": kind, "limit": limit, "verdict": verdict})]


def judge(db: Db, one: Judgement) -> None:
    """Keep a judgement in place of the former one."""
    values = {
        "kind": one.kind,
        "key": one.key,
        "verdict": one.verdict,
        "at": to_micros(one.at),
        "again_at": rows.micros(one.again_at),
        "times": one.times,
    }
    db.execute(JUDGE, values)


def _judgement(line: tuple[Any, ...]) -> Judgement:
    kind, key, verdict, at, again, times = line
    return Judgement(
        kind, key, verdict, from_micros(at), None if again is None else from_micros(again), times
    )


# ---------------------------------------------------------------- sketches
# Sketches: what was worked out from memories comes in and out; erasing a source takes the sketch away.


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
    :everything = 1
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
        "scopes": rows.as_list(sorted(reach.scopes)),
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
        "body": rows.to_json(sketch.body),
    }
    number = ask_value(db, PUT, values)
    db.execute(DROP_SOURCES, {"sketch": number})
    db.execute(ADD_SOURCES, {"sketch": number, "ids": rows.as_list(dict.fromkeys(sketch.sources))})


def remove(db: Db, scope: int, kind: str, key: str) -> bool:
    """Drop a sketch; whether there was one."""
    number = ask_value(db, ID_OF, {"kind": kind, "scope": scope, "key": key})
    if number is not None:
        _remove(db, number)
    return number is not None


def drop_sketches(db: Db, row: int) -> None:
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


SLICE = """
  AND m.row > :after
ORDER BY m.row
LIMIT :limit
"""

USES = """
SELECT k.value, a.at
FROM json_each(:keys) AS k
CROSS JOIN access_log AS a ON a.id IN (
  SELECT id
  FROM access_log
  WHERE row = k.value
  ORDER BY id DESC
  LIMIT :most
)
ORDER BY k.value, a.id DESC
"""

PLACES = """
SELECT n.name, s.project, s.squad, s.agent, s.channel, s.user
FROM scopes AS s
JOIN namespaces AS n ON n.id = s.namespace
WHERE s.memories > 0
ORDER BY s.id
"""

PRUNE_USES = """
DELETE FROM access_log
WHERE at < :before
"""

EVERYTHING = Reach(everything=True)


class SqliteUpkeep:
    """What maintenance reads. It sees the whole file. Used by any thread."""

    def __init__(self, readers: Readers, places: Places) -> None:
        self._readers = readers
        self._places = places

    def slice(self, filters: Filters, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories of all scopes that fit, by key, beginning after a key: a pass in bounded pieces."""
        seen = where(EVERYTHING, filters, wide=True)
        sql = rows.select("WHERE " + seen.sql + SLICE)
        with self._readers.lend() as db:
            lines = ask(db, sql, {**seen.values, "after": after, "limit": limit})
            return [rows.from_row(line) for line in lines]

    def uses(self, keys: Sequence[int], most: int) -> dict[int, list[datetime]]:
        """When each of these memories was used, the latest first, at most so many times each."""
        found: dict[int, list[datetime]] = {}
        with self._readers.lend() as db:
            for key, at in ask(db, USES, {"keys": rows.as_keys(keys), "most": most}):
                found.setdefault(key, []).append(from_micros(at))
        return found

    def scopes(self) -> list[Scope]:
        """Every place that has memories."""
        with self._readers.lend() as db:
            return [Scope(*line) for line in ask(db, PLACES)]

    def run(self, run_id: str) -> Run | None:
        """A run by its id."""
        with self._readers.lend() as db:
            return run_of(db, run_id)

    def runs(self, limit: int, kind: RunKind | None = None, state: RunState | None = None) -> list[Run]:
        """The last runs, newest first."""
        with self._readers.lend() as db:
            return last_runs(db, limit, kind, state)

    def decided(self, run_id: str, after: int, limit: int) -> list[Decided]:
        """What a run decided, in order, beginning after a number."""
        with self._readers.lend() as db:
            return decided(db, run_id, after, limit)

    def tallies(self, run_id: str) -> list[Tally]:
        """What a run has carried out, counted by step and rule, in the order of the steps."""
        with self._readers.lend() as db:
            return tallies(db, run_id)

    def events(self, run_id: str, limit: int, before: str = "") -> list[Event]:
        """The events of a run, newest first; `before` is an event to go on from."""
        with self._readers.lend() as db:
            return ledger.of_run(db, run_id, limit, before)

    def judged(self, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
        """Those of the keys about which something was decided."""
        with self._readers.lend() as db:
            return known(db, kind, keys)

    def judgements(self, kind: str, limit: int, verdict: str = "") -> list[Judgement]:
        """What was decided last under a kind, newest first."""
        with self._readers.lend() as db:
            return last(db, kind, limit, verdict)

    def sketch(self, scope: Scope, kind: str, key: str) -> Sketch | None:
        """One sketch of this very scope."""
        with self._readers.lend() as db:
            place = self._places.numbers(scope) or views.find(db, scope)
            return one(db, place[0], kind, key) if place else None

    def sketches(self, kind: str, access: Access, limit: int, prefix: str = "") -> list[Sketch]:
        """Sketches of a kind in the scopes the caller may see, by key."""
        with self._readers.lend() as db:
            return many(db, self._places.reach(db, access), kind, limit, prefix)


class SqliteUpkeepWork:
    """What maintenance writes, inside a unit of work.

    Lives inside the writer's thread, for one unit of work.
    """

    def __init__(
        self, db: Db, place: Callable[[Scope], tuple[int, int]], changed: Callable[[], None]
    ) -> None:
        self._db = db
        self._place = place
        self._changed = changed

    def note(self, run: Run) -> None:
        """Keep a run as it stands."""
        note(self._db, run)

    def decided(self, run_id: str, lines: Sequence[Decided]) -> None:
        """Add decisions to a run's report; they are numbered here."""
        decide(self._db, run_id, lines)

    def judge(self, judgement: Judgement) -> None:
        """Keep a judgement in place of the former one."""
        judge(self._db, judgement)

    def sketch(self, sketch: Sketch) -> None:
        """Keep a sketch in place of the former one."""
        put(self._db, self._place(sketch.scope)[0], sketch)

    def unsketch(self, scope: Scope, kind: str, key: str) -> bool:
        """Drop a sketch; whether there was one."""
        return remove(self._db, self._place(scope)[0], kind, key)

    def unsketch_run(self, run_id: str) -> None:
        """Drop the sketches that a run made: the next one makes them anew."""
        drop_run(self._db, run_id)

    def prune(self, before: datetime) -> int:
        """Drop decisions of finished runs and logs of uses from before a time; how many lines went."""
        at = to_micros(before)
        self._db.execute(PRUNE_USES, {"before": at})
        return self._db.changes() + prune(self._db, at)


NOTE = """
INSERT INTO runs (id, kind, state, actor, started_at, finished_at, step, cursor)
VALUES (:id, :kind, :state, :actor, :started_at, :finished_at, :step, :cursor)
ON CONFLICT (id) DO UPDATE SET
  state = :state,
  finished_at = :finished_at,
  step = :step,
  cursor = :cursor
"""

ONE_RUN = """
SELECT id, kind, started_at, actor, state, finished_at, step, cursor
FROM runs
WHERE id = :id
"""

LAST_RUNS = """
SELECT id, kind, started_at, actor, state, finished_at, step, cursor
FROM runs
WHERE (:kind = '' OR kind = :kind)
  AND (:state = '' OR state = :state)
ORDER BY started_at DESC, length(id) DESC, id DESC
LIMIT :limit
"""

DECIDE = """
INSERT INTO decisions (run, step, rule, memory, related, outcome, why, also)
VALUES (:run, :step, :rule, :memory, :related, :outcome, :why, :also)
"""

DECIDED = """
SELECT number, step, rule, why, memory, related, outcome, also
FROM decisions
WHERE run = :run
  AND number > :after
ORDER BY number
LIMIT :limit
"""

TALLIES = """
SELECT step, rule, count(*)
FROM decisions
WHERE run = :run
  AND outcome = 'done'
GROUP BY step, rule
ORDER BY min(number)
"""

PRUNE_DECISIONS = """
DELETE FROM decisions
WHERE run IN (SELECT id FROM runs WHERE finished_at < :before)
"""


FORGET_NAMES = """
UPDATE decisions
SET also = '{}'
WHERE also <> '{}'
  AND lower(also ->> 'alias') IN (SELECT value FROM json_each(:names))
"""


def run_of(db: Db, run_id: str) -> Run | None:
    """A run by its id."""
    line = ask_line(db, ONE_RUN, {"id": run_id})
    return None if line is None else _run(line)


def last_runs(db: Db, limit: int, kind: RunKind | None, state: RunState | None) -> list[Run]:
    """The last runs, newest first."""
    return [
        _run(line) for line in ask(db, LAST_RUNS, {"limit": limit, "kind": kind or "", "state": state or ""})
    ]


def decided(db: Db, run_id: str, after: int, limit: int) -> list[Decided]:
    """What a run decided, in order."""
    lines = ask(db, DECIDED, {"run": run_id, "after": after, "limit": limit})
    return [_decided(line) for line in lines]


def tallies(db: Db, run_id: str) -> list[Tally]:
    """What a run has carried out, counted."""
    return [Tally(*line) for line in ask(db, TALLIES, {"run": run_id})]


# ---------------------------------------------------------------- inside the writer


def note(db: Db, run: Run) -> None:
    """Keep a run as it stands."""
    values = {
        "id": run.id,
        "kind": run.kind.value,
        "state": run.state.value,
        "actor": run.actor,
        "started_at": to_micros(run.started_at),
        "finished_at": rows.micros(run.finished_at),
        "step": run.step,
        "cursor": run.cursor,
    }
    db.execute(NOTE, values)


def decide(db: Db, run_id: str, lines: Sequence[Decided]) -> None:
    """Add decisions to a run's report."""
    db.executemany(
        DECIDE,
        [
            (
                run_id,
                one.step,
                one.rule,
                one.memory,
                one.related,
                one.outcome.value,
                one.why,
                rows.to_json(one.also),
            )
            for one in lines
        ],
    )


def forget_names(db: Db, names: Iterable[str]) -> None:
    """Leave no name of an erased memory in a report; a join of such a name can then not be taken back."""
    db.execute(FORGET_NAMES, {"names": rows.as_list(one.lower() for one in names)})


def prune(db: Db, before: int) -> int:
    """Drop the decisions of runs that were finished before a time."""
    db.execute(PRUNE_DECISIONS, {"before": before})
    return db.changes()


def _run(line: tuple[Any, ...]) -> Run:
    id_, kind, started, actor, state, finished, step, cursor = line
    ended = None if finished is None else from_micros(finished)
    return Run(id_, RunKind(kind), from_micros(started), actor, RunState(state), ended, step, cursor)


def _decided(line: tuple[Any, ...]) -> Decided:
    number, step, rule, why, memory, related, outcome, also = line
    return Decided(number, step, rule, why, memory, related, Carried(outcome), json.loads(also))
