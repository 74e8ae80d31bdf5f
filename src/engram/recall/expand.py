"""Expansion: a question that found little comes in; what other wordings of it find comes in too.

A model is asked once, when the caller wants it or when the first try was weak. Each phrase is searched like a
question of its own, at a discount; a memory keeps the better of its fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from engram.lazily import replace
from engram.model.recall import Question, Recall
from engram.recall import channels
from engram.recall import plan as plans
from engram.recall.drop import drop_unwanted, pack
from engram.recall.judge import chosen, judge, measure
from engram.recall.pool import Pool
from engram.recall.rerank import newest_first, rerank

if TYPE_CHECKING:
    from engram.ports import ConversationBias, Tools

EXPAND_BELOW = 0.25  # best relevance under which a model is asked for other words
EXPAND_SHARE = 0.8  # what a find by other words counts against the question's


def expand(pool: Pool, question: Question, tools: Tools) -> None:
    """Take in what other wordings find; the plan of the pool tells of them."""
    if not _is_wanted(pool, question, tools):
        return
    phrases, plan = tools.advisor.expand(question.text), pool.plan
    if phrases is None:
        if question.expand:
            notes = (*plan.shown.notes, "no model gave other wordings")
            pool.plan = replace(plan, shown=replace(plan.shown, notes=notes))
        return
    for phrase in phrases:
        other = channels.search(plans.make(replace(question, text=phrase), tools), question.limit)
        _join(pool, other, phrase, EXPAND_SHARE)
    pool.plan = replace(plan, shown=replace(plan.shown, phrases=phrases))


def _is_wanted(pool: Pool, question: Question, tools: Tools) -> bool:
    if question.expand is not None:
        return question.expand
    best = pool["relevance"].max(initial=0.0)
    return tools.config.llm.level != "off" and best < EXPAND_BELOW


def _join(pool: Pool, other: Pool, phrase: str, share: float) -> None:
    """The better fit and the better relevance of each; ties stay with the question's own words."""
    known = set(pool.lines)
    pool.include(other.lines)
    for key, there in other.lines.items():
        here = pool.lines.get(key)
        if here is None:
            continue
        if key not in known:
            pool["own"][here] = pool["relevance"][here] = 0.0
        if share * other["own"][there] > pool["own"][here]:
            pool["own"][here] = share * other["own"][there]
            pool["meaning"][here] = max(pool["meaning"][here], share * other["meaning"][there])
            pool.wordings[key] = phrase
        pool["relevance"][here] = max(pool["relevance"][here], share * other["relevance"][there])


# ---------------------------------------------------------------- among
# Recall among known candidates: a question and what was prepared for it come in; the best of it comes out.
#
#   plan → words and meaning of these alone → fuse → neighbours → graph → facts → judge → drop → rerank → pack
#
# Nothing is searched for: what stands beside the prepared may come in, nothing else.


NOTE = "answered from what was prepared"


def among(
    question: Question, ids: Sequence[str], tools: Tools, lean: ConversationBias | None = None
) -> Recall:
    """Answer a question from these memories alone. It counts no use: the caller does."""
    start = tools.clock.monotonic()
    plan = plans.make(question, tools, lean)
    keys = sorted(tools.store.memories.allow(plan.view, list(tools.store.memories.keys(ids).values())))
    by_words = plan.words.of(keys)
    by_words = by_words.take(np.argsort(-by_words.scores, kind="stable"))
    pool = Pool(by_words, [], plan)
    channels.boost_from_neighbours(pool)
    candidates = chosen(pool, question)
    channels.boost_from_graph(candidates, pool, tools, explain=question.explain)
    channels.boost_from_facts(candidates, pool, question.text, tools)
    ranked = judge(candidates, plan, question, tools)
    kept, dropped = drop_unwanted(ranked, plan, question, tools)
    final = rerank(kept, plan, question, tools)
    hits = pack(newest_first(final.ordered, final.mode, pool, question, tools), question)
    taken = (tools.clock.monotonic() - start) * 1_000
    return Recall(
        question=question,
        plan=replace(plan.shown, notes=(*plan.shown.notes, NOTE)),
        hits=hits,
        quality=measure(hits, len(pool), taken),
        dropped=dropped if question.explain else (),
        timings={"among": taken},
        at=tools.clock.now(),
    )
