"""What calls to models have cost: each call comes in, sums come out."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import takewhile
from typing import cast

from engram.errors import AccessDenied
from engram.model.clock import Clock, to_micros
from engram.model.knowledge import CallOutcome, ModelCall, Spent
from engram.store.sqlite.connection import Db, ask, ask_value
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.rows import as_list
from engram.store.sqlite.writer import SPENDING, Writer

RECORD = """
INSERT INTO llm_usage (at, component, model, prompt_tokens, answer_tokens, ms, cost, outcome, reason)
VALUES (:at, :component, :model, :prompt_tokens, :answer_tokens, :ms, :cost, :outcome, :reason)
"""

TOKENS_SINCE = """
SELECT coalesce(sum(prompt_tokens + answer_tokens), 0)
FROM llm_usage
WHERE at >= :since
"""

SUMMARY = """
SELECT
  component,
  model,
  count(*),
  count(*) FILTER (WHERE outcome NOT IN (SELECT value FROM json_each(:useful))),
  sum(prompt_tokens),
  sum(answer_tokens),
  sum(ms),
  sum(cost)
FROM llm_usage
WHERE at >= :since
GROUP BY component, model
ORDER BY sum(prompt_tokens + answer_tokens) DESC, component, model
"""

BY_DAY = """
SELECT
  component,
  model,
  count(*),
  count(*) FILTER (WHERE outcome NOT IN (SELECT value FROM json_each(:useful))),
  sum(prompt_tokens),
  sum(answer_tokens),
  sum(ms),
  sum(cost),
  date(at / 1000000, 'unixepoch') AS day
FROM llm_usage
WHERE at >= :since
GROUP BY day, component, model
ORDER BY day DESC, sum(prompt_tokens + answer_tokens) DESC, component, model
"""

LATEST = """
SELECT outcome IN (SELECT value FROM json_each(:useful)), reason
FROM llm_usage
WHERE model IN (SELECT value FROM json_each(:models))
ORDER BY id DESC
LIMIT :most
"""

CLEAR = """
DELETE FROM llm_usage
"""

KNOWN_FORM = """
SELECT verdict
FROM judgements
WHERE kind = 'model'
  AND key = :model
  AND again_at > :now
"""

KEEP_FORM = """
INSERT INTO judgements (kind, key, verdict, at, again_at, times)
VALUES ('model', :model, :form, :now, :again_at, 1)
ON CONFLICT (kind, key) DO UPDATE SET
  verdict = :form,
  at = :now,
  again_at = :again_at
"""

KNOWN_FOR = timedelta(days=30)
"""After so long it is found out anew what a service understands: it may have learned more."""

USEFUL = as_list([CallOutcome.ANSWERED.value, CallOutcome.REPAIRED.value])
"""How a call ends that brought something."""
LOOKED_AT = 20
"""So many of the last calls are looked at to tell whether a model works."""


class SqliteSpending:
    """Implements `ports.Spending`. Used by any thread but the writer's."""

    def __init__(self, readers: Readers, writer: Writer | None, clock: Clock) -> None:
        self._readers = readers
        self._writer = writer
        self._clock = clock

    def form(self, model: str) -> str:
        """How a model of a service is spoken to; empty when nobody has found out, or it is long ago."""
        with self._readers.lend() as db:
            given = {"model": model, "now": to_micros(self._clock.now())}
            return str(ask_value(db, KNOWN_FORM, given) or "")

    def keep_form(self, model: str, form: str) -> None:
        """Write down how a model of a service is spoken to; a file opened for reading keeps nothing."""
        if self._writer is None:
            return
        now = self._clock.now()
        given = {
            "model": model,
            "form": form,
            "now": to_micros(now),
            "again_at": to_micros(now + KNOWN_FOR),
        }
        self._writer.run(lambda db: db.execute(KEEP_FORM, given), within=SPENDING)

    def record(self, call: ModelCall) -> None:
        """Account for a call; it is on disk when this returns."""
        if self._writer is None:
            raise AccessDenied("account for a call to a model: the file was opened for reading")
        self._writer.run(lambda db: _record(db, call), within=SPENDING)

    def tokens_since(self, at: datetime) -> int:
        """All tokens of calls since a time."""
        with self._readers.lend() as db:
            return int(ask_value(db, TOKENS_SINCE, {"since": to_micros(at)}))

    def summary(self, since: datetime) -> list[Spent]:
        """Calls since a time, added up by component and model, most tokens first."""
        with self._readers.lend() as db:
            return [Spent(*line) for line in ask(db, SUMMARY, {"since": to_micros(since), "useful": USEFUL})]

    def by_day(self, since: datetime) -> list[Spent]:
        """The same day by day, the latest first; days as UTC counts them."""
        with self._readers.lend() as db:
            return [Spent(*line) for line in ask(db, BY_DAY, {"since": to_micros(since), "useful": USEFUL})]

    def failing(self, models: Sequence[str]) -> tuple[int, str]:
        """How many of the last calls to these models brought nothing, and why the latest did not.

        0 when the latest brought something, or there was none.
        """
        given = {"useful": USEFUL, "models": as_list([*models]), "most": LOOKED_AT}
        with self._readers.lend() as db:
            latest = [(bool(useful), str(reason)) for useful, reason in ask(db, LATEST, given)]
        failed = list(takewhile(lambda one: not one[0], latest))
        return len(failed), failed[0][1] if failed else ""

    def clear(self) -> int:
        """Forget all calls; how many there were."""
        if self._writer is None:
            raise AccessDenied("forget what models have cost: the file was opened for reading")
        return int(cast("int", self._writer.run(_clear, within=SPENDING)))


def _clear(db: Db) -> int:
    db.execute(CLEAR)
    return db.changes()


def _record(db: Db, call: ModelCall) -> None:
    values = {
        "at": to_micros(call.at),
        "component": call.component,
        "model": call.model,
        "prompt_tokens": call.prompt_tokens,
        "answer_tokens": call.answer_tokens,
        "ms": call.ms,
        "cost": call.cost,
        "outcome": call.outcome.value,
        "reason": call.reason,
    }
    db.execute(RECORD, values)
