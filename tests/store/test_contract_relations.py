"""The edges: drawn once, reinforced after that, never in a circle where a circle has no meaning."""

from __future__ import annotations

import itertools

import pytest

from engram.errors import CycleRefused
from engram.model.facts import ACYCLIC, Edge, EdgeType
from engram.model.memory import Status
from engram.model.scope import Scope
from engram.ports import Link, Store
from engram.testing import FakeClock
from tests.store.making import ALL, EVERYTHING, add, agent, key_of, relate, view
from tests.tables import every


def test_an_edge_is_seen_from_both_ends(store: Store) -> None:
    one, two, three = (add(store, name) for name in ("one", "two", "three"))
    relate(store, one, two, EdgeType.SUPPORTS, weight=0.5, confidence=0.4, origin="person")
    expected = [Edge(one.id, two.id, EdgeType.SUPPORTS, 0.5, 0.4, "person")]
    for memory in (one, two):
        found = [
            Edge(e.source, e.target, e.type, e.weight, e.confidence, e.origin)
            for e in store.relations.of(memory.id, EVERYTHING)
        ]
        assert found == expected
    assert store.relations.of(three.id, EVERYTHING) == []
    assert store.relations.of("no such id", EVERYTHING) == []


def test_drawing_an_edge_again_reinforces_it(store: Store, clock: FakeClock) -> None:
    one, two = add(store, "one"), add(store, "two")
    for expected in (0.75, 0.85, 0.95, 1.0, 1.0):
        clock.advance(days=1)
        relate(store, one, two, EdgeType.RELATED_TO, weight=0.5, confidence=0.75)
        (edge,) = store.relations.of(one.id, EVERYTHING)
        assert edge.confidence == pytest.approx(expected)
        assert edge.weight == 0.5
    assert edge.last_reinforced_at == clock.now()


def test_types_and_directions_are_different_edges(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    relate(store, one, two, EdgeType.SUPPORTS)
    relate(store, two, one, EdgeType.SUPPORTS)
    relate(store, one, two, EdgeType.NEXT)
    assert len(store.relations.of(one.id, EVERYTHING)) == 3


def test_an_edge_is_taken_away_once(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    relate(store, one, two, EdgeType.SUPPORTS)

    def unrelate(source: str, target: str, edge_type: EdgeType) -> bool:
        return store.write(lambda unit: unit.unrelate(source, target, edge_type, ""), "tester")

    assert not unrelate(two.id, one.id, EdgeType.SUPPORTS)
    assert not unrelate(one.id, two.id, EdgeType.NEXT)
    assert not unrelate("no such id", two.id, EdgeType.NEXT)
    assert unrelate(one.id, two.id, EdgeType.SUPPORTS)
    assert not unrelate(one.id, two.id, EdgeType.SUPPORTS)
    assert store.relations.of(one.id, EVERYTHING) == []


@every("edge_type", sorted(ACYCLIC))
def test_a_circle_of_origins_is_refused(store: Store, edge_type: EdgeType) -> None:
    chain = [add(store, f"number {n}") for n in range(4)]
    for one, two in itertools.pairwise(chain):
        relate(store, one, two, edge_type)
    for back_to in chain[:3]:
        with pytest.raises(CycleRefused):
            relate(store, chain[3], back_to, edge_type)
    with pytest.raises(CycleRefused):
        relate(store, chain[0], chain[0], edge_type)
    relate(store, chain[0], chain[3], edge_type)
    relate(store, chain[0], chain[1], edge_type)
    assert len(store.relations.of(chain[0].id, EVERYTHING)) == 2


def test_a_circle_of_different_origins_is_refused_too(store: Store) -> None:
    one, two, three = (add(store, name) for name in ("one", "two", "three"))
    relate(store, one, two, EdgeType.DERIVED_FROM)
    relate(store, two, three, EdgeType.CAUSED_BY)
    with pytest.raises(CycleRefused):
        relate(store, three, one, EdgeType.INSTANCE_OF)


def test_other_relations_may_run_in_circles(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    for edge_type in set(EdgeType) - ACYCLIC:
        relate(store, one, two, edge_type)
        relate(store, two, one, edge_type)
    assert len(store.relations.of(one.id, EVERYTHING)) == 2 * len(set(EdgeType) - ACYCLIC)


def test_links_run_both_ways_along_the_asked_types(store: Store) -> None:
    one, two, three = (add(store, name) for name in ("one", "two", "three"))
    keys = [key_of(store, memory) for memory in (one, two, three)]
    relate(store, one, two, EdgeType.NEXT, weight=0.5, confidence=0.25)
    relate(store, two, three, EdgeType.NEXT)
    relate(store, two, one, EdgeType.SUPPORTS)
    links = store.relations.links([keys[1], 999], [EdgeType.NEXT], ALL)
    assert set(links) == {
        Link(keys[1], keys[0], EdgeType.NEXT, forward=False, weight=0.5, confidence=0.25),
        Link(keys[1], keys[2], EdgeType.NEXT, forward=True, weight=1.0, confidence=1.0),
    }
    assert len(store.relations.links(keys, [EdgeType.NEXT], ALL)) == 4
    assert len(store.relations.links(keys, EdgeType, ALL)) == 6
    assert store.relations.links([], EdgeType, ALL) == []
    assert store.relations.links(keys, [], ALL) == []


def test_links_end_where_the_view_ends(store: Store) -> None:
    here = add(store, "here", scope=Scope(agent="rex"))
    ends = {
        "above": add(store, "above"),
        "sibling": add(store, "sibling", scope=Scope(agent="ada")),
        "archived": add(store, "archived", status=Status.ARCHIVED),
        "plain": add(store, "plain", category="fact"),
    }
    for memory in ends.values():
        relate(store, here, memory, EdgeType.RELATED_TO)
    key = key_of(store, here)

    def seen(**filters: object) -> set[str]:
        found = store.relations.links([key], EdgeType, view(agent("rex"), **filters))
        return {store.memories.read([link.other])[link.other].content for link in found}

    assert seen() == {"above", "archived", "plain"}
    assert seen(statuses=frozenset({Status.ACTIVE})) == {"above", "plain"}
    assert seen(categories=frozenset({"fact"})) == {"plain"}


def test_many_keys_may_be_asked_at_once(store: Store) -> None:
    one, two = add(store, "one"), add(store, "two")
    relate(store, one, two, EdgeType.NEXT)
    keys = [*range(10_000, 13_000), key_of(store, one)]
    assert [link.other for link in store.relations.links(keys, [EdgeType.NEXT], ALL)] == [key_of(store, two)]
