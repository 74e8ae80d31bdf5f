"""Triggers: which words load which pages, as the file keeps them."""

from __future__ import annotations

import json

from engram.errors import AccessDenied
from engram.model.clock import from_micros, to_micros
from engram.model.scope import Access, Scope
from engram.model.trigger import Trigger
from engram.store.sqlite.query import Db, Line, ask
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.writer import Writer

PUT = """
INSERT INTO triggers (id, scope, words, pages, created_at)
VALUES (:id, :scope, :words, :pages, :created_at)
ON CONFLICT (id) DO UPDATE SET
  scope = :scope,
  words = :words,
  pages = :pages
"""

ALL = """
SELECT id, scope, words, pages, created_at
FROM triggers
ORDER BY created_at, id
"""

REMOVE = """
DELETE FROM triggers
WHERE id = :id
"""


class SqliteTriggers:
    """Implements `ports.Triggers`. Used by any thread but the writer's."""

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
        self._writing().run(lambda db: db.execute(PUT, values).fetchall())

    def known(self, access: Access) -> list[Trigger]:
        """Those of the places that the caller sees, oldest first. There are few of them in any file."""
        with self._readers.lend() as db:
            kept = [_trigger(line) for line in ask(db, ALL)]
        return [one for one in kept if access.may_read(one.scope)]

    def remove(self, trigger_id: str) -> bool:
        """Drop a trigger; whether there was one."""
        return bool(self._writing().run(lambda db: _remove(db, trigger_id)))

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
