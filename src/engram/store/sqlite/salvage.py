"""Salvage: a damaged file comes in, a sound one with everything that can still be read goes out.

Rows are read from the pages (`pages.py`). What lay on pages that are gone is taken from a backup; what no
backup has is named in the report. What follows from other rows (text index, counters) is made anew.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import apsw

from engram.errors import StoreError
from engram.lazily import dataclass
from engram.model.event import SalvagedTable, SalvageReport
from engram.store.sqlite import upkeep
from engram.store.sqlite.connection import Db, Opener, ask, ask_value
from engram.store.sqlite.migrate import known, migrate
from engram.store.sqlite.pages import HIGHEST, LOWEST, Pages, Row, Tree, Value, read_with_log

MOST_NAMED = 1_000
"""Lost memories a report names."""

ORDINARY_TABLES = """
SELECT name, wr
FROM pragma_table_list
WHERE schema = 'main'
  AND type = 'table'
  AND name NOT LIKE 'sqlite_%'
"""

COLUMNS = """
SELECT name, type, "notnull", pk
FROM pragma_table_xinfo(:name)
WHERE hidden = 0
ORDER BY cid
"""

REFERENCES = """
SELECT "table", "from", "to"
FROM pragma_foreign_key_list(:name)
"""

TRIGGERS = """
SELECT name, sql
FROM sqlite_schema
WHERE type = 'trigger'
"""

# A place that only other rows still speak of gets a name that says so: what was told there must stay.
NAMESPACE_STAND_INS = """
INSERT OR IGNORE INTO namespaces (id, name)
SELECT DISTINCT namespace, 'salvaged-' || namespace
FROM scopes
WHERE namespace NOT IN (SELECT id FROM namespaces)
"""

FIRST_NAMESPACE = """
INSERT OR IGNORE INTO namespaces (id, name)
SELECT 1, 'default'
WHERE NOT EXISTS (SELECT 1 FROM namespaces)
"""

SCOPE_STAND_INS = """
INSERT OR IGNORE INTO scopes (id, namespace, project, squad, agent, channel, user)
SELECT DISTINCT m.scope, (SELECT min(id) FROM namespaces), 'salvaged-' || m.scope, '', '', '', ''
FROM memories AS m
WHERE m.scope NOT IN (SELECT id FROM scopes)
"""

ERASED_SINCE = """
DELETE FROM memories
WHERE id IN (SELECT memory FROM events WHERE verb = 'erased')
"""

# The ledger is newer than the backup: what it says of a memory's status holds.
STATUS_SINCE = """
UPDATE memories
SET status = coalesce(
  (
    SELECT json_extract(e.after, '$.status')
    FROM events AS e
    WHERE e.memory = memories.id
      AND json_extract(e.after, '$.status') IS NOT NULL
    ORDER BY e.seq DESC
    LIMIT 1
  ),
  status
)
"""

INDEX_OF_IDS = "sqlite_autoindex_memories_1"
"""What SQLite calls the index of `memories.id`: where a row is gone, its id still stands here."""
LOST = """
SELECT DISTINCT memory
FROM events
WHERE memory <> ''
  AND memory NOT IN (SELECT id FROM memories)
  AND memory NOT IN (SELECT memory FROM events WHERE verb = 'erased')
