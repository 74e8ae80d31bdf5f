"""Channels: each finds candidates in its own way, with scope and filters applied inside."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from engram import plugins
from engram.lazily import dataclass, lazily, replace
from engram.model.clock import to_micros
from engram.model.facts import EdgeType, Entity, FactQuery, ToldFact
from engram.model.memory import Kind, Memory
from engram.model.recall import Dropped, Evidence, Intent, Question, Span
from engram.ports import EdgeLine, Link, Tools, View
from engram.recall import intents, times
from engram.recall import plan as plans
from engram.recall.candidates import Candidate, moments
from engram.recall.plan import Planned
from engram.recall.plan import candidates as called
from engram.recall.pool import Pool
from engram.rules.activation import Reached, Spread, confidence_now, spread
from engram.rules.entities import also_called
from engram.text import words
from engram.text.cues import Cue, cues
from engram.text.statement import USER

if TYPE_CHECKING:
    from engram.ports import Keys
    from engram.recall.pool import Numbers
    from engram.rules import chains, commitments
    from engram.rules.chains import TrailAnswer
else:
    chains = lazily("engram.rules.chains")
    commitments = lazily("engram.rules.commitments")

VECTOR_CANDIDATES = 20  # candidates by meaning, beside as many as hits are asked for (measured)
HIDDEN_CANDIDATES = 20  # candidates by meaning among what is confidential
LENDERS = 20  # candidates that lend to their neighbours in a conversation (measured)
NEXT_SHARE = 0.4  # share of its fit a turn lends to the following one (measured)
ANSWER_SHARE = 0.4  # share more that a question lends to its answer (measured)
PREVIOUS_SHARE = 0.3  # share of its fit a turn lends to the one before (measured)
FAR_SHARE = 0.5  # share of such a loan that reaches the turn beyond (measured)
# words of a turn that lends and borrows half: longer ones speak for themselves (measured)
LENDING_WORDS = 100
GRAPH_SHARE = 0.3  # share of its fit a hit lends along a sure edge of full weight (measured)
GRAPH_DECAY = 0.6  # what is left of it after each step (cortex)
GRAPH_CONFIDENCE = 0.2  # edges that are less sure are not followed (files)
GRAPH_NODES = 200  # memories that are reached over edges at most
TEXT_CANDIDATES = 30  # candidates by words, likewise (measured)
GRAPH_STARTS = 5  # memories from which edges are followed in each step (measured)
FACT_SHARE = 0.6  # fit of a memory whose facts answer, as a share of the best hit's (measured)
FACT_RELEVANCE = 0.8  # relevance of a memory whose facts answer all of it
FACT_HOPS = 3  # facts in a row that lead from the question to an answer (cortex)
TIME_CANDIDATES = 20  # candidates from the time asked about (measured)
FRESH_DAYS = 30.0  # days after which half of that is left

# ---------------------------------------------------------------- words and meaning
# Memories that share words with the question, and memories whose meaning lies near it.


def search(plan: Planned, limit: int) -> Pool:
    """The best by BM25 and the nearest by cosine, with what both say about each; `limit` hits are wanted."""
    by_words = plan.words.search(plan.view, round(plan.fetch * (TEXT_CANDIDATES + limit)))
    if plan.near_search is None:
        return Pool(by_words, [], plan)
    near = plan.near_search.search(plan.view, round(plan.fetch * (VECTOR_CANDIDATES + limit)))
    if plan.hidden_search is not None:
        near = _nearest_of(near, plan.hidden_search.search(plan.view, HIDDEN_CANDIDATES))
    return Pool(by_words, near, plan)


def _nearest_of(
    near: Sequence[tuple[int, float]], hidden: Sequence[tuple[int, float]]
) -> list[tuple[int, float]]:
    """Both together, nearest first; what is hidden is found by what it says or by its label."""
    found = dict(near)
    for key, cosine in hidden:
        found[key] = max(cosine, found.get(key, cosine))
    return sorted(found.items(), key=lambda one: -one[1])


# ---------------------------------------------------------------- facts
# The facts channel: names and cues in a question lead over facts to the memories that state the answer.
#
# It finds what shares no word with the question: "where does my sister's boss live?" is answered by a
# memory about somebody whose name was not asked for. What holds counts more than what is over.


EACH = 30
"""Claims that one look-up brings at most, by subject and by object."""
NAMED_EACH = 12
"""Claims about a named thing that are looked at although no cue asks for them."""
MOST = 20
"""Facts that may answer, the best."""
SHOWN = 3
ABOUT = 0.5
"""What a fact about somebody counts against one that answers a question."""
EXPLAINED = 0.9
"""Share of a question's terms that cues and names take up, from which on facts answer all of it."""
FIRST = 1.05
"""Whoever asks of themselves gets the fact that answers all of it so far above the best other hit."""
ANSWERS = 1.8
"""What it counts more than others, as what has a value of the kind that is asked for does."""
SURE_ANSWER = 0.5
"""How well a fact must answer for that."""
ABOVE_STEPS = 1.4
"""How much better what facts lead to fits than what only led there."""
LONGEST_END, MOST_ENDS, SURE_END = 3, 3, 0.3
"""Whom facts lead to: names of at most so many words, so many of them, led to at least so surely."""


