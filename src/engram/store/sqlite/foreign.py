"""Databases of other programs: a path comes in; tables come out as rows by column. Nothing is written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import apsw

from engram.errors import BadSource

MAGIC = b"SQLite format 3\x00"
_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table'"


def is_database(path: Path) -> bool:
    """Whether a file is an SQLite database in clear."""
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        return False


def tables(path: Path, wanted: Sequence[str]) -> Mapping[str, list[dict[str, Any]]]:
    """The rows of these tables, as far as they are there. Raises BadSource for what is no database."""
    try:
        # A copy of the connection's own view: a program that has the file open is not disturbed.
        database = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            there = {str(row[0]) for row in database.execute(_TABLES)}
            return {name: _rows(database, name) for name in wanted if name in there}
        finally:
            database.close()
    except apsw.Error as error:
        raise BadSource(path.name, "a database", f"it cannot be read ({error})") from error


def _rows(database: apsw.Connection, name: str) -> list[dict[str, Any]]:
    cursor = database.execute(f'SELECT * FROM "{name}"')  # noqa: S608 - one of the names asked for
    try:
        columns = [column[0] for column in cursor.get_description()]
    except apsw.ExecutionCompleteError:
        return []  # a table without rows has been read to its end already
    return [dict(zip(columns, row, strict=True)) for row in cursor]
