"""Moving a memory: every row of a file or database comes in, an equal memory comes out on the other side.

Rows go table by table in the order of their keys, a part at a time, each part committed: a move that was cut
off goes on where it stopped. At the end both sides are counted and hashed, and only then it is a memory.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache
from typing import Any, Final

import apsw

from engram.errors import StoreError
from engram.model.event import ArchiveReport
from engram.store.postgres.connection import as_postgres
from engram.store.sqlite.connection import Db, Line, ask, ask_line, ask_value
from engram.store.sqlite.migrate import all_or_none, make_in_memory
from engram.store.sqlite.salvage import REFERENCES, TRIGGERS, Shape, shapes_of

LEFT_OUT: Final = frozenset({"migrations", "blocks"})
"""What each side has of its own, or makes anew."""
PART: Final = 5_000
"""Rows that are moved together."""

# What was given out may be higher than what is left: a number is never used again.
NUMBERS_OF_FILE: Final = """
SELECT name, seq
FROM sqlite_sequence
"""

SET_NUMBER_OF_FILE: Final = """
UPDATE sqlite_sequence
SET seq = max(seq, :seq)
WHERE name = :name
"""

IDENTITIES: Final = """
SELECT c.table_name, c.column_name
FROM information_schema.columns AS c
WHERE c.table_schema = current_schema()
  AND c.is_identity = 'YES'
"""

Progress = Callable[[str, int], None]
"""Told the table and how many of its rows were moved just now."""


@cache
def tables() -> tuple[Shape, ...]:
    """All tables with rows to move, each after those that it points to."""
    with closing(apsw.Connection(":memory:")) as db:
        make_in_memory(db)
        shapes = {shape.name: shape for shape in shapes_of(db) if shape.name not in LEFT_OUT}
        needs = {name: {str(line[0]) for line in ask(db, REFERENCES, {"name": name})} for name in shapes}
    ordered: list[str] = []
    while len(ordered) < len(shapes):
        free = (name for name in sorted(shapes) if needs[name] - {name} <= set(ordered))
        ordered += [name for name in free if name not in ordered]
    return tuple(shapes[name] for name in ordered)


def silent(table: str, rows: int) -> None:
    """Progress that nobody follows."""
    del table, rows


def move(source: Db, target: Db, progress: Progress = silent) -> ArchiveReport:
    """Bring every row that the target has not yet over to it, and compare both sides.

    Raises:
        StoreError: a table is not the same on both sides afterwards.

    """
    for shape in tables():
        for part in _parts(source, shape, _last_key(target, shape)):
            with all_or_none(target, "BEGIN IMMEDIATE"):
                _put(target, shape, part)
            progress(shape.name, len(part))
    with all_or_none(target, "BEGIN IMMEDIATE"):
        _keep_numbers(source, target)
    return _compared(source, target)


@contextmanager
def without_guards(db: Db) -> Iterator[None]:
    """Rows come in as they were: no trigger counts them again. What was set aside comes back afterwards."""
    if (server := as_postgres(db)) is not None:
        names = [shape.name for shape in tables()]
        server.script("".join(f"ALTER TABLE {name} DISABLE TRIGGER USER;" for name in names))
        yield
        server.script("".join(f"ALTER TABLE {name} ENABLE TRIGGER USER;" for name in names))
    else:
        triggers = ask(db, TRIGGERS)
        for name, _ in triggers:
            db.execute(f'DROP TRIGGER "{name}"')
        yield
        with closing(apsw.Connection(":memory:")) as whole:  # also those that an earlier try took away
            make_in_memory(whole)
            triggers = ask(whole, TRIGGERS)
        for _, sql in triggers:
            db.execute(sql)


# ---------------------------------------------------------------- rows


def _parts(db: Db, shape: Shape, after: Line | None) -> Iterator[list[Line]]:
    """The rows after a key, part by part."""
    key = _listed(shape.key)
    places = ", ".join("?" * len(shape.key))
    # Only names of our own schema are put into statements here and below.
    begin = f'SELECT {shape.named} FROM "{shape.name}"'  # noqa: S608
    order = f" ORDER BY {key} LIMIT {PART}"
    where = [shape.columns.index(name) for name in shape.key]
    while True:
        if after is None:
            part = ask(db, begin + order)
        else:
            part = db.execute(f"{begin} WHERE ({key}) > ({places}){order}", after).fetchall()
        if part:
            yield part
        if len(part) < PART:
            return
        after = tuple(part[-1][place] for place in where)


def _last_key(db: Db, shape: Shape) -> Line | None:
    key, last = _listed(shape.key), ", ".join(f'"{name}" DESC' for name in shape.key)
    return ask_line(db, f'SELECT {key} FROM "{shape.name}" ORDER BY {last} LIMIT 1')  # noqa: S608


def _put(db: Db, shape: Shape, part: list[Line]) -> None:
    if (server := as_postgres(db)) is not None:
        server.copy_in(f'COPY "{shape.name}" ({shape.named}) FROM STDIN', part)
    else:
        places = ", ".join("?" * len(shape.columns))
        db.executemany(f'INSERT INTO "{shape.name}" ({shape.named}) VALUES ({places})', part)  # noqa: S608


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}"' for name in names)


# ---------------------------------------------------------------- numbers and comparing


def _keep_numbers(source: Db, target: Db) -> None:
    given = _numbers(source)
    server = as_postgres(target)
    if server is None:
        for name, seq in given.items():
            target.execute(SET_NUMBER_OF_FILE, {"name": name, "seq": seq})
        return
    for name, column in ask(target, IDENTITIES):
        if name in LEFT_OUT:
            continue
        highest = ask_value(target, f'SELECT max("{column}") FROM "{name}"') or 0  # noqa: S608
        server.script(f"SELECT setval('{name}_{column}_seq', {max(int(highest), given.get(name, 0))})")


def _numbers(db: Db) -> dict[str, int]:
    """The highest number given out for each table that has numbers."""
    if as_postgres(db) is None:
        return dict(ask(db, NUMBERS_OF_FILE))
    names = ask(db, IDENTITIES)
    return {
        name: int(ask_value(db, f"SELECT last_value FROM {name}_{column}_seq"))  # noqa: S608
        for name, column in names
    }


def _compared(source: Db, target: Db) -> ArchiveReport:
    rows = memories = 0
    for shape in tables():
        ours, theirs = _digest(source, shape), _digest(target, shape)
        if ours != theirs:
            raise StoreError(
                f"{shape.name} differs: {ours[0]} rows became {theirs[0]}. Somebody wrote meanwhile, or an "
                "earlier move was cut off long ago: remove the target and move again."
            )
        rows += ours[0]
        memories = ours[0] if shape.name == "memories" else memories
    return ArchiveReport(rows, memories)


def _digest(db: Db, shape: Shape) -> tuple[int, str]:
    """How many rows a table has, and a hash of all of them."""
    count, hashed = 0, hashlib.sha256()
    for part in _parts(db, shape, None):
        count += len(part)
        for row in part:
            hashed.update(json.dumps([_plain(value) for value in row], ensure_ascii=False).encode())
    return count, hashed.hexdigest()


def _plain(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else value
