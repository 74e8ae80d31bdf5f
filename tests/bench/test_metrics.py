from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from engram.bench.retrieval import Answered, Ask, auroc, latency, ndcg, places_of, quality

SCORES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=20)
PLACES = st.sets(st.integers(1, 30), min_size=1, max_size=10).map(sorted)


def answered(places: list[int], wanted: int) -> Answered:
    ask = Ask("?", frozenset(map(str, range(wanted))), "all")
    return Answered(ask, places, best_relevance=1.0, ms=1.0, empty=False)


@given(SCORES, SCORES)
def test_auroc_is_the_share_of_pairs_in_the_right_order(
    positives: list[float], negatives: list[float]
) -> None:
    pairs = [(p > n) + (p == n) / 2 for p in positives for n in negatives]

    area = auroc(positives, negatives)

    assert area is not None
    assert math.isclose(area, sum(pairs) / len(pairs))


@given(PLACES)
def test_quality_lies_between_nothing_and_everything_and_looking_further_never_finds_less(
    places: list[int],
) -> None:
    for figures in (
        quality([answered(places, len(places) + 1)]),
        quality([answered(places, len(places))], sessions=True),
    ):
        told = {name: value for name, value in figures.items() if name != "n"}
        assert all(0 <= value <= 1 for value in told.values())
        for kind in ("recall@", "recall_any@", "recall_all@"):
            deeper = [value for name, value in told.items() if name.startswith(kind)]
            assert deeper == sorted(deeper)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30))
def test_latency_lies_within_its_values(values: list[float]) -> None:
    told = latency(values)
    assert min(values) - 0.01 <= told["p50"] <= told["p95"] <= max(values) + 0.01


def test_documents_that_share_an_entry_share_its_place_and_never_exceed_the_best() -> None:
    places = places_of([frozenset("ab")], frozenset("ab"))

    assert places == [1, 1]
    assert ndcg(places, 2) == 1.0
