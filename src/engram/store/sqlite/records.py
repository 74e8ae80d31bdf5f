"""Tokens, kept answers, triggers, what models cost: small tables, and how a value becomes a line of one.

A value stands in its table field by field: times as microseconds, places, lists and maps as JSON.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from itertools import takewhile
from typing import Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

from engram.errors import AccessDenied, Overloaded
from engram.model.clock import Clock, from_micros, to_micros
from engram.model.event import KeptAnswer
from engram.model.knowledge import CallOutcome, ModelCall, Spent
from engram.model.maintenance import Judgement
from engram.model.scope import Access, Scope, Token
from engram.model.session import Trigger
from engram.store.sqlite.connection import NOTHING, Db, Line, ask, changed, delete, delete_where, put, update
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.rows import as_list, to_json
from engram.store.sqlite.writer import ANSWERS, SPENDING, TOKENS, TRIGGERS, Writer

T = TypeVar("T")

# ---------------------------------------------------------------- values and lines


def columns(value: Any, **more: Any) -> dict[str, Any]:
    """The fields of a value as a line holds them; what is named beside is added, or stands instead."""
    return {one.name: column(getattr(value, one.name)) for one in fields(value)} | more


def column(value: Any) -> Any:
    """A value as a line holds it."""
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, Scope):
        value = value.parts
    if isinstance(value, tuple | Mapping):
        return to_json(value)
    return value


def value_of(kind: type[T], line: Sequence[Any]) -> T:
    """The value that a line with its fields in their order stands for; what is left out is as by default."""
    return kind(*(read(part) for read, part in zip(_readers(cast("Any", kind)), line, strict=False)))


@cache
def _readers(kind: type) -> list[Callable[[Any], Any]]:
    hints = get_type_hints(kind)
    return [_reader(hints[one.name]) for one in fields(kind)]


def _reader(hint: Any) -> Callable[[Any], Any]:
    """What turns a column into the value of a field."""
    if type(None) in get_args(hint):
        inner = _reader(next(one for one in get_args(hint) if one is not type(None)))
        return lambda part: None if part is None else inner(part)
    if hint is datetime:
        return from_micros
    if hint is Scope:
        return lambda part: part if isinstance(part, Scope) else Scope(*json.loads(part))
    if get_origin(hint) is tuple:
        return lambda part: tuple(json.loads(part))
    if get_origin(hint) is not None:
        return json.loads
    is_ours = isinstance(hint, type) and (issubclass(hint, Enum) or hint in (bool, bytes))
    return hint if is_ours else lambda part: part


@cache
def selecting(kind: type, table: str, rest: str = "") -> str:
    """The statement that reads lines of a table whose columns are the fields of a kind of value.

    >>> selecting(Spent, "costs", "ORDER BY model")[:32]
    'SELECT component, model, calls, '
    """
    return f"SELECT {', '.join(one.name for one in fields(kind))} FROM {table} {rest}"  # noqa: S608


class SmallTable:
    """A noun with a table of its own. Used by any thread but the writer's."""

    _within: ClassVar = ""
    """What its jobs keep to."""
    _changing: ClassVar = ""
    """What cannot be done where the file was opened for reading."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer

    def _ask(self, sql: str, values: Mapping[str, Any] = NOTHING) -> list[Line]:
        with self._readers.lend() as db:
            return ask(db, sql, values)

    def _values(self, kind: type[T], table: str, rest: str, **values: Any) -> list[T]:
        """The lines of a table as the values that they stand for."""
        sql = selecting(cast("Any", kind), table, rest)
        return [value_of(kind, line) for line in self._ask(sql, values)]

    def _write(self, work: Callable[[Db], T]) -> T:
        """Write, and wait until it is on disk. Raises AccessDenied."""
        if self._writer is None:
            raise AccessDenied(f"{self._changing}: the file was opened for reading")
        return cast("T", self._writer.run(work, within=self._within))

    def _write_later(self, work: Callable[[Db], object]) -> bool:
        """Hand work over without waiting; whether there was room for it."""
        try:
            if self._writer is not None:
                self._writer.run_later(work, self._within)
        except Overloaded:
            return False
        return True


# ---------------------------------------------------------------- tokens
# Who may come in goes in; the digests to compare with come out. A secret is never seen here.


ALL_TOKENS = """
SELECT digest, id, name, role, scope, created_at, expires_at, revoked_at, last_used, timezone
FROM tokens
ORDER BY created_at, id
"""


class SqliteTokens(SmallTable):
    """Who may come in from outside. Used by any thread but the writer's."""

    _within, _changing = TOKENS, "change tokens"

    def add(self, token: Token, digest: str) -> None:
        """Keep a new token; it is on disk when this returns."""
        self._write(lambda db: put(db, "tokens", columns(token, digest=digest)))

    def known(self) -> list[tuple[str, Token]]:
        """Every token with its digest, also those that are no longer valid, oldest first."""
        return [(digest, value_of(Token, line)) for digest, *line in self._ask(ALL_TOKENS)]

    def revoke(self, token_id: str, at: datetime) -> bool:
        """Take a token back; whether it was there to be taken."""
        sql = "UPDATE tokens SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL"
        return self._write(lambda db: changed(db, sql, {"id": token_id, "at": to_micros(at)})) > 0

    def used(self, token_id: str, at: datetime) -> None:
        """Note a use. What cannot be noted now is left out."""
        self._write_later(lambda db: update(db, "tokens", {"last_used": to_micros(at)}, id=token_id))


# ---------------------------------------------------------------- answers
# Answers to writes that carried a key: kept sealed for a while, found again by caller and key.