def boost_from_facts(candidates: dict[int, Candidate], pool: Pool, question: str, tools: Tools) -> None:
    """Let what answers by its facts gain; new candidates may come in."""
    plan, named = pool.plan, pool.plan.entities
    few = plan.shown.intent is Intent.ENTITY or len(plan.shown.terms) <= 1  # "Ilse?" is about whom it names
    starts = [alias for one in named for alias in one.aliases] + [USER] * (USER in plan.shown.speakers)
    if not starts and not few:
        return
    question = intents.unframed(question)
    asked = cues(question)
    if not asked and few:
        _lend_to_what_is_told(candidates, pool, question, tools)
    explained, own = _explained(asked, named, plan), USER in plan.shown.speakers
    if not asked or not starts or (explained < EXPLAINED and not own):
        return  # facts about others answer where they take up all that is asked (measured)
    answers = _answers(starts, asked, plan, tools)
    if not answers:
        return
    found = {answer.claim.key: answer for answer in reversed(answers[:MOST])}
    _include(candidates, found, pool)
    top = max((candidate.own for candidate in candidates.values()), default=0.0)
    best = max((candidate.found for candidate in candidates.values()), default=0.0)
    steps = {step.key for one in found.values() for step in one.led_by[:-1]}
    for key, one in found.items():
        if key in candidates:
            _gain(candidates[key], one, explained, top)
            if own and explained >= EXPLAINED:
                _stand_above_steps(candidates, key, one)
                if one.score >= SURE_ANSWER and key not in steps:
                    direct = len(one.led_by) == 1 and one.claim.fact.subject == USER
                    above = FIRST * best * (1.0 if direct else one.score)
                    candidates[key].reached += max(0.0, above - candidates[key].found)
                    candidates[key].answers = ANSWERS
    if own:
        _lend_to_whom_facts_lead(candidates, pool, answers, tools)


def _stand_above_steps(candidates: dict[int, Candidate], key: int, answer: TrailAnswer) -> None:
    """Let what facts lead to fit better than the memories that only led there."""
    one = candidates[key]
    below = [
        candidates[step.key].found for step in answer.led_by if step.key in candidates and step.key != key
    ]
    one.reached += max(0.0, ABOVE_STEPS * max(below, default=0.0) - one.found)


def _lend_to_whom_facts_lead(
    candidates: dict[int, Candidate], pool: Pool, answers: Sequence[TrailAnswer], tools: Tools
) -> None:
    """Let what names the one that facts lead to gain, where it says a word of the question too.

    "Where does my sister's husband teach?" leads to Felix; what Felix teaches stands in no fact.
    """
    plan, led = pool.plan, max((len(one.led_by) for one in answers), default=0)
    ends = {str(one.claim.fact.object): one for one in reversed(answers) if len(one.led_by) == led}
    taken = {str(step.fact.object) for one in answers for step in one.led_by[:-1]}
    names = {
        name: one for name, one in ends.items() if name not in taken and len(name.split()) <= LONGEST_END
    }
    said = frozenset(plan.shown.terms)
    top = max((candidate.own for candidate in candidates.values()), default=0.0)
    for name, answer in list(names.items())[:MOST_ENDS]:
        terms = [term for term in words.terms(name) if term not in said]
        if not terms or answer.score < SURE_END:
            continue
        found = tools.store.texts.ask(terms, plan.view.access).search(plan.view, MOST)
        named = [key for key, parts in zip(found.keys.tolist(), found.parts, strict=True) if parts.all()]
        _include(candidates, named, pool)
        for key in named:
            one = candidates.get(key)
            if one is not None and one.said > 0 and key not in {step.key for step in answer.led_by}:
                one.reached += FACT_SHARE * answer.score * top
                one.lent_relevance = max(one.lent_relevance, FACT_RELEVANCE * answer.score)
                led_by = " · ".join(map(_worded, answer.led_by[-SHOWN:]))
                one.told.append(Evidence("facts", "names whom facts lead to", answer.score, led_by))
                _stand_above_steps(candidates, key, answer)


