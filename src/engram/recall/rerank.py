"""Reranking: near-duplicates must not crowd the list.

Maximal marginal relevance, where only what is nearly the same counts as repetition: two memories on one topic
are no repetition of each other, and pushing one down for that would lose answers that need both.
"""

from __future__ import annotations

from collections.abc import Sequence

from engram.model.recall import Question
from engram.ports import Tools
from engram.recall.candidates import Candidate
from engram.recall.plan import Planned


def rerank(ranked: list[Candidate], plan: Planned, question: Question, tools: Tools) -> list[Candidate]:
    """The list with repetitions moved down; those beyond the depth stay where they are."""
    if question.rerank == "none" or plan.space is None or len(ranked) < 2:  # noqa: PLR2004 - one alone repeats nothing
        return ranked
    depth = max(tools.config.recall.mmr_depth, question.limit)
    head, tail = ranked[:depth], ranked[depth:]
    likeness = _likeness(head, plan, tools)
    return _pick(head, likeness, tools.config.recall.mmr_lambda) + tail


def _likeness(head: Sequence[Candidate], plan: Planned, tools: Tools) -> dict[tuple[int, int], float]:
    """For pairs that are nearly the same: how nearly, above 0 and up to 1."""
    import numpy as np

    if plan.space is None:
        return {}
    stored = tools.store.vectors.rows(plan.space, [one.key for one in head])
    rows = stored.rows.astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    start = plan.near.strong
    near = (rows @ rows.T - start) / (1.0 - start)
    keys = stored.keys.tolist()
    pairs = zip(*np.nonzero(np.triu(near, k=1) > 0), strict=True)
    return {(keys[i], keys[j]): float(near[i, j]) for i, j in pairs}


def _pick(head: list[Candidate], likeness: dict[tuple[int, int], float], balance: float) -> list[Candidate]:
    """One after the other: the best of what is left, less what it repeats of those already taken."""
    if not likeness:
        return head
    left, taken = list(head), []
    while left:
        best = max(
            left, key=lambda one: (balance * one.score - (1 - balance) * one.repeats, one.score, one.key)
        )
        left.remove(best)
        taken.append(best)
        for one in left:
            pair = likeness.get((one.key, best.key)) or likeness.get((best.key, one.key)) or 0.0
            one.repeats = max(one.repeats, pair)
    return taken
