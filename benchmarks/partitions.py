"""What partitions by namespace cost in PostgreSQL: the same rows in one table and in sixteen.

    python -m benchmarks.partitions ROWS [FOLDER OF A SERVER]

Printed is the processor time of the server for one statement, as docs/decisions/0008 has it.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg

from benchmarks.postgres import a_server, schema

NAMESPACES, PARTS, KEYS = 200, 16, 60
COLUMNS = "row bigint, namespace bigint, id text, scope bigint, status text, created_at bigint, content text"
MADE = """
INSERT INTO {table}
SELECT g, g % {namespaces}, md5(g::text), g % 400, 'active', g, repeat(md5(g::text) || ' ', 6)
FROM generate_series(1, {rows}) AS g
"""
JOINED = "SELECT m.row, t.content FROM m{s} AS m JOIN t{s} AS t ON t.row = m.row WHERE m.row = ANY(%(keys)s)"
NAMED = """
SELECT m.row, t.content
FROM m{s} AS m
JOIN t{s} AS t ON t.namespace = m.namespace AND t.row = m.row
WHERE m.namespace = 7 AND m.row = ANY(%(keys)s)
"""
STATEMENTS = {
    "60 memories by key": "SELECT row, content FROM m{s} WHERE row = ANY(%(keys)s)",
    "60 memories with what belongs to them": JOINED,
    "the same with the namespace named": NAMED,
    "one memory by key": "SELECT content FROM m{s} WHERE row = %(row)s",
    "the newest 50 of a namespace": "SELECT row FROM m{s} WHERE namespace = 7 ORDER BY row DESC LIMIT 50",
    "a new one": "INSERT INTO m{s} VALUES (%(new)s, 7, %(new)s::text, 1, 'active', 1, 'words of a memory')",
}


def main() -> int:
    """Make both and time each statement."""
    rows = int(sys.argv[1])
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp(prefix="engram-bench-"))
    with psycopg.connect(schema(a_server(folder), "parts"), autocommit=True) as db:
        _make(db, rows)
        for what, sql in STATEMENTS.items():
            took = [_time(db, sql.format(s=s), rows) for s in ("1", str(PARTS))]
            print(f"{what}: one table {took[0]:.2f} ms, {PARTS} partitions {took[1]:.2f} ms")
        db.execute("DROP SCHEMA parts CASCADE")
    return 0


def _make(db: psycopg.Connection[Any], rows: int) -> None:
    run: Callable[..., Any] = db.execute
    for name in ("m", "t"):
        run(f"CREATE TABLE {name}1 ({COLUMNS}, PRIMARY KEY (row))")
        keyed = f"{COLUMNS}, PRIMARY KEY (namespace, row)"
        run(f"CREATE TABLE {name}{PARTS} ({keyed}) PARTITION BY HASH (namespace)")
        for part in range(PARTS):
            values = f"FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {part})"
            run(f"CREATE TABLE {name}_{part} PARTITION OF {name}{PARTS} {values}")
        for table in (f"{name}1", f"{name}{PARTS}"):
            run(MADE.format(table=table, namespaces=NAMESPACES, rows=rows))
        run(f"CREATE INDEX ON {name}{PARTS} (row)")
        run(f"ANALYZE {name}1, {name}{PARTS}")


def _time(db: psycopg.Connection[Any], sql: str, rows: int, times: int = 400) -> float:
    chance, number = random.Random(1), rows
    run: Callable[..., Any] = db.execute
    started = 0.0
    for turn in range(-8, times):
        if turn == 0:
            started = _busy(db)
        number += 1
        keys = [chance.randrange(rows // NAMESPACES) * NAMESPACES + 7 for _ in range(KEYS)]
        run(sql, {"keys": keys, "row": keys[0], "new": number}, prepare=True)
    return (_busy(db) - started) / times * 1000


def _busy(db: psycopg.Connection[Any]) -> float:
    fields = Path(f"/proc/{db.info.backend_pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))


if __name__ == "__main__":
    sys.exit(main())
