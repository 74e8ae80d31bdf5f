"""An archive holds everything, gives an equal memory back, and cannot be tampered with."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram import Engram
from engram.config import load
from engram.errors import AccessDenied, BadArchive, EngramError, FileExists
from engram.model.scope import Access, Role, Scope
from engram.opening import restore_archive
from engram.store.sqlite.archive import LEFT_OUT, is_sealed

SETTINGS = load(environment={})


def live(path: Path) -> None:
    """Use about everything there is."""
    with Engram.open(path) as memory:
        memory.remember("My editor is vim", tags=["tools"])
        memory.remember("Actually, my editor is Helix now")
        cat = memory.remember("I have a cat called Mia", scope=Scope(project="home")).memory
        dog = memory.remember("My neighbour Olaf has a dog").memory
        memory.relate(cat.id, dog.id, "related_to")
        memory.observe("Hi, I'm Anna. I live in Oslo and work for Hansen AS.", "Nice!", session="monday")
        memory.observe("Remind me to call the dentist on Friday.", session="monday")
        memory.flush()
        memory.recall("which editor do I use?")
        memory.feedback(dog.id, helpful=False, query="which pets?")
        memory.pin(cat.id)
        memory.forget(dog.id, "he moved")
        memory.consolidate()
        memory.tokens.create("someone")


def rows_of(path: Path) -> dict[str, list[tuple[object, ...]]]:
    db = apsw.Connection(str(path))
    names = [name for (name,) in db.execute("SELECT name FROM pragma_table_list WHERE type = 'table'")]
    tables = {name: sorted(db.execute(f'SELECT * FROM "{name}"').fetchall(), key=repr) for name in names}
    db.close()
    return {name: rows for name, rows in tables.items() if name not in LEFT_OUT and "sqlite" not in name}


def test_what_comes_back_is_equal_row_by_row_and_archived_again_the_same_bytes(tmp_path: Path) -> None:
    first, second = tmp_path / "first.db", tmp_path / "second.db"
    live(first)
    with Engram.open(first) as memory:
        report = memory.backups.archive(tmp_path / "one.engram")

    restored = restore_archive(second, tmp_path / "one.engram", SETTINGS)

    assert restored == report
    assert rows_of(second) == rows_of(first)
    with Engram.open(second) as memory:
        memory.backups.archive(tmp_path / "two.engram")
        assert all(finding.ok for finding in memory.doctor())
        assert memory.recall("which editor do I use?")[0].memory.content == "Actually, my editor is Helix now"
    assert (tmp_path / "one.engram").read_bytes() == (tmp_path / "two.engram").read_bytes()


@pytest.mark.slow
@settings(max_examples=5)
@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=8))
def test_whatever_was_told_comes_back(tmp_path_factory: pytest.TempPathFactory, said: list[str]) -> None:
    folder = tmp_path_factory.mktemp("told")
    with Engram.open(folder / "a.db") as memory:
        for text in said:
            try:
                memory.remember(text)
            except EngramError:
                continue
        memory.backups.archive(folder / "a.engram", "secret words")
    restore_archive(folder / "b.db", folder / "a.engram", SETTINGS, "secret words")
    assert rows_of(folder / "b.db") == rows_of(folder / "a.db")


@pytest.mark.slow
def test_an_encrypted_archive_shows_nothing_and_opens_by_its_passphrase_only(tmp_path: Path) -> None:
    live(tmp_path / "a.db")
    with Engram.open(tmp_path / "a.db") as memory:
        memory.backups.archive(tmp_path / "a.engram", "correct horse")
    raw = (tmp_path / "a.engram").read_bytes()

    assert is_sealed(tmp_path / "a.engram")
    assert b"Helix" not in raw
    assert b"manifest" not in raw
    for wrong in ("", "battery staple"):
        with pytest.raises(BadArchive):
            restore_archive(tmp_path / "b.db", tmp_path / "a.engram", SETTINGS, wrong)
    (tmp_path / "cut.engram").write_bytes(raw[:-40])
    (tmp_path / "changed.engram").write_bytes(raw[:200] + bytes([raw[200] ^ 1]) + raw[201:])
    for name in ("cut", "changed"):
        with pytest.raises(BadArchive):
            restore_archive(tmp_path / "b.db", tmp_path / f"{name}.engram", SETTINGS, "correct horse")
    assert not (tmp_path / "b.db").exists()


def test_a_changed_table_or_something_else_is_refused_and_makes_nothing(tmp_path: Path) -> None:
    live(tmp_path / "a.db")
    with Engram.open(tmp_path / "a.db") as memory:
        memory.backups.archive(tmp_path / "a.engram")
        with pytest.raises(FileExists):
            memory.backups.archive(tmp_path / "a.engram")
    with pytest.raises(FileExists):
        restore_archive(tmp_path / "a.db", tmp_path / "a.engram", SETTINGS)

    def rewritten(name: str, change: bytes) -> Path:
        out = tmp_path / f"{len(list(tmp_path.iterdir()))}.engram"
        with zipfile.ZipFile(tmp_path / "a.engram") as old, zipfile.ZipFile(out, "w") as new:
            for part in old.namelist():
                new.writestr(part, change if part == name else old.read(part))
        return out

    manifest = json.loads(zipfile.ZipFile(tmp_path / "a.engram").read("manifest.json"))
    newer = json.dumps(manifest | {"schema": 10_000}).encode()
    (tmp_path / "noise.engram").write_bytes(b"no archive at all")
    for bad in (
        rewritten("tables/memories.jsonl", b""),
        rewritten("tables/memories.jsonl", b"[1, 2"),
        rewritten("manifest.json", newer),
        rewritten("manifest.json", b"{}"),
        tmp_path / "noise.engram",
        tmp_path / "missing.engram",
    ):
        with pytest.raises(BadArchive):
            restore_archive(tmp_path / "b.db", bad, SETTINGS)
    assert not (tmp_path / "b.db").exists()
    assert not list(tmp_path.glob("b.db*"))


def test_tokens_stay_behind_and_only_the_owner_archives(tmp_path: Path) -> None:
    live(tmp_path / "a.db")
    with Engram.open(tmp_path / "a.db") as memory:
        memory.backups.archive(tmp_path / "a.engram")
        agent = memory.seen_by(Access(Scope(agent="a"), role=Role.AGENT), "agent:a")
        with pytest.raises(AccessDenied):
            agent.backups.archive(tmp_path / "b.engram")
    restore_archive(tmp_path / "b.db", tmp_path / "a.engram", SETTINGS)
    with Engram.open(tmp_path / "b.db") as memory:
        assert memory.tokens.list() == []
