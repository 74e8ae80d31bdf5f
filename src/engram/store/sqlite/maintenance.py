"""What maintenance reads and writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import Any

from engram.model.clock import from_micros, to_micros
from engram.model.event import Event
from engram.model.maintenance import Decided, Judgement, Run, RunKind, RunState, Sketch, Tally, WhoIsNamed
from engram.model.memory import Filters, Memory
from engram.model.scope import Access, Scope
from engram.ports import Reach
from engram.store.sqlite import ledger, rows
from engram.store.sqlite.connection import (
    HIGHEST,
    Db,
    Line,
    ask,
    ask_line,
    ask_value,
    delete,
    delete_where,
    look_up,
    look_up_all,
    put,
    putting,
)
from engram.store.sqlite.records import columns, selecting, value_of
from engram.store.sqlite.views import PlacedNoun, where

# ---------------------------------------------------------------- judgements
# Judgements: what was decided about a memory or a pair comes in, and is known the next time.


KNOWN = """
SELECT j.kind, j.key, j.verdict, j.at, j.again_at, j.times
FROM json_each(:names) AS k
CROSS JOIN judgements AS j ON j.kind = :kind AND j.key = k.value
"""

LAST = """
WHERE kind = :kind
  AND (:verdict = '' OR verdict = :verdict)
  AND times >= :times
ORDER BY at DESC, key
LIMIT :limit
"""


# ---------------------------------------------------------------- sketches
# Sketches: what was worked out from memories comes in and out; erasing a source takes the sketch away.


SKETCHES = """
SELECT k.id, n.name, s.project, s.squad, s.agent, s.channel, s.user,
  k.kind, k.key, k.title, k.run, k.made_at, k.body
FROM sketches AS k
JOIN scopes AS s ON s.id = k.scope
JOIN namespaces AS n ON n.id = s.namespace
WHERE k.kind = :kind
"""

ONE = """
  AND k.scope = :scope
  AND k.key = :key
"""

MANY = """
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

ADD_SOURCES = """
INSERT INTO sketch_sources (sketch, row)
SELECT :sketch, m.row
FROM json_each(:ids) AS j
CROSS JOIN memories AS m ON m.id = j.value
"""

# ---------------------------------------------------------------- inside the writer


def drop_sketches(db: Db, row: int) -> None:
    """Drop every sketch that has words of a memory."""
    for number in look_up_all(db, "sketch_sources", "sketch", row=row):
        _remove(db, number)


def _remove(db: Db, number: int) -> None:
    delete(db, "sketch_sources", sketch=number)
    delete(db, "sketches", id=number)


def _sketch(db: Db, line: tuple[Any, ...]) -> Sketch:
    number, *place, kind, key, title, run, made_at, body = line
    sources = tuple(source for (source,) in ask(db, SOURCES, {"sketch": number}))
    return Sketch(Scope(*place), kind, key, json.loads(body), from_micros(made_at), title, sources, run)


BARE = """
  AND coalesce(m.metadata, '') IN ('', '{}')
"""

SLICE = """
  AND m.row > :after
  AND m.row <= :upto
ORDER BY m.row
LIMIT :limit
"""

