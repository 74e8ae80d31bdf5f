from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from engram.model.capture import Turn
from engram.model.event import Verb
from engram.model.facts import EdgeType, Fact, Named
from engram.ports import Embedded, Unit
from engram.store.sqlite import SqliteStore
from engram.testing import START
from tests.store.making import (
    EVERYTHING,
    SPACE,
    add,
    change,
    erase,
    find,
    found_by,
    make,
    put,
    relate,
    vector,
)
from tests.tables import every

SECRETS = ("xylophone", "zanzibar", "quagmire", "wombat", "nightjar", "gazpacho", "blubber", "kumquat")


SAID = ("marzipan", "obelisk", "pelican", "tamarind")


def bytes_on_disk(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.iterdir() if file.is_file())


def write_secrets(store: SqliteStore) -> None:
    """A memory with one of the words in every place that holds words, in two versions."""
    first, second, cue, tag, name, detail, speaker, object_ = SECRETS
    memory = make(
        f"I hide the {first}", tags=(tag,), entities=(name,), details={"note": detail}, speaker=speaker
    )
    findable = found_by(memory.content, [cue], [Fact("i", "hide", object_)])
    put(store, memory, vector(1), findable)
    friend = add(store, "a friend")
    relate(store, memory, friend, EdgeType.SUPPORTS)
    new = change(
        store, replace(memory, content=f"I hide the {second}", version=2), findable=found_by(second, [cue])
    )
    store.write(lambda u: u.touch([memory.id], START, f"session {tag}"), "tester")
    store.write(
        lambda u: u.add_feedback(memory.id, helpful=False, question=Embedded(SPACE, vector(2)), because=""),
        "t",
    )
    erase(store, new)


def test_erased_words_are_nowhere_on_disk(store: SqliteStore, path: Path) -> None:
    for n in range(30):
        add(store, f"filler number {n}", vector(n))
    write_secrets(store)
    for n in range(30):
        add(store, f"more filler {n}", vector(n))
    store.vacuum()
    left = bytes_on_disk(path).lower()
    assert [word for word in SECRETS if word.encode() in left] == []
    assert vector(1).tobytes() not in left
    assert all(finding.ok for finding in store.check())
    assert len(find(store, "filler", limit=100)) == 60


def write_turns(store: SqliteStore) -> None:
    """Turns with one of the words in every place that holds words; a memory came from them and is erased."""
    content, session, speaker, origin = SAID
    turn = Turn(content, session, f"They serve {content}", START, speaker=speaker)
    store.write(lambda u: u.log([turn]), "tester")
    memory = add(store, "a bakery was praised")
    (logged,) = store.turns.of_session(session, EVERYTHING, 10)
    store.write(lambda u: u.link_turns(memory.id, [logged.key]), "tester")
    store.write(lambda u: u.captured([logged], START), "tester")
    store.write(lambda u: u.set_origin(memory.id, memory.scope, f"notes/{origin}.md", "digest"), "tester")
    erase(store, memory)


def test_erased_turns_are_nowhere_on_disk(store: SqliteStore, path: Path) -> None:
    filler = [Turn(f"m{n}", "talk", f"filler number {n}", START) for n in range(30)]
    store.write(lambda u: u.log(filler), "tester")
    write_turns(store)
    store.vacuum()
    left = bytes_on_disk(path).lower()
    assert [word for word in SAID if word.encode() in left] == []
    assert len(store.turns.of_session("talk", EVERYTHING, 100)) == 30


def test_erased_names_are_nowhere_on_disk(store: SqliteStore, path: Path) -> None:
    """The name, another name of it, a former one, and one that is another for a name that stays."""
    names = ("Quetzal Xylander", "Yttria", "Ozymandias", "Wolpertinger")
    memory = make("they met", entities=names[:1])
    findable = replace(found_by("they met"), names=(Named(names[2]), Named(names[3], canonical="Ada")))
    add(store, "Ada was here", entities=("Ada",))
    put(store, memory, findable=findable)
    entity = store.entities.get(names[0], EVERYTHING)
    assert entity is not None
    store.write(lambda u: u.alias(names[1], entity), "tester")
    change(store, memory, findable=replace(findable, names=findable.names[1:]))
    assert all(name.encode() in bytes_on_disk(path) for name in names)
    erase(store, memory)
    store.vacuum()
    left = bytes_on_disk(path).lower()
    assert [word for name in names for word in name.lower().split() if word.encode() in left] == []
    ada = store.entities.get("ada", EVERYTHING)
    assert ada is not None
    assert ada.aliases == ("ada",)


