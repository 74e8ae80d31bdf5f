"""The facts channel: names and cues in a question lead over facts to the memories that state the answer.

It finds what shares no word with the question: "where does my sister's boss live?" is answered by a memory
about somebody whose name was not asked for. What holds counts more than what is over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engram.graph.entities import also_called
from engram.graph.trails import Answer, follow
from engram.model.entity import Entity
from engram.model.facts import FactQuery, Told
from engram.model.recall import Evidence
from engram.ports import Tools
from engram.recall import intents
from engram.recall.candidates import Candidate
from engram.recall.channels import text
from engram.recall.fuse import include
from engram.recall.named import candidates as called
from engram.recall.plan import Planned
from engram.text import words
from engram.text.cues import Cue, cues
from engram.text.statement import USER

EACH = 30
"""Claims that one look-up brings at most, by subject and by object."""
NAMED_EACH = 12
"""Claims about a named thing that are looked at although no cue asks for them."""
MOST = 20
"""Facts that may answer, the best."""
SHOWN = 3
FEW_TERMS = 3
"""A question of so few telling words that asks for no fact is about whom it names: "Ilse?"."""
ABOUT = 0.5
"""What a fact about somebody counts against one that answers a question."""


def lend(candidates: dict[int, Candidate], plan: Planned, question: str, tools: Tools) -> None:
    """Let what answers by its facts gain; new candidates may come in."""
    settings, named, question = tools.config.recall, plan.entities, intents.unframed(question)
    asked = cues(question) if settings.fact_share > 0 else ()
    if not asked and settings.fact_share > 0 and len(plan.shown.terms) <= FEW_TERMS:
        _lend_to_what_is_told(candidates, plan, question, tools)
        return
    starts = [alias for one in named for alias in one.aliases] + [USER] * (USER in plan.shown.speakers)
    if not asked or not starts:
        return
    answers = _answers(starts, asked, plan, tools)
    if not answers:
        return
    explained = _explained(asked, named, plan)
    found = {one.claim.key: one for one in reversed(answers[:MOST])}
    new = [key for key in found if key not in candidates]
    include(candidates, text.matches(plan, new, tools), plan, tools)
    top = max((one.own for one in candidates.values()), default=0.0)
    for key, one in found.items():
        if key in candidates:
            _gain(candidates[key], one, explained, top, tools)


def _lend_to_what_is_told(
    candidates: dict[int, Candidate], plan: Planned, question: str, tools: Tools
) -> None:
    """Let the memories gain from which facts about the one who is named were told."""
    settings, known = tools.config.recall, [alias for one in plan.entities for alias in one.aliases]
    names = frozenset(known or called(question))
    claims = tools.store.facts.told(FactQuery(subjects=names), plan.view, NAMED_EACH) if names else []
    new = list(dict.fromkeys(one.key for one in claims if one.key not in candidates))
    include(candidates, text.matches(plan, new, tools), plan, tools)
    top = max((one.own for one in candidates.values()), default=0.0)
    for claim in claims:
        if claim.key in candidates:
            one, score = candidates[claim.key], ABOUT * claim.sure
            one.reached += settings.fact_share * score * top
            one.lent_relevance = max(one.lent_relevance, settings.fact_relevance * score)
            one.told.append(Evidence("facts", "a fact about this", score, _worded(claim)))


def _gain(candidate: Candidate, answer: Answer, explained: float, top: float, tools: Tools) -> None:
    settings, score = tools.config.recall, answer.score * explained
    lent = settings.fact_share * score * top
    candidate.reached += lent
    candidate.lent_relevance = max(candidate.lent_relevance, settings.fact_relevance * score)
    led_by = " · ".join(map(_worded, answer.led_by[-SHOWN:]))
    candidate.told.append(Evidence("facts", "its facts answer", lent, led_by))


def _answers(starts: Sequence[str], asked: Sequence[Cue], plan: Planned, tools: Tools) -> list[Answer]:
    find, view = tools.store.facts.told, plan.view
    fresh = frozenset(starts) - {USER}

    def fetch(names: frozenset[str], predicates: frozenset[str]) -> list[Told]:
        nonlocal fresh
        claims = find(FactQuery(subjects=names, predicates=predicates), view, EACH)
        claims += find(FactQuery(objects=names, predicates=predicates), view, EACH)
        if fresh:  # a named thing may lead on by what nobody asked about, in the first step only
            claims += find(FactQuery(subjects=fresh), view, NAMED_EACH)
            claims += find(FactQuery(objects=fresh), view, NAMED_EACH)
            fresh = frozenset()
        return list({(one.key, one.fact): one for one in claims}.values())

    def names_of(names: Sequence[str]) -> Mapping[str, frozenset[str]]:
        called = {name: also_called(name) for name in names}
        for entity in tools.store.entities.among(list(called), view.access):
            for alias in called.keys() & set(entity.aliases):
                called[alias] |= frozenset(entity.aliases)
        return called

    now, hops = tools.clock.now(), tools.config.recall.fact_hops
    return follow(starts, asked, fetch, names_of, hops=hops, now=now)


def _explained(asked: Sequence[Cue], named: Sequence[Entity], plan: Planned) -> float:
    """The share of the question's terms that cues and names take up: the rest is asked of something else."""
    taken = frozenset[str]().union(*(cue.terms for cue in asked))
    taken |= {term for one in named for alias in one.aliases for term in words.terms(alias)}
    terms = frozenset(plan.shown.terms)
    return len(terms & taken) / len(terms) if terms else 0.0


def _worded(claim: Told) -> str:
    return f"{claim.fact.subject} — {claim.fact.predicate} → {claim.fact.object}"
