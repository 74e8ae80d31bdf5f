"""The vector channel: memories whose meaning lies near the question's."""

from __future__ import annotations

from collections.abc import Sequence

from engram.ports import Tools
from engram.recall.plan import Planned


def search(plan: Planned, tools: Tools) -> list[tuple[int, float]]:
    """The nearest keys by cosine, nearest first."""
    if plan.space is None or plan.vector is None:
        return []
    most = round(plan.fetch * tools.config.recall.vector_candidates)
    return tools.index.search(plan.space, plan.vector, most, plan.view)


def score(plan: Planned, keys: Sequence[int], tools: Tools) -> dict[int, float]:
    """The cosine of keys that another channel found; those without a vector are left out."""
    if plan.space is None or plan.vector is None or not keys:
        return {}
    from engram.vectors.similarity import cosines

    stored = tools.store.vectors.rows(plan.space, keys)
    found = cosines(stored.rows.astype("float32"), plan.vector)
    return dict(zip(stored.keys.tolist(), found.tolist(), strict=True))
