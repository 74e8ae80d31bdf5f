"""The vectors: what an index is told, in the order it happened, so that it can keep in step."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.model.memory import Memory, Space, Status
from engram.model.scope import Scope
from engram.ports import Embedded, Store, VectorChanges
from engram.rules.vectors import restore, sign
from tests.store.conftest import Opener
from tests.store.making import EVERYTHING, OTHER_SPACE, SPACE, add, change, erase, key_of, vector

STATUSES = tuple(Status)


def embed(store: Store, memory: Memory, seed: int, space: Space = SPACE) -> None:
    store.write(lambda unit: unit.embed(memory.id, Embedded(space, vector(seed))), "tester")


def test_a_vector_comes_back_nearly_as_it_was(store: Store) -> None:
    key = key_of(store, add(store, "one", vector(1)))
    other = key_of(store, add(store, "two", vector(2)))
    rows = store.vectors.rows(SPACE, [other, 999, key])
    by_key = dict(zip(rows.keys.tolist(), restore(rows.rows, rows.scales), strict=True))
    assert np.allclose(by_key[key], vector(1), atol=0.01)
    assert np.allclose(by_key[other], vector(2), atol=0.01)
    assert set(by_key) == {key, other}
    assert [str(a.dtype) for a in (rows.rows, rows.scales, rows.keys)] == ["int8", "float32", "int64"]


def test_no_keys_are_no_rows(store: Store) -> None:
    rows = store.vectors.rows(SPACE, [])
    assert rows.rows.shape == (0, SPACE.dims)
    assert store.vectors.rows(Space("unheard", 4), [1, 2]).rows.shape == (0, 4)


def test_many_rows_come_at_once(store: Store) -> None:
    key = key_of(store, add(store, "one", vector(1)))
    assert store.vectors.rows(SPACE, [*range(5_000, 9_000), key]).keys.tolist() == [key]


def test_spaces_are_kept_apart(store: Store) -> None:
    memory = add(store, "one", vector(1))
    embed(store, memory, 2, OTHER_SPACE)
    key = key_of(store, memory)
    here, there = store.vectors.rows(SPACE, [key]), store.vectors.rows(OTHER_SPACE, [key])
    assert np.allclose(restore(here.rows, here.scales), vector(1), atol=0.01)
    assert np.allclose(restore(there.rows, there.scales), vector(2), atol=0.01)
    assert store.vectors.spaces() == {SPACE.key: 1, OTHER_SPACE.key: 1}


def test_changes_tell_each_new_vector_with_its_place_and_status(store: Store) -> None:
    one = key_of(store, add(store, "one", vector(1), scope=Scope(agent="rex")))
    two = key_of(store, add(store, "two", vector(2), scope=Scope(agent="rex"), status=Status.ARCHIVED))
    three = key_of(store, add(store, "three", vector(3), scope=Scope("elsewhere")))
    add(store, "no vector")
    told = store.vectors.changes(SPACE, 0, 99)
    assert told.keys.tolist() == [one, two, three]
    assert [STATUSES[n] for n in told.statuses] == [Status.ACTIVE, Status.ARCHIVED, Status.ACTIVE]
    assert told.scopes[0] == told.scopes[1] != told.scopes[2]
    assert told.namespaces[0] == told.namespaces[1] != told.namespaces[2]
    assert (
        told.namespaces[2]
        == store.memories.reach(replace(EVERYTHING, all_namespaces=False, scope=Scope("elsewhere"))).namespace
    )
    assert told.gone.tolist() == []
    assert told.signatures is None
    assert not told.more


def test_nothing_new_is_an_empty_answer(store: Store) -> None:
    add(store, "one", vector(1))
    told = store.vectors.changes(SPACE, 0, 99)
    again = store.vectors.changes(SPACE, told.upto, 99)
    assert (len(again.keys), len(again.gone), again.upto, again.more) == (0, 0, told.upto, False)
    unheard = store.vectors.changes(Space("unheard", 4), 0, 99)
    assert (len(unheard.keys), len(unheard.gone), unheard.more) == (0, 0, False)


def test_each_kind_of_change_is_told(store: Store) -> None:
    memory = add(store, "one", vector(1))
    key = key_of(store, memory)

    def news(after: int) -> VectorChanges:
        return store.vectors.changes(SPACE, after, 99)

    start = news(0).upto
    change(store, replace(memory, importance=0.9))
    assert news(start).keys.tolist() == []

    change(store, replace(memory, status=Status.ARCHIVED))
    archived = news(start)
    assert archived.keys.tolist() == [key]
    assert STATUSES[archived.statuses[0]] is Status.ARCHIVED

    change(store, replace(memory, scope=Scope(agent="rex")))
    moved = news(archived.upto)
    assert moved.keys.tolist() == [key]
    assert moved.scopes[0] != archived.scopes[0]

    embed(store, memory, 2)
    replaced = news(moved.upto)
    assert replaced.keys.tolist() == [key]

    erase(store, memory)
    erased = news(replaced.upto)
    assert (erased.keys.tolist(), erased.gone.tolist()) == ([], [key])


def test_new_words_take_the_old_vectors_away(store: Store) -> None:
    memory = add(store, "old words", vector(1))
    embed(store, memory, 2, OTHER_SPACE)
    key, start = key_of(store, memory), store.vectors.changes(SPACE, 0, 9).upto
    change(store, replace(memory, content="new words", version=2))
    gone = store.vectors.changes(SPACE, start, 9)
    assert (gone.keys.tolist(), gone.gone.tolist()) == ([], [key])
    assert store.vectors.rows(OTHER_SPACE, [key]).keys.tolist() == []
    assert [k for k, _ in store.memories.unembedded(SPACE, 0, 9)] == [key]
    embed(store, memory, 3)
    assert store.vectors.changes(SPACE, gone.upto, 9).keys.tolist() == [key]
    assert store.memories.unembedded(SPACE, 0, 9) == []


def test_what_another_space_replaced_goes_a_few_at_a_time_and_the_rest_stays(store: Store) -> None:
    three = [add(store, f"words {n}", vector(n)) for n in range(3)]
    keys = [key_of(store, memory) for memory in three]
    for memory in three[:2]:
        embed(store, memory, 7, OTHER_SPACE)
    start = store.vectors.changes(SPACE, 0, 9).upto

    def drop(limit: int, former: str = SPACE.key) -> int:
        return store.write(lambda unit: unit.drop_replaced(former, OTHER_SPACE, limit), "tester")

    assert (drop(9, "nobody/1/1"), drop(1), drop(9), drop(9)) == (0, 1, 1, 0)
    assert sorted(store.vectors.changes(SPACE, start, 9).gone.tolist()) == keys[:2]
    assert store.vectors.rows(SPACE, keys).keys.tolist() == keys[2:]
    assert store.vectors.rows(OTHER_SPACE, keys).keys.tolist() == keys[:2]
    assert store.vectors.spaces() == {SPACE.key: 1, OTHER_SPACE.key: 2}


def test_signatures_come_with_the_centre(store: Store) -> None:
    old = add(store, "old", vector(1))
    assert store.vectors.centre(SPACE) is None
    centre = vector(9) * np.float32(0.1)
    store.vectors.sign(SPACE, centre)
    new = add(store, "new", vector(2))
    told = store.vectors.changes(SPACE, 0, 99)
    kept = store.vectors.centre(SPACE)
    assert kept is not None
    assert np.array_equal(kept, centre)
    assert told.signatures is not None
    assert told.keys.tolist() == [key_of(store, old), key_of(store, new)]
    rows = store.vectors.rows(SPACE, told.keys.tolist())
    assert told.signatures.tolist() == sign(restore(rows.rows, rows.scales), centre).tolist()
    assert store.vectors.centre(OTHER_SPACE) is None


def test_a_signature_follows_its_vector(store: Store) -> None:
    memory = add(store, "one", vector(1))
    store.vectors.sign(SPACE, np.zeros(SPACE.dims, dtype=np.float32))
    embed(store, memory, 2)
    told = store.vectors.changes(SPACE, 0, 9)
    rows = store.vectors.rows(SPACE, told.keys.tolist())
    assert told.signatures is not None
    expected = sign(restore(rows.rows, rows.scales), np.zeros(SPACE.dims, dtype=np.float32))
    assert told.signatures.tolist() == expected.tolist()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=20)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(["add", "embed", "status", "words", "erase", "look"]), st.integers(0, 99)),
        max_size=25,
    ),
    limit=st.integers(1, 4),
)
def test_whoever_follows_the_changes_knows_what_is_there(
    open_store: Opener, steps: list[tuple[str, int]], limit: int
) -> None:
    with open_store() as store:
        follower: dict[int, Status] = {}
        seen, alive = 0, list[Memory]()
        for step, number in [*steps, ("look", 0)]:
            if step == "look":
                seen = follow(store, follower, seen, limit)
                assert follower == vectors_there(store, alive)
            else:
                do(store, alive, step, number)


def follow(store: Store, follower: dict[int, Status], seen: int, limit: int) -> int:
    """Ask until there is nothing new: first what went, then what is there."""
    more = True
    while more:
        told = store.vectors.changes(SPACE, seen, limit)
        for key in told.gone.tolist():
            follower.pop(key, None)
        follower |= {k: STATUSES[s] for k, s in zip(told.keys.tolist(), told.statuses.tolist(), strict=True)}
        assert len(told.keys) + len(told.gone) <= limit
        assert told.upto > seen or not told.more
        seen, more = told.upto, told.more
    return seen


def vectors_there(store: Store, alive: list[Memory]) -> dict[int, Status]:
    """What the store itself says it holds."""
    keys = store.memories.keys([memory.id for memory in alive])
    held = set(store.vectors.rows(SPACE, list(keys.values())).keys.tolist())
    return {keys[memory.id]: memory.status for memory in alive if keys[memory.id] in held}


def do(store: Store, alive: list[Memory], step: str, number: int) -> None:
    """Take one step of the story."""
    if step == "add":
        alive.append(add(store, f"number {number}", vector(number) if number % 3 else None))
        return
    if not alive:
        return
    place = number % len(alive)
    memory = alive[place]
    if step == "erase":
        erase(store, alive.pop(place))
    elif step == "embed":
        embed(store, memory, number)
    elif step == "status":
        alive[place] = change(store, replace(memory, status=STATUSES[number % len(STATUSES)]))
    else:
        alive[place] = change(store, replace(memory, content=f"words {number} {len(alive)}"))