def test_the_words_were_there_before(store: SqliteStore, path: Path) -> None:
    """So that the test above proves something."""
    add(store, "I hide the xylophone")
    assert b"xylophone" in bytes_on_disk(path)


def test_the_log_is_emptied(store: SqliteStore, path: Path) -> None:
    add(store, "tea is hot")
    store.vacuum()
    assert path.with_name(path.name + "-wal").stat().st_size == 0


@every(
    "statement",
    [
        "DELETE FROM events",
        "UPDATE events SET actor = 'nobody'",
        "UPDATE events SET because = 'another reason'",
        "UPDATE events SET because = '', verb = 'erased'",
    ],
)
def test_the_ledger_cannot_be_rewritten(store: SqliteStore, path: Path, statement: str) -> None:
    add(store, "tea is hot")
    with apsw.Connection(str(path)) as db, pytest.raises(apsw.ConstraintError, match="append-only"):
        db.execute(statement)
    db.close()


def test_reasons_go_with_the_words_they_repeat(store: SqliteStore, path: Path) -> None:
    memory, friend = add(store, "I hide the xylophone"), add(store, "a friend")
    other = add(store, "tea is hot")

    def work(unit: Unit) -> None:
        unit.change(replace(memory, version=2), Verb.UPDATED, "the xylophone is loud")
        unit.change(replace(friend, version=2), Verb.UPDATED, "knows the xylophone", related=memory.id)
        unit.change(replace(other, version=2), Verb.UPDATED, "the tea is new")

    store.write(work, "tester")
    store.write(lambda unit: unit.erase(memory.id, "the xylophone must go"), "tester")
    store.write(lambda unit: unit.erase(friend.id, "they asked for it"), "tester")
    store.vacuum()

    assert b"xylophone" not in bytes_on_disk(path)
    reasons = {event.because for event in store.ledger.events(None, EVERYTHING, 100)}
    assert {"the tea is new", "they asked for it"} <= reasons, "others stay"
    assert all(finding.ok for finding in store.check())


def test_the_ledger_itself_never_holds_words(store: SqliteStore, path: Path) -> None:
    memory = add(store, "tea is hot", tags=("drink",))
    change(store, replace(memory, content="tea is cold", tags=("brew",)))
    db = apsw.Connection(str(path))
    told = repr(db.execute("SELECT * FROM events").fetchall())
    db.close()
    assert not [word for word in ("tea", "hot", "cold", "drink", "brew", memory.content_hash) if word in told]
    assert store.ledger.events(memory.id, EVERYTHING, 1)[0].before["tags"] == ["drink"]


def test_equal_words_have_different_digests_in_the_ledger(store: SqliteStore) -> None:
    """Otherwise a guess at an erased memory could be checked against the ledger."""
    digests = []
    for _ in range(2):
        memory = add(store, "my pin is 1234")
        change(store, replace(memory, content="gone"))
        erase(store, memory)
        digests.append(store.ledger.events(memory.id, EVERYTHING, 3)[1].before["content"])
    assert digests[0].startswith("sha256:")
    assert digests[0] != digests[1]


def test_vacuum_gives_space_back(store: SqliteStore, path: Path) -> None:
    memories = [add(store, " ".join(f"word{n}{m}" for m in range(400))) for n in range(60)]
    store.vacuum()
    before = path.stat().st_size
    for memory in memories[:-1]:
        erase(store, memory)
    store.vacuum()
    assert path.stat().st_size < before / 2
    assert store.memories.get(memories[-1].id, EVERYTHING) == memories[-1]