# The oldest beyond so many.
FORGET_MORE = """
DELETE FROM answers
WHERE at <= (
  SELECT at
  FROM answers
  ORDER BY at DESC
  LIMIT 1 OFFSET :most
)
"""


class SqliteAnswers(SmallTable):
    """Answers to writes that carried a key. Used by any thread but the writer's."""

    _within, _changing = ANSWERS, "keep an answer"

    def find(self, caller: str, key: str) -> KeptAnswer | None:
        """What was answered to this caller under this key."""
        same = "WHERE caller = :caller AND key = :key"
        return next(iter(self._values(KeptAnswer, "answers", same, caller=caller, key=key)), None)

    def keep(self, answer: KeptAnswer, before: datetime, most: int) -> None:
        """Keep one, and drop those before a time and those beyond so many."""

        def work(db: Db) -> None:
            delete_where(db, "answers", "at < :before", before=to_micros(before))
            put(db, "answers", columns(answer), key="caller, key")
            db.execute(FORGET_MORE, {"most": most})

        self._write(work)


# ---------------------------------------------------------------- triggers
# Triggers: which words load which pages, as the file keeps them.


class SqliteTriggers(SmallTable):
    """Words in a message that load pages into the recall pack. Used by any thread but the writer's."""

    _within, _changing = TRIGGERS, "change triggers"

    def put(self, trigger: Trigger) -> None:
        """Keep a trigger; it is on disk when this returns."""
        self._write(lambda db: put(db, "triggers", columns(trigger), key="id"))

    def known(self, access: Access) -> list[Trigger]:
        """Those of the places that the caller sees, oldest first. There are few of them in any file."""
        kept = self._values(Trigger, "triggers", "ORDER BY created_at, id")
        return [trigger for trigger in kept if access.may_read(trigger.scope)]

    def remove(self, trigger_id: str) -> bool:
        """Drop a trigger; whether there was one."""
        return self._write(lambda db: delete(db, "triggers", id=trigger_id)) > 0


# ---------------------------------------------------------------- spending
# What calls to models have cost: each call comes in, sums come out.


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
  sum(cost){day}
FROM llm_usage
WHERE at >= :since
GROUP BY {by}component, model
ORDER BY {first}sum(prompt_tokens + answer_tokens) DESC, component, model
"""
ALL_DAYS = SUMMARY.format(day="", by="", first="")
BY_DAY = SUMMARY.format(day=",\n  date(at / 1000000, 'unixepoch') AS day", by="day, ", first="day DESC, ")

LATEST = """
SELECT outcome IN (SELECT value FROM json_each(:useful)), reason
FROM llm_usage
WHERE model IN (SELECT value FROM json_each(:models))
ORDER BY id DESC
LIMIT :most
"""

KNOWN_FOR = timedelta(days=30)
"""After so long it is found out anew what a service understands: it may have learned more."""

USEFUL = as_list([CallOutcome.ANSWERED.value, CallOutcome.REPAIRED.value])
"""How a call ends that brought something."""
LOOKED_AT = 20
"""So many of the last calls are looked at to tell whether a model works."""


class SqliteSpending(SmallTable):
    """What calls to models have cost, and what was found out about models by calling them.

    Used by any thread but the writer's.
    """

    _within, _changing = SPENDING, "account for calls to models"

    def __init__(self, readers: Readers, writer: Writer | None, clock: Clock) -> None:
        super().__init__(readers, writer)
        self._clock = clock

    def form(self, model: str) -> str:
        """How a model of a service is spoken to; empty when nobody has found out, or it is long ago."""
        sql = "SELECT verdict FROM judgements WHERE kind = 'model' AND key = :model AND again_at > :now"
        found = self._ask(sql, {"model": model, "now": to_micros(self._clock.now())})
        return str(found[0][0]) if found else ""

    def keep_form(self, model: str, form: str) -> None:
        """Write down how a model of a service is spoken to; a file opened for reading keeps nothing."""
        if self._writer is not None:
            now = self._clock.now()
            known = Judgement("model", model, form, now, now + KNOWN_FOR)
            self._write(lambda db: put(db, "judgements", columns(known), key="kind, key"))

    def record(self, call: ModelCall) -> None:
        """Account for a call; it is on disk when this returns."""
        self._write(lambda db: put(db, "llm_usage", columns(call)))

    def tokens_since(self, at: datetime) -> int:
        """All tokens of calls since a time."""
        return int(self._ask(TOKENS_SINCE, {"since": to_micros(at)})[0][0])

    def summary(self, since: datetime, *, daily: bool = False) -> list[Spent]:
        """Calls since a time, added up by component and model, most tokens first.

        With `daily` day by day, the latest first; days as UTC counts them.
        """
        values = {"since": to_micros(since), "useful": USEFUL}
        return [Spent(*line) for line in self._ask(BY_DAY if daily else ALL_DAYS, values)]

    def failing(self, models: Sequence[str]) -> tuple[int, str]:
        """How many of the last calls to these models brought nothing, and why the latest did not.

        0 when the latest brought something, or there was none.
        """
        given = {"useful": USEFUL, "models": as_list([*models]), "most": LOOKED_AT}
        latest = [(bool(useful), str(reason)) for useful, reason in self._ask(LATEST, given)]
        failed = list(takewhile(lambda one: not one[0], latest))
        return len(failed), failed[0][1] if failed else ""

    def clear(self) -> int:
        """Forget all calls; how many there were."""
        return self._write(lambda db: changed(db, "DELETE FROM llm_usage", NOTHING))
