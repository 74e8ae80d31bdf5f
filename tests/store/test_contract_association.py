"""Edges that come by themselves: drawn once, confirmed by use, found by names and facts; no circles."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.errors import CycleRefused
from engram.model.event import Verb
from engram.model.facts import ACYCLIC, Edge, EdgeType, Fact, Named
from engram.model.memory import Status
from engram.model.scope import Scope
from engram.ports import Findable, Store, Unit
from engram.testing import FakeClock
from tests.store.making import EVERYTHING, add, found_by, make, put, relate


def drawn(store: Store, *edges: Edge, most: int = 20) -> None:
    store.write(lambda unit: unit.add_edges(edges, most), "tester")


def test_a_drawn_edge_knows_its_age_and_writes_no_event(store: Store, clock: FakeClock) -> None:
    one, two = add(store, "one"), add(store, "two")
    before = len(store.ledger.events(None, EVERYTHING, 50))
    drawn(store, Edge(one.id, two.id, EdgeType.SIMILAR_TO, 0.5, 0.7))

    (edge,) = store.relations.of(one.id, EVERYTHING)
    assert (edge.weight, edge.confidence, edge.last_reinforced_at) == (0.5, 0.7, clock.now())
    assert len(store.ledger.events(None, EVERYTHING, 50)) == before


def test_drawing_changes_nothing_that_is_there(store: Store, clock: FakeClock) -> None:
    one, two = add(store, "one"), add(store, "two")
    relate(store, one, two, EdgeType.SIMILAR_TO, confidence=0.3)
    clock.advance(days=9)
    drawn(store, Edge(one.id, two.id, EdgeType.SIMILAR_TO, 0.5, 0.7))

    (edge,) = store.relations.of(one.id, EVERYTHING)
    assert edge.confidence == 0.3


def test_a_memory_that_many_lead_to_gets_no_more(store: Store) -> None:
    hub, *others = (add(store, name) for name in ("hub", "a", "b", "c", "d"))
    for one in others:
        drawn(store, Edge(one.id, hub.id, EdgeType.SIMILAR_TO), most=2)

    assert len(store.relations.of(hub.id, EVERYTHING)) == 2


def test_edges_among_what_is_used_together_gain(store: Store, clock: FakeClock) -> None:
    one, two, three = (add(store, name) for name in ("one", "two", "three"))
    relate(store, one, two, EdgeType.SIMILAR_TO, confidence=0.5)
    relate(store, one, two, EdgeType.CONTRADICTS, confidence=0.5)
    relate(store, two, three, EdgeType.SIMILAR_TO, confidence=0.5)
    clock.advance(days=3)
    store.write(lambda unit: unit.confirm([one.id, two.id, "gone"], [EdgeType.SIMILAR_TO], 0.1), "tester")

    found = {(e.target, e.type): e for e in store.relations.of(two.id, EVERYTHING)}
    assert found[two.id, EdgeType.SIMILAR_TO].confidence == pytest.approx(0.6)
    assert found[two.id, EdgeType.SIMILAR_TO].last_reinforced_at == clock.now()
    assert found[two.id, EdgeType.CONTRADICTS].confidence == 0.5
    assert found[three.id, EdgeType.SIMILAR_TO].confidence == 0.5


def named(store: Store, content: str, name: str, scope: Scope = Scope()) -> str:
    memory = make(content, scope=scope, entities=(name,))
    return put(store, memory, findable=Findable((), names=(Named(name),))).id


def naming(
    store: Store, name: str, scope: Scope = Scope(), limit: int = 5, common: int = 9, least: int = 1
) -> tuple[int, list[str]]:
    return store.write(lambda unit: unit.naming(name, scope, limit, common, least), "tester")


def test_the_latest_with_a_name_come_first(store: Store) -> None:
    one, two, three = (named(store, text, "Zoe") for text in ("one", "two", "three"))
    other = named(store, "four", "Zoe", Scope(project="p"))

    assert naming(store, "zoe") == (4, [three, two, one])
    assert naming(store, "ZOE", limit=1) == (4, [three])
    assert naming(store, "zoe", Scope(project="p")) == (4, [other])
    assert naming(store, "zoe", common=3) == (4, [])
    assert [naming(store, "zoe", least=least)[1] for least in (4, 5)] == [[three, two, one], []]
    assert naming(store, "nobody") == (0, [])
    assert naming(store, "zoe", Scope(project="never used"))[1] == []


def test_names_are_kept_in_mind_only_as_long_as_they_are_right(store: Store) -> None:
    one, two = named(store, "one", "Zoe"), named(store, "two", "Zoe")
    gone = make("three", entities=("Zoe",))

    def work(unit: Unit) -> list[object]:
        first = unit.naming("Zoe", Scope(), 5, 9)
        unit.add(gone, Findable((), names=(Named("Zoe"),)), None, "")
        second = unit.naming("Zoe", Scope(), 5, 9)
        unit.change(replace(gone, status=Status.ARCHIVED), Verb.ARCHIVED, "")
        third = unit.naming("Zoe", Scope(), 5, 9)
        return [first, second, third]

    assert store.write(work, "tester") == [(2, [two, one]), (3, [gone.id, two, one]), (3, [two, one])]


def test_facts_hang_on_each_other_at_both_ends(store: Store) -> None:
    def stating(content: str, subject: str, predicate: str, value: str, **fields: object) -> str:
        fact = Fact(subject, predicate, value)
        return put(store, make(content, **fields), findable=found_by(content, facts=[fact])).id

    before = stating("one", "user", "sister", "anna")
    after = stating("two", "corvix", "located in", "munich")
    stating("three", "ben", "work at", "corvix")
    stating("four", "corvix", "located in", "rome", scope=Scope(project="p"))
    stating("five", "corvix", "located in", "oslo", status=Status.SUPERSEDED)

    def hanging(unit: Unit) -> list[str]:
        return unit.hanging_on(Fact("anna", "work at", "corvix"), Scope(), 5)

    assert store.write(hanging, "tester") == [after, before]


Opener = Callable[[], AbstractContextManager[Store]]
moves = st.lists(
    st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from(sorted(ACYCLIC))), max_size=25
)


@given(moves)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_no_sequence_of_edges_closes_a_circle(
    open_store: Opener, tried: list[tuple[int, int, EdgeType]]
) -> None:
    with open_store() as store:
        memories = [add(store, str(number)) for number in range(6)]
        kept: set[tuple[int, int]] = set()
        for source, target, edge_type in tried:
            back = leads(kept, target, source)
            try:
                relate(store, memories[source], memories[target], edge_type)
            except CycleRefused:
                assert back or (source, target) in kept
            else:
                assert not back
                kept.add((source, target))


def leads(edges: set[tuple[int, int]], start: int, end: int) -> bool:
    reached, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        more = {target for source, target in edges if source == here} - reached
        reached |= more
        waiting.extend(more)
    return end in reached
