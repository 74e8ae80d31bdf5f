"""Company: who was spoken of lately, and whose facts hang together. Asked inside the writer.

A unit that writes many memories asks for one name again and again: it is looked up once and kept in mind.
"""

from __future__ import annotations

from collections.abc import Iterable

from engram.model.facts import Fact
from engram.store.sqlite.query import Db, ask, ask_value

LATEST = """
SELECT m.id
FROM (
  SELECT row
  FROM mentions
  WHERE name = :name
  ORDER BY row DESC
  LIMIT :looked_at
) AS t
CROSS JOIN memories AS m ON m.row = t.row
WHERE m.scope = :scope
  AND m.status = 'active'
LIMIT :kept
"""

COUNT = """
SELECT count(*)
FROM (SELECT 1 FROM mentions WHERE name = :name LIMIT :most)
"""

# What goes on where the fact ends, and what ends where it begins; each part looks at a few facts only.
HANGING_ON = """
SELECT DISTINCT m.id
FROM (
  SELECT row
  FROM (SELECT row FROM facts WHERE subject = :object LIMIT :looked_at)
  UNION
  SELECT row
  FROM (SELECT row FROM facts WHERE object = :subject LIMIT :looked_at)
) AS f
CROSS JOIN memories AS m ON m.row = f.row
WHERE m.scope = :scope
  AND m.status = 'active'
ORDER BY m.row DESC
LIMIT :limit
"""

LOOKED_AT = 20
"""How many memories or facts of one name are looked at."""
KEPT = 20
"""How many of them are kept in mind for each name."""


class Company:
    """Lives as long as one unit of work."""

    def __init__(self, db: Db) -> None:
        self._db = db
        self._counts: dict[str, int] = {}
        self._latest: dict[tuple[int, str], list[str]] = {}

    def heard(self, names: Iterable[str], scope: int, memory_id: str) -> None:
        """Take in the names, without case, of a memory that was just added."""
        for name in names:
            if name in self._counts:
                self._counts[name] += 1
            latest = self._latest.get((scope, name))
            if latest is not None:
                latest.insert(0, memory_id)
                del latest[KEPT:]

    def changed(self) -> None:
        """Keep nothing in mind that may have become wrong."""
        self._counts.clear()
        self._latest.clear()

    def count(self, name: str, most: int) -> int:
        """How many memories have a name, counted up to `most`."""
        if name not in self._counts:
            self._counts[name] = ask_value(self._db, COUNT, {"name": name, "most": most})
        return min(most, self._counts[name])

    def latest(self, name: str, scope: int, limit: int) -> list[str]:
        """The active memories of a scope that have a name, the newest first."""
        found = self._latest.get((scope, name))
        if found is None:
            values = {"name": name, "scope": scope, "looked_at": LOOKED_AT, "kept": KEPT}
            found = self._latest[scope, name] = [line[0] for line in ask(self._db, LATEST, values)]
        return found[:limit]

    def hanging_on(self, fact: Fact, scope: int, limit: int) -> list[str]:
        """Active memories of a scope whose facts go on where this one ends, or end where it begins."""
        ends = {"subject": fact.subject, "object": fact.object}
        values = {**ends, "scope": scope, "looked_at": LOOKED_AT, "limit": limit}
        return [line[0] for line in ask(self._db, HANGING_ON, values)]
