from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from engram.bench import metrics

SCORES = st.lists(st.integers(0, 5).map(float), min_size=1, max_size=20)
PLACES = st.sets(st.integers(1, 30), min_size=1, max_size=10).map(sorted)


@given(SCORES, SCORES)
def test_auroc_is_the_share_of_pairs_in_the_right_order(
    positives: list[float], negatives: list[float]
) -> None:
    pairs = [(p > n) + (p == n) / 2 for p in positives for n in negatives]

    area = metrics.auroc(positives, negatives)

    assert area is not None
    assert math.isclose(area, sum(pairs) / len(pairs))


@given(PLACES, st.integers(1, 30))
def test_quality_lies_between_nothing_and_everything(places: list[int], k: int) -> None:
    wanted = len(places) + 1
    for value in (
        metrics.recall_at(places, wanted, k),
        metrics.ndcg_at(places, wanted, k),
        metrics.reciprocal_rank(places),
    ):
        assert 0 <= value <= 1


@given(PLACES, st.integers(1, 29))
def test_looking_further_never_finds_less(places: list[int], k: int) -> None:
    wanted = len(places)
    assert metrics.recall_at(places, wanted, k) <= metrics.recall_at(places, wanted, k + 1)
    assert metrics.any_at(places, k) <= metrics.any_at(places, k + 1)
    assert metrics.all_at(places, wanted, k) <= metrics.all_at(places, wanted, k + 1)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=30), st.floats(0, 1))
def test_a_percentile_lies_within_its_values(values: list[float], share: float) -> None:
    slack = 1e-6
    assert min(values) - slack <= metrics.percentile(values, share) <= max(values) + slack


def test_documents_that_share_an_entry_share_its_place_and_never_exceed_the_best() -> None:
    places = metrics.places_of([{"a", "b"}], {"a", "b"})

    assert places == [1, 1]
    assert metrics.ndcg_at(places, 2, 10) == 1.0
