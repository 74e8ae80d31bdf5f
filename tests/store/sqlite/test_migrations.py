from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import apsw
import pytest

from engram.errors import MigrationChanged, NewerSchema, StoreError
from engram.store.sqlite import SqliteStore
from engram.store.sqlite.migrate import Migration, known, migrate
from engram.testing import FakeClock
from tests.store.making import EVERYTHING, add

SCHEMA = (resources.files("engram.store.sqlite") / "schema.sql").read_text(encoding="utf-8")


@pytest.fixture
def db(path: Path) -> Iterator[apsw.Connection]:
    opened = apsw.Connection(str(path))
    yield opened
    opened.close()


def objects(db: apsw.Connection) -> dict[str, str]:
    """Every table, index and trigger with its statement, without comments and spacing.

    A column that was added later stands behind a space and a comma.
    """
    lines = db.execute("SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'migrations'")
    return {str(name): _bare(str(sql)) for name, sql in lines}


def _bare(sql: str) -> str:
    return re.sub(r"\s*([(),])\s*", r"\1", " ".join(re.sub(r"--.*", "", sql).split()))


def test_the_schema_is_what_all_migrations_make(db: apsw.Connection, clock: FakeClock) -> None:
    migrate(db, clock)
    read = apsw.Connection(":memory:")
    read.execute(SCHEMA)
    assert objects(db) == objects(read)
    read.close()


def test_every_column_says_what_it_holds() -> None:
    tables = re.findall(r"^CREATE TABLE \w+ \(\n(.*?)^\)", SCHEMA, flags=re.MULTILINE | re.DOTALL)
    columns = [line for body in tables for line in body.splitlines() if re.match(r"  [a-z]", line)]
    assert len(columns) > 100
    assert [line for line in columns if " -- " not in line] == []


def test_migrations_are_numbered_without_gaps() -> None:
    assert [step.number for step in known()] == list(range(1, len(known()) + 1))


def test_a_migration_runs_once_and_leaves_its_hash(db: apsw.Connection, clock: FakeClock) -> None:
    for _ in range(2):
        migrate(db, clock)
    assert db.execute("SELECT number, sha256 FROM migrations").fetchall() == [
        (step.number, step.sha256) for step in known()
    ]


def test_an_older_file_is_brought_up(db: apsw.Connection, clock: FakeClock) -> None:
    migrate(db, clock)
    later = Migration(known()[-1].number + 1, "later", "CREATE TABLE later (x)")
    migrate(db, clock, (*known(), later))
    assert db.table_exists(None, "later")
    assert db.pragma("user_version") == later.number


def test_a_migration_that_fails_leaves_nothing_behind(db: apsw.Connection, clock: FakeClock) -> None:
    migrate(db, clock)
    broken = Migration(known()[-1].number + 1, "broken", "CREATE TABLE half (x); CREATE TABLE half (x)")
    with pytest.raises(apsw.SQLError):
        migrate(db, clock, (*known(), broken))
    assert not db.table_exists(None, "half")
    migrate(db, clock)


def test_a_newer_file_is_refused(path: Path, db: apsw.Connection, clock: FakeClock) -> None:
    later = Migration(known()[-1].number + 1, "later", "CREATE TABLE later (x)")
    migrate(db, clock, (*known(), later))
    with pytest.raises(NewerSchema, match=f"schema {later.number}"):
        SqliteStore.open(path, clock)


def test_a_changed_migration_is_refused(path: Path, db: apsw.Connection, clock: FakeClock) -> None:
    migrate(db, clock)
    db.execute("UPDATE migrations SET sha256 = 'another'")
    with pytest.raises(MigrationChanged, match="Migration 1 "):
        SqliteStore.open(path, clock)


def test_a_database_of_another_program_is_left_alone(
    path: Path, db: apsw.Connection, clock: FakeClock
) -> None:
    db.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StoreError, match="another program"):
        SqliteStore.open(path, clock)
    assert list(objects(db)) == ["theirs"]


def test_a_file_keeps_what_it_holds_when_opened_again(path: Path, clock: FakeClock) -> None:
    first = SqliteStore.open(path, clock)
    memory = add(first, "tea is hot")
    first.close()
    second = SqliteStore.open(path, clock)
    assert second.memories.get(memory.id, EVERYTHING) == memory
    second.close()
