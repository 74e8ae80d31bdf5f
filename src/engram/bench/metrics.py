"""The figures of retrieval, as pure functions: places in a list come in, one number comes out.

A *place* counts from 1. `places` are those of the wanted documents that were found, `wanted` says how many
there are to find.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence


def places_of(ranking: Sequence[Collection[str]], wanted: Collection[str]) -> list[int]:
    """Where each wanted document stands first. One entry of the ranking may stand for several documents.

    >>> places_of([{"a"}, {"b", "c"}, {"a"}], {"a", "c", "z"})
    [1, 2]
    """
    found: dict[str, int] = {}
    for place, documents in enumerate(ranking, start=1):
        for document in documents:
            if document in wanted:
                found.setdefault(document, place)
    return sorted(found.values())


def recall_at(places: Sequence[int], wanted: int, k: int) -> float:
    """The share of the wanted documents among the first k.

    >>> recall_at([1, 7], wanted=3, k=5), recall_at([1, 7], wanted=2, k=10)
    (0.3333333333333333, 1.0)
    """
    return sum(place <= k for place in places) / wanted


def any_at(places: Sequence[int], k: int) -> float:
    """1 when at least one wanted document is among the first k.

    >>> any_at([4, 9], k=5), any_at([], k=5)
    (1.0, 0.0)
    """
    return float(any(place <= k for place in places))


def all_at(places: Sequence[int], wanted: int, k: int) -> float:
    """1 when every wanted document is among the first k.

    >>> all_at([4, 9], wanted=2, k=5), all_at([4, 5], wanted=2, k=5), all_at([4], wanted=2, k=5)
    (0.0, 1.0, 0.0)
    """
    return float(sum(place <= k for place in places) == wanted)


def ndcg_at(places: Sequence[int], wanted: int, k: int) -> float:
    """Discounted gain against the best possible order; documents that share an entry share its place.

    >>> ndcg_at([1, 2], wanted=2, k=10), ndcg_at([], wanted=1, k=10)
    (1.0, 0.0)
    >>> round(ndcg_at([3], wanted=1, k=10), 3)
    0.5
    """
    gain = sum(1 / math.log2(place + 1) for place in places if place <= k)
    best = sum(1 / math.log2(place + 1) for place in range(1, min(wanted, k) + 1))
    return min(1.0, gain / best)


def reciprocal_rank(places: Sequence[int]) -> float:
    """One over the first place; its mean over questions is the MRR.

    >>> reciprocal_rank([4, 9]), reciprocal_rank([])
    (0.25, 0.0)
    """
    return 1 / min(places) if places else 0.0


def mean(values: Sequence[float]) -> float:
    """The mean, 0 of nothing.

    >>> mean([1.0, 2.0]), mean([])
    (1.5, 0.0)
    """
    return sum(values) / len(values) if values else 0.0


def auroc(positives: Sequence[float], negatives: Sequence[float]) -> float | None:
    """How often a positive scores above a negative, equal ones counting half; None when one side is empty.

    >>> auroc([0.9, 0.8], [0.1, 0.8])
    0.875
    >>> auroc([], [1.0]) is None
    True
    """
    if not positives or not negatives:
        return None
    ranks = _mean_ranks([*positives, *negatives])
    above = sum(ranks[: len(positives)]) - len(positives) * (len(positives) + 1) / 2
    return above / (len(positives) * len(negatives))


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which a share of all values lies, between neighbours by straight line; 0 of nothing.

    >>> percentile([4.0, 1.0, 2.0, 3.0], 0.5), percentile([7.0], 0.95), percentile([], 0.5)
    (2.5, 7.0, 0.0)
    """
    if not values:
        return 0.0
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


def growth(smaller: tuple[int, float], larger: tuple[int, float]) -> float | None:
    """The exponent of cost against size between two points (size, cost): 1 is linear, 0 is flat.

    >>> growth((1_000, 2.0), (10_000, 2.0)), round(growth((1_000, 1.0), (10_000, 10.0)), 6)
    (0.0, 1.0)
    """
    (size, cost), (more, dearer) = smaller, larger
    if min(size, cost, dearer) <= 0 or more <= size:
        return None
    return math.log(dearer / cost) / math.log(more / size)


def _mean_ranks(values: Sequence[float]) -> list[float]:
    """Each value's rank from 1, equal values sharing the mean of theirs."""
    order = sorted(range(len(values)), key=values.__getitem__)
    ranks = [0.0] * len(values)
    start = 0
    for end in range(1, len(order) + 1):
        if end < len(order) and values[order[end]] == values[order[start]]:
            continue
        for index in order[start:end]:
            ranks[index] = (start + 1 + end) / 2
        start = end
    return ranks
