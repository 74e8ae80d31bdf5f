"""The text channel: memories that share words with the question."""

from __future__ import annotations

from collections.abc import Sequence

from engram.ports import Match, Tools
from engram.recall.plan import Planned


def search(plan: Planned, tools: Tools) -> list[tuple[int, Match]]:
    """The best keys by BM25, best first; another name and a kindred word count less than what was asked."""
    if not plan.terms:
        return []
    most = round(plan.fetch * tools.config.recall.text_candidates)
    return tools.store.texts.search(plan.weighted_terms, plan.view, most)


def matches(plan: Planned, keys: Sequence[int], tools: Tools) -> dict[int, Match]:
    """The same for keys that another channel found."""
    if not keys:
        return {}
    return tools.store.texts.matches(plan.weighted_terms, keys, plan.view.access)
