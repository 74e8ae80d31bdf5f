"""Runs of upkeep and what each decided: lines come in as a run goes on, reports come out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from engram.model.clock import from_micros, to_micros
from engram.model.maintenance import Carried, Decided, Run, RunKind, RunState, Tally
from engram.store.sqlite import rows
from engram.store.sqlite.connection import Db, ask, ask_line

NOTE = """
INSERT INTO runs (id, kind, state, actor, started_at, finished_at, step, cursor)
VALUES (:id, :kind, :state, :actor, :started_at, :finished_at, :step, :cursor)
ON CONFLICT (id) DO UPDATE SET
  state = :state,
  finished_at = :finished_at,
  step = :step,
  cursor = :cursor
"""

ONE = """
SELECT id, kind, started_at, actor, state, finished_at, step, cursor
FROM runs
WHERE id = :id
"""

LAST = """
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


def one(db: Db, run_id: str) -> Run | None:
    """A run by its id."""
    line = ask_line(db, ONE, {"id": run_id})
    return None if line is None else _run(line)


def last(db: Db, limit: int, kind: RunKind | None, state: RunState | None) -> list[Run]:
    """The last runs, newest first."""
    return [_run(line) for line in ask(db, LAST, {"limit": limit, "kind": kind or "", "state": state or ""})]


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
