"""What memories speak of, written: a record comes in, the lines that filters look up are kept in step."""

from __future__ import annotations

from engram.model.memory import Memory
from engram.store.sqlite.query import Db, Line
from engram.text.facets import values

ADD = """
INSERT INTO facets (facet, value, row)
VALUES (:facet, :value, :row)
"""

DROP = """
DELETE FROM facets
WHERE row = :row
"""


def lines(row: int, memory: Memory) -> list[Line]:
    """What is written of a memory."""
    return [(facet, value, row) for facet, value in values(memory.metadata)] if memory.metadata else []


def add(db: Db, new: list[Line]) -> None:
    """Keep what new memories speak of; in the order of the table, which is quicker."""
    db.executemany(ADD, sorted(new))


def change(db: Db, row: int, memory: Memory) -> None:
    """The same of a memory that speaks of something else now."""
    drop(db, row)
    add(db, lines(row, memory))


def drop(db: Db, row: int) -> None:
    """Forget what a memory speaks of."""
    db.execute(DROP, {"row": row})