def _lend_to_what_is_told(candidates: dict[int, Candidate], pool: Pool, question: str, tools: Tools) -> None:
    """Let the memories gain from which facts about the one who is named were told."""
    plan = pool.plan
    known = [alias for entity in plan.entities for alias in entity.aliases]
    names = frozenset(known or called(question))
    claims = tools.store.facts.told(FactQuery(subjects=names), plan.view, NAMED_EACH) if names else []
    _include(candidates, [one.key for one in claims], pool)
    top = max((candidate.own for candidate in candidates.values()), default=0.0)
    for claim in claims:
        if claim.key in candidates:
            one, score = candidates[claim.key], ABOUT * claim.sure
            one.reached += FACT_SHARE * score * top
            one.lent_relevance = max(one.lent_relevance, FACT_RELEVANCE * score)
            one.told.append(Evidence("facts", "a fact about this", score, _worded(claim)))


def _gain(candidate: Candidate, answer: TrailAnswer, explained: float, top: float) -> None:
    score = answer.score * explained
    lent = FACT_SHARE * score * top
    candidate.reached += lent
    candidate.lent_relevance = max(candidate.lent_relevance, FACT_RELEVANCE * score)
    led_by = " · ".join(map(_worded, answer.led_by[-SHOWN:]))
    candidate.told.append(Evidence("facts", "its facts answer", lent, led_by))


def _answers(starts: Sequence[str], asked: Sequence[Cue], plan: Planned, tools: Tools) -> list[TrailAnswer]:
    find, view = tools.store.facts.told, plan.view
    fresh = frozenset(starts) - {USER}

    def fetch(names: frozenset[str], predicates: frozenset[str]) -> list[ToldFact]:
        nonlocal fresh
        claims = find(FactQuery(subjects=names, predicates=predicates), view, EACH)
        claims += find(FactQuery(objects=names, predicates=predicates), view, EACH)
        if fresh:  # a named thing may lead on by what nobody asked about, in the first step only
            claims += find(FactQuery(subjects=fresh), view, NAMED_EACH)
            claims += find(FactQuery(objects=fresh), view, NAMED_EACH)
            fresh = frozenset()
        return list({(claim.key, claim.fact): claim for claim in claims}.values())

    def names_of(names: Sequence[str]) -> Mapping[str, frozenset[str]]:
        called = {name: also_called(name) for name in names}
        for entity in tools.store.entities.among(list(called), view.access):
            for alias in called.keys() & set(entity.aliases):
                called[alias] |= frozenset(entity.aliases)
        return called

    now, hops = tools.clock.now(), FACT_HOPS
    return chains.follow(starts, asked, fetch, names_of, hops=hops, now=now)


def _explained(asked: Sequence[Cue], named: Sequence[Entity], plan: Planned) -> float:
    """The share of the question's terms that cues and names take up: the rest is asked of something else.

    Where no term is left, "how old am I?", the cues are all that is asked.
    """
    taken = frozenset[str]().union(*(cue.terms for cue in asked))
    taken |= {term for one in named for alias in one.aliases for term in words.terms(alias)}
    terms = frozenset(plan.shown.terms)
    return len(terms & taken) / len(terms) if terms else 1.0


def _worded(claim: ToldFact) -> str:
    return f"{claim.fact.subject} — {claim.fact.predicate} → {claim.fact.object}"


# ---------------------------------------------------------------- graph
# The graph channel: what the best candidates are linked to comes to mind, the surer the link the more.
#
# Edges that say "instead of this" or "against this" carry no relevance; the order of a conversation is the
# neighbours' affair.


WEIGHTS: Mapping[EdgeType, float] = MappingProxyType(
    {
        EdgeType.CAUSED_BY: 1.0,
        EdgeType.SUPPORTS: 0.9,
        EdgeType.RELATED_TO: 0.8,
        EdgeType.DERIVED_FROM: 0.8,
        EdgeType.INFERRED_FROM: 0.7,
        EdgeType.INSTANCE_OF: 0.7,
        EdgeType.SIMILAR_TO: 0.6,
        EdgeType.SAME_ENTITY: 0.5,
    }
)
"""How much of a memory's relevance passes to the other end, by type."""
_TYPES: Mapping[str, EdgeType] = MappingProxyType({type_.value: type_ for type_ in WEIGHTS})
DAY_MICROS = 86_400_000_000
EXPLICIT = frozenset({EdgeType.CAUSED_BY, EdgeType.SUPPORTS, EdgeType.RELATED_TO})
"""Edges that somebody drew on purpose: what they lead to comes along with a hit."""
SURE = 0.6
"""How sure such an edge must still be."""
LEAST = 0.1
"""What is less active is not brought to mind; what could bring nothing to mind spreads nothing."""
GRAPH_SHOWN = 8
"""Characters of an id that tell it apart for a person."""


