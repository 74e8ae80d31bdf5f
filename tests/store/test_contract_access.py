"""Nobody ever sees a sibling's memory: in no read, no search, no walk, no count."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.errors import NotFound
from engram.model.facts import EdgeType
from engram.model.memory import Memory
from engram.model.scope import Access, Role, Scope
from engram.ports import Store
from tests.store.conftest import Opener
from tests.store.making import (
    ALL,
    EVERYTHING,
    SPACE,
    add,
    agent,
    contents,
    find,
    key_of,
    relate,
    search_words,
    vector,
    view,
)

MINE, SIBLING = Scope(project="apollo", agent="rex"), Scope(project="apollo", agent="ada")
ME = Access(MINE, Role.AGENT)


@pytest.fixture
def sibling(store: Store) -> Memory:
    """What somebody else in the same project knows."""
    return add(store, "the sibling's apple", vector(1), scope=SIBLING, speaker="Ada", category="fact")


def test_a_sibling_scope_is_never_got(store: Store, sibling: Memory) -> None:
    assert store.memories.get(sibling.id, ME) is None
    assert store.memories.get(sibling.id, Access(SIBLING, Role.AGENT)) == sibling


def test_a_sibling_scope_is_never_resolved(store: Store, sibling: Memory) -> None:
    with pytest.raises(NotFound):
        store.memories.resolve(sibling.id, ME)
    with pytest.raises(NotFound):
        store.memories.resolve(sibling.id[:8], ME)


def test_a_siblings_id_makes_no_prefix_ambiguous(store: Store, sibling: Memory) -> None:
    mine = add(store, "mine", scope=MINE, id=sibling.id[:-1] + "f")
    assert store.memories.resolve(sibling.id[:8], ME) == mine.id


def test_a_sibling_scope_is_never_listed_selected_or_allowed(store: Store, sibling: Memory) -> None:
    add(store, "mine", scope=MINE)
    selected = store.memories.select(view(ME), 10)
    assert selected is not None
    assert contents(store.memories.page(view(ME), 10)) == ["mine"]
    assert key_of(store, sibling) not in selected.tolist()
    assert store.memories.allow(view(ME), [key_of(store, sibling)]) == set()


def test_a_sibling_scope_is_never_searched(store: Store, sibling: Memory) -> None:
    add(store, "my apple", scope=MINE)
    assert find(store, "apple", view(ME)) == ["my apple"]


def test_a_walk_never_steps_into_a_sibling_scope(store: Store, sibling: Memory) -> None:
    mine = add(store, "mine", scope=MINE)
    relate(store, mine, sibling, EdgeType.SUPPORTS)
    relate(store, sibling, mine, EdgeType.SUPPORTS)
    assert store.relations.of(mine.id, ME) == []
    assert store.relations.of(sibling.id, ME) == []
    assert store.relations.links([key_of(store, mine)], EdgeType, view(ME)) == []


def test_a_sibling_scope_is_in_no_count(store: Store) -> None:
    mine = add(store, "mine", vector(2), scope=MINE)
    before = store.memories.stats(ME, SPACE)
    other = add(store, "theirs", vector(3), scope=SIBLING, speaker="Ada")
    add(store, "theirs too", scope=SIBLING)
    relate(store, mine, other, EdgeType.SUPPORTS)
    after = store.memories.stats(ME, SPACE)
    # Drawing the edge is an event of my memory; everything else is as it was.
    assert replace(after, size_bytes=0, events=0) == replace(before, size_bytes=0, events=0)
    assert after.events == before.events + 1
    theirs = {event.memory for event in store.ledger.events(None, Access(SIBLING, Role.AGENT), 99)}
    assert mine.id not in theirs
    assert {event.memory for event in store.ledger.events(None, ME, 99)} == {mine.id}
    assert store.ledger.events(other.id, ME, 99) == []


def test_places_above_are_seen_and_places_below_only_by_role(store: Store) -> None:
    places = {
        "namespace": Scope(),
        "project": Scope(project="apollo"),
        "mine": MINE,
        "below": replace(MINE, channel="chat", user="eve"),
        "elsewhere": Scope("elsewhere"),
    }
    for name, scope in places.items():
        add(store, name, scope=scope)

    def seen(access: Access) -> set[str]:
        return set(contents(store.memories.page(view(access), 10)))

    assert seen(ME) == {"namespace", "project", "mine"}
    assert seen(Access(MINE, Role.OWNER)) == {"namespace", "project", "mine", "below"}
    assert seen(Access(Scope(project="apollo"), Role.ORCHESTRATOR)) == {
        "namespace",
        "project",
        "mine",
        "below",
    }
    assert seen(Access(Scope(), Role.ORCHESTRATOR)) == {"namespace"}
    assert seen(Access()) == {"namespace", "project", "mine", "below"}
    assert seen(EVERYTHING) == set(places)


PART = st.sampled_from(["", "a", "b", "%"])
SCOPES = st.builds(Scope, st.sampled_from(["n", "m"]), PART, PART, PART, PART, PART)
ACCESSES = st.builds(Access, SCOPES, st.sampled_from(Role), st.sampled_from([False, False, False, True]))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], max_examples=25)
@given(scopes=st.lists(SCOPES, min_size=1, max_size=8), accesses=st.lists(ACCESSES, min_size=1, max_size=4))
def test_no_query_returns_a_row_its_access_does_not_cover(
    open_store: Opener, scopes: list[Scope], accesses: list[Access]
) -> None:
    with open_store() as store:
        memories = [
            add(store, f"apple {n}", vector(n), scope=scope, speaker=f"speaker {n}")
            for n, scope in enumerate(scopes)
        ]
        for one, two in itertools.pairwise(memories):
            relate(store, one, two, EdgeType.RELATED_TO)
        for access in accesses:
            check_everything_that_is_seen(store, memories, access)


def check_everything_that_is_seen(store: Store, memories: list[Memory], access: Access) -> None:
    covered = [memory for memory in memories if access.may_read(memory.scope)]
    keys = store.memories.keys([memory.id for memory in memories])
    expected = {keys[memory.id] for memory in covered}
    seen = view(access)
    selected = store.memories.select(seen, 99)
    stats = store.memories.stats(access, SPACE)
    assert selected is not None
    assert set(selected.tolist()) == expected
    assert contents(store.memories.page(seen, 99)) == contents(covered[::-1])
    assert store.memories.allow(seen, list(keys.values())) == expected
    assert {key for key, _ in search_words(store, ["appl"], seen, 99)} == expected
    told = {event.memory for event in store.ledger.events(None, access, 99)}
    assert told == {memory.id for memory in covered}
    assert (stats.memories, sum(stats.vectors.values())) == (len(covered), len(covered))
    assert within_reach(store, access) == expected
    for memory in memories:
        assert (store.memories.get(memory.id, access) is not None) == (memory in covered)
    check_edges(store, memories, access)


def check_edges(store: Store, memories: list[Memory], access: Access) -> None:
    keys = store.memories.keys([memory.id for memory in memories])
    covered = {memory.id for memory in memories if access.may_read(memory.scope)}
    pairs = {(a.id, b.id) for a, b in itertools.pairwise(memories) if {a.id, b.id} <= covered}
    found = {
        (edge.source, edge.target) for memory in memories for edge in store.relations.of(memory.id, access)
    }
    assert found == pairs
    links = store.relations.links([keys[i] for i in covered], EdgeType, view(access))
    assert {link.other for link in links} <= {keys[i] for i in covered}
    assert len(links) == 2 * len(pairs)
    assert store.memories.stats(access, None).edges == len(pairs)


def within_reach(store: Store, access: Access) -> set[int]:
    """The keys an index would let through, going by the numbers alone."""
    reach, told = store.memories.reach(access), store.vectors.changes(SPACE, 0, 99)
    if reach.everything:
        return set(told.keys.tolist())
    inside = np.isin(told.scopes, list(reach.scopes))
    if reach.namespace is not None:
        inside |= told.namespaces == reach.namespace
    return set(told.keys[inside].tolist())


def test_an_access_to_an_unknown_place_sees_what_lies_above_it(store: Store) -> None:
    add(store, "above")
    assert contents(store.memories.page(view(agent("newcomer")), 10)) == ["above"]
    assert store.memories.page(view(agent("newcomer", namespace="new")), 10).memories == ()
    assert len(store.memories.page(ALL, 10)) == 1
