"""Conversations, people and places go for good: nothing of them is in any file afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engram import Engram
from engram.errors import AccessDenied, InvalidInput
from engram.model.scope import Access, Role, Scope
from engram.testing import HashEmbedder

EVERYTHING = Access.everything()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Engram]:
    with Engram.open(path, embedder=HashEmbedder(), access=EVERYTHING) as opened:
        yield opened


def stands_in(path: Path, *words: str) -> list[str]:
    raw = b"".join(one.read_bytes() for one in path.parent.rglob("*") if one.is_file()).lower()
    return [word for word in words if word.lower().encode() in raw]


def test_a_turn_that_made_no_memory_can_be_erased(path: Path, memory: Engram) -> None:
    memory.observe("hm, zanzibarine ok thanks", "you are welcome", session="s1")
    memory.observe("the other talk stays", session="s2")
    memory.flush()
    assert stands_in(path, "zanzibarine")

    removed = memory.vault.erase_session("s1")

    assert removed["turns"] == 2
    assert memory.turns("s1") == []
    assert len(memory.turns("s2")) == 1
    assert stands_in(path, "zanzibarine") == []


def test_what_was_learned_from_a_conversation_goes_with_it(path: Path, memory: Engram) -> None:
    memory.observe("I moved to Quxville and I work at Frobnitz Ltd", session="s1")
    memory.flush()
    memory.remember("I like tea", session="s2")

    memory.vault.erase_session("s1")

    assert [one.content for one in memory.list().memories] == ["I like tea"]
    assert stands_in(path, "quxville", "frobnitz") == []


def test_a_single_turn(path: Path, memory: Engram) -> None:
    memory.observe("my blorptag is hidden", session="s1")
    memory.observe("I like green tea", session="s1")
    memory.flush()
    (key,) = [turn.key for turn in memory.turns("s1") if "blorptag" in turn.content]

    memory.vault.erase_turns([key])

    assert [turn.content for turn in memory.turns("s1")] == ["I like green tea"]
    assert stands_in(path, "blorptag") == []


def test_nobody_erases_the_talk_of_others(memory: Engram) -> None:
    memory.observe("words of ada", session="s1", scope=Scope(agent="ada"))
    bob = memory.seen_by(Access(Scope(agent="bob"), Role.AGENT), "bob")

    bob.vault.erase_session("s1")
    with pytest.raises(AccessDenied):
        bob.vault.purge(person="ada")

    assert len(memory.turns("s1")) == 1


def fill(path: Path, memory: Engram) -> None:
    """A person in every place that a name comes to."""
    own = Scope(user="Zebulon")
    first = memory.remember("Zebulon Quist lives in Oslo").memory
    memory.forget(memory.remember("Zebulon's boat is red", tags=["Zebulon"]).memory.id, "Zebulon asked to")
    memory.update(first.id, content="Zebulon Quist lives in Bergen", because="Zebulon moved")
    memory.remember("the cat is grey", scope=own)
    memory.observe("Zebulon called about the roof", "I will tell him", session="z1")
    memory.observe("I like tea", session="z2", speaker="Zebulon", scope=own)
    memory.flush()
    memory.triggers.add(["zebulon"], ["entity:Zebulon"])
    memory.session(id="z3").turn("what about Zebulon?").begin()
    for info in memory.sessions.list():
        memory.sessions.suspend(info.id)
    memory.recall("where does Zebulon live?")
    memory.tokens.create("zebulon", "reader")
    memory.consolidate()
    memory.backups.make()
    memory.workspace.init(path.parent / "notes")


def test_a_person_is_purged_from_everywhere(path: Path, memory: Engram) -> None:
    memory.remember("Anna lives in Bremen")
    fill(path, memory)
    assert "zebulon" in (path.parent / "notes/memory/ledger.jsonl").read_text(encoding="utf-8").lower()
    assert stands_in(path, "zebulon")

    certificate = memory.vault.purge(person="Zebulon")

    assert stands_in(path, "zebulon", "quist") == []
    assert "Anna lives in Bremen" in {one.content for one in memory.list().memories}
    assert certificate.remaining == 0
    assert certificate.removed["memories"] >= 3
    assert certificate.removed["backups"] == 1
    assert all(one.ok for one in memory.doctor())


def test_the_certificate_is_signed_and_tells_no_name(memory: Engram) -> None:
    memory.remember("Zebulon lives in Oslo")
    certificate = memory.vault.purge(person="Zebulon")

    assert memory.vault.verify(certificate)
    assert not memory.vault.verify(replace(certificate, removed={"memories": 0}))
    assert "ebulon" not in str(certificate)


def test_a_place_is_purged_with_all_below_it(path: Path, memory: Engram) -> None:
    memory.remember("plans of flurbing", scope=Scope(project="apollo"))
    memory.remember("notes of wibbling", scope=Scope(project="apollo", agent="ada"))
    memory.observe("talk of snorkling", session="s", scope=Scope(project="apollo"))
    memory.flush()
    kept = memory.remember("I like tea", scope=Scope(project="zeus")).memory
    memory.workspace.init(path.parent / "notes", scope=Scope(project="apollo"))
    (path.parent / "notes/mine.txt").write_text("mine", encoding="utf-8")

    certificate = memory.vault.purge(scope=Scope(project="apollo"))

    assert certificate.removed["files"] > 0
    left = {one.name for one in (path.parent / "notes").rglob("*") if one.is_file()}
    assert left == {"mine.txt", "lock"}
    assert [one.id for one in memory.list().memories] == [kept.id]
    assert stands_in(path, "flurbing", "wibbling", "snorkling") == []


def test_something_must_be_named(memory: Engram) -> None:
    with pytest.raises(InvalidInput):
        memory.vault.purge()
    with pytest.raises(InvalidInput):
        memory.vault.erase_session(" ")
