"""How the last recalls went: each comes in, the last ones come out. No word of a question is kept."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from threading import Lock

from engram.errors import Overloaded
from engram.model.clock import from_micros, to_micros
from engram.model.health import Recalled
from engram.store.sqlite.query import Db, ask
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.writer import Writer

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
    """Implements `ports.Recalls`. Used by any thread but the writer's."""

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
            self._writer.run_later(lambda db: _record(db, held))
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
