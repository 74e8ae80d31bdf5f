"""Expansion: a question that found little comes in; what other wordings of it find comes in too.

A model is asked once, when the caller wants it or when the first try was weak. Each phrase is searched like a
question of its own, at a discount; a memory keeps the better of its fits.
"""

from __future__ import annotations

from dataclasses import replace

from engram.model.recall import Question
from engram.ports import Tools
from engram.recall import plan as plans
from engram.recall.candidates import Candidate
from engram.recall.channels import text, vector
from engram.recall.fuse import fuse, heed_words
from engram.recall.plan import Planned


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
    by_words = text.search(plan, tools)
    plan = heed_words(by_words, plan)
    return fuse(by_words, vector.search(plan, tools), plan, tools)


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
