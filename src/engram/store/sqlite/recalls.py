"""How the last recalls went: each comes in, the last ones come out. No word of a question is kept."""

from __future__ import annotations

import logging

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

log = logging.getLogger(__name__)


class SqliteRecalls:
    """Implements `ports.Recalls`. Used by any thread but the writer's."""

    def __init__(self, readers: Readers, writer: Writer | None) -> None:
        self._readers = readers
        self._writer = writer

    def record(self, one: Recalled, most: int) -> None:
        """Hand a recall over without waiting. Lost when the queue is full, or the file is read-only."""
        if self._writer is None:
            return
        try:
            self._writer.run_later(lambda db: _record(db, one, most))
        except Overloaded:
            log.warning("The write queue is full: a recall was not counted.")

    def last(self, limit: int) -> list[Recalled]:
        """The last recalls, oldest first."""
        with self._readers.lend() as db:
            lines = list(ask(db, LAST, {"limit": limit}))
        return [
            Recalled(from_micros(at), intent, relevance, ndcg, hits, ms, bool(weak), gain)
            for at, intent, relevance, ndcg, hits, ms, weak, gain in reversed(lines)
        ]


def _record(db: Db, one: Recalled, most: int) -> None:
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
    db.execute(TRIM, {"most": most})
