"""Where a memory stands: layers by hand, uses, the trash; and moving house as it was."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from engram import Access, Engram, Layer, Role, Scope, Status
from engram.errors import AccessDenied, NoFurtherLayer, NotFound
from engram.model.memory import Filters
from engram.testing import FakeClock, HashEmbedder


def test_a_memory_moves_one_layer_at_a_time(memory: Engram) -> None:
    kept = memory.remember("My editor is Helix", layer="buffer").memory

    layers = [memory.promote(kept.id, "it matters").layer for _ in range(2)]

    assert layers == [Layer.WORKING, Layer.CORE]
    with pytest.raises(NoFurtherLayer):
        memory.promote(kept.id)
    assert memory.demote(kept.id).layer is Layer.WORKING
    assert memory.demote(kept.id).layer is Layer.BUFFER
    with pytest.raises(NoFurtherLayer):
        memory.demote(kept.id)
    because = [event.because for event in memory.events(kept.id)]
    assert because[:4] == ["demoted by hand", "demoted by hand", "it matters", "it matters"]


def test_only_who_may_write_moves_a_memory(memory: Engram) -> None:
    kept = memory.remember("My editor is Helix").memory
    reader = memory.seen_by(Access(role=Role.READER), "ada")

    with pytest.raises(AccessDenied):
        reader.promote(kept.id)
    with pytest.raises(NotFound):
        memory.promote("ffffffff")


def test_a_use_is_counted(memory: Engram, clock: FakeClock) -> None:
    kept = memory.remember("My editor is Helix").memory
    clock.advance(hours=1)

    assert memory.touch([kept.id, kept.id[:8]], session="monday") == 2
    assert memory.touch([]) == 0
    used = memory.get(kept.id)
    assert used is not None
    assert used.usage.accessed >= 1
    assert used.last_accessed == clock.now()
    with pytest.raises(NotFound):
        memory.touch(["ffffffff"])


def test_what_fits_is_counted(memory: Engram) -> None:
    memory.remember("My editor is Helix", tags=["tools"])
    gone = memory.remember("Our cat is grey").memory
    memory.forget(gone.id)

    assert memory.count() == 1
    assert memory.count(filters=Filters(tags_any=frozenset({"tools"}))) == 1
    assert memory.count(filters=Filters(statuses=frozenset(Status))) == 2
    assert memory.count(filters=Filters(tags_any=frozenset({"none"}))) == 0


def test_what_is_forgotten_lies_in_the_trash(memory: Engram, clock: FakeClock) -> None:
    first, second = (memory.remember(f"House {n * 37} has {n} windows").memory for n in range(2))
    for one in (first, second):
        clock.advance(days=1)
        memory.forget(one.id)

    lying = memory.trash.list()
    assert (lying.total, [one.memory.id for one in lying.items]) == (2, [second.id, first.id])
    assert lying.items[0].deleted_at == clock.now()
    assert [one.memory.id for one in memory.trash.list(offset=1).items] == [first.id]
    assert memory.trash.list(offset=9).items == ()
    assert memory.trash.restore(first.id).status is Status.ACTIVE
    with pytest.raises(NotFound):
        memory.trash.restore(first.id)


def test_the_trash_is_emptied_for_good(memory: Engram, clock: FakeClock, file: Path) -> None:
    old = memory.remember("The password hint is heliotrope").memory
    memory.forget(old.id)
    clock.advance(days=10)
    fresh = memory.remember("Our cat is grey").memory
    memory.forget(fresh.id)

    assert memory.trash.purge("too old", before=clock.now() - timedelta(days=5)) == 1
    assert memory.get(old.id) is None
    assert memory.trash.list().total == 1
    assert memory.trash.purge() == 1
    assert memory.trash.purge() == 0
    assert b"heliotrope" not in file.read_bytes()


def test_everything_goes_when_an_owner_says_so(memory: Engram) -> None:
    memory.remember_many(["Anna lives in Bremen", "Our cat is grey"])
    memory.forget(memory.remember("Ben has a dog").memory.id)
    rex = memory.seen_by(Access(Scope(agent="rex"), Role.AGENT), "rex")

    with pytest.raises(AccessDenied):
        rex.trash.purge(also_in_use=True)
    assert memory.trash.purge("moved away", also_in_use=True) == 3
    assert memory.stats().memories == 0


def test_nobody_empties_the_trash_of_others(memory: Engram) -> None:
    gone = memory.remember("Our cat is grey").memory
    memory.forget(gone.id)
    rex = memory.seen_by(Access(Scope(agent="rex"), Role.AGENT), "rex")

    assert rex.trash.list().total == 1, "an agent sees what lies above it"
    assert rex.trash.purge() == 0
    with pytest.raises(AccessDenied):
        rex.trash.restore(gone.id)


# ---------------------------------------------------------------- as it was


def other(path: Path) -> Engram:
    return Engram.open(path, clock=FakeClock(), embedder=HashEmbedder())


def test_memories_are_adopted_as_they_were(memory: Engram, clock: FakeClock, tmp_path: Path) -> None:
    whole = memory.seen_by(Access.everything(), "human")
    work = Scope("work")
    kept = whole.remember("Anna lives in Bremen", tags=["people"], layer="core", scope=work).memory
    whole.remember("Anna lives in Bremen", scope=work)
    clock.advance(days=3)
    gone = memory.remember("Our cat is grey").memory
    memory.forget(gone.id)

    with other(tmp_path / "second.db") as second:
        there = second.seen_by(Access.everything(), "human")
        adopted = there.adopt(whole.export())
        again = there.adopt(whole.export())
        moved = there.get(kept.id)

        assert set(adopted.taken) == {kept.id, gone.id}
        assert (again.taken, set(again.known)) == ((), {kept.id, gone.id})
        assert moved is not None
        assert (moved.created_at, moved.tags, moved.layer, moved.scope) == (
            kept.created_at,
            kept.tags,
            kept.layer,
            kept.scope,
        )
        assert moved.usage.repeated == 1
        assert moved.event_time is None
        assert there.trash.list().total == 1
        found = there.recall("where does Anna live?", scope=Scope("work"))
        assert [hit.memory.id for hit in found] == [kept.id]


def test_an_id_that_another_place_has_is_minted_anew(memory: Engram) -> None:
    kept = memory.remember("Anna lives in Bremen").memory
    record: dict[str, Any] = {"id": kept.id, "content": "Ben has a dog", "scope": {"project": "apollo"}}

    adopted = memory.adopt([record])

    assert len(adopted.taken) == 1
    assert adopted.taken[0] != kept.id
    assert memory.get(kept.id) == kept


def test_what_cannot_be_adopted_is_told_and_the_rest_is_taken(memory: Engram) -> None:
    adopted = memory.adopt(
        [
            {"content": "Anna lives in Bremen", "id": "../etc"},
            {"content": ""},
            {"content": "x", "usage": {"accessed": -1}},
            {"content": "x", "status": "odd"},
            {"content": "x", "created_at": "some day"},
            5,  # type: ignore[list-item]
        ]
    )

    assert len(adopted.taken) == 1
    assert [one.index for one in adopted.refused] == [1, 2, 3, 4, 5]
    reader = memory.seen_by(Access(role=Role.READER), "ada")
    with pytest.raises(AccessDenied):
        reader.adopt([{"content": "x y"}])


def test_a_statement_is_kept_apart_when_asked(memory: Engram) -> None:
    first = memory.remember("My editor is Helix").memory
    second = memory.remember("My editor is Helix", apart=True)
    other = memory.remember("My editor is vim", apart=True)

    assert second.memory.id != first.id
    assert (second.outcome, other.outcome) == ("stored", "stored")
    assert memory.count() == 3


# ---------------------------------------------------------------- the doctor and the file


@pytest.mark.files
def test_the_doctor_looks_and_mends_only_when_asked(memory: Engram, file: Path) -> None:
    import apsw

    memory.remember("My editor is Helix")
    db = apsw.Connection(str(file))
    db.execute("UPDATE scopes SET memories = 99")
    db.close()

    def wrong(found: Any) -> list[str]:
        return [one.name for one in found if not one.ok]

    assert wrong(memory.doctor()) == wrong(memory.doctor()) == ["scope counts"]
    mended = memory.doctor(repair=True)
    assert (wrong(mended), sum(one.mended for one in mended)) == ([], 1)
    assert wrong(memory.doctor()) == []
    agent = memory.seen_by(Access(Scope(agent="rex"), Role.AGENT), "rex")
    for work in (lambda: agent.doctor(repair=True), agent.vacuum, agent.forget_spending):
        with pytest.raises(AccessDenied):
            work()


def test_freed_space_is_given_back(memory: Engram) -> None:
    memory.remember_many([f"House {number * 37} has {number} windows" for number in range(200)])

    assert memory.vacuum(full=False) == 0
    assert memory.vacuum() >= 0
    assert memory.vacuum() == 0


def test_facts_of_one_memory_are_told(memory: Engram) -> None:
    kept = memory.facts.add("Anna", "lives in", "Bremen").memory

    assert [(one.fact.subject, one.fact.object) for one in memory.facts.of(kept.id)] == [("anna", "bremen")]
    with pytest.raises(NotFound):
        memory.facts.of("ffffffff")