def boost_from_graph(
    candidates: dict[int, Candidate], pool: Pool, tools: Tools, *, explain: bool = False
) -> None:
    """Let the best candidates lend along their edges; new candidates may come in.

    To `explain` costs a look at the memories that the edges come from.
    """
    plan = pool.plan
    share = GRAPH_SHARE * plan.shown.weights.get("graph", 1.0)
    best = sorted(candidates.values(), key=lambda c: (-c.own, c.key))[:GRAPH_STARTS]
    if share <= 0 or not best or best[0].own <= 0:
        return
    top = best[0].own
    reached = _walk({one.key: one.own / top for one in best}, plan, tools)
    got = {key: one for key, one in reached.items() if one.received >= LEAST}
    if not got:
        return
    _include(candidates, got, pool)
    for key, one in got.items():
        if key in candidates:
            candidate, start = candidates[key], candidates[one.path[0].key]
            candidate.reached += share * one.received * top
            candidate.lent_relevance = max(candidate.lent_relevance, share * one.received * start.relevance)
            if all(link.type in EXPLICIT and link.confidence >= SURE for link in one.path):
                candidate.tied, candidate.tied_to = str(one.path[-1].type), start.key
    if explain:
        _tell(candidates, got, tools)


def _include(candidates: dict[int, Candidate], keys: Iterable[int], pool: Pool) -> None:
    """Take in what edges or facts lead to."""
    new = [key for key in dict.fromkeys(keys) if key not in candidates]
    pool.include(new)
    candidates |= pool.candidates(new)


def _walk(starts: Mapping[int, float], plan: Planned, tools: Tools) -> dict[int, Reached]:
    now = to_micros(tools.clock.now())

    def links(keys: Sequence[int]) -> list[Link]:
        lines = [line for line in tools.store.relations.at(keys, LEAST / GRAPH_DECAY) if _may_lead(line)]
        if not lines:
            return []
        ends = np.array([line[1] for line in lines], dtype=np.int64)
        seen = plan.words.passing(ends, plan.view).tolist()
        return [_link(line, now) for line, good in zip(lines, seen, strict=True) if good]

    limits = Spread(
        hops=plan.shown.hops,
        decay=GRAPH_DECAY,
        least_confidence=GRAPH_CONFIDENCE,
        least_start=LEAST / GRAPH_DECAY,
        wide=GRAPH_STARTS,
        nodes=GRAPH_NODES,
    )
    return spread(starts, links, limits)


def _may_lead(line: EdgeLine) -> bool:
    """Whether an edge may bring anything to mind: from the best start, as sure as when it was drawn."""
    _, _, name, _, weight, sure, _ = line
    return name in _TYPES and GRAPH_DECAY * weight * WEIGHTS[_TYPES[name]] * sure >= LEAST


def _link(line: EdgeLine, now: int) -> Link:
    """An edge as a walk sees it: what its type passes on, and how sure it still is."""
    key, other, name, forward, weight, sure, drawn = line
    type_ = _TYPES[name]
    if drawn is not None:
        sure = confidence_now(type_, sure, (now - drawn) / DAY_MICROS)
    return Link(key, other, type_, forward == 1, weight * WEIGHTS[type_], sure)


def _tell(candidates: Mapping[int, Candidate], got: Mapping[int, Reached], tools: Tools) -> None:
    """Write down the edges that were walked, with where they come from and how sure they are."""
    read = tools.store.memories.read(sorted({link.key for one in got.values() for link in one.path}))
    for key, one in got.items():
        if key in candidates:
            told = (_worded_graph(link, read[link.key].id) for link in one.path if link.key in read)
            candidates[key].told.append(
                Evidence("graph", "lent along edges", candidates[key].reached, " · ".join(told))
            )


def _worded_graph(link: Link, came_from: str) -> str:
    arrow = "→" if link.forward else "←"
    return f"{came_from[:GRAPH_SHOWN]} {arrow} {link.type}, confidence {link.confidence:.2f}"


# ---------------------------------------------------------------- neighbours
# The neighbours channel: in a conversation the answer often stands beside the words that were asked for.
#
# A hit lends to the two turns that follow and to the two before; a turn that asks lends more to its answer.
# It finds turns that share no word with the question at all.
#
# A turn borrows only what it lacks. Each word of the question counts once, where it is said best: whole in
# the turn itself, in part from a turn nearby; the meaning likewise. So a session that says the same words
# all over gains nothing over one turn that says them all. A long turn speaks for itself: it lends and
# borrows little.


