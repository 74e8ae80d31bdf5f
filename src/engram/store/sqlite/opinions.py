"""Feedback: whether a memory helped, and for which question. Uses are logged here too."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np

from engram.model.clock import from_micros, to_micros
from engram.model.vectors import Space
from engram.ports import Embedded, Suppression
from engram.store.sqlite import records
from engram.store.sqlite.query import Db, ask
from engram.store.sqlite.readers import Readers

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
  sessions = sessions + (
    :session <> ''
    AND NOT EXISTS (
      SELECT 1
      FROM access_log AS a
      WHERE a.row = memories.row
        AND a.session = :session
    )
  )
WHERE id = :id
"""

LOG_USE = """
INSERT INTO access_log (row, session, at)
SELECT row, :session, :at
FROM memories
WHERE id = :id
"""

DROP_USES = """
DELETE FROM access_log
WHERE row = :row
"""


class SqliteOpinions:
    """Implements `ports.Opinions`. Used by any thread."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def against(self, keys: Sequence[int], space: Space, since: datetime) -> list[Suppression]:
        """Suppressions of these keys, made in this space, not older than `since`."""
        values = {"keys": records.as_keys(keys), "space": space.key, "since": to_micros(since)}
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


def use(db: Db, memory_id: str, at: datetime, session: str) -> None:
    """Count and log one use."""
    values = {"id": memory_id, "at": to_micros(at), "session": session}
    db.execute(COUNT_USE, values)
    db.execute(LOG_USE, values)


def drop(db: Db, row: int) -> None:
    """Forget opinions and uses of a memory."""
    db.execute(DROP, {"row": row})
    db.execute(DROP_USES, {"row": row})
