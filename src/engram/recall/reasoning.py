"""Reasoning: a question is thought through. Begin with `reason`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from types import MappingProxyType

from engram.lazily import dataclass, replace
from engram.model.recall import Branch, Conclusion, Hit, Question, Reasoning
from engram.ports import NoAdvisor, Tools
from engram.recall.pipeline import recall
from engram.text import tokens
from engram.text.subquestions import Smaller, smaller
from engram.text.words import normalized

# ---------------------------------------------------------------- reason
# Reasoning: a question comes in; it is recalled, taken apart where that is not enough, and answered.
#
# A model takes questions apart and words the answer, when one may be asked; else rules take them apart, and
# the tree of what was found is the answer. Calls and tokens are bounded; a model that fails changes nothing
# else.


CALLS: Mapping[int, int] = MappingProxyType({1: 3, 2: 5, 3: 8, 4: 11, 5: 15})
"""Questions put to a model at most, by depth; one of them is kept for the answer."""
MOST_BRANCHES = 24
SHOWN_TO_MODEL = 40
"""So many memories at most are given to a model at a time."""


@dataclass(slots=True)
class Thought:
    """One reasoning under way. Lives for one call."""

    question: Question
    depth: int
    budget: int
    tools: Tools
    calls: int = 0
    asked: set[str] = field(default_factory=set)
    notes: list[str] = field(default_factory=list)

    @property
    def may_ask(self) -> bool:
        """Whether a model may take a question apart: the last call belongs to the answer."""
        return not isinstance(self.tools.advisor, NoAdvisor) and self.calls < CALLS[self.depth] - 1

    def is_new(self, question: str) -> bool:
        """Whether a question has not been asked yet, and there is room for it; from now on it has."""
        key = normalized(question)
        new = bool(key) and key not in self.asked and len(self.asked) < MOST_BRANCHES
        self.asked.add(key)
        return new


def reason(question: Question, depth: int, budget: int, tools: Tools) -> Reasoning:
    """Think a question through: at most `depth` levels down, with at most `budget` tokens of memories."""
    thought = Thought(replace(question, dry=True, expand=False), depth, budget, tools)
    thought.is_new(question.text)
    tree = _grow(question.text, "", 0, thought)
    known, spent = _within(_hits(tree), budget)
    answer = _answer(known, thought)
    gaps = tuple(branch.question for branch in tree.walk() if branch.is_gap)
    return Reasoning(
        question=question.text,
        tree=tree,
        answer=answer,
        gaps=gaps,
        depth=depth,
        calls=thought.calls,
        tokens=spent,
        notes=tuple(dict.fromkeys(thought.notes)),
    )


def _grow(text: str, why: str, level: int, thought: Thought) -> Branch:
    """A question with what is found for it, and the smaller ones below it."""
    hits = recall(replace(thought.question, text=text), thought.tools).hits
    if level == thought.depth:
        return Branch(text, why, hits)
    parts = [part for part in _parts(text, hits, level, thought) if thought.is_new(part.question)]
    below = tuple(_grow(part.question, part.why, level + 1, thought) for part in parts)
    return Branch(text, why, hits, below)


def _parts(text: str, hits: tuple[Hit, ...], level: int, thought: Thought) -> Iterable[Smaller]:
    """Smaller questions: by the model for the question itself and for gaps, else by rules."""
    if thought.may_ask and (level == 0 or not hits):
        thought.calls += 1
        given = thought.tools.advisor.decompose(text, _told(_within(hits, thought.budget)[0]))
        if given is not None:
            return [Smaller(one, "left open by what is known") for one in given]
        thought.notes.append("the model took nothing apart: rules did")
    return smaller(text)


def _answer(known: list[Hit], thought: Thought) -> tuple[Conclusion, ...]:
    """The model's answer; nothing when there is none to ask, nothing to tell, or nothing it can cite."""
    if isinstance(thought.tools.advisor, NoAdvisor) or not known:
        return ()
    thought.calls += 1
    claims = thought.tools.advisor.synthesize(thought.question.text, _told(known))
    if claims is None:
        thought.notes.append("the model gave no answer: the tree shows what was found")
        return ()
    if not claims:
        thought.notes.append("the memories do not answer the question, says the model")
    ids = [hit.memory.id for hit in known]
    return tuple(Conclusion(claim.claim, tuple(ids[place] for place in claim.places)) for claim in claims)


def _hits(tree: Branch) -> list[Hit]:
    """All hits, each memory once: the best of each question first, then the second of each, and so on."""
    lists = [branch.hits for branch in tree.walk()]
    depth = max((len(hits) for hits in lists), default=0)
    ordered = (hits[rank] for rank in range(depth) for hits in lists if rank < len(hits))
    return list({hit.memory.id: hit for hit in ordered}.values())


def _within(hits: Iterable[Hit], budget: int) -> tuple[list[Hit], int]:
    """As many as fit the budget, in order, and what they take of it, which a plain recall guesses."""
    kept: list[Hit] = []
    left = budget
    for hit in hits:
        cost = tokens.estimate(hit.content)
        if cost <= left and len(kept) < SHOWN_TO_MODEL:
            kept.append(hit)
            left -= cost
    return kept, budget - left


def _told(hits: Sequence[Hit]) -> list[str]:
    """Memories as a model reads them: when, who, what."""
    speakers = (f"{hit.memory.speaker}: " if hit.memory.speaker else "" for hit in hits)
    return [
        f"{hit.memory.happened_at:%Y-%m-%d} {speaker}{hit.text}"
        for hit, speaker in zip(hits, speakers, strict=True)
    ]
