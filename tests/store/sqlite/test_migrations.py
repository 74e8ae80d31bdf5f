from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import resources
from pathlib import Path

import apsw
import pytest

from engram.errors import MigrationChanged, NewerSchema, StoreError
from engram.model.facts import FactQuery
from engram.model.memory import Memory
from engram.model.scope import Scope
from engram.store.sqlite import SqliteStore, rows
from engram.store.sqlite.migrate import Migration, known, migrate
from engram.testing import START, FakeClock
from tests.store.making import ALL, EVERYTHING, add, find, make

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


OLD = """
INSERT INTO namespaces (name) VALUES ('default'), ('other');
INSERT INTO scopes (namespace, project, squad, agent, channel, user)
VALUES (1, '', '', '', '', ''), (1, '', '', 'rex', '', ''), (2, '', '', '', '', '');
INSERT INTO mentions (row, name) VALUES
  (1, 'ada king-lovelace'), (1, 'strasse'), (2, 'ada king-lovelace'), (3, 'oslo');
INSERT INTO facts (row, subject, predicate, object, functional) VALUES (1, 'ada', 'lives in', 'oslo', 1);
"""


def old_file(db: apsw.Connection, clock: FakeClock) -> list[Memory]:
    """A file of the first schema with three memories."""
    migrate(db, clock, known()[:1])
    db.execute(OLD)
    places = (Scope(), Scope(agent="rex"), Scope("other"))
    names = (("Ada King-Lovelace", "Straße"), ("ADA King-Lovelace",), ("Oslo",))
    memories = [make("ada", scope=place, entities=name) for place, name in zip(places, names, strict=True)]
    for number, memory in enumerate(memories, 1):
        _add_old(db, memory, number)
    db.execute("INSERT INTO texts (row, body, cues, place, length) VALUES (1, 'ada', '', '_ns1 _sc1', 1)")
    return memories


def _add_old(db: apsw.Connection, memory: Memory, scope: int) -> None:
    """Write a record with the columns there were then."""
    known_now = dict(zip(re.findall(r":(\w+)", rows.ADD), rows.to_row(memory, scope), strict=True)) | {
        "heat": 0.0
    }
    columns = [str(line[1]) for line in db.execute("PRAGMA table_info(memories)") if line[1] in known_now]
    marks = ", ".join(f":{column}" for column in columns)
    db.execute(f"INSERT INTO memories ({', '.join(columns)}) VALUES ({marks})", known_now)


def test_a_file_of_the_first_schema_keeps_everything(
    path: Path, db: apsw.Connection, clock: FakeClock
) -> None:
    memories = old_file(db, clock)
    db.close()
    store = SqliteStore.open(path, clock)
    assert list(store.memories.page(ALL, 9)) == memories[::-1]
    assert find(store, "ada") == ["ada"]
    (claim,) = store.facts.find(FactQuery(frozenset({"ada"})), ALL, 9)
    assert (claim.fact.object, claim.fact.confidence, claim.fact.valid_to) == ("oslo", 0.7, None)
    store.close()


def test_names_of_the_first_schema_stand_for_entities(
    path: Path, db: apsw.Connection, clock: FakeClock
) -> None:
    old_file(db, clock)
    db.close()
    store = SqliteStore.open(path, clock)
    found = {entity.name: entity for entity in store.entities.page(EVERYTHING, 9)}
    assert {name: one.mentions for name, one in found.items()} == {
        "ADA King-Lovelace": 2,
        "strasse": 1,
        "Oslo": 1,
    }
    assert found["Oslo"].namespace == "other"
    assert found["Oslo"].first_seen == START
    (alike,) = store.entities.like("Lovelace", EVERYTHING, 9)
    assert alike.key == found["ADA King-Lovelace"].key
    names = [finding.detail for finding in store.check() if finding.name == "names"]
    assert names == ["all stand for what is spoken of"]
    add(store, "Ada again", entities=("Ada King-Lovelace", "Bob"))
    assert len(store.entities.page(EVERYTHING, 9)) == 4
    store.close()


def test_a_file_keeps_what_it_holds_when_opened_again(path: Path, clock: FakeClock) -> None:
    first = SqliteStore.open(path, clock)
    memory = add(first, "tea is hot")
    first.close()
    second = SqliteStore.open(path, clock)
    assert second.memories.get(memory.id, EVERYTHING) == memory
    second.close()
