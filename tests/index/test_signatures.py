"""A large space: signatures find nearly everything, and everything when few are allowed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from engram.index import SignatureIndex
from engram.model.memory import Memory, Space, Status
from engram.model.scope import Scope
from engram.ports import Embedded, Reach, Store, Unit, View
from engram.rules.vectors import cosine
from engram.store.sqlite import SqliteStore
from engram.testing import FakeClock
from tests.index.clouds import Floats, brute, clustered, fill, same
from tests.store.making import ALL, SPACE, add, agent, change, erase, found_by, key_of, make, vector, view
from tests.tables import every

LARGE = Space("large", 64)


def large(store: Store, vectors: Floats) -> list[Memory]:
    """Memories in a space of 64 dimensions, each third of them archived, each hundredth for rex."""
    memories = [
        make(
            f"number {n}",
            status=Status.ARCHIVED if n % 3 == 0 else Status.ACTIVE,
            scope=Scope(agent="rex" if n % 100 == 0 else "ada"),
            category="odd" if n % 2 else "even",
        )
        for n in range(len(vectors))
    ]

    def work(unit: Unit) -> None:
        for memory, row in zip(memories, vectors, strict=True):
            unit.add(memory, found_by(memory.content), Embedded(LARGE, row), "")

    store.write(work, "tester")
    return memories


@pytest.fixture(scope="module")
def vectors() -> Floats:
    return clustered(3_000, LARGE.dims, clusters=60)


@pytest.fixture(scope="module")
def filled(vectors: Floats) -> Iterator[Store]:
    store = SqliteStore.open(":memory:", FakeClock())
    large(store, vectors)
    yield store
    store.close()


@pytest.fixture(scope="module")
def index(filled: Store) -> SignatureIndex:
    made = SignatureIndex(filled, exact_limit=500, rescore=150)
    made.stats(LARGE)
    made.settle()
    assert made.stats(LARGE).mode == "signatures"
    return made


VIEWS = {
    "everything": ALL,
    "two thirds": view(statuses=frozenset({Status.ACTIVE})),
    "one scope of many": view(agent("ada")),
    "a hundredth": view(agent("rex")),
    "a filter that many pass": view(categories=frozenset({"odd"})),
    "a filter that few pass": view(agent("rex"), categories=frozenset({"even"})),
}


@every("seen", VIEWS.values())
def test_nine_of_ten_neighbours_are_found(filled: Store, index: SignatureIndex, seen: View) -> None:
    plain = SignatureIndex(filled, exact_limit=1_000_000)
    shares = []
    for question in clustered(60, LARGE.dims, clusters=60, seed=0)[:40]:
        expected = plain.search(LARGE, question, 10, seen)
        found = dict(index.search(LARGE, question, 10, seen))
        assert len(found) == len(expected)
        shares.append(len(found.keys() & dict(expected).keys()) / max(len(expected), 1))
        assert all(found[key] == pytest.approx(value, abs=1e-5) for key, value in expected if key in found)
    assert np.mean(shares) >= 0.9


def test_few_allowed_ones_are_compared_exactly(filled: Store, index: SignatureIndex) -> None:
    plain = SignatureIndex(filled, exact_limit=1_000_000)
    for question in clustered(20, LARGE.dims, seed=3):
        assert same(
            index.search(LARGE, question, 10, VIEWS["a hundredth"]),
            plain.search(LARGE, question, 10, VIEWS["a hundredth"]),
        )


def test_a_duplicate_is_always_near(filled: Store, index: SignatureIndex, vectors: Floats) -> None:
    active = np.array([n for n in range(len(vectors)) if n % 3][:300])
    nearest = index.nearest(LARGE, vectors[active], 3, Reach(everything=True))
    keys = filled.memories.keys([m.id for m in filled.memories.page(ALL, 5_000)])
    by_key = filled.memories.read(list(keys.values()))
    for n, found in zip(active.tolist(), nearest, strict=True):
        assert by_key[found[0][0]].content == f"number {n}"
        assert found[0][1] == pytest.approx(1.0, abs=0.01)


def test_a_place_in_which_nothing_is_kept_has_no_neighbours(index: SignatureIndex, vectors: Floats) -> None:
    assert index.nearest(LARGE, vectors[:20], 3, Reach(scopes=frozenset({10**6}))) == [[]] * 20


def test_rows_that_are_held_follow_what_is_written(store: Store, vectors: Floats) -> None:
    memories = large(store, vectors[:600])
    index = SignatureIndex(store, exact_limit=50)
    index.stats(LARGE)
    index.settle()
    asked, everywhere = vectors[1:101], Reach(everything=True)
    first = index.nearest(LARGE, asked, 5, everywhere, hold=True)
    assert index.nearest(LARGE, asked, 5, everywhere, hold=True) == first
    assert index.nearest(LARGE, asked, 5, everywhere) == first
    gone, turned = key_of(store, memories[2]), key_of(store, memories[4])
    erase(store, memories[2])
    nearby = Embedded(LARGE, vectors[4] + 0.3 * vectors[1])
    store.write(lambda unit: unit.embed(memories[4].id, nearby), "tester")
    held = index.nearest(LARGE, asked, 5, everywhere, hold=True)
    assert gone in dict(first[1])
    assert gone not in dict(held[1])
    assert dict(first[3])[turned] == pytest.approx(1.0, abs=0.01)
    assert dict(held[3])[turned] == pytest.approx(cosine(vectors[4], nearby.vector), abs=0.01)
    index.let_go()
    assert dict(index.nearest(LARGE, asked, 5, everywhere, hold=True)[3])[turned] == dict(held[3])[turned]


def test_only_signatures_stay_in_memory(filled: Store, index: SignatureIndex) -> None:
    stats = index.stats(LARGE)
    assert stats.vectors == 3_000
    assert stats.bytes < 3_000 * (17 + LARGE.dims // 8) * 1.6


def test_answers_stay_exact_while_a_space_is_signed(store: Store) -> None:
    vectors = clustered(200)
    memories = fill(store, vectors)
    truth = {memory.id: row for memory, row in zip(memories, vectors, strict=True)}
    # 200 is more than four times the limit: the rows are not even held in memory.
    index = SignatureIndex(store, exact_limit=20, rescore=1_000)
    for n in range(10):
        assert same(index.search(SPACE, vector(n), 9, ALL), brute(store, truth, vector(n), 9, ALL))
    index.settle()
    assert index.stats(SPACE).mode == "signatures"
    assert same(index.search(SPACE, vector(1), 9, ALL), brute(store, truth, vector(1), 9, ALL))


def test_a_signed_space_follows_every_change(store: Store) -> None:
    memories = fill(store, clustered(60))
    index = SignatureIndex(store, exact_limit=20, rescore=1_000)
    index.stats(SPACE)
    index.settle()
    assert index.stats(SPACE).mode == "signatures"
    question = vector(7)
    new = add(store, "new", question)
    assert index.search(SPACE, question, 1, ALL)[0][0] == key_of(store, new)
    store.write(lambda unit: unit.embed(memories[3].id, Embedded(SPACE, question)), "tester")
    assert [key for key, _ in index.search(SPACE, question, 2, ALL)] == [
        key_of(store, memories[3]),
        key_of(store, new),
    ]
    erase(store, memories[3])
    change(store, replace(new, status=Status.MERGED))
    active = view(statuses=frozenset({Status.ACTIVE}))
    found = [key for key, _ in index.search(SPACE, question, 100, active)]
    assert len(found) == 59
    assert key_of(store, new) not in found


def test_another_index_on_the_same_store_sees_the_signatures(store: Store) -> None:
    fill(store, clustered(60))
    first, second = (SignatureIndex(store, exact_limit=20, rescore=1_000) for _ in range(2))
    second.search(SPACE, vector(1), 5, ALL)
    first.stats(SPACE)
    first.settle()
    second.settle()
    add(store, "new", vector(1))
    assert same(first.search(SPACE, vector(1), 5, ALL), second.search(SPACE, vector(1), 5, ALL))
    assert first.stats(SPACE).mode == second.stats(SPACE).mode == "signatures"


def test_a_closed_store_ends_the_signing_quietly() -> None:
    store = SqliteStore.open(":memory:", FakeClock())
    fill(store, clustered(60))
    index = SignatureIndex(store, exact_limit=20)
    lines = index.stats(SPACE)
    store.close()
    index.settle()
    assert lines.vectors == 60
