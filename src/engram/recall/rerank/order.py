"""An order: what a reranking proposes. Nothing is changed before it is chosen, so two can be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log2

from engram.model.recall import Evidence
from engram.recall.candidates import Candidate


@dataclass(frozen=True, slots=True)
class Order:
    """Candidates in an order, and why."""

    ordered: Sequence[Candidate]
    scores: Mapping[int, float] = field(default_factory=dict)
    """New scores by key; the others keep theirs."""
    told: Mapping[int, tuple[Evidence, ...]] = field(default_factory=dict)
    """What is to be told of a candidate, by key."""
    notes: tuple[str, ...] = ()

    def score(self, one: Candidate) -> float:
        """What a candidate is worth in this order."""
        return self.scores.get(one.key, one.score)

    def settle(self) -> list[Candidate]:
        """Let it count: scores and reasons are written into the candidates."""
        for one in self.ordered:
            one.score = self.score(one)
            one.told.extend(self.told.get(one.key, ()))
        return list(self.ordered)

    def ndcg(self, limit: int) -> float:
        """The first `limit` in this order against the best choice of as many, by their own relevance."""
        grades = [one.relevance for one in self.ordered]
        best = _gain(sorted(grades, reverse=True)[:limit])
        return _gain(grades[:limit]) / best if best else 0.0


def _gain(grades: Sequence[float]) -> float:
    return sum(grade / log2(place + 2) for place, grade in enumerate(grades))
