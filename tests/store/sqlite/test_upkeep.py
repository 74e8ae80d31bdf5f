from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from engram.errors import StoreCorrupt
from engram.model.capture import Turn
from engram.store.sqlite import SqliteStore
from engram.testing import START, FakeClock
from tests.store.making import ALL, EVERYTHING, SPACE, add, find, vector


def tamper(path: Path, sql: str) -> None:
    db = apsw.Connection(str(path))
    db.execute(sql)
    db.close()


def details(store: SqliteStore) -> dict[str, str]:
    return {finding.name: finding.detail for finding in store.check(repair=True)}


def wrong(store: SqliteStore) -> list[str]:
    return [finding.name for finding in store.check() if not finding.ok]


def test_what_nobody_was_told_of_is_told(store: SqliteStore, path: Path) -> None:
    for n in range(20):
        add(store, f"tea number {n}")
    tamper(path, "DELETE FROM changes WHERE row = 3")
    assert len(find(store, "tea", limit=50)) == 19
    assert wrong(store) == wrong(store) == ["recall table"], "a look changes nothing"
    assert "made anew" in details(store)["recall table"]
    assert len(find(store, "tea", limit=50)) == 20
    assert "agrees" in details(store)["recall table"]


def test_a_damaged_block_goes(store: SqliteStore, path: Path) -> None:
    add(store, "tea is hot")
    tamper(
        path, "INSERT INTO blocks (namespace, since, upto, first, last, body) VALUES (1, 0, 1, 1, 1, x'07')"
    )
    assert wrong(store) == ["recall table"]
    assert "made anew" in details(store)["recall table"]
    assert wrong(store) == []


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("vector counts", "UPDATE spaces SET vectors = 99"),
        ("scope counts", "UPDATE scopes SET memories = 99"),
    ],
)
def test_wrong_counters_are_counted_again(store: SqliteStore, path: Path, name: str, harm: str) -> None:
    add(store, "tea is hot", vector(1))
    assert details(store)[name] == "are right"
    tamper(path, harm)
    assert wrong(store) == wrong(store) == [name]
    assert "counted again" in details(store)[name]
    assert details(store)[name] == "are right"
    assert store.vectors.spaces() == {SPACE.key: 1}


@pytest.mark.parametrize(
    "harm",
    [
        "DELETE FROM aliases WHERE alias = 'ada lovelace'",
        "DELETE FROM entities WHERE name = 'Ada Lovelace'",
        "DELETE FROM alias_words",
        "INSERT INTO alias_words (namespace, word, alias) VALUES (1, 'grace', 'grace hopper')",
        "INSERT INTO entities VALUES (9, 1, 'Nobody', 'unknown', 0, 0)",
        "INSERT INTO entities VALUES (9, 1, 'No', '', 0, 0); INSERT INTO aliases VALUES (1, 'no', 9, 'No')",
    ],
)
def test_names_are_put_right(store: SqliteStore, path: Path, harm: str) -> None:
    add(store, "Ada Lovelace was here", entities=("Ada Lovelace",))
    assert details(store)["names"] == "all stand for what is spoken of"
    tamper(path, harm)
    assert wrong(store) == wrong(store) == ["names"]
    assert "put right" in details(store)["names"]
    assert details(store)["names"] == "all stand for what is spoken of"
    (ada,) = store.entities.page(EVERYTHING, 9)
    assert (ada.name.casefold(), ada.mentions, ada.first_seen) == ("ada lovelace", 1, START)
    assert [entity.key for entity in store.entities.like("Lovelace", EVERYTHING, 9)] == [ada.key]
    assert store.entities.like("Hopper", EVERYTHING, 9) == []
    assert all(finding.ok for finding in store.check())


def test_links_that_lead_nowhere_are_dropped(store: SqliteStore, path: Path) -> None:
    memory = add(store, "tea is hot")
    store.write(lambda unit: unit.log([Turn("m1", "s1", "tea is hot", START)]), "tester")
    store.write(lambda unit: unit.link_turns(memory.id, [1]), "tester")
    store.write(lambda unit: unit.set_origin(memory.id, memory.scope, "notes.md", "digest"), "tester")
    assert details(store)["turns and origins"] == "all lead to what is there; 1 turns wait to be captured"
    tamper(path, "INSERT INTO turn_memories (turn, row) VALUES (1, 77), (77, 1)")
    tamper(path, "INSERT INTO origins (scope, origin, row, digest) VALUES (1, 'lost.md', 77, '')")
    assert details(store)["turns and origins"] == "3 led to what is not there and have been dropped"
    assert all(finding.ok for finding in store.check())
    assert len(store.turns.of_memory(memory.id, EVERYTHING)) == 1
    assert list(store.origins.known(memory.scope, "")) == ["notes.md"]


def test_what_points_nowhere_is_found(store: SqliteStore, path: Path) -> None:
    add(store, "tea is hot")
    tamper(path, "INSERT INTO memory_tags (row, tag) VALUES (77, 'lost')")
    (finding,) = [finding for finding in store.check() if not finding.ok]
    assert (finding.name, "memory_tags" in finding.detail) == ("references", True)
    assert finding.advice


def test_missing_words_are_found(store: SqliteStore, path: Path) -> None:
    add(store, "tea is hot")
    tamper(path, "DELETE FROM texts")
    assert [finding.name for finding in store.check() if not finding.ok] == ["words"]


def test_a_damaged_page_is_said_in_words(path: Path, clock: FakeClock) -> None:
    store = SqliteStore.open(path, clock)
    for n in range(200):
        add(store, f"tea number {n}")
    store.close()
    db = apsw.Connection(str(path))
    root = db.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'memories'").get
    db.close()
    content = bytearray(path.read_bytes())
    content[(root - 1) * 4096 : root * 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    damaged = SqliteStore.open(path, clock)
    with pytest.raises(StoreCorrupt, match="engram doctor"):
        damaged.memories.page(ALL, 500)
    assert [(finding.name, finding.ok) for finding in damaged.check()] == [("pages", False)]
    damaged.close()
