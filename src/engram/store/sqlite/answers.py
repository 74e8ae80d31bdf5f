"""Answers to writes that carried a key: kept sealed for a while, found again by caller and key."""

from __future__ import annotations

from datetime import datetime

from engram.errors import AccessDenied
from engram.model.answer import KeptAnswer
from engram.model.clock import from_micros, to_micros
from engram.store.sqlite.query import Db, ask_line
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.writer import Writer

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
    """Implements `ports.Answers`. Used by any thread but the writer's."""

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
        self._writer.run(lambda db: _keep(db, answer, before, most))


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