@dataclass(frozen=True, slots=True, eq=False)
class Loans:
    """Who may lend to whom, by their keys, and which share of it."""

    lenders: Keys
    borrowers: Keys
    shares: Numbers


def boost_from_neighbours(pool: Pool) -> None:
    """Let the best candidates lend to their neighbours; new candidates may come in."""
    best = pool.best(LENDERS)
    lenders = pool.matched.keys[best[pool["own"][best] > 0]]
    loans = _loans(lenders, pool)
    if not len(loans.lenders):
        return
    pool.include(loans.borrowers.tolist())
    _settle(loans, pool)


def _loans(lenders: Keys, pool: Pool) -> Loans:
    """From each turn to the two that follow it and the two before."""
    near = pool.plan.words.turns(lenders, pool.plan.view)
    borrowers = np.concatenate([near.after, near.before])
    shares = np.repeat(_SHARES, len(lenders)).reshape(borrowers.shape)
    shares[0] += ANSWER_SHARE * near.asking
    step, there = borrowers.nonzero()
    return Loans(lenders[there], borrowers[step, there], shares[step, there])


_SHARES = np.array([NEXT_SHARE, NEXT_SHARE * FAR_SHARE, PREVIOUS_SHARE, PREVIOUS_SHARE * FAR_SHARE])
"""What a turn lends to the two that follow, and to the two before."""


def _settle(loans: Loans, pool: Pool) -> None:
    """What every borrower gets in the end: the best offer for each word, and for the meaning."""
    lines = pool.lines
    borrows = np.array([lines.get(key, -1) for key in loans.borrowers.tolist()], dtype=np.intp)
    order = np.argsort(borrows, kind="stable")[int((borrows < 0).sum()) :]
    if not len(order):
        return
    borrows = borrows[order]
    lends = np.array([lines[key] for key in loans.lenders[order].tolist()], dtype=np.intp)
    is_first = np.ones(len(borrows), dtype=np.bool_)
    is_first[1:] = borrows[1:] != borrows[:-1]
    firsts = is_first.nonzero()[0]
    got = borrows[firsts]
    parts, lengths = pool.matched.parts, pool.matched.lengths
    openness = 1 / (1 + (lengths / LENDING_WORDS) ** 2)
    share = loans.shares[order] * openness[lends] * openness[borrows]

    def best(offers: Numbers) -> Numbers:
        most: Numbers = np.maximum.reduceat(offers, firsts, axis=0)
        return np.maximum(0.0, most, out=most)

    said = share[:, None] * (parts[lends] - parts[borrows])
    lacks = pool["meaning"][lends] - np.maximum(0.0, pool["meaning"][borrows])
    words = best(said).sum(axis=1) * pool.plan.shown.weights["text"]
    pool["lent"][got] = words + best(share * lacks)
    pool["lent_relevance"][got] = best(share * pool["relevance"][lends])


# ---------------------------------------------------------------- overview
# The overview: a question that asks for everything and nothing in particular gets what matters most,
# the facts of a life before all else. A question after what is to be done gets what was
# promised and is open, the next to be due first.


READ = 200
"""So many of the latest statements are looked at."""
FIT, RELEVANCE = 6.0, 0.6
"""The fit of what matters most, and its relevance: nothing was asked that it could fail to answer."""
PINNED, OF_A_LIFE = 0.2, 1.0
"""What counts for an overview beside importance: being pinned, each fact that makes out a life."""
LATE_DAYS = 7.0
"""What was due so many days ago may still have to be done; what was due earlier is over."""


def search_overview(pool: Pool, question: Question, tools: Tools) -> None:
    """Take in what matters most, or is to be done next, for a question that asks for that."""
    if intents.is_to_do(question.text):
        weight = _to_do(pool.plan.view, tools)
    elif intents.is_overview(question.text):
        weight = _what_matters(pool.plan.view, tools)
    else:
        return
    best = sorted(weight, key=lambda memory_id: -weight[memory_id])[: 2 * question.limit]
    keys = tools.store.memories.keys(best)
    pool.include(keys.values())
    for memory_id, key in keys.items():
        line = pool.lines.get(key)
        if line is not None:
            pool["dated"][line] = FIT * (1.0 + weight[memory_id])
            pool["lent_relevance"][line] = max(pool["lent_relevance"][line], RELEVANCE)


