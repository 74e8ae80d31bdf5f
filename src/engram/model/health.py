"""How recalls have been going."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Recalled:
    """How one recall went; no word of its question."""

    at: datetime
    intent: str
    """Empty: unclear."""
    relevance: float
    """Of the best hit."""
    ndcg: float
    hits: int
    ms: float
    weak: bool
    """Whether nothing worth showing came though there are memories."""
    gain: float | None = None
    """What a tried reranking was worth in NDCG; None when none was tried."""


@dataclass(frozen=True, slots=True)
class KindHealth:
    """How recalls of one kind have been going."""

    recalls: int = 0
    weak: int = 0
    """Recalls that found nothing worth showing though there are memories."""
    relevance: float = 0.0
    """Mean of the best hit's relevance."""
    ndcg: float = 0.0
    """Mean of the order shown against the order by relevance alone."""
    hits: float = 0.0
    """Mean number of hits."""
    rerank_gain: float | None = None
    """Mean gain in NDCG of the tried reranking; None when none was tried."""


@dataclass(frozen=True, slots=True)
class RecallHealth:
    """How the last recalls have been going; dry ones do not count."""

    overall: KindHealth = KindHealth()
    by_intent: Mapping[str, KindHealth] = field(default_factory=dict)
    """By the intent of the question; `unclear` where it had none."""
    weak_in_a_row: int = 0
    """Weak recalls since the last good one."""
    p50_ms: float = 0.0
    p95_ms: float = 0.0
    reranked: tuple[str, ...] = ()
    """Intents for which the tried reranking is switched on."""
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is nothing to warn of."""
        return not self.warnings
