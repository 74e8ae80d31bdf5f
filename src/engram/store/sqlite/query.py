"""Asking the database: a statement and its named values come in, lines come out.

The binding types each value as anything SQLite can hold; what a column holds is known from the schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import apsw

Db = apsw.Connection
Line = tuple[Any, ...]
NOTHING: Mapping[str, Any] = {}

HIGHEST = "\U0010ffff"
"""Comes after every character: what begins with `x` lies between `x` and `x` with this behind it."""


def ask(db: Db, sql: str, values: Mapping[str, Any] = NOTHING) -> list[Line]:
    """All lines of the answer."""
    return db.execute(sql, values).fetchall()


def ask_line(db: Db, sql: str, values: Mapping[str, Any] = NOTHING) -> Line | None:
    """The first line of the answer, if there is one."""
    return db.execute(sql, values).fetchone()


def ask_value(db: Db, sql: str, values: Mapping[str, Any] = NOTHING) -> Any:
    """The first value of the first line; None when there is no line."""
    return db.execute(sql, values).get