def _what_matters(view: View, tools: Tools) -> dict[str, float]:
    """How much each statement matters: what tells facts of whoever asks before all else."""
    filters = view.filters
    lasting = replace(filters, kinds=filters.kinds or frozenset({Kind.SEMANTIC, Kind.PROCEDURAL}))
    page = list(tools.store.memories.page(View(view.access, lasting), READ))
    keys, now = tools.store.memories.keys([one.id for one in page]), tools.clock.now()
    told: dict[int, set[str]] = {}
    for claim in tools.store.facts.told(FactQuery(subjects=frozenset({USER})), view, READ):
        if claim.fact.predicate in MAIN_FACTS and not chains.is_over(claim, now):
            told.setdefault(claim.key, set()).add(claim.fact.predicate)
    return {
        one.id: one.importance + PINNED * one.pinned + OF_A_LIFE * len(told.get(keys[one.id], ()))
        for one in page
        if one.id in keys
    }


MAIN_FACTS = frozenset(
    {
        "name",
        "age",
        "job",
        "work at",
        "live in",
        "husband",
        "wife",
        "partner",
        "married to",
        "son",
        "daughter",
        "child",
    }
)
"""What makes out a life: whoever asks what is known of them is told these before all else."""


def _to_do(view: View, tools: Tools) -> dict[str, float]:
    """What is open, the next to be due first; then what has no day; what is long over is not to be done."""
    open_ones = replace(
        view.filters,
        categories=frozenset({commitments.CATEGORY}),
        not_tags=view.filters.not_tags | {commitments.CLOSED_TAG},
    )
    now, weight = tools.clock.now(), dict[str, float]()
    for one in tools.store.memories.page(View(view.access, open_ones), READ):
        loop = commitments.loop(one, now)
        if not commitments.is_loop(one):
            continue
        ahead = LATE_DAYS if loop.due is None else (loop.due - now) / timedelta(days=1)
        if ahead >= -LATE_DAYS:
            weight[one.id] = 1.0 / (1.0 + abs(ahead) / LATE_DAYS)
    return weight


# ---------------------------------------------------------------- extensions
# Channels of installed extensions, as `recall.channels` names them.


def search_extensions(candidates: dict[int, Candidate], pool: Pool, question: Question, tools: Tools) -> None:
    """Take in what extensions find: what they are sure of counts as much as the best of the others."""
    view = pool.plan.view
    for name in filter(None, map(str.strip, tools.config.recall.channels.split(","))):
        look_up: plugins.Channel = plugins.load("channels", name)
        found = dict(look_up(question, view, tools))
        keys = tools.store.memories.keys(list(found))
        allowed = tools.store.memories.allow(view, list(keys.values()))
        _include(candidates, allowed, pool)
        top = max((candidate.own for candidate in candidates.values()), default=0.0) or ALONE_FIT
        for memory_id, key in keys.items():
            if key in allowed and key in candidates:
                one, sure = candidates[key], min(1.0, max(0.0, found[memory_id]))
                one.reached += sure * top
                one.lent_relevance = max(one.lent_relevance, sure)
                one.told.append(Evidence("extensions", name, sure, "found by an extension"))


# ---------------------------------------------------------------- time
# The time channel: what happened when the question says.
#
# It finds the best by words and by meaning inside the time that is asked about, which a search through all
# times may have passed over; and everything of that time, latest first, when nothing else is asked. What it
# finds gains a share of its fit, more the nearer it lies. In the end, where something fits and lies in that
# time, what lies elsewhere goes; where nothing does, it stays, and the plan says so. A time with an open
# end, "since I moved", only prefers: much is told of later. Of several that fit, the first or the last
# comes first when that is asked for.


ALONE_FIT = 6.0
"""The fit of what happened at the time, when nothing else is asked: above what shares a word by chance."""
ALONE_RELEVANCE = 0.6
THEN_RELEVANCE = 0.3
"""What fits a little and happened at the time asked about is worth a look."""
MOST_READ = 2_000
"""When a time holds more memories than this, only its latest are looked at."""
MOST_COMPARED = 1_000_000
"""Up to so many memories of a time the nearest are looked for among themselves."""
TICK = timedelta(microseconds=1)


STRICT = timedelta(days=8)
"""What happened in a stretch up to this long happened then or speaks of its days; May is told of in June."""
ALIKE = 0.6
"""What fits at least so well as the best is about the same thing: of these the first or last is meant."""
EVENT_RELEVANCE = 0.35
"""How well a memory must fit the words of an event to say when it was."""
EVENT_WORDS = 300
EVENT_READ = 5
"""So many memories that fit its words best are read, to find the one that tells of it."""
EVENT_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Anchored:
    """A question whose time may be told from an event, and what that came to."""

    question: Question
    """With dates in place of "the week before my trip", else as it was."""
    spans: tuple[Span, ...] = ()
    """The time before or after the event, where no length is told."""
    rest: frozenset[str] = frozenset()
    """The words of such a question beside those of the event."""
    notes: tuple[str, ...] = ()


