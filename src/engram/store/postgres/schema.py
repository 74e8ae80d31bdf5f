"""A database comes in; it goes out with the tables this version knows, or is refused.

The tables are those of a file, translated; the numbered steps are the same as well, so that a database and a
file of one version hold the same. A new database gets all of it at once and remembers each step as done.
"""

from __future__ import annotations

from importlib import resources

from engram.errors import StoreError
from engram.model.clock import Clock, to_micros
from engram.store.postgres.connection import as_server
from engram.store.postgres.dialect import HELPERS, translate_schema
from engram.store.postgres.listener import TELLING
from engram.store.postgres.wall import STANDS, wall
from engram.store.sqlite.connection import Db, ask, ask_value
from engram.store.sqlite.migrate import APPLIED, LEDGER, RECORD, Migration, known, missing

HAS_TABLE = """
SELECT EXISTS (SELECT 1 FROM pg_tables WHERE schemaname = current_schema() AND tablename = :name)
"""

KEYS = """
CREATE TABLE local_keys (
  name TEXT PRIMARY KEY,
  key BYTEA NOT NULL
);
SELECT setval('entities_id_seq', 0);
"""


MOVING = "moving"
"""A table that is there while a memory is being moved into the database."""


def refuse_half_moved(db: Db) -> None:
    """Raise StoreError when a memory is being moved into the database."""
    if ask_value(db, HAS_TABLE, {"name": MOVING}):
        raise StoreError("A move into this database was cut off: run the same `engram migrate` again.")


def is_current(db: Db) -> bool:
    """Whether nothing is left to do. Refuses a database of another program, a newer one, a changed one."""
    if not ask_value(db, HAS_TABLE, {"name": "migrations"}):
        if ask_value(db, HAS_TABLE, {"name": "memories"}):
            raise StoreError("The database has tables of another program: choose another database or schema.")
        return False
    return not missing(dict(ask(db, APPLIED)), known())


def migrate(db: Db, clock: Clock) -> None:
    """Bring the database to the present schema. Two engines may try at once: the second finds it done."""
    if is_current(db) and ask_value(db, STANDS):
        return
    db.execute("BEGIN EXCLUSIVE")
    try:
        if not is_current(db):
            _bring(db, clock)
        as_server(db).script(wall() + TELLING)
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _bring(db: Db, clock: Clock) -> None:
    bare = as_server(db)
    steps = known()
    if ask_value(db, HAS_TABLE, {"name": "migrations"}):
        steps = tuple(missing(dict(ask(db, APPLIED)), steps))
        for step in steps:
            bare.script(translate_schema(step.sql))
    else:
        schema = resources.files("engram.store.sqlite") / "schema.sql"
        for sql in (LEDGER, schema.read_text(encoding="utf-8")):
            bare.script(translate_schema(sql.replace("IF NOT EXISTS migrations", "migrations") + ";"))
        bare.script(HELPERS + KEYS)
    at = to_micros(clock.now())
    db.executemany(RECORD, [_line(step, at) for step in steps])


def _line(step: Migration, at: int) -> tuple[int, str, str, int]:
    return step.number, step.name, step.sha256, at
