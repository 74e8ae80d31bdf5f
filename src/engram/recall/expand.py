"""Expansion: a question that found little comes in; what other wordings of it find comes in too.

A model is asked once, when the caller wants it or when the first try was weak. Each phrase is searched like a
question of its own, at a discount; a memory keeps the better of its fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from engram.model.recall import Question, Recall
from engram.ports import ConversationBias, Tools
from engram.recall import channels
from engram.recall import plan as plans
from engram.recall.candidates import Candidate
from engram.recall.channels import fuse, heed_words
from engram.recall.drop import drop_unwanted, pack
from engram.recall.judge import judge, measure
from engram.recall.plan import Planned
from engram.recall.rerank import newest_first, rerank


def expand(candidates: dict[int, Candidate], plan: Planned, question: Question, tools: Tools) -> Planned:
    """Take in what other wordings find; the plan, which tells of them."""
    if not _is_wanted(candidates, question, tools):
        return plan
    phrases = tools.advisor.expand(question.text)
    if phrases is None:
        return _noted(plan, "no model gave other wordings") if question.expand else plan
    for phrase in phrases:
        _join(candidates, _found(phrase, question, tools), phrase, tools.config.plan.expand_share)
    return replace(plan, shown=replace(plan.shown, phrases=phrases))


def _is_wanted(candidates: dict[int, Candidate], question: Question, tools: Tools) -> bool:
    if question.expand is not None:
        return question.expand
    best = max((one.relevance for one in candidates.values()), default=0.0)
    return tools.config.llm.level != "off" and best < tools.config.plan.expand_below


def _found(phrase: str, question: Question, tools: Tools) -> dict[int, Candidate]:
    plan = plans.make(replace(question, text=phrase), tools)
    by_words = channels.search_text(plan, tools)
    plan = heed_words(by_words, plan)
    return fuse(by_words, channels.search_vectors(plan, tools), plan, tools)


def _join(candidates: dict[int, Candidate], found: dict[int, Candidate], phrase: str, share: float) -> None:
    """The better fit and the better relevance of each; ties stay with the question's own words."""
    for key, other in found.items():
        fit, relevance = share * other.own, share * other.relevance
        one = candidates.get(key)
        if one is None:
            one = candidates[key] = replace(other, own=0.0, relevance=0.0, factors=[], told=[])
        if fit > one.own:
            one.own, one.meaning, one.wording = fit, max(one.meaning, share * other.meaning), phrase
        one.relevance = max(one.relevance, relevance)


def _noted(plan: Planned, note: str) -> Planned:
    return replace(plan, shown=replace(plan.shown, notes=(*plan.shown.notes, note)))


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
    matched = ((key, match) for key, match in channels.matches(plan, keys, tools).items() if match.terms)
    by_words = sorted(matched, key=lambda one: -one[1].score)
    plan = heed_words(by_words, plan)
    by_meaning = sorted(channels.score_vectors(plan, keys, tools).items(), key=lambda one: -one[1])
    candidates = fuse(by_words, by_meaning, plan, tools)
    channels.boost_from_neighbours(candidates, plan, tools)
    channels.boost_from_graph(candidates, plan, tools, explain=question.explain)
    channels.boost_from_facts(candidates, plan, question.text, tools)
    ranked = judge(candidates, plan, question, tools)
    kept, dropped = drop_unwanted(ranked, plan, question, tools)
    final = rerank(kept, plan, question, tools)
    hits = pack(newest_first(final.ordered, final.mode, plan, question, tools), question)
    taken = (tools.clock.monotonic() - start) * 1_000
    return Recall(
        question=question,
        plan=replace(plan.shown, notes=(*plan.shown.notes, NOTE)),
        hits=hits,
        quality=measure(hits, len(candidates), taken),
        dropped=dropped if question.explain else (),
        timings={"among": taken},
        at=tools.clock.now(),
    )
