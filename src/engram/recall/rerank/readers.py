"""Readers: question and memory are read together, by a cross-encoder in this process or by the model.

Only the head of the list is read; what stands below stays below.
"""

from __future__ import annotations

from math import exp

from engram.errors import RerankerDown
from engram.model.recall import Evidence, Question
from engram.ports import Tools
from engram.recall.candidates import Candidate
from engram.recall.plan import Planned
from engram.recall.rerank import mmr
from engram.recall.rerank.order import Order


def by_cross_encoder(ranked: list[Candidate], plan: Planned, question: Question, tools: Tools) -> Order:
    """The head in the order of the cross-encoder's scores; near-duplicates still stand apart."""
    if tools.reranker is None:
        raise RerankerDown("No cross-encoder is configured: set rerank.path to the folder of one.")
    head, tail = _cut(ranked, question, tools)
    given = tools.reranker.score(question.text, [_read(one) for one in head])
    said = {one.key: value for one, value in zip(head, given, strict=True)}
    told = {key: (Evidence("rerank", "cross-encoder", value),) for key, value in said.items()}
    order = Order(
        [*sorted(head, key=lambda one: -said[one.key]), *tail],
        {key: 1 / (1 + exp(-max(-50.0, min(50.0, value)))) for key, value in said.items()} | _below(tail),
        told,
    )
    return mmr.set_apart(order, plan, question, tools)


def by_model(ranked: list[Candidate], plan: Planned, question: Question, tools: Tools) -> Order:
    """The head in the order of the model; without an answer the repetitions are spread instead."""
    head, tail = _cut(ranked, question, tools)
    places = tools.advisor.rank(question.text, [_read(one) for one in head])
    if places is None:
        spread = mmr.spread(Order(ranked), plan, question, tools)
        note = "the model gave no order: near-duplicates were spread instead (mmr)"
        return Order(spread.ordered, spread.scores, spread.told, (note,))
    ordered = [head[place] for place in places]
    scores = {one.key: 1 - place / max(1, len(ordered)) for place, one in enumerate(ordered)}
    told = {
        one.key: (Evidence("rerank", "the model's place", float(place)),)
        for place, one in enumerate(ordered, 1)
    }
    return Order([*ordered, *tail], scores | _below(tail), told)


def _cut(
    ranked: list[Candidate], question: Question, tools: Tools
) -> tuple[list[Candidate], list[Candidate]]:
    depth = max(tools.config.rerank.depth, question.limit)
    return ranked[:depth], ranked[depth:]


def _read(one: Candidate) -> str:
    memory = one.record
    return f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content


def _below(tail: list[Candidate]) -> dict[int, float]:
    """What was not read is worth nothing beside what was."""
    return {one.key: 0.0 for one in tail}
