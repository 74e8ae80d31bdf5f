"""One piece of work: all of it happens or none, and it sees its own writes."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from engram.errors import EmbedderMismatch, NotFound, StoreClosed
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType
from engram.model.memory import Memory, Status
from engram.model.scope import Scope
from engram.ports import Embedded, Store, Unit
from engram.testing import START, FakeClock
from tests.store.making import (
    ALL,
    EVERYTHING,
    OTHER_SPACE,
    SPACE,
    add,
    change,
    contents,
    erase,
    find,
    found_by,
    key_of,
    make,
    put,
    relate,
    vector,
)
from tests.tables import every


class PlugPulled(Exception):
    """Something goes wrong in the middle."""


def read(store: Store, memory: Memory) -> Memory:
    found = store.memories.get(memory.id, EVERYTHING)
    assert found is not None
    return found


def test_an_exception_leaves_nothing_behind(store: Store) -> None:
    old, other = add(store, "old words", vector(1)), add(store, "another")
    before = (store.memories.stats(EVERYTHING, SPACE), store.ledger.events(None, EVERYTHING, 99))
    new = make("new words")

    def work(unit: Unit) -> None:
        unit.add(new, found_by("new words"), Embedded(SPACE, vector(2)), "")
        unit.change(replace(old, content="other words"), Verb.UPDATED, "", found_by("other words"))
        unit.embed(other.id, Embedded(SPACE, vector(3)))
        unit.relate(Edge(old.id, new.id, EdgeType.SUPPORTS), "")
        unit.touch([old.id], START, "s1")
        unit.add_feedback(old.id, helpful=False, question=Embedded(SPACE, vector(4)), because="")
        unit.erase(other.id, "")
        raise PlugPulled

    with pytest.raises(PlugPulled):
        store.write(work, "tester")

    after = (store.memories.stats(EVERYTHING, SPACE), store.ledger.events(None, EVERYTHING, 99))
    assert replace(after[0], size_bytes=0) == replace(before[0], size_bytes=0)
    assert after[1] == before[1]
    assert read(store, old) == old
    assert read(store, other) == other
    assert find(store, "words") == ["old words"]
    assert store.relations.of(old.id, EVERYTHING) == []
    assert store.opinions.against([key_of(store, old)], SPACE, START) == []
    assert store.vectors.changes(SPACE, 0, 99).keys.tolist() == [key_of(store, old)]


def test_a_unit_sees_its_own_writes(store: Store) -> None:
    one = make("one", session="s1")

    def work(unit: Unit) -> None:
        assert unit.get(one.id) is None
        unit.add(one, found_by("one"), None, "")
        assert unit.get(one.id) == one
        assert unit.same_content(one.content_hash, Scope()) == one
        assert unit.last_of_session("s1", Scope()) == one.id
        unit.change(replace(one, importance=0.9), Verb.UPDATED, "")
        assert unit.get(one.id) == replace(one, importance=0.9)
        unit.erase(one.id, "")
        assert unit.get(one.id) is None

    store.write(work, "tester")
    assert store.memories.page(ALL, 10).memories == ()


def test_a_write_gives_back_what_the_work_gives(store: Store) -> None:
    assert store.write(lambda _: 42, "tester") == 42


def test_the_same_content_counts_only_when_active_and_in_the_very_scope(store: Store) -> None:
    here, below = Scope(project="apollo"), Scope(project="apollo", agent="rex")
    below_one = add(store, "Tea is hot.", scope=below)
    archived = add(store, "tea is hot", scope=here, status=Status.ARCHIVED)

    def same(scope: Scope) -> Memory | None:
        return store.write(lambda unit: unit.same_content(archived.content_hash, scope), "tester")

    assert same(here) is None
    assert same(Scope()) is None
    assert same(below) == below_one
    active = add(store, "TEA is hot!", scope=here)
    assert same(here) == active


def test_the_last_of_a_session_is_the_newest_in_the_very_scope(store: Store) -> None:
    here = Scope(project="apollo")
    add(store, "first", session="s1", scope=here)
    last = add(store, "second", session="s1", scope=here, status=Status.SUPERSEDED)
    add(store, "other session", session="s2", scope=here)
    add(store, "other scope", session="s1")

    def last_of(session: str, scope: Scope) -> str | None:
        return store.write(lambda unit: unit.last_of_session(session, scope), "tester")

    assert last_of("s1", here) == last.id
    assert last_of("s1", Scope(project="zeus")) is None
    erase(store, last)
    assert last_of("s1", here) != last.id


def test_a_change_replaces_the_whole_record(store: Store) -> None:
    old = add(store, "old words", tags=("a", "b"), entities=("Ada",))
    new = replace(
        old, content="fresh words", version=2, tags=("b", "c"), entities=("Grace",), scope=Scope("elsewhere")
    )
    change(store, new, findable=found_by(new.content))
    assert read(store, old) == new
    assert find(store, "old") == []
    assert find(store, "fresh") == ["fresh words"]


def test_a_change_without_words_leaves_the_text_index_alone(store: Store) -> None:
    old = add(store, "old words")
    change(store, replace(old, importance=0.9))
    assert find(store, "old") == ["old words"]


@every("verb", ["change", "embed", "opine", "erase", "relate from", "relate to"])
def test_what_is_not_there_cannot_be_changed(store: Store, verb: str) -> None:
    there, ghost = add(store, "there"), make("never written")
    works = {
        "change": lambda unit: unit.change(ghost, Verb.UPDATED, ""),
        "embed": lambda unit: unit.embed(ghost.id, Embedded(SPACE, vector(1))),
        "opine": lambda unit: unit.add_feedback(ghost.id, helpful=True, question=None, because=""),
        "erase": lambda unit: unit.erase(ghost.id, ""),
        "relate from": lambda unit: unit.relate(Edge(ghost.id, there.id, EdgeType.NEXT), ""),
        "relate to": lambda unit: unit.relate(Edge(there.id, ghost.id, EdgeType.NEXT), ""),
    }
    with pytest.raises(NotFound):
        store.write(works[verb], "tester")


def test_a_vector_of_another_shape_is_refused(store: Store) -> None:
    memory = add(store, "something")
    with pytest.raises(EmbedderMismatch):
        store.write(lambda unit: unit.embed(memory.id, Embedded(SPACE, vector(1, dims=9))), "tester")


def test_a_use_is_counted_and_each_session_once(store: Store, clock: FakeClock) -> None:
    memory, other = add(store, "used"), add(store, "not used")
    events = store.ledger.events(None, EVERYTHING, 99)
    for session in ("s1", "s1", "s2", "", ""):
        clock.advance(hours=1)
        now = clock.now()
        store.write(lambda unit, s=session, at=now: unit.touch([memory.id, "gone"], at, s), "tester")  # type: ignore[misc]

    touched = read(store, memory)
    assert (touched.usage.accessed, touched.usage.sessions) == (5, 2)
    assert touched.last_accessed == START + timedelta(hours=5)
    assert (touched.version, touched.modified_at) == (memory.version, memory.modified_at)
    assert read(store, other) == other
    assert store.ledger.events(None, EVERYTHING, 99) == events


def test_an_opinion_counts_and_keeps_its_question(store: Store, clock: FakeClock) -> None:
    memory = add(store, "doubtful")
    key, question = key_of(store, memory), Embedded(SPACE, vector(1))
    clock.advance(days=1)
    store.write(
        lambda u: u.add_feedback(memory.id, helpful=False, question=question, because="off topic"), "ada"
    )
    store.write(lambda u: u.add_feedback(memory.id, helpful=False, question=None, because="wrong"), "ada")
    store.write(lambda u: u.add_feedback(memory.id, helpful=True, question=question, because="good"), "ada")

    usage = read(store, memory).usage
    assert (usage.helpful, usage.unhelpful) == (1, 2)
    (against,) = store.opinions.against([key, 999], SPACE, START)
    assert (against.key, against.space, against.at) == (key, SPACE.key, clock.now())
    assert np.allclose(against.vector, vector(1), atol=0.01)
    assert store.opinions.against([key], OTHER_SPACE, START) == []
    assert store.opinions.against([key], SPACE, clock.now() + timedelta(seconds=1)) == []
    assert store.opinions.against([], SPACE, START) == []
    newest = store.ledger.events(memory.id, EVERYTHING, 1)[0]
    assert (newest.verb, newest.because, newest.actor) == (Verb.FEEDBACK, "good", "ada")


def test_an_erased_memory_is_nowhere(store: Store) -> None:
    friend = add(store, "a friend")
    memory = add(store, "my secret hobby", vector(1), speaker="Ada", session="s1", tags=("shy",))
    key = key_of(store, memory)
    relate(store, memory, friend, EdgeType.SUPPORTS)
    change(store, replace(memory, content="my secret hobby is knitting", tags=("wool",), version=2))
    store.write(lambda u: u.embed(memory.id, Embedded(SPACE, vector(2))), "tester")
    store.write(
        lambda u: u.add_feedback(memory.id, helpful=False, question=Embedded(SPACE, vector(3)), because=""),
        "t",
    )
    store.write(lambda u: u.touch([memory.id], START, "s2"), "tester")
    erase(store, memory)

    assert store.memories.get(memory.id, EVERYTHING) is None
    assert store.memories.keys([memory.id]) == {}
    assert store.memories.read([key]) == {}
    assert store.memories.allow(ALL, [key]) == set()
    assert contents(store.memories.page(ALL, 10)) == ["a friend"]
    assert find(store, "secret hobby knitting") == []
    assert store.vectors.rows(SPACE, [key]).keys.tolist() == []
    assert store.vectors.changes(SPACE, 0, 9).keys.tolist() == []
    assert store.vectors.spaces().get(SPACE.key, 0) == 0
    assert store.relations.of(friend.id, EVERYTHING) == []
    assert store.relations.links([key_of(store, friend)], EdgeType, ALL) == []
    assert store.opinions.against([key], SPACE, START) == []
    assert store.write(lambda unit: unit.last_of_session("s1", Scope()), "tester") is None
    store.vacuum()
    assert store.memories.get(friend.id, EVERYTHING) == friend


def test_work_handed_over_is_done_by_the_flush(store: Store) -> None:
    memory = add(store, "used")
    for _ in range(3):
        store.write_later(lambda unit: unit.touch([memory.id], START, "s1"), "tester")
    store.flush()
    assert read(store, memory).usage.accessed == 3


def test_work_that_fails_later_harms_nobody(store: Store) -> None:
    memory = add(store, "used")

    def fail(unit: Unit) -> None:
        unit.touch([memory.id], START, "")
        raise PlugPulled

    store.write_later(fail, "tester")
    store.write_later(lambda unit: unit.touch([memory.id], START, ""), "tester")
    store.flush()
    assert read(store, memory).usage.accessed == 1


def test_many_threads_write_at_once(store: Store) -> None:
    memory = add(store, "counted")
    threads = [
        threading.Thread(target=lambda n=n: [add(store, f"thread {n} round {i}") for i in range(5)])
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert store.memories.stats(EVERYTHING, None).memories == 21
    ids = [event.id for event in store.ledger.events(None, EVERYTHING, 99)]
    assert len(set(ids)) == 21
    assert read(store, memory) == memory


def test_a_healthy_store_has_nothing_to_complain_about(store: Store) -> None:
    put(store, make("something"), vector(1))
    assert all(finding.ok for finding in store.check())


def test_a_closed_store_says_so(store: Store) -> None:
    add(store, "something")
    store.close()
    store.close()
    with pytest.raises(StoreClosed):
        add(store, "too late")
    with pytest.raises(StoreClosed):
        store.memories.page(ALL, 10)
