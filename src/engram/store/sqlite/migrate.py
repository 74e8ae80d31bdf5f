"""A file of any age comes in; it goes out with the schema this version knows, or is refused.

Migrations are numbered files. Each runs once, in an exclusive transaction, and leaves its number and hash.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path

import apsw

from engram.errors import MigrationChanged, NewerSchema, StoreError
from engram.lazily import dataclass, hashlib
from engram.model.clock import Clock, SystemClock, to_micros
from engram.store.sqlite.connection import Db, ask, ask_value

APPLICATION = 0x456E6772
"""Marks the file as ours: "Engr"."""

LEDGER = """
CREATE TABLE IF NOT EXISTS migrations (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  at INTEGER NOT NULL
)
"""

APPLIED = """
SELECT number, sha256
FROM migrations
ORDER BY number
"""

RECORD = """
INSERT INTO migrations (number, name, sha256, at)
VALUES (:number, :name, :sha256, :at)
"""


@dataclass(frozen=True, slots=True)
class Migration:
    """One numbered step."""

    number: int
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        """What proves that it is the same step that ran."""
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrate(db: Db, clock: Clock, steps: tuple[Migration, ...] | None = None) -> bool:
    """Bring the file to the present schema; whether it had an older one.

    Two processes may try at once: the second finds it done.
    """
    steps = known() if steps is None else steps
    if is_current(db, steps):
        return False
    for step in steps:
        with all_or_none(db):
            db.execute(LEDGER)
            if step.number not in _applied(db):
                _apply(db, step, clock)
    return True


def make_in_memory(db: Db) -> None:
    """Give a new store in memory the present schema in one piece: a tenth of the time that the steps take."""
    with closing(apsw.Connection(":memory:")) as made:
        made.deserialize("main", _made())
        with db.backup("main", made, "main") as work:
            work.step(-1)


@cache
def _made() -> bytes:
    with closing(apsw.Connection(":memory:")) as made:
        migrate(made, SystemClock())
        return made.serialize("main")


def is_current(db: Db, steps: tuple[Migration, ...] | None = None) -> bool:
    """Whether nothing is left to do. Refuses a file of another program, a newer one, a changed one."""
    steps = known() if steps is None else steps
    if db.pragma("application_id") != APPLICATION:
        if ask_value(db, "SELECT EXISTS (SELECT 1 FROM sqlite_schema)"):
            raise StoreError(f"{db.filename} is a database of another program: choose another file.")
        return False
    return not missing(_applied(db), steps)


def says_current(db: Db) -> bool:
    """Whether the file says of itself that nothing is left to do: enough to read it."""
    newest = max(int(file.name.partition("_")[0]) for file in _files())
    return bool(db.pragma("application_id") == APPLICATION and db.pragma("user_version") == newest)


def missing(applied: Mapping[int, str], steps: Sequence[Migration]) -> list[Migration]:
    """The steps that have not run. Refuses what a newer version wrote, and a step that is another now."""
    for step in steps:
        if applied.get(step.number, step.sha256) != step.sha256:
            raise MigrationChanged(step.number)
    newest = max(applied, default=0)
    if newest > steps[-1].number:
        raise NewerSchema(newest, steps[-1].number)
    return [step for step in steps if step.number not in applied]


@cache
def known() -> tuple[Migration, ...]:
    """All steps this version carries, in order."""
    files = sorted(_files(), key=lambda f: f.name)
    return tuple(_read(f.name, f.read_text(encoding="utf-8")) for f in files)


def _files() -> Iterator[Path]:
    return (f for f in Path(__file__).with_name("migrations").iterdir() if f.name.endswith(".sql"))


@contextmanager
def all_or_none(db: Db, begin: str = "BEGIN EXCLUSIVE") -> Iterator[None]:
    """All of it or none, and nobody else in between."""
    db.execute(begin)
    try:
        yield
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def _applied(db: Db) -> dict[int, str]:
    return dict(ask(db, APPLIED))


def _apply(db: Db, step: Migration, clock: Clock) -> None:
    db.execute(step.sql)
    at = to_micros(clock.now())
    db.execute(RECORD, {"number": step.number, "name": step.name, "sha256": step.sha256, "at": at})
    db.pragma("application_id", APPLICATION)
    db.pragma("user_version", step.number)


def _read(filename: str, text: str) -> Migration:
    number, _, name = filename.removesuffix(".sql").partition("_")
    return Migration(int(number), name, text.replace("\r\n", "\n"))
