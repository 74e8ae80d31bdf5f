"""How the last recalls went: each comes in, the last ones come out. No word of a question is kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from threading import Lock

import numpy as np

from engram.lazily import logging
from engram.model.clock import from_micros, to_micros
from engram.model.memory import Space
from engram.model.recall import Recalled
from engram.ports import Embedded, Suppression
from engram.store.sqlite import rows
from engram.store.sqlite.connection import Db, ask, delete_where, put
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.records import SmallTable, columns
from engram.store.sqlite.writer import RECALLS, Writer

# ---------------------------------------------------------------- opinions
# Feedback: whether a memory helped, and for which question. Uses are logged here too.


AGAINST = """
SELECT f.row, f.vector, f.at
FROM json_each(:keys) AS k
CROSS JOIN feedback AS f ON f.row = k.value
WHERE f.helpful = 0
  AND f.space = :space
  AND f.at >= :since
ORDER BY f.id
"""

COUNT_HELPFUL = """
UPDATE memories
SET helpful = helpful + :helpful,
  unhelpful = unhelpful + 1 - :helpful
WHERE row = :row
"""

# Before the log line is written, so that a session counts when it is new.
COUNT_USE = """
UPDATE memories
SET accessed = accessed + 1,
  last_accessed = max(coalesce(last_accessed, :at), :at),
  sessions = sessions + CASE
    WHEN :session <> '' AND NOT EXISTS (
      SELECT 1
      FROM access_log AS a
      WHERE a.row = memories.row
        AND a.session = :session
    ) THEN 1
    ELSE 0
  END
WHERE row IN (SELECT value FROM json_each(:keys))
"""


class SqliteOpinions:
    """Feedback that still counts. Used by any thread."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def against(self, keys: Sequence[int], space: Space, since: datetime) -> list[Suppression]:
        """Suppressions of these keys, made in this space, not older than `since`."""
        values = {"keys": rows.as_keys(keys), "space": space.key, "since": to_micros(since)}
        with self._readers.lend() as db:
            lines = ask(db, AGAINST, values)
        return [
            Suppression(row, space.key, np.frombuffer(vector, dtype=np.float32), from_micros(at))
            for row, vector, at in lines
        ]


# ---------------------------------------------------------------- inside the writer


def add(db: Db, row: int, question: Embedded | None, at: datetime, *, helpful: bool) -> None:
    """Keep an opinion and count it."""
    vector = None if question is None else np.asarray(question.vector, dtype=np.float32).tobytes()
    space, told = "" if question is None else question.space.key, int(helpful)
    put(db, "feedback", {"row": row, "helpful": told, "space": space, "vector": vector, "at": to_micros(at)})
    db.execute(COUNT_HELPFUL, {"row": row, "helpful": told})


def use(db: Db, keys: Iterable[int], at: datetime, session: str) -> None:
    """Count and log one use of each."""
    values = {"keys": rows.as_keys(keys), "at": to_micros(at), "session": session}
    db.execute(COUNT_USE, values)
    db.execute(
        "INSERT INTO access_log (row, session, at) SELECT value, :session, :at FROM json_each(:keys)", values
    )


TOGETHER = 64
"""Recalls that are written together: a write each would take as long as the recall."""


class SqliteRecalls(SmallTable):
    """How the last recalls went. Used by any thread but the writer's."""

    _within = RECALLS

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        super().__init__(readers, writer)
        self._held: list[tuple[Recalled, int]] = []
        self._lock = Lock()

    def record(self, one: Recalled, most: int) -> None:
        """Hold a recall until some can be written together. Lost if the process dies meanwhile."""
        with self._lock:
            self._held.append((one, most))
            full = len(self._held) >= TOGETHER
        if full:
            self.hand_over()

    def hand_over(self) -> None:
        """Give what is held to the writer, without waiting. Lost when the queue is full, or read-only."""
        with self._lock:
            held, self._held = self._held, []
        if held and not self._write_later(lambda db: _record(db, held)):
            logging.getLogger(__name__).warning("The write queue is full: some recalls were not counted.")

    def last(self, limit: int) -> list[Recalled]:
        """The last recalls that were written, oldest first."""
        return self._values(Recalled, "recalls", "ORDER BY id DESC LIMIT :limit", limit=limit)[::-1]


def _record(db: Db, held: Sequence[tuple[Recalled, int]]) -> None:
    for one, _ in held:
        put(db, "recalls", columns(one))
    delete_where(db, "recalls", "id <= (SELECT max(id) FROM recalls) - :most", most=held[-1][1])