def anchor(question: Question, tools: Tools) -> Anchored:
    """The time that a question tells from an event, if a memory tells when that was.

    "The week before my trip" is a stretch of dates, and what is asked for lies there. "After the accident"
    may ask about the accident itself as well as about later: of what fits alike the later comes first.
    """
    now = plans.asked_at(question, tools)
    found = times.anchor(intents.asking(question.text)[:EVENT_WORDS], now)
    if found is None:
        return Anchored(question)
    event = _event(found, question, tools)
    if event is None:
        return Anchored(question, notes=(f"no memory tells when “{found.event}” was",))
    days = sorted(moment.date() for moment in _event_days(event))
    text, dated = times.told_from(question.text, found, days[0], days[-1])
    notes = (f"“{found.words}” is {dated}: {event.content[:80]}",)
    if found.length is not None:
        return Anchored(replace(question, text=text), notes=notes)
    spans = tuple(map(_with_event, times.spans(intents.asking(text), now)))
    rest = words.content_words(question.text) - words.content_words(found.words)
    return Anchored(question, spans, rest, notes)


def _with_event(span: Span) -> Span:
    """The time before or after an event and its day: what is told of it is often told then."""
    first, last = span.first and span.first - EVENT_DAY, span.last and span.last + EVENT_DAY
    return replace(span, first=first, last=last)


def _event(found: times.Anchor, question: Question, tools: Tools) -> Memory | None:
    """The memory that tells of an event: the best by words and meaning that says a word of it."""
    wanted = words.content_words(found.event)
    pool = search(plans.make(replace(question, text=found.event), tools), EVENT_READ)
    fitting = (line for line in pool.best(EVENT_READ).tolist() if pool["relevance"][line] >= EVENT_RELEVANCE)
    keys = pool.matched.keys[list(fitting)].tolist()
    read = tools.store.memories.read(keys)
    told = (read[key] for key in keys if key in read)
    return next((memory for memory in told if wanted & words.content_words(memory.content)), None)


def _event_days(memory: Memory) -> list[datetime]:
    """The days that its words speak of, if they speak of one stretch; else when it happened."""
    told = moments(memory)
    spoken = told[1:]
    return list(spoken if 0 < len(spoken) <= 2 else told[:1])  # noqa: PLR2004 - the ends of a stretch


def settle(ordered: list[Candidate], plan: Planned, asked: Anchored) -> Settled:
    """What lies in the time asked about, and of several the first or the last before the others."""
    question = asked.question
    kept, gone, notes = _narrowed(ordered, plan)
    kept, notes = _beside_the_event(kept, asked), (*asked.notes, *notes)
    which = times.superlative(intents.asking(question.text))
    if which is not None:
        kept = _by_time(kept, newest=which == "last")
        notes = (
            *notes,
            f"asks for the {which}: of what fits alike the {'newest' if which == 'last' else 'oldest'} first",
        )
    return Settled(kept, gone, notes)


def _beside_the_event(ordered: list[Candidate], asked: Anchored) -> list[Candidate]:
    """Of those that fit about as well as the best, what lies before or after the event comes first.

    Where the first speaks of nothing but the event, the best that answers the rest and lies there leads.
    """
    if not asked.spans or not ordered:
        return ordered
    best = ALIKE * max(one.fit for one in ordered)
    stretches = times.bounds(asked.spans)
    inside = {one.key for one in ordered if times.proximity(one.moments, stretches) == 1.0}
    ordered = sorted(ordered, key=lambda one: 2 if one.fit < best else 0 if one.key in inside else 1)
    if not asked.rest & words.content_words(ordered[0].record.content):
        ordered.sort(key=lambda one: not (one.key in inside and _covers(one.record, asked.rest)))
    return _scored(ordered)


def _covers(memory: Memory, asked: frozenset[str]) -> bool:
    """Whether it has half of the words or more."""
    return 2 * len(asked & words.content_words(memory.content)) >= len(asked) > 0


def _scored(ordered: list[Candidate]) -> list[Candidate]:
    """The same, with the scores in their order."""
    scores = sorted((one.score for one in ordered), reverse=True)
    for one, score in zip(ordered, scores, strict=True):
        one.score = score
    return ordered


@dataclass(frozen=True, slots=True)
class Settled:
    """The list by the times asked about, what went from it, and what is to be said about it."""

    ordered: list[Candidate]
    dropped: tuple[Dropped, ...] = ()
    notes: tuple[str, ...] = ()


