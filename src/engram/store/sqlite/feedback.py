"""How the last recalls went: each comes in, the last ones come out. No word of a question is kept."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from threading import Lock

import numpy as np

from engram.errors import Overloaded
from engram.model.clock import from_micros, to_micros
from engram.model.memory import Space
from engram.model.recall import Recalled
from engram.ports import Embedded, Suppression
from engram.store.sqlite import rows
from engram.store.sqlite.connection import Db, ask
from engram.store.sqlite.readers import Readers
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

ADD = """
INSERT INTO feedback (row, helpful, space, vector, at)
VALUES (:row, :helpful, :space, :vector, :at)
"""

DROP = """
DELETE FROM feedback
WHERE row = :row
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

LOG_USE = """
INSERT INTO access_log (row, session, at)
SELECT value, :session, :at
FROM json_each(:keys)
"""

DROP_USES = """
DELETE FROM access_log
WHERE row = :row
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
    values = {
        "row": row,
        "helpful": int(helpful),
        "space": "" if question is None else question.space.key,
        "vector": vector,
        "at": to_micros(at),
    }
    db.execute(ADD, values)
    db.execute(COUNT_HELPFUL, {"row": row, "helpful": int(helpful)})


def use(db: Db, keys: Iterable[int], at: datetime, session: str) -> None:
    """Count and log one use of each."""
    values = {"keys": rows.as_keys(keys), "at": to_micros(at), "session": session}
    db.execute(COUNT_USE, values)
    db.execute(LOG_USE, values)


def drop_feedback(db: Db, row: int) -> None:
    """Forget opinions and uses of a memory."""
    db.execute(DROP, {"row": row})
    db.execute(DROP_USES, {"row": row})


RECORD = """
INSERT INTO recalls (at, intent, relevance, ndcg, hits, ms, weak, gain)
VALUES (:at, :intent, :relevance, :ndcg, :hits, :ms, :weak, :gain)
"""

TRIM = """
DELETE FROM recalls
WHERE id <= (SELECT max(id) FROM recalls) - :most
"""

LAST = """
SELECT at, intent, relevance, ndcg, hits, ms, weak, gain
FROM recalls
ORDER BY id DESC
LIMIT :limit
"""

TOGETHER = 16
"""Recalls that are written together: a write each would take as long as the recall."""

log = logging.getLogger(__name__)


class SqliteRecalls:
    """How the last recalls went. Used by any thread but the writer's."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer
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
        if self._writer is None or not held:
            return
        try:
            self._writer.run_later(lambda db: _record(db, held), RECALLS)
        except Overloaded:
            log.warning("The write queue is full: some recalls were not counted.")

    def last(self, limit: int) -> list[Recalled]:
        """The last recalls that were written, oldest first."""
        with self._readers.lend() as db:
            lines = list(ask(db, LAST, {"limit": limit}))
        return [
            Recalled(from_micros(at), intent, relevance, ndcg, hits, ms, bool(weak), gain)
            for at, intent, relevance, ndcg, hits, ms, weak, gain in reversed(lines)
        ]


def _record(db: Db, held: Sequence[tuple[Recalled, int]]) -> None:
    for one, _ in held:
        _add(db, one)
    db.execute(TRIM, {"most": held[-1][1]})


def _add(db: Db, one: Recalled) -> None:
    values = {
        "at": to_micros(one.at),
        "intent": one.intent,
        "relevance": one.relevance,
        "ndcg": one.ndcg,
        "hits": one.hits,
        "ms": one.ms,
        "weak": int(one.weak),
        "gain": one.gain,
    }
    db.execute(RECORD, values)
