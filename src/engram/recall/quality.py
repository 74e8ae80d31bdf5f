"""Self-measurement: how good a recall thinks it was."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2

from engram.model.recall import Hit, Quality


def measure(
    hits: Sequence[Hit], candidates: int, ms: float, grades: Sequence[float] | None = None
) -> Quality:
    """The figures of one recall; `grades` is each hit's own relevance, where the one shown is another."""
    grades = [hit.relevance for hit in hits] if grades is None else grades
    return Quality(
        top_relevance=max(grades, default=0.0),
        mean_relevance=sum(grades) / len(grades) if grades else 0.0,
        ndcg=ndcg(grades),
        candidates=candidates,
        returned=len(hits),
        tokens=sum(hit.tokens for hit in hits),
        ms=ms,
    )


def ndcg(grades: Sequence[float]) -> float:
    """The order as it is against the best order of the same grades.

    >>> ndcg([1.0, 0.5]), ndcg([])
    (1.0, 0.0)
    """
    best = _gain(sorted(grades, reverse=True))
    return _gain(grades) / best if best else 0.0


def _gain(grades: Sequence[float]) -> float:
    return sum(grade / log2(place + 2) for place, grade in enumerate(grades))
