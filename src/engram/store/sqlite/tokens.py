"""Tokens: who may come in goes in; the digests to compare with come out. A secret is never seen here."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from engram.errors import AccessDenied, Overloaded
from engram.model.clock import from_micros, to_micros
from engram.model.scope import Role, Scope
from engram.model.token import Token
from engram.store.sqlite.query import Db, Line, ask
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.writer import Writer

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
    """Implements `ports.Tokens`. Used by any thread but the writer's."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer

    def add(self, token: Token, digest: str) -> None:
        """Keep a new token; it is on disk when this returns."""
        self._writing().run(lambda db: _add(db, token, digest))

    def known(self) -> list[tuple[str, Token]]:
        """Every token with its digest, also those that are no longer valid, oldest first."""
        with self._readers.lend() as db:
            return [_token(line) for line in ask(db, ALL)]

    def revoke(self, token_id: str, at: datetime) -> bool:
        """Take a token back; whether it was there to be taken."""
        return bool(self._writing().run(lambda db: _change(db, REVOKE, token_id, at)))

    def used(self, token_id: str, at: datetime) -> None:
        """Note a use. What cannot be noted now is left out."""
        if self._writer is not None:
            try:
                self._writer.run_later(lambda db: _change(db, USED, token_id, at))
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
