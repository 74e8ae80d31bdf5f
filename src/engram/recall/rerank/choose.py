"""Choosing: the judged list comes in; the list as it is shown comes out, and what is to be said about it.

    none            as judged
    mmr             near-duplicates moved down
    rrf             by the ranks that the channels gave
    rrf_then_mmr    both, one after the other
    cross_encoder   by a local model that reads question and memory together
    model           by the configured model; when it gives no answer, mmr

A memory that holds no longer never rises above one that does, whatever the mode.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType

from engram.model.recall import Question
from engram.ports import Tools
from engram.recall.candidates import Candidate
from engram.recall.judge import GONE
from engram.recall.plan import Planned
from engram.recall.rerank import mmr, readers, rrf
from engram.recall.rerank.order import Order

Way = Callable[[list[Candidate], Planned, Question, Tools], Order]


@dataclass(frozen=True, slots=True)
class Reranked:
    """The list as it is shown, and how it came about."""

    ordered: list[Candidate]
    mode: str
    notes: tuple[str, ...] = ()
    gain: float | None = None
    """What the tried reranking is worth in NDCG against the plain one; None when none was tried."""


def rerank(ranked: list[Candidate], plan: Planned, question: Question, tools: Tools) -> Reranked:
    """The list in the order that the question asks for, or that has helped with questions of its kind."""
    propose = partial(_propose, ranked, plan=plan, question=question, tools=tools)
    if not question.trial:
        chosen = propose(question.rerank)
        return Reranked(chosen.settle(), question.rerank, chosen.notes)
    plain, tried = propose(question.rerank), propose(question.trial)
    gain = tried.ndcg(question.limit) - plain.ndcg(question.limit)
    kind = str(plan.shown.intent or "")
    if kind not in question.trial_for:
        return Reranked(plain.settle(), question.rerank, plain.notes, gain)
    why = f"reranked by {question.trial}: it has helped with {kind or 'such'} questions"
    return Reranked(tried.settle(), question.trial, (*tried.notes, why), gain)


def _propose(ranked: list[Candidate], mode: str, *, plan: Planned, question: Question, tools: Tools) -> Order:
    """One order of what holds, followed by one of what holds no longer."""
    holds = [one for one in ranked if one.record.status not in GONE]
    gone = [one for one in ranked if one.record.status in GONE]
    orders = [WAYS[mode](part, plan, question, tools) for part in (holds, gone) if part]
    return Order(
        [one for order in orders for one in order.ordered],
        {key: score for order in orders for key, score in order.scores.items()},
        {key: told for order in orders for key, told in order.told.items()},
        tuple(dict.fromkeys(note for order in orders for note in order.notes)),
    )


def _none(ranked: list[Candidate], plan: Planned, question: Question, tools: Tools) -> Order:  # noqa: ARG001 - a way
    return Order(ranked)


def _rrf_then_mmr(ranked: list[Candidate], plan: Planned, question: Question, tools: Tools) -> Order:
    return mmr.spread(rrf.fuse_ranks(ranked), plan, question, tools)


WAYS: Mapping[str, Way] = MappingProxyType(
    {
        "none": _none,
        "mmr": lambda ranked, plan, question, tools: mmr.spread(Order(ranked), plan, question, tools),
        "rrf": lambda ranked, plan, question, tools: rrf.fuse_ranks(ranked),  # noqa: ARG005 - a way
        "rrf_then_mmr": _rrf_then_mmr,
        "cross_encoder": readers.by_cross_encoder,
        "model": readers.by_model,
    }
)
