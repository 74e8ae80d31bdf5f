"""Tokens: who may come in goes in; the digests to compare with come out. A secret is never seen here."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from engram.errors import AccessDenied, Overloaded
from engram.model.clock import from_micros, to_micros
from engram.model.event import KeptAnswer
from engram.model.scope import Access, Role, Scope, Token
from engram.model.session import Trigger
from engram.store.sqlite.connection import Db, Line, ask, ask_line
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.writer import ANSWERS, TOKENS, TRIGGERS, Writer

ADD = """
INSERT INTO tokens (id, name, role, scope, digest, created_at, expires_at, timezone)
VALUES (:id, :name, :role, :scope, :digest, :created_at, :expires_at, :timezone)
"""

ALL = """
SELECT digest, id, name, role, scope, created_at, expires_at, revoked_at, last_used, timezone
FROM tokens
ORDER BY created_at, id
"""

REVOKE = """
UPDATE tokens
SET revoked_at = :at
WHERE id = :id
  AND revoked_at IS NULL
"""

USED = """
UPDATE tokens
SET last_used = :at
WHERE id = :id
"""


class SqliteTokens:
    """Who may come in from outside. Used by any thread but the writer's."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer

    def add(self, token: Token, digest: str) -> None:
        """Keep a new token; it is on disk when this returns."""
        self._writing().run(lambda db: _add(db, token, digest), within=TOKENS)

    def known(self) -> list[tuple[str, Token]]:
        """Every token with its digest, also those that are no longer valid, oldest first."""
        with self._readers.lend() as db:
            return [_token(line) for line in ask(db, ALL)]

    def revoke(self, token_id: str, at: datetime) -> bool:
        """Take a token back; whether it was there to be taken."""
        return bool(self._writing().run(lambda db: _change(db, REVOKE, token_id, at), within=TOKENS))

    def used(self, token_id: str, at: datetime) -> None:
        """Note a use. What cannot be noted now is left out."""
        if self._writer is not None:
            try:
                self._writer.run_later(lambda db: _change(db, USED, token_id, at), TOKENS)
            except Overloaded:
                return

    def _writing(self) -> Writer:
        if self._writer is None:
            raise AccessDenied("change tokens: the file was opened for reading")
        return self._writer


def _add(db: Db, token: Token, digest: str) -> None:
    values = {
        "id": token.id,
        "name": token.name,
        "role": token.role.value,
        "scope": json.dumps(token.scope.parts, ensure_ascii=False),
        "digest": digest,
        "created_at": to_micros(token.created_at),
        "expires_at": None if token.expires_at is None else to_micros(token.expires_at),
        "timezone": token.timezone,
    }
    db.execute(ADD, values)


def _change(db: Db, sql: str, token_id: str, at: datetime) -> bool:
    db.execute(sql, {"id": token_id, "at": to_micros(at)})
    return db.changes() > 0


def _token(line: Line) -> tuple[str, Token]:
    digest, id_, name, role, scope, created, expires, revoked, used, zone = line
    return digest, Token(
        id=id_,
        name=name,
        role=Role(role),
        scope=Scope(*json.loads(scope)),
        created_at=from_micros(created),
        expires_at=_time(expires),
        revoked_at=_time(revoked),
        last_used=_time(used),
        timezone=zone,
    )


def _time(micros: Any) -> datetime | None:
    return None if micros is None else from_micros(micros)


# ---------------------------------------------------------------- answers
# Answers to writes that carried a key: kept sealed for a while, found again by caller and key.


FIND = """
SELECT caller, key, mark, status, sealed, at
FROM answers
WHERE caller = :caller
  AND key = :key
"""

KEEP = """
INSERT INTO answers (caller, key, mark, status, sealed, at)
VALUES (:caller, :key, :mark, :status, :sealed, :at)
ON CONFLICT (caller, key) DO UPDATE
SET mark = excluded.mark,
  status = excluded.status,
  sealed = excluded.sealed,
  at = excluded.at
"""

FORGET = """
DELETE FROM answers
WHERE at < :before
"""

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


class SqliteAnswers:
    """Answers to writes that carried a key. Used by any thread but the writer's."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer

    def find(self, caller: str, key: str) -> KeptAnswer | None:
        """What was answered to this caller under this key."""
        with self._readers.lend() as db:
            line = ask_line(db, FIND, {"caller": caller, "key": key})
        if line is None:
            return None
        _, _, mark, status, sealed, at = line
        return KeptAnswer(caller, key, mark, status, sealed, from_micros(at))

    def keep(self, answer: KeptAnswer, before: datetime, most: int) -> None:
        """Keep one, and drop those before a time and those beyond so many."""
        if self._writer is None:
            raise AccessDenied("keep an answer: the file was opened for reading")
        self._writer.run(lambda db: _keep(db, answer, before, most), within=ANSWERS)


def _keep(db: Db, answer: KeptAnswer, before: datetime, most: int) -> None:
    db.execute(FORGET, {"before": to_micros(before)})
    db.execute(
        KEEP,
        {
            "caller": answer.caller,
            "key": answer.key,
            "mark": answer.mark,
            "status": answer.status,
            "sealed": answer.sealed,
            "at": to_micros(answer.at),
        },
    )
    db.execute(FORGET_MORE, {"most": most})


# ---------------------------------------------------------------- triggers
# Triggers: which words load which pages, as the file keeps them.


PUT = """
INSERT INTO triggers (id, scope, words, pages, created_at)
VALUES (:id, :scope, :words, :pages, :created_at)
ON CONFLICT (id) DO UPDATE SET
  scope = :scope,
  words = :words,
  pages = :pages
"""

TRIGGERS_ALL = """
SELECT id, scope, words, pages, created_at
FROM triggers
ORDER BY created_at, id
"""

REMOVE = """
DELETE FROM triggers
WHERE id = :id
"""


class SqliteTriggers:
    """Words in a message that load pages into the recall pack. Used by any thread but the writer's."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer

    def put(self, trigger: Trigger) -> None:
        """Keep a trigger; it is on disk when this returns."""
        values = {
            "id": trigger.id,
            "scope": json.dumps(trigger.scope.parts, ensure_ascii=False),
            "words": json.dumps(trigger.words, ensure_ascii=False),
            "pages": json.dumps(trigger.pages, ensure_ascii=False),
            "created_at": to_micros(trigger.created_at),
        }
        self._writing().run(lambda db: db.execute(PUT, values).fetchall(), within=TRIGGERS)

    def known(self, access: Access) -> list[Trigger]:
        """Those of the places that the caller sees, oldest first. There are few of them in any file."""
        with self._readers.lend() as db:
            kept = [_trigger(line) for line in ask(db, TRIGGERS_ALL)]
        return [one for one in kept if access.may_read(one.scope)]

    def remove(self, trigger_id: str) -> bool:
        """Drop a trigger; whether there was one."""
        return bool(self._writing().run(lambda db: _remove(db, trigger_id), within=TRIGGERS))

    def _writing(self) -> Writer:
        if self._writer is None:
            raise AccessDenied("change triggers: the file was opened for reading")
        return self._writer


def _remove(db: Db, trigger_id: str) -> bool:
    db.execute(REMOVE, {"id": trigger_id})
    return db.changes() > 0


def _trigger(line: Line) -> Trigger:
    id_, scope, words, pages, created = line
    return Trigger(
        id=id_,
        words=tuple(json.loads(words)),
        pages=tuple(json.loads(pages)),
        scope=Scope(*json.loads(scope)),
        created_at=from_micros(created),
    )
