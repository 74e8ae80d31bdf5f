"""The text channel: memories that share words with the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engram.ports import Match, Tools
from engram.recall.plan import Planned


def search(plan: Planned, tools: Tools) -> list[tuple[int, float]]:
    """The best keys by BM25, best first."""
    if not plan.terms:
        return []
    most = round(plan.fetch * tools.config.recall.text_candidates)
    found = tools.store.texts.search(plan.terms, plan.view, most)
    if not plan.shares:
        return found
    scores = score(plan, [key for key, _ in found], tools)
    return sorted(((key, value) for key, value in scores.items() if value > 0), key=lambda x: (-x[1], -x[0]))


def score(plan: Planned, keys: Sequence[int], tools: Tools) -> dict[int, float]:
    """The BM25 of keys that another channel found."""
    if not plan.terms or not keys:
        return {}
    if not plan.shares:
        return tools.store.texts.score(plan.terms, keys, plan.view.access)
    return {key: sum(match.terms.values()) for key, match in matches(plan, keys, tools).items()}


def matches(plan: Planned, keys: Sequence[int], tools: Tools) -> dict[int, Match]:
    """The same term by term; another name of an entity counts less than the one that was asked for."""
    if not keys:
        return {}
    found, shares = tools.store.texts.matches(plan.terms, keys, plan.view.access), plan.shares
    if not shares:
        return found
    return {key: replace(one, terms=_shared(one.terms, shares)) for key, one in found.items()}


def _shared(values: Mapping[str, float], shares: Mapping[str, float]) -> dict[str, float]:
    return {term: value * shares.get(term, 1.0) for term, value in values.items()}
