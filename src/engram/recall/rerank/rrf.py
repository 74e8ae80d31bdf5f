"""Reciprocal rank fusion: each channel has ranked what it found; only the ranks count.

What a channel did not find gets nothing from it. Every `…_rank` of a candidate is a channel's; the turns that
neighbours lent to are ranked by what they were lent.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields

from engram.model.recall import Evidence
from engram.recall.candidates import Candidate
from engram.recall.rerank.order import Order

K = 60
"""How little the first places differ: the figure of the method's authors."""
_RANKS = tuple(field.name for field in fields(Candidate) if field.name.endswith("_rank"))


def fuse_ranks(ranked: Sequence[Candidate]) -> Order:
    """The order by the sum of 1/(K + rank); equals stay as they were judged. The best scores 1."""
    lent = sorted((one for one in ranked if one.lent > 0), key=lambda one: -one.lent)
    lent_rank = {one.key: rank for rank, one in enumerate(lent, 1)}
    sums = {one.key: sum(1 / (K + rank) for rank in _ranks(one, lent_rank)) for one in ranked}
    top = max(sums.values(), default=0.0) or 1.0
    return Order(
        sorted(ranked, key=lambda one: -sums[one.key]),
        {key: value / top for key, value in sums.items()},
        {key: (Evidence("rerank", "rank fusion", value / top),) for key, value in sums.items()},
    )


def _ranks(one: Candidate, lent_rank: dict[int, int]) -> Iterator[int]:
    for name in _RANKS:
        rank = getattr(one, name)
        if rank is not None:
            yield rank
    if one.key in lent_rank:
        yield lent_rank[one.key]
