"""Where imported memories came from: an origin comes in with its memory, and is found by how it begins."""

from __future__ import annotations

from collections.abc import Sequence

from engram.model.scope import Scope
from engram.store.sqlite import scopes
from engram.store.sqlite.query import HIGHEST, Db, ask
from engram.store.sqlite.readers import Readers
from engram.store.sqlite.records import as_list

KNOWN = """
SELECT o.origin, m.id, o.digest
FROM origins AS o
JOIN memories AS m ON m.row = o.row
WHERE o.scope = :scope
  AND o.origin >= :low
  AND o.origin < :high
ORDER BY o.origin
"""

PUT = """
INSERT INTO origins (scope, origin, row, digest)
VALUES (:scope, :origin, :row, :digest)
ON CONFLICT DO UPDATE SET
  row = excluded.row,
  digest = excluded.digest
"""

REMOVE = """
DELETE FROM origins
WHERE scope = :scope
  AND origin IN (SELECT value FROM json_each(:origins))
"""

DROP = """
DELETE FROM origins
WHERE row = :row
"""


class SqliteOrigins:
    """Implements `ports.Origins`. Used by any thread."""

    def __init__(self, readers: Readers) -> None:
        self._readers = readers

    def known(self, scope: Scope, beginning: str) -> dict[str, tuple[str, str]]:
        """Of each origin that begins so: the memory's id and the digest of what it was made from."""
        with self._readers.lend() as db:
            place = scopes.find(db, scope)
            values = {"scope": place and place[0], "low": beginning, "high": beginning + HIGHEST}
            return {origin: (memory, digest) for origin, memory, digest in ask(db, KNOWN, values)}


# ---------------------------------------------------------------- inside the writer


def put(db: Db, scope: int, origin: str, row: int, digest: str) -> None:
    """Keep where a memory came from; the origin's former memory is forgotten here."""
    db.execute(PUT, {"scope": scope, "origin": origin, "row": row, "digest": digest})


def remove(db: Db, scope: int, origins: Sequence[str]) -> None:
    """Forget origins that are no more."""
    db.execute(REMOVE, {"scope": scope, "origins": as_list(origins)})


def drop(db: Db, row: int) -> None:
    """Forget where a memory came from."""
    db.execute(DROP, {"row": row})
