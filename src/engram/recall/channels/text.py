"""The text channel: memories that share words with the question."""

from __future__ import annotations

from collections.abc import Sequence

from engram.ports import Match, Tools
from engram.recall.plan import Planned


def search(plan: Planned, tools: Tools) -> list[tuple[int, float]]:
    """The best keys by BM25, best first."""
    if not plan.terms:
        return []
    return tools.store.texts.search(plan.terms, plan.view, tools.config.recall.text_candidates)


def score(plan: Planned, keys: Sequence[int], tools: Tools) -> dict[int, float]:
    """The BM25 of keys that another channel found."""
    return tools.store.texts.score(plan.terms, keys) if plan.terms and keys else {}


def matches(plan: Planned, keys: Sequence[int], tools: Tools) -> dict[int, Match]:
    """The same term by term."""
    return tools.store.texts.matches(plan.terms, keys) if keys else {}
