from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from engram.errors import StoreCorrupt
from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock
from tests.store.making import ALL, SPACE, add, find, vector


def tamper(path: Path, sql: str) -> None:
    db = apsw.Connection(str(path))
    db.execute(sql)
    db.close()


def details(store: SqliteStore) -> dict[str, str]:
    return {finding.name: finding.detail for finding in store.check()}


def test_a_damaged_text_index_is_rebuilt(store: SqliteStore, path: Path) -> None:
    for n in range(20):
        add(store, f"tea number {n}")
    tamper(
        path,
        "INSERT INTO words (words, rowid, body, cues, place) VALUES ('delete', 3, 'tea number 2', '', '')",
    )
    assert len(find(store, "tea", limit=50)) == 19
    assert "rebuilt" in details(store)["text index"]
    assert len(find(store, "tea", limit=50)) == 20
    assert "agrees" in details(store)["text index"]


@pytest.mark.parametrize(
    ("name", "harm"),
    [
        ("text totals", "UPDATE totals SET texts = 99"),
        ("vector counts", "UPDATE spaces SET vectors = 99"),
        ("scope counts", "UPDATE scopes SET memories = 99"),
    ],
)
def test_wrong_counters_are_counted_again(store: SqliteStore, path: Path, name: str, harm: str) -> None:
    add(store, "tea is hot", vector(1))
    assert details(store)[name] == "are right"
    tamper(path, harm)
    assert "counted again" in details(store)[name]
    assert details(store)[name] == "are right"
    assert store.vectors.spaces() == {SPACE.key: 1}


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
