"""Variety: near-duplicates must not crowd the list.

Maximal marginal relevance, where only what is nearly the same counts as repetition: two memories on one topic
are no repetition of each other, and pushing one down for that would lose answers that need both. What says
just the same as a hit above it, with the same numbers, names, times and negation, goes behind all else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from engram.model.recall import Evidence, Question
from engram.ports import Tools
from engram.recall.candidates import Candidate
from engram.recall.plan import Planned
from engram.recall.rerank.order import Order
from engram.text.marks import differences, marks
from engram.text.words import content_words

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Likeness:
    """Which candidates repeat each other, by their keys."""

    near: dict[Pair, float]
    """How nearly they are the same, above 0 and up to 1."""
    same: frozenset[Pair]
    """Those that say just the same."""

    def between(self, one: Candidate, other: Candidate) -> float:
        """How nearly two are the same."""
        return self.near.get(_pair(one, other), 0.0)


def spread(order: Order, plan: Planned, question: Question, tools: Tools) -> Order:
    """The order with repetitions moved down; those beyond the depth stay where they are."""
    head, tail = _cut(order, question, tools)
    likeness = _likeness(head, plan, tools)
    if not likeness.near:
        return order
    picked, repeats = _pick(head, order, likeness, tools.config.recall.mmr_lambda)
    return _apart([*picked, *tail], order, likeness, repeats)


def set_apart(order: Order, plan: Planned, question: Question, tools: Tools) -> Order:
    """The order as it is, but what says just the same as something above goes to the end."""
    likeness = _likeness(_cut(order, question, tools)[0], plan, tools)
    return _apart(list(order.ordered), order, likeness, {}) if likeness.same else order


def _cut(order: Order, question: Question, tools: Tools) -> tuple[list[Candidate], list[Candidate]]:
    depth = max(tools.config.recall.mmr_depth, question.limit)
    return list(order.ordered[:depth]), list(order.ordered[depth:])


def _likeness(head: Sequence[Candidate], plan: Planned, tools: Tools) -> Likeness:
    near, close = _by_vectors(head, plan, tools) if plan.space is not None else _by_words(head, tools)
    read = {one.key: one.record.content for one in head}
    same = frozenset((a, b) for a, b in close if not differences(marks(read[a]), marks(read[b])))
    return Likeness(near, same)


def _by_vectors(
    head: Sequence[Candidate], plan: Planned, tools: Tools
) -> tuple[dict[Pair, float], list[Pair]]:
    """Pairs that are nearly the same with how nearly, and those of them that may be just the same."""
    import numpy as np

    assert plan.space is not None  # noqa: S101 - asked before; told to the type checker
    stored = tools.store.vectors.rows(plan.space, [one.key for one in head])
    rows = stored.rows.astype(np.float32)
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)
    start = plan.near.strong
    cosines = np.triu(rows @ rows.T, k=1)
    keys = stored.keys.tolist()
    found = [
        (_sorted(keys[i], keys[j]), float(cosines[i, j]))
        for i, j in zip(*np.nonzero(cosines > start), strict=True)
    ]
    near = {pair: (cosine - start) / (1.0 - start) for pair, cosine in found}
    return near, [pair for pair, cosine in found if cosine >= plan.near.duplicate]


def _by_words(head: Sequence[Candidate], tools: Tools) -> tuple[dict[Pair, float], list[Pair]]:
    """The same by shared words, where there are no vectors."""
    start = tools.config.remember.jaccard_alone
    said = {one.key: content_words(one.record.content) for one in head}
    shares = {
        _sorted(a, b): len(said[a] & said[b]) / max(1, len(said[a] | said[b]))
        for a, b in combinations(said, 2)
    }
    near = {
        pair: max(1e-9, share - start) / (1.0 - start + 1e-9)
        for pair, share in shares.items()
        if share >= start
    }
    return near, list(near)


def _pick(
    head: list[Candidate], order: Order, likeness: Likeness, balance: float
) -> tuple[list[Candidate], dict[int, float]]:
    """One after the other: the best of what is left, less what it repeats of those already taken."""
    repeats = {one.key: 0.0 for one in head}
    left, taken = list(head), []

    def worth(one: Candidate) -> float:
        return balance * order.score(one) - (1 - balance) * repeats[one.key]

    while left:
        best = max(left, key=worth)  # of equals the first: the order they were judged in
        left.remove(best)
        taken.append(best)
        for one in left:
            repeats[one.key] = max(repeats[one.key], likeness.between(one, best))
    return taken, repeats


def _apart(ordered: list[Candidate], order: Order, likeness: Likeness, repeats: dict[int, float]) -> Order:
    """What says just the same as something above it goes to the end, in the same order."""
    shown: list[Candidate] = []
    again: dict[int, Candidate] = {}
    for one in ordered:
        above = next((other for other in shown if _pair(one, other) in likeness.same), None)
        if above is None:
            shown.append(one)
        else:
            again[one.key] = above
    told = {one.key: (*order.told.get(one.key, ()), *_reasons(one, repeats, again)) for one in ordered}
    behind = [one for one in ordered if one.key in again]
    return Order([*shown, *behind], order.scores, told, order.notes)


def _reasons(one: Candidate, repeats: dict[int, float], again: dict[int, Candidate]) -> list[Evidence]:
    told = []
    if repeats.get(one.key):
        told.append(Evidence("rerank", "repeats a hit above", repeats[one.key]))
    if one.key in again:
        other = again[one.key].record
        told.append(Evidence("rerank", "says just the same as", 1.0, f"{other.id[:8]}: goes to the end"))
    return told


def _pair(one: Candidate, other: Candidate) -> Pair:
    return _sorted(one.key, other.key)


def _sorted(a: int, b: int) -> Pair:
    return (a, b) if a < b else (b, a)