WHO_IS_NAMED = f"""
SELECT m.row, m.speaker, m.entities, n.name, s.project, s.squad, s.agent, s.channel, s.user
{rows.SOURCE.strip()}
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

EVERYTHING = Reach(everything=True)
HIGHEST_KEY = 2**62
LOOKED_THROUGH = 4
"""Keys that are looked through for each memory of a layer that is wanted, before its index is asked."""
IN_A_LAYER = "m.layer IN"


class SqliteUpkeep(PlacedNoun):
    """What maintenance reads. It sees the whole file. Used by any thread."""

    def slice(self, filters: Filters, after: int, limit: int) -> list[tuple[int, Memory]]:
        """Memories of all scopes that fit, by key, beginning after a key: a pass in bounded pieces."""
        return self._slice(filters, after, limit, SLICE)

    def bare(self, filters: Filters, after: int, limit: int) -> list[tuple[int, Memory]]:
        """The same of those without metadata."""
        return self._slice(filters, after, limit, BARE + SLICE)

    def _slice(self, filters: Filters, after: int, limit: int, rest: str) -> list[tuple[int, Memory]]:
        lines = self._in_order(rows.select("WHERE "), filters, after, limit, rest)
        return [rows.from_row(line) for line in lines]

    def named(self, filters: Filters, after: int, limit: int) -> list[tuple[int, WhoIsNamed]]:
        """The same, but only where each belongs and whom it names: a pass that needs no more is shorter."""
        return [
            (key, WhoIsNamed(rows.scope_of(*place), speaker, rows.names_in(entities)))
            for key, speaker, entities, *place in self._in_order(
                WHO_IS_NAMED + "WHERE ", filters, after, limit, SLICE
            )
        ]

    def _in_order(self, sql: str, filters: Filters, after: int, limit: int, rest: str) -> list[Line]:
        """Lines of memories that fit, by key.

        What is in a layer stands in an index, and all that is found there would be sorted for each slice of
        it. So a stretch is looked through key by key; where that is not enough, few are in the layer, and the
        index is asked about ever longer stretches behind it.
        """
        seen = where(EVERYTHING, filters, wide=True)
        values = {**seen.values, "after": after, "upto": HIGHEST_KEY, "limit": limit}
        if not filters.layers:
            return self._ask(sql + seen.sql + rest, values)
        stretch = LOOKED_THROUGH * limit
        values["upto"] = after + stretch
        found = self._ask(sql + seen.sql.replace(IN_A_LAYER, f"+{IN_A_LAYER}") + rest, values)
        last = self._ask("SELECT coalesce(max(row), 0) FROM memories")[0][0] if len(found) < limit else 0
        while len(found) < limit and values["upto"] < last:
            stretch *= 2
            between = {"after": values["upto"], "upto": values["upto"] + stretch}
            values |= {**between, "limit": limit - len(found)}
            found += self._ask(sql + seen.sql + rest, values)
        return found

    def uses(self, keys: Sequence[int], most: int) -> dict[int, list[datetime]]:
        """When each of these memories was used, the latest first, at most so many times each."""
        found: dict[int, list[datetime]] = {}
        for key, at in self._ask(USES, {"keys": rows.as_keys(keys), "most": most}):
            found.setdefault(key, []).append(from_micros(at))
        return found

    def scopes(self) -> list[Scope]:
        """Every place that has memories."""
        return [Scope(*line) for line in self._ask(PLACES)]

    def run(self, run_id: str) -> Run | None:
        """A run by its id."""
        lines = self._ask(selecting(Run, "runs", "WHERE id = :id"), {"id": run_id})
        return value_of(Run, lines[0]) if lines else None

    def runs(self, limit: int, kind: RunKind | None = None, state: RunState | None = None) -> list[Run]:
        """The last runs, newest first."""
        values = {"limit": limit, "kind": str(kind or ""), "state": str(state or "")}
        return [value_of(Run, line) for line in self._ask(selecting(Run, "runs", LAST_RUNS), values)]

    def decided(self, run_id: str, after: int, limit: int) -> list[Decided]:
        """What a run decided, in order, beginning after a number."""
        further = "WHERE run = :run AND number > :after ORDER BY number LIMIT :limit"
        sql = selecting(Decided, "decisions", further)
        lines = self._ask(sql, {"run": run_id, "after": after, "limit": limit})
        return [value_of(Decided, line) for line in lines]

    def tallies(self, run_id: str) -> list[Tally]:
        """What a run has carried out, counted by step and rule, in the order of the steps."""
        return [Tally(*line) for line in self._ask(TALLIES, {"run": run_id})]

    def events(self, run_id: str, limit: int, before: str = "") -> list[Event]:
        """The events of a run, newest first; `before` is an event to go on from."""
        with self._readers.lend() as db:
            return ledger.of_run(db, run_id, limit, before)

    def judged(self, kind: str, keys: Iterable[str]) -> dict[str, Judgement]:
        """Those of the keys about which something was decided."""
        lines = self._ask(KNOWN, {"kind": kind, "names": rows.as_list(keys)})
        return {line[1]: value_of(Judgement, line) for line in lines}

    def judgements(self, kind: str, limit: int, verdict: str = "", times: int = 0) -> list[Judgement]:
        """What was decided last under a kind, at least so many times, newest first."""
        values = {"kind": kind, "limit": limit, "verdict": verdict, "times": times}
        return [
            value_of(Judgement, line) for line in self._ask(selecting(Judgement, "judgements", LAST), values)
        ]

    def sketch(self, scope: Scope, kind: str, key: str) -> Sketch | None:
        """One sketch of this very scope."""
        with self._readers.lend() as db:
            line = ask_line(db, SKETCHES + ONE, {"scope": self._scope(db, scope), "kind": kind, "key": key})
            return None if line is None else _sketch(db, line)

    def sketches(self, kind: str, access: Access, limit: int, prefix: str = "") -> list[Sketch]:
        """Sketches of a kind in the scopes the caller may see, by key."""
        with self._readers.lend() as db:
            reach = self._places.reach(db, access)
            values = {
                "kind": kind,
                "low": prefix,
                "high": prefix + HIGHEST,
                "everything": int(reach.everything),
                "namespace": -1 if reach.namespace is None else reach.namespace,
                "scopes": rows.as_list(sorted(reach.scopes)),
                "limit": limit,
            }
            return [_sketch(db, line) for line in ask(db, SKETCHES + MANY, values)]


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
        put(self._db, "runs", columns(run), key="id")

    def decided(self, run_id: str, lines: Sequence[Decided]) -> None:
        """Add decisions to a run's report; they are numbered here."""
        names = ("run", "step", "rule", "why", "memory", "related", "outcome", "also")
        self._db.executemany(putting("decisions", names), [columns(line, run=run_id) for line in lines])

    def judge(self, judgement: Judgement) -> None:
        """Keep a judgement in place of the former one."""
        put(self._db, "judgements", columns(judgement), key="kind, key")

    def sketch(self, sketch: Sketch) -> None:
        """Keep a sketch in place of the former one."""
        values = columns(sketch, scope=self._place(sketch.scope)[0], sources=None)
        number = ask_value(self._db, PUT, values)
        delete(self._db, "sketch_sources", sketch=number)
        ids = rows.as_list(dict.fromkeys(sketch.sources))
        self._db.execute(ADD_SOURCES, {"sketch": number, "ids": ids})

    def unsketch(self, scope: Scope, kind: str, key: str) -> bool:
        """Drop a sketch; whether there was one."""
        number = look_up(self._db, "sketches", "id", kind=kind, scope=self._place(scope)[0], key=key)
        if number is not None:
            _remove(self._db, number)
        return number is not None

    def unsketch_run(self, run_id: str) -> None:
        """Drop the sketches that a run made: the next one makes them anew."""
        for number in look_up_all(self._db, "sketches", "id", run=run_id):
            _remove(self._db, number)

    def prune(self, before: datetime) -> int:
        """Drop decisions of finished runs and logs of uses from before a time; how many lines went."""
        of_old_runs, at = "run IN (SELECT id FROM runs WHERE finished_at < :before)", to_micros(before)
        uses = delete_where(self._db, "access_log", "at < :before", before=at)
        return uses + delete_where(self._db, "decisions", of_old_runs, before=at)


LAST_RUNS = """
WHERE (:kind = '' OR kind = :kind)
  AND (:state = '' OR state = :state)
ORDER BY started_at DESC, length(id) DESC, id DESC
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


FORGET_NAMES = """
UPDATE decisions
SET also = '{}'
WHERE also <> '{}'
  AND lower(also ->> 'alias') IN (SELECT value FROM json_each(:names))
"""


def forget_names(db: Db, names: Iterable[str]) -> None:
    """Leave no name of an erased memory in a report; a join of such a name can then not be taken back."""
    db.execute(FORGET_NAMES, {"names": rows.as_list(one.lower() for one in names)})
