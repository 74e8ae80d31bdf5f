"""Activation: it spreads along edges, fades with each step, is bounded and never leaves the links given."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.model.facts import EdgeType
from engram.ports import Link
from engram.rules.activation import Links, Reached, Spread, spread


def edge(key: int, other: int, weight: float = 1.0, confidence: float = 1.0) -> Link:
    return Link(key, other, EdgeType.RELATED_TO, forward=True, weight=weight, confidence=confidence)


def among(*edges: Link) -> Links:
    return lambda keys: [link for link in edges if link.key in keys]


def levels(reached: dict[int, Reached]) -> dict[int, float]:
    return {key: one.activation for key, one in reached.items()}


def test_each_step_leaves_three_fifths() -> None:
    found = spread({1: 1.0}, among(edge(1, 2), edge(2, 3), edge(3, 4)))

    assert levels(found) == pytest.approx({1: 1.0, 2: 0.6, 3: 0.36})
    assert [link.other for link in found[3].path] == [2, 3]


def test_causes_are_followed_one_step_further() -> None:
    assert 4 in spread({1: 1.0}, among(edge(1, 2), edge(2, 3), edge(3, 4)), Spread(hops=3))


def test_the_best_of_several_paths_counts() -> None:
    found = spread({1: 1.0}, among(edge(1, 3, 0.2), edge(1, 2), edge(2, 3)))

    assert found[3].activation == pytest.approx(0.36)


def test_weight_and_confidence_multiply() -> None:
    assert spread({1: 0.5}, among(edge(1, 2, 0.5, 0.5)))[2].activation == pytest.approx(0.075)


def test_edges_nobody_is_sure_of_are_not_taken() -> None:
    assert levels(spread({1: 1.0}, among(edge(1, 2, confidence=0.19)))) == {1: 1.0}


def test_weak_starts_spread_nothing() -> None:
    assert levels(spread({1: 0.09}, among(edge(1, 2)))) == {1: 0.09}


def test_a_start_that_is_linked_to_a_better_one_receives_too() -> None:
    found = spread({1: 1.0, 2: 0.9}, among(edge(1, 2)))

    assert found[2].activation == 0.9
    assert found[2].received == pytest.approx(0.6)


def test_nothing_lends_to_itself_over_another() -> None:
    found = spread({1: 1.0}, among(edge(1, 2), edge(2, 1)))

    assert found[1].received == 0.0


def test_only_the_strongest_edges_of_a_hub_are_taken() -> None:
    hub = [edge(1, 100 + place, weight=place / 50) for place in range(1, 50)]
    found = spread({1: 1.0}, among(*hub), Spread(each=20))

    assert sorted(found)[1:] == list(range(130, 150))


def test_a_walk_ends_when_enough_is_reached() -> None:
    chain = [edge(key, 10 * key + more) for key in range(1, 100) for more in range(10)]

    assert len(spread({1: 1.0}, among(*chain), Spread(nodes=7))) == 7


keys = st.integers(1, 12)
share = st.floats(0, 1)
graphs = st.lists(st.builds(edge, keys, keys, share, share), max_size=30)
starts = st.dictionaries(keys, share, max_size=5)


@given(starts, graphs)
def test_activation_is_bounded_and_stays_inside_the_links(begin: dict[int, float], graph: list[Link]) -> None:
    found = spread(begin, among(*graph), Spread(nodes=8, each=3))

    assert set(found) <= set(begin) | {link.other for link in graph}
    assert len(found) <= max(8, len(begin))
    top = max(begin.values(), default=0.0)
    for one in found.values():
        assert 0 <= one.received <= 0.6 * top
        assert one.received <= one.activation <= top
        assert all(link in graph for link in one.path)


@given(starts, graphs, st.integers(0, 29), share)
def test_a_heavier_edge_never_calms_anything(
    begin: dict[int, float], graph: list[Link], place: int, more: float
) -> None:
    heavier = [
        link._replace(weight=min(1.0, link.weight + more)) if number == place else link
        for number, link in enumerate(graph)
    ]
    wide = Spread(nodes=1_000, each=1_000, least_start=0.0)
    before, after = spread(begin, among(*graph), wide), spread(begin, among(*heavier), wide)

    assert all(after[key].activation >= one.activation - 1e-12 for key, one in before.items())


@given(starts, graphs)
def test_the_same_walk_gives_the_same_answer(begin: dict[int, float], graph: list[Link]) -> None:
    def backwards(asked: Sequence[int]) -> list[Link]:
        return [link for link in reversed(graph) if link.key in asked]

    assert levels(spread(begin, among(*graph))) == pytest.approx(levels(spread(begin, backwards)))