ORDER BY memory
"""


@dataclass(frozen=True, slots=True)
class Shape:
    """A table as it is declared: what a row of it must look like."""

    name: str
    columns: tuple[str, ...]
    """In the order in which rows are stored."""
    types: tuple[str, ...]
    required: tuple[bool, ...]
    key: tuple[str, ...]
    """The columns of its primary key."""
    row_key: int | None
    """Which column is the row id itself; None in a table without one."""
    without_rowid: bool

    @property
    def named(self) -> str:
        """Its columns for a statement."""
        return ", ".join(f'"{name}"' for name in self.columns)

    def fits(self, row: Row) -> bool:
        """Whether a row found on a page without an owner can be one of this table."""
        values = self.filled(row)
        return len(values) == len(self.columns) and all(
            _fits(value, declared, needed)
            for value, declared, needed in zip(values, self.types, self.required, strict=True)
        )

    def filled(self, row: Row) -> tuple[Value, ...]:
        """The columns with the row id where it belongs: it is not stored among them."""
        key, values = row
        if self.row_key is None or self.row_key >= len(values):
            return values
        return (*values[: self.row_key], key, *values[self.row_key + 1 :])


def salvage(opener: Opener, target: Path, backup: Path | None) -> SalvageReport:
    """Write everything that can be read into a new file.

    Args:
        opener: how the damaged file is opened.
        target: the file to make; it must not be there.
        backup: a sound older copy, for what lay on damaged pages.

    Returns:
        What was saved of each table, what came from the backup, and which memories are lost.

    Raises:
        StoreError: nothing of the file can be read and there is no backup.

    """
    pages = Pages(_bytes(opener))
    roots = {str(line[1]): int(line[3] or 0) for line in pages.schema() if line[0] in {"table", "index"}}
    trees = {name: pages.tree(root) for name, root in roots.items() if root > 1}
    if not any(tree.rows for tree in trees.values()) and backup is None:
        raise StoreError(f"Nothing of {opener.path} can be read, and there is no backup.")
    with closing(replace(opener, path=str(target)).writer()) as db:
        _make_schema(db, opener, trees)
        db.pragma("foreign_keys", False)  # noqa: FBT003 - the binding's own signature
        with db, without_triggers(db):
            shapes = shapes_of(db)
            _adopt_orphans(pages, shapes, trees)
            tables = [_fill(db, shape, trees[shape.name], opener, backup) for shape in shapes]
            _make_consistent(db)
        db.pragma("foreign_keys", True)  # noqa: FBT003
        upkeep.rebuild(db)
        lost = sorted(_lost(db, trees))
        db.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    touched = tuple(table for table in tables if table.damaged_pages)
    return SalvageReport(
        str(target), sum(table.rows for table in tables), touched, tuple(lost[:MOST_NAMED]), len(lost)
    )


def _lost(db: Db, trees: dict[str, Tree]) -> set[str]:
    """The memories that the index of ids or an event names, and that are not there."""
    indexed = {str(values[0]) for _, values in trees.get(INDEX_OF_IDS, Tree()).rows if values}
    kept = {str(line[0]) for line in ask(db, "SELECT id FROM memories")}
    return (indexed - kept) | {str(line[0]) for line in ask(db, LOST)}


def _bytes(opener: Opener) -> bytes:
    """The pages as they are without encryption; one that cannot be decrypted is empty."""
    if opener.settings.key is None:
        return read_with_log(Path(opener.path))
    try:
        with closing(opener.reader()) as db:
            return db.serialize("main")
    except (apsw.NotADBError, apsw.CorruptError):
        return b""  # without its first page nothing of an encrypted file can be told from noise


def _make_schema(db: Db, opener: Opener, trees: dict[str, Tree]) -> None:
    """The schema that the damaged file had, as far as its own list of migrations can be read."""
    applied = {key for key, _ in trees["migrations"].rows} if "migrations" in trees else set()
    newest = max(applied, default=0)
    migrate(db, opener.clock, tuple(step for step in known() if not newest or step.number <= newest))


def shapes_of(db: Db) -> list[Shape]:
    """Every table that holds rows of its own."""
    return [_shape(db, str(name), without_rowid=bool(wr)) for name, wr in ask(db, ORDINARY_TABLES)]


def _shape(db: Db, name: str, *, without_rowid: bool) -> Shape:
    columns = ask(db, COLUMNS, {"name": name})
    of_key = sorted((column for column in columns if column[3]), key=lambda column: column[3])
    key = None
    if without_rowid:  # stored by its key first
        columns = sorted(columns, key=lambda column: column[3] or len(columns) + 1)
    else:
        key = next(
            (n for n, (_, kind, _, pk) in enumerate(columns) if pk and kind.upper() == "INTEGER"), None
        )
    names, types, required, _ = zip(*columns, strict=True)
    needed, named = tuple(map(bool, required)), tuple(column[0] for column in of_key)
    return Shape(name, names, types, needed, named, key, without_rowid)


def _fits(value: Value, declared: str, needed: bool) -> bool:  # noqa: FBT001 - a column's own property
    if value is None:
        return not needed
    expected: dict[str, tuple[type, ...]] = {
        "INTEGER": (int,), "REAL": (int, float), "TEXT": (str,), "BLOB": (bytes,),
    }  # fmt: skip
    return isinstance(value, expected.get(declared.upper(), (object,)))


def _adopt_orphans(pages: Pages, shapes: Sequence[Shape], trees: dict[str, Tree]) -> None:
    """Give leaves whose parent is gone back to a damaged table that they fit."""
    for shape in shapes:  # a table whose very beginning is lost has one gap
        trees.setdefault(shape.name, Tree(lost=[(0, LOWEST, HIGHEST)]))
    damaged = [shape for shape in shapes if trees[shape.name].lost]
    if not damaged:
        return
    for rows in pages.orphans():
        owner = next(
            (shape for shape in damaged if all(_lies_there(row, shape, trees) for row in rows)), None
        )
        if owner is not None:
            trees[owner.name].rows.extend(rows)


def _lies_there(row: Row, shape: Shape, trees: dict[str, Tree]) -> bool:
    """Whether a row fits a table and lies in one of its gaps."""
    gap = shape.without_rowid or any(low <= row[0] <= high for _, low, high in trees[shape.name].lost)
    return gap and shape.fits(row)


def _fill(db: Db, shape: Shape, tree: Tree, opener: Opener, backup: Path | None) -> SalvagedTable:
    """Write the rows of one table: those that were read, then those of the backup for its gaps."""
    read = insert_rows(db, shape, (shape.filled(row) for row in tree.rows))
    gaps, restored = tree.lost, 0
    if gaps and backup is not None:
        with _opened_copy(opener, backup) as other:
            restored = insert_rows(db, shape, _rows_in(other, shape, gaps))
    return SalvagedTable(shape.name, read + restored, restored, len(gaps))


def insert_rows(db: Db, shape: Shape, rows: Iterable[tuple[Value, ...]]) -> int:
    """Write rows; one that is there already or breaks a rule of its table is left out."""
    before = db.total_changes()
    for row in rows:  # a row stored before a column was added is shorter
        names = ", ".join(f'"{name}"' for name in shape.columns[: len(row)])
        places = ", ".join("?" * len(row))
        db.execute(f'INSERT OR IGNORE INTO "{shape.name}" ({names}) VALUES ({places})', row)  # noqa: S608 - names of our schema
    return db.total_changes() - before


def _rows_in(other: Db, shape: Shape, gaps: Sequence[tuple[int, int, int]]) -> Iterator[tuple[Value, ...]]:
    everything = f'SELECT {shape.named} FROM "{shape.name}"'  # noqa: S608 - names of our schema
    if not ask_value(other, "SELECT count(*) FROM sqlite_schema WHERE name = :name", {"name": shape.name}):
        return
    if shape.without_rowid:
        yield from ask(other, everything)
        return
    for _, low, high in gaps:
        yield from other.execute(f"{everything} WHERE rowid BETWEEN ? AND ?", (low, high))


@contextmanager
def _opened_copy(opener: Opener, backup: Path) -> Iterator[Db]:
    """The backup with the present schema; the original is not touched."""
    with tempfile.TemporaryDirectory(prefix="engram-") as folder:
        copied = Path(folder, backup.name)
        shutil.copyfile(backup, copied)
        with closing(replace(opener, path=str(copied), passing=True).writer()) as other:
            migrate(other, opener.clock)
            yield other


@contextmanager
def without_triggers(db: Db) -> Iterator[None]:
    """Rows come in as they were: no trigger counts them again or guards the ledger."""
    triggers = ask(db, TRIGGERS)
    for name, _ in triggers:
        db.execute(f'DROP TRIGGER "{name}"')
    yield
    for _, sql in triggers:
        db.execute(sql)


def _make_consistent(db: Db) -> None:
    """Drop what points to nothing, but never what was told because the name of its place is gone."""
    for sql in (NAMESPACE_STAND_INS, FIRST_NAMESPACE, SCOPE_STAND_INS, ERASED_SINCE, STATUS_SINCE):
        db.execute(sql)
    tables = [str(name) for name, _ in ask(db, ORDINARY_TABLES)]
    before = -1
    while before != db.total_changes():
        before = db.total_changes()
        for table in tables:
            for parent, child_column, parent_column in ask(db, REFERENCES, {"name": table}):
                db.execute(
                    f'DELETE FROM "{table}" WHERE "{child_column}" IS NOT NULL AND NOT EXISTS '  # noqa: S608 - as above
                    f'(SELECT 1 FROM "{parent}" AS p WHERE p."{parent_column}" = "{table}"."{child_column}")'
                )
