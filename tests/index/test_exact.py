"""A small space: the answer is exactly that of looking at each vector, whatever happened before."""

from __future__ import annotations

import threading
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.errors import EmbedderMismatch
from engram.index import SignatureIndex
from engram.model.memory import Memory, Space, Status
from engram.model.scope import Access, Role, Scope
from engram.ports import Embedded, Reach, Store
from tests.index.clouds import Floats, brute, clustered, fill, same
from tests.store.conftest import Opener
from tests.store.making import (
    ALL,
    OTHER_SPACE,
    SPACE,
    add,
    agent,
    change,
    contents_of,
    erase,
    key_of,
    make,
    vector,
    view,
)
from tests.tables import every

STATUSES = tuple(Status)
AGENTS = ("", "rex", "ada")


def test_the_nearest_come_first(store: Store) -> None:
    question = vector(1)
    far = add(store, "far", -question)
    near = add(store, "near", question)
    between = add(store, "between", question + vector(2))
    found = SignatureIndex(store).search(SPACE, question, 10, ALL)
    assert [key for key, _ in found] == [key_of(store, m) for m in (near, between, far)]
    assert found[0][1] == pytest.approx(1.0, abs=0.01)
    assert found[2][1] == pytest.approx(-1.0, abs=0.01)
    assert same(SignatureIndex(store).search(SPACE, question * 7, 10, ALL), found)


@every("limit", [100, 2])
def test_how_alike_two_are_is_told_in_memory_and_out_of_the_store(store: Store, limit: int) -> None:
    rows = [vector(1), vector(1) + vector(2), -vector(1)]
    keys = [key_of(store, one) for one in fill(store, np.stack(rows))]
    index = SignatureIndex(store, exact_limit=limit)
    index.search(SPACE, vector(1), 1, ALL)
    index.settle()
    asked = np.array([keys[2], 9_999, keys[0], keys[1]], dtype=np.int64)
    found = index.ask(SPACE, vector(1), ALL.access).between(asked)
    unit = np.stack([row / np.linalg.norm(row) for row in rows])
    expected = (unit @ unit.T)[np.ix_([2, 0, 1], [2, 0, 1])]
    assert found[np.ix_([0, 2, 3], [0, 2, 3])] == pytest.approx(expected, abs=0.02)
    assert np.isnan(found[1]).all()


def test_equal_ones_come_in_the_order_of_storing(store: Store) -> None:
    memories = fill(store, np.stack([vector(1)] * 9))
    found = SignatureIndex(store).search(SPACE, vector(2), 4, ALL)
    assert [key for key, _ in found] == [key_of(store, m) for m in memories[:4]]


def test_zeros_match_nothing(store: Store) -> None:
    nothing = np.zeros(SPACE.dims, dtype=np.float32)
    add(store, "says nothing", nothing)
    add(store, "says something", vector(1))
    index = SignatureIndex(store)
    assert contents_of(store, [key for key, _ in index.search(SPACE, vector(2), 10, ALL)]) == [
        "says something"
    ]
    assert index.search(SPACE, nothing, 10, ALL) == []
    assert index.search(SPACE, np.full(SPACE.dims, np.nan, dtype=np.float32), 10, ALL) == []
    both = index.nearest(SPACE, np.stack([nothing, vector(1)]), 5, Reach(everything=True))
    assert [len(found) for found in both] == [0, 1]


def test_an_empty_space_has_nothing_near(store: Store) -> None:
    index = SignatureIndex(store)
    assert index.search(SPACE, vector(1), 10, ALL) == []
    assert index.nearest(SPACE, vector(1)[np.newaxis], 3, Reach(everything=True)) == [[]]
    assert index.nearest(SPACE, np.zeros((0, SPACE.dims), dtype=np.float32), 3, Reach(everything=True)) == []
    assert index.stats(SPACE).vectors == 0
    add(store, "one", vector(1))
    assert index.search(SPACE, vector(1), 0, ALL) == []


def test_spaces_are_never_mixed(store: Store) -> None:
    memory = add(store, "one", vector(1))
    store.write(lambda unit: unit.embed(memory.id, Embedded(OTHER_SPACE, vector(2))), "tester")
    index = SignatureIndex(store)
    assert index.search(SPACE, vector(2), 1, ALL) != index.search(OTHER_SPACE, vector(2), 1, ALL)
    with pytest.raises(EmbedderMismatch):
        index.search(Space("tiny", 9), vector(1), 1, ALL)
    with pytest.raises(EmbedderMismatch):
        index.nearest(SPACE, vector(1, dims=9)[np.newaxis], 1, Reach(everything=True))


def test_a_write_is_found_at_once(store: Store) -> None:
    index, question = SignatureIndex(store), vector(1)

    def found() -> list[int]:
        return [
            key for key, _ in index.search(SPACE, question, 10, view(statuses=frozenset({Status.ACTIVE})))
        ]

    late = add(store, "its vector comes later")
    one, two = add(store, "one", question), add(store, "two", vector(2))
    assert found() == [key_of(store, one), key_of(store, two)]
    store.write(lambda unit: unit.embed(late.id, Embedded(SPACE, question)), "tester")
    assert found() == [key_of(store, m) for m in (late, one, two)]
    change(store, replace(one, status=Status.ARCHIVED))
    assert found() == [key_of(store, m) for m in (late, two)]
    change(store, one)
    store.write(lambda unit: unit.embed(late.id, Embedded(SPACE, -question)), "tester")
    assert found() == [key_of(store, m) for m in (one, two, late)]
    erase(store, one)
    assert found() == [key_of(store, m) for m in (two, late)]
    change(store, replace(two, content="other words"))
    assert found() == [key_of(store, late)]