def _narrowed(
    ordered: list[Candidate], plan: Planned
) -> tuple[list[Candidate], tuple[Dropped, ...], tuple[str, ...]]:
    """Without what lies elsewhere, where the best lies in the time asked about and that is a short one."""
    spans = [span for span in plan.shown.spans if None not in (span.first, span.last)]
    if not spans or not plan.shown.weights["time"] or not ordered:
        return ordered, (), ()
    stretches = times.bounds(spans)
    inside = [one for one in ordered if times.proximity(one.moments, stretches) == 1.0]
    named = ", ".join(span.words for span in spans)
    if not inside:
        return ordered, (), (f"nothing that fits lies in the time asked about ({named}): what fits is shown",)
    if ordered[0] not in inside or any(times.length(span) > STRICT or not span.hard for span in spans):
        return ordered, (), ()
    dropped = tuple(
        Dropped(
            one.record.id,
            one.record.forms.label,
            f"lies outside the time asked about ({named})",
            one.relevance,
        )
        for one in ordered
        if one not in inside
    )
    return inside, dropped, ()


def _by_time(kept: list[Candidate], *, newest: bool) -> list[Candidate]:
    """Those that fit about as well as the best, by time, then the others; the scores follow the order."""
    best = max((one.fit for one in kept), default=0.0)
    alike = [one for one in kept if one.fit >= ALIKE * best]
    others = [one for one in kept if one.fit < ALIKE * best]
    return _scored([*sorted(alike, key=lambda one: _told_of(one.record), reverse=newest), *others])


def _told_of(memory: Memory) -> datetime:
    """When what it tells of was: the last day before it was told that it speaks of, or when it happened."""
    happened, *days = moments(memory)
    return max((day for day in days if day <= happened), default=happened)


def search_time(pool: Pool, question: Question, tools: Tools) -> None:
    """Take in what happened at the times asked about, and mark it."""
    plan, most = pool.plan, TIME_CANDIDATES
    spans, gain = plan.shown.spans, plan.shown.weights["time"]
    if not spans or not most or not gain:
        return
    alone = times.is_all(intents.asking(question.text), spans)
    for span in spans:
        view = _inside(plan.view, span)
        if view is None:
            continue
        found = _everything(plan, view, most, tools) if alone else _best(plan, view, most)
        pool.include(found)
        lines = [pool.lines[key] for key in found if key in pool.lines]
        pool["time"][lines] = 1.0 + gain
        pool["dated"][lines] = ALONE_FIT if alone else 0.0


def weigh(read: Iterable[Candidate], plan: Planned, tools: Tools) -> None:
    """Give each memory that was read what its time is worth, and what its being new is."""
    gain, freshness = plan.shown.weights["time"], plan.shown.freshness
    now, stretches = tools.clock.now(), times.bounds(plan.shown.spans) if gain else ()
    if not stretches and not freshness:
        return
    for one in read:
        if stretches:
            near = times.proximity(one.moments, stretches)
            one.time = 1.0 + gain * near
            if near == 1.0 and one.own > 0:
                one.lent_relevance = max(one.lent_relevance, THEN_RELEVANCE)
            if one.dated:
                one.lent_relevance = max(one.lent_relevance, ALONE_RELEVANCE * near)
        if freshness:
            age = max(0.0, (now - one.record.happened_at) / timedelta(days=1))
            one.fresh = 1.0 + freshness * 0.5 ** (age / FRESH_DAYS)


def _inside(view: View, span: Span) -> View | None:
    """The view, narrowed to a time; None when the caller's own filters leave nothing of it."""
    since, until = view.filters.happened_since, view.filters.happened_until
    last = None if span.last is None else span.last - TICK
    since = span.first if since is None else max(since, span.first or since)
    until = last if until is None else min(until, last or until)
    if since is not None and until is not None and since > until:
        return None
    return View(view.access, replace(view.filters, happened_since=since, happened_until=until))


def _best(plan: Planned, view: View, most: int) -> list[int]:
    """The best of that time by words and by meaning."""
    found = plan.words.search(view, most).keys.tolist()
    if plan.near_search is None:
        return list(found)
    there = plan.words.within(view, MOST_COMPARED)
    near = plan.near_search.search(view, most) if there is None else plan.near_search.among(there, most)
    return list(dict.fromkeys([*found, *(key for key, _ in near)]))


def _everything(plan: Planned, view: View, most: int, tools: Tools) -> list[int]:
    """What there is of that time, as much as may come in, the latest stored first."""
    keys = plan.words.within(view, MOST_READ)
    if keys is not None:
        return [int(key) for key in keys[::-1][:most]]
    page = tools.store.memories.page(view, most)
    return list(tools.store.memories.keys([memory.id for memory in page]).values())
