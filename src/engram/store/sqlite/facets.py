"""What memories speak of, written: a record comes in, the lines that filters look up are kept in step."""

from __future__ import annotations

from engram.model.memory import Memory
from engram.store.sqlite.query import Db
from engram.text.facets import values

ADD = """
INSERT INTO facets (facet, value, row)
VALUES (:facet, :value, :row)
"""

DROP = """
DELETE FROM facets
WHERE row = :row
"""


def add(db: Db, row: int, memory: Memory) -> None:
    """Keep what a new memory speaks of."""
    if memory.metadata:
        db.executemany(ADD, [(facet, value, row) for facet, value in values(memory.metadata)])


def change(db: Db, row: int, old: Memory, new: Memory) -> None:
    """The same of a memory that may speak of something else now."""
    if new.metadata != old.metadata:
        drop(db, row)
        add(db, row, new)


def drop(db: Db, row: int) -> None:
    """Forget what a memory speaks of."""
    db.execute(DROP, {"row": row})