def test_a_sibling_scope_is_never_near(store: Store) -> None:
    mine, above = add(store, "mine", vector(2), scope=Scope(agent="rex")), add(store, "above", vector(3))
    add(store, "theirs", vector(1), scope=Scope(agent="ada"))
    index = SignatureIndex(store)
    found = {key for key, _ in index.search(SPACE, vector(1), 10, view(agent("rex")))}
    assert found == {key_of(store, mine), key_of(store, above)}
    reach = store.memories.reach(agent("rex"))
    assert {key for key, _ in index.nearest(SPACE, vector(1)[np.newaxis], 10, reach)[0]} == found
    assert index.search(SPACE, vector(1), 10, view(agent("rex").at(Scope("nowhere")))) == []


def test_many_questions_get_the_answers_of_each(store: Store) -> None:
    vectors = clustered(300)
    fill(
        store, vectors, lambda n: make(f"number {n}", status=Status.ARCHIVED if n % 5 == 0 else Status.ACTIVE)
    )
    index, questions = SignatureIndex(store), clustered(40, seed=1)
    active = view(statuses=frozenset({Status.ACTIVE}))
    together = index.nearest(SPACE, questions, 5, Reach(everything=True))
    for question, found in zip(questions, together, strict=True):
        assert same(found, index.search(SPACE, question, 5, active))


def test_stats_say_what_is_held(store: Store) -> None:
    memories = fill(store, clustered(50))
    erase(store, memories[0])
    stats = SignatureIndex(store).stats(SPACE)
    assert (stats.vectors, stats.mode) == (49, "exact")
    assert stats.bytes >= 49 * (SPACE.dims + 17)


def test_readers_and_writers_do_not_disturb_each_other(store: Store) -> None:
    index, failures = SignatureIndex(store, exact_limit=60), list[str]()
    fill(store, clustered(50))

    def write() -> None:
        for n in range(30):
            memory = add(store, f"extra {n}", vector(n))
            if n % 3 == 0:
                erase(store, memory)

    def ask() -> None:
        for n in range(30):
            found = index.search(SPACE, vector(n), 7, ALL)
            values = [value for _, value in found]
            if len(found) != 7 or values != sorted(values, reverse=True):
                failures.append(f"{found}")

    threads = [threading.Thread(target=write), *(threading.Thread(target=ask) for _ in range(3))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    index.settle()
    assert failures == []
    assert index.stats(SPACE).vectors == 70


STEPS = st.lists(
    st.tuples(
        st.sampled_from(["add", "add", "embed", "status", "move", "words", "erase", "ask", "reopen"]),
        st.integers(0, 999),
    ),
    max_size=40,
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=25)
@given(steps=STEPS, limit=st.sampled_from([3, 1_000]))
def test_the_index_agrees_with_looking_at_each(
    open_store: Opener, steps: list[tuple[str, int]], limit: int
) -> None:
    # `rescore` is larger than anything here, so that signatures, too, must give the exact answer.
    with open_store() as store:
        index = SignatureIndex(store, exact_limit=limit, rescore=1_000)
        alive: list[Memory] = []
        truth: dict[str, Floats] = {}
        for step, number in [*steps, ("ask", 1), ("ask", 2)]:
            if step == "reopen":
                index.settle()
                index = SignatureIndex(store, exact_limit=limit, rescore=1_000)
            elif step == "ask":
                check(store, index, truth, number)
            else:
                do(store, alive, truth, step, number)
        index.settle()


def check(store: Store, index: SignatureIndex, truth: dict[str, Floats], number: int) -> None:
    roles = (Role.AGENT, Role.OWNER, Role.ORCHESTRATOR)
    access = Access(Scope(agent=AGENTS[number % 3]), roles[number % 2])
    views = (
        ALL,
        view(access),
        view(access, statuses=frozenset({Status.ACTIVE})),
        view(access, categories=frozenset({"even"})),
        view(statuses=frozenset(), tags_any=frozenset({str(number % 10)})),
    )
    for seen in views:
        for k in (1, 3, 50):
            expected = brute(store, truth, vector(number), k, seen)
            assert same(index.search(SPACE, vector(number), k, seen), expected)


def do(store: Store, alive: list[Memory], truth: dict[str, Floats], step: str, number: int) -> None:
    """Take one step, and keep the truth beside it."""
    if step == "add":
        fields = {"scope": Scope(agent=AGENTS[number % 3]), "category": "even" if number % 2 == 0 else "odd"}
        memory = make(f"number {number}", tags=(str(number % 10),), **fields)
        given_vector = np.zeros(SPACE.dims, dtype=np.float32) if number % 13 == 0 else vector(number)
        add_with(store, memory, given_vector)
        alive.append(memory)
        truth[memory.id] = given_vector
        return
    if not alive:
        return
    place = number % len(alive)
    memory = alive[place]
    if step == "erase":
        erase(store, alive.pop(place))
        truth.pop(memory.id, None)
    elif step == "embed":
        store.write(lambda unit: unit.embed(memory.id, Embedded(SPACE, vector(number))), "tester")
        truth[memory.id] = vector(number)
    elif step == "status":
        alive[place] = change(store, replace(memory, status=STATUSES[number % len(STATUSES)]))
    elif step == "move":
        alive[place] = change(store, replace(memory, scope=Scope(agent=AGENTS[number % 3])))
    else:
        alive[place] = change(store, replace(memory, content=f"other words {number} {memory.version}"))
        if alive[place].content != memory.content:
            truth.pop(memory.id, None)


def add_with(store: Store, memory: Memory, given_vector: Floats) -> None:
    fill(store, given_vector[np.newaxis], lambda _: memory)
