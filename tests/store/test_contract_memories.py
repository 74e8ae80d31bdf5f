"""The records: get, resolve, read, page, select, allow, counts."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from datetime import timedelta

import pytest

from engram.errors import AmbiguousId, BadCursor, NotFound
from engram.model.facts import EdgeType
from engram.model.memory import (
    Affect,
    Filters,
    Forms,
    Kind,
    Layer,
    Lifecycle,
    Memory,
    Policy,
    Priority,
    Status,
    Tier,
    Type,
    Usage,
    Verification,
)
from engram.model.scope import Scope
from engram.ports import Embedded, Store, View
from engram.testing import START, FakeClock
from tests.store.making import (
    ALL,
    EVERYTHING,
    OTHER_SPACE,
    SPACE,
    add,
    agent,
    contents,
    contents_of,
    erase,
    key_of,
    make,
    put,
    relate,
    vector,
    view,
)
from tests.tables import every


def full_memory() -> Memory:
    """A memory in which no field has its default value."""
    later = START + timedelta(days=3, microseconds=7)
    return make(
        "Ada löste 上海 in 3 h 🎉",
        scope=Scope("work", "apollo", "red", "rex", "chat", "ada"),
        session="s1",
        speaker="Ada",
        kind=Kind.PROCEDURAL,
        category="my-own",
        type=Type.PROCEDURE,
        tags=("b", "a"),
        entities=("Ada", "上海"),
        details={"steps": ["one", {"two": 2}], "ok": True, "share": 0.5, "none": None},
        layer=Layer.CORE,
        lifecycle=Lifecycle.STALE,
        status=Status.CHALLENGED,
        verification=Verification.DISPUTED,
        policy=Policy.PROTECTED,
        priority=Priority.P0,
        pinned=True,
        importance=0.1,
        confidence=0.2,
        strength=0.3,
        surprise=0.4,
        affect=Affect(-0.5, 0.6, 0.7),
        usage=Usage(1, 2, 3, 4, 5, 6),
        modified_at=later,
        last_accessed=later,
        event_time=later,
        valid_from=later,
        valid_to=later,
        verified_at=later,
        expires_at=later,
        source="task:nightly",
        trust=0.7,
        version=4,
        tier=Tier.CLEAR,
        forms=Forms("summary", "key fact", "label", 9, 3, 2, 1),
    )


def test_what_was_written_is_read_in_every_field(store: Store) -> None:
    memory = put(store, full_memory())
    read = store.memories.get(memory.id, EVERYTHING)
    assert read is not None
    assert {f.name: getattr(read, f.name) for f in fields(Memory)} == {
        f.name: getattr(memory, f.name) for f in fields(Memory)
    }


def test_nobody_gets_what_is_not_there(store: Store) -> None:
    assert store.memories.get("no such id", EVERYTHING) is None
    assert store.memories.read([1, 2, 3]) == {}
    assert store.memories.keys(["no such id"]) == {}
    assert store.memories.read([]) == {}
    assert store.memories.keys([]) == {}


def test_keys_grow_in_the_order_of_writing(store: Store) -> None:
    written = [add(store, f"number {n}") for n in range(5)]
    keys = store.memories.keys([m.id for m in written])
    in_order = [keys[m.id] for m in written]
    assert in_order == sorted(in_order)
    assert store.memories.read(in_order) == dict(zip(in_order, written, strict=True))


def test_a_key_is_never_given_twice(store: Store) -> None:
    first = add(store, "first")
    gone = key_of(store, first)
    erase(store, first)
    assert key_of(store, add(store, "second")) > gone


def test_a_prefix_leads_to_the_full_id(store: Store) -> None:
    one = put(store, replace(make("one"), id="abcd1234-one"))
    put(store, replace(make("two"), id="abcd9999-two"))
    assert store.memories.resolve("abcd1", EVERYTHING) == one.id
    assert store.memories.resolve(one.id, EVERYTHING) == one.id
    with pytest.raises(AmbiguousId) as caught:
        store.memories.resolve("abcd", EVERYTHING)
    assert caught.value.count == 2


@pytest.mark.parametrize("prefix", ["nothing", "abcd_", "abc%", "%", "ABCD1", "abcd*", "' OR 1=1 --"])
def test_a_prefix_is_data(store: Store, prefix: str) -> None:
    put(store, replace(make("one"), id="abcd1234-one"))
    with pytest.raises(NotFound):
        store.memories.resolve(prefix, EVERYTHING)


def test_a_page_shows_the_newest_first(store: Store) -> None:
    for n in range(3):
        add(store, f"number {n}")
    page = store.memories.page(ALL, 10)
    assert contents(page) == ["number 2", "number 1", "number 0"]
    assert page.cursor is None


def test_pages_stay_in_step_while_memories_are_added_and_erased(store: Store) -> None:
    written = [add(store, f"number {n}") for n in range(7)]
    first = store.memories.page(ALL, 3)
    add(store, "too new for this walk")
    erase(store, written[4])
    erase(store, written[3])
    second = store.memories.page(ALL, 3, first.cursor)
    assert contents(first) == ["number 6", "number 5", "number 4"]
    assert contents(second) == ["number 2", "number 1", "number 0"]
    assert second.cursor is None


def test_a_page_that_is_just_full_is_the_last(store: Store) -> None:
    for n in range(4):
        add(store, f"number {n}")
    first = store.memories.page(ALL, 2)
    second = store.memories.page(ALL, 2, first.cursor)
    assert first.cursor is not None
    assert second.cursor is None
    assert store.memories.page(ALL, 4).cursor is None


@every("cursor", ["nonsense", "💥", "1; DROP TABLE memories", "-1", "9" * 400])
def test_a_made_up_cursor_is_refused(store: Store, cursor: str) -> None:
    add(store, "something")
    with pytest.raises(BadCursor):
        store.memories.page(ALL, 10, cursor)


def test_select_names_all_keys_or_says_that_they_are_too_many(store: Store) -> None:
    keys = [key_of(store, add(store, f"number {n}")) for n in range(4)]
    found = store.memories.select(ALL, 4)
    assert found is not None
    assert found.tolist() == keys
    assert str(found.dtype) == "int64"
    assert store.memories.select(ALL, 3) is None
    nothing = store.memories.select(view(categories=frozenset({"none"})), 3)
    assert nothing is not None
    assert nothing.tolist() == []


def test_allow_keeps_the_keys_that_fit(store: Store) -> None:
    fact = key_of(store, add(store, "a fact", category="fact"))
    other = key_of(store, add(store, "a moment", category="moment"))
    assert store.memories.allow(view(categories=frozenset({"fact"})), [fact, other, 999]) == {fact}
    assert store.memories.allow(ALL, []) == set()
    many = [fact, *range(10_000, 12_000)]
    assert store.memories.allow(ALL, many) == {fact}


def test_only_what_is_in_use_is_found_unless_asked(store: Store) -> None:
    for status in Status:
        add(store, status.value, status=status)
    plain = View(EVERYTHING, Filters())
    assert set(contents(store.memories.page(plain, 10))) == {"active", "challenged"}
    assert set(contents(store.memories.page(view(statuses=frozenset()), 10))) == set(Status)


def test_memories_without_a_vector_are_told_page_by_page(store: Store) -> None:
    for n in range(5):
        add(store, f"number {n}", vector(n) if n == 2 else None)
    first = store.memories.unembedded(SPACE, 0, 2)
    second = store.memories.unembedded(SPACE, first[-1][0], 10)
    assert contents(m for _, m in first) == ["number 0", "number 1"]
    assert contents(m for _, m in second) == ["number 3", "number 4"]
    assert len(store.memories.unembedded(OTHER_SPACE, 0, 10)) == 5


def test_stats_count_what_is_there(store: Store, clock: FakeClock) -> None:
    one = add(store, "one", vector(1), kind=Kind.SEMANTIC, category="fact", layer=Layer.CORE)
    two = add(store, "two", category="fact")
    add(store, "three", status=Status.ARCHIVED)
    relate(store, one, two, EdgeType.SUPPORTS)
    store.write(lambda unit: unit.embed(one.id, Embedded(OTHER_SPACE, vector(2))), "tester")

    stats = store.memories.stats(EVERYTHING, SPACE)
    assert stats.memories == 3
    assert stats.by_status == {"active": 2, "archived": 1}
    assert stats.by_kind == {"semantic": 1, "episodic": 2}
    assert stats.by_category == {"fact": 2, "general": 1}
    assert stats.by_layer == {"core": 1, "buffer": 2}
    assert (stats.edges, stats.events, stats.pending) == (1, 4, 1)
    assert stats.vectors == {SPACE.key: 1, OTHER_SPACE.key: 1}
    assert store.memories.stats(EVERYTHING, None).pending == 0


def test_the_reach_of_an_access_covers_what_it_may_read(store: Store) -> None:
    add(store, "mine", scope=Scope(agent="rex"))
    add(store, "theirs", scope=Scope(agent="ada"))
    add(store, "elsewhere", scope=Scope("elsewhere"))
    assert store.memories.reach(EVERYTHING).everything
    whole = store.memories.reach(replace(EVERYTHING, all_namespaces=False))
    narrow = store.memories.reach(agent("rex"))
    nowhere = store.memories.reach(agent("rex").at(Scope("unheard of")))
    assert not whole.everything
    assert whole.namespace is not None
    assert not narrow.everything
    assert narrow.namespace is None
    assert len(narrow.scopes) == 1
    assert (nowhere.everything, nowhere.namespace, nowhere.scopes) == (False, None, frozenset())


def test_readers_see_what_was_selected(store: Store) -> None:
    wanted = add(store, "the one", tags=("Xylo", "home"))
    add(store, "the other")
    every = frozenset({"XYLO", "xylo", "Home"})
    for asked in (view(tags_any=frozenset({"xylo"})), view(tags_all=every)):  # in whatever letters
        keys = store.memories.select(asked, 10)
        assert keys is not None
        assert contents_of(store, keys) == [wanted.content]


def test_what_was_used_lately_is_known(store: Store, clock: FakeClock) -> None:
    old, new, unused = (add(store, content) for content in ("old one", "new one", "unused one"))
    store.write(lambda unit: unit.touch([old.id], clock.now(), ""), "tester")
    clock.advance(hours=2)
    since = clock.now()
    store.write(lambda unit: unit.touch([new.id], clock.now(), ""), "tester")

    assert [memory.id for memory in store.memories.used_since(since, 10)] == [new.id]
    assert unused.id not in {memory.id for memory in store.memories.used_since(clock.now(), 10)}


def test_a_record_is_the_one_that_was_stored_however_little_of_it_was_looked_at(store: Store) -> None:
    stored = add(
        store, "Rome in May", tags=("trip",), details={"seen": 2}, event_time=START, expires_at=START
    )
    key = key_of(store, stored)

    assert store.memories.read([key])[key] == stored
    assert stored == store.memories.read([key])[key]
    assert replace(store.memories.read([key])[key], content="x") == replace(stored, content="x")
    assert pickle.loads(pickle.dumps(store.memories.read([key])[key])) == stored
    assert store.memories.read([key])[key] != replace(stored, content="x")
