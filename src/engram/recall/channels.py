"""Channels: each finds candidates in its own way, with scope and filters applied inside."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from types import MappingProxyType

from engram.config import RecallConfig
from engram.model.facts import EdgeType, Entity, FactQuery, ToldFact
from engram.model.memory import Kind, Memory
from engram.model.recall import Dropped, Evidence, Hit, Question, Recall, Span
from engram.ports import Link, Match, Tools, View
from engram.recall import intents, times
from engram.recall.candidates import Candidate
from engram.recall.plan import Planned
from engram.recall.plan import candidates as called
from engram.rules.activation import Reached, Spread, confidence_now, refined, spread
from engram.rules.chains import TrailAnswer, follow
from engram.rules.entities import also_called
from engram.text import words
from engram.text.cues import Cue, cues
from engram.text.statement import USER

# ---------------------------------------------------------------- text
# The text channel: memories that share words with the question.


def search_text(plan: Planned, tools: Tools) -> list[tuple[int, Match]]:
    """The best keys by BM25, best first; another name and a kindred word count less than what was asked."""
    if not plan.terms:
        return []
    most = round(plan.fetch * tools.config.recall.text_candidates)
    return tools.store.texts.search(plan.weighted_terms, plan.view, most)


def matches(plan: Planned, keys: Sequence[int], tools: Tools) -> dict[int, Match]:
    """The same for keys that another channel found."""
    if not keys:
        return {}
    return tools.store.texts.matches(plan.weighted_terms, keys, plan.view.access)


# ---------------------------------------------------------------- vector
# The vector channel: memories whose meaning lies near the question's.


def search_vectors(plan: Planned, tools: Tools) -> list[tuple[int, float]]:
    """The nearest keys by cosine, nearest first."""
    if plan.space is None or plan.vector is None:
        return []
    most = round(plan.fetch * tools.config.recall.vector_candidates)
    return tools.index.search(plan.space, plan.vector, most, plan.view)


def score_vectors(plan: Planned, keys: Sequence[int], tools: Tools) -> dict[int, float]:
    """The cosine of keys that another channel found; those without a vector are left out."""
    if plan.space is None or plan.vector is None or not keys:
        return {}
    from engram.rules.vectors import cosines

    stored = tools.store.vectors.rows(plan.space, keys)
    found = cosines(stored.rows.astype("float32"), plan.vector)
    return dict(zip(stored.keys.tolist(), found.tolist(), strict=True))


# ---------------------------------------------------------------- fuse
# Fusion: what the channels found becomes one list of candidates with one fit each.
#
# Scores are fused, not ranks: on conversations the strength of a match says more than its place. The words
# count by their BM25, the meaning by how far its cosine stands out of the noise of its space, in standard
# deviations, so that both speak the same language in every embedding model.
#
# How far words count follows the question. Where memories say most of its words, the words lead and kindred
# words hardly matter. Where they say few, people tell in other words than they ask: what happens to be
# shared counts less, kindred words count as much as said ones, and the meaning leads.
# `benchmarks/results/answers.md` has the comparison.


Found = Sequence[tuple[int, float]]

COVERED = 0.7
"""Share of a question's words, by how much they tell, from which on they count whole."""
OWN_LEAST = 0.7
"""What its words count when none is said."""
KIN_LEAST, KIN_MOST = 0.2, 2.0
"""Factors on the best kindred word: when the question's own are said, and when none is."""
SAID_RELEVANCE = 0.4
"""Text relevance of a memory that says all words of a question, however long it is."""


def heed_words(by_words: Sequence[tuple[int, Match]], plan: Planned) -> Planned:
    """The plan with how far the memories that were found say the question's own words."""
    covered = max((said_share(match.terms, plan.rarity) for _, match in by_words), default=0.0)
    return replace(plan, covered=covered)


def fuse(
    by_words: Sequence[tuple[int, Match]], by_meaning: Found, plan: Planned, tools: Tools
) -> dict[int, Candidate]:
    """All candidates by key, with what each channel says about each of them, found there or not."""
    candidates: dict[int, Candidate] = {}
    for rank, (key, match) in enumerate(by_words, start=1):
        candidates[key] = Candidate(key, match=match, text_rank=rank)
    for rank, (key, value) in enumerate(by_meaning, start=1):
        one = candidates.get(key)
        if one is None:
            one = candidates[key] = Candidate(key)
        one.cosine, one.vector_rank = value, rank
    _complete(candidates, plan, tools)
    for candidate in candidates.values():
        _weigh(candidate, plan, tools)
    return candidates


def include(
    candidates: dict[int, Candidate], found: Mapping[int, Match], plan: Planned, tools: Tools
) -> None:
    """Take in what another step found, with what the channels say about it."""
    new = {key: Candidate(key, match=match) for key, match in found.items() if key not in candidates}
    for key, value in score_vectors(plan, list(new), tools).items():
        new[key].cosine = value
    for one in new.values():
        _weigh(one, plan, tools)
    candidates.update(new)


def said_share(matched: Mapping[str, float], rarity: Mapping[str, float]) -> float:
    """The share of a question's words that are said, each by how much it tells.

    >>> said_share({"samovar": 4.0}, {"samovar": 6.0, "tea": 2.0})
    0.75
    """
    whole = sum(rarity.values())
    return sum(value for term, value in rarity.items() if term in matched) / whole if whole else 0.0


def words_fit(matched: Mapping[str, float], kin: frozenset[str], covered: float) -> float:
    """What the words of a memory count: those of the question, and the best of their kin.

    >>> words_fit({"husband": 4.0, "wife": 3.0}, frozenset({"wife"}), covered=1.0)
    4.6
    >>> words_fit({"husband": 4.0, "wife": 3.0}, frozenset({"wife"}), covered=0.0)
    8.8
    """
    own = kindred = 0.0
    for term, value in matched.items():
        if term in kin:
            kindred = max(kindred, value)
        else:
            own += value
    said = min(1.0, covered / COVERED)
    return round(
        own * (OWN_LEAST + (1.0 - OWN_LEAST) * said) + kindred * (KIN_MOST - (KIN_MOST - KIN_LEAST) * said), 9
    )


def _complete(candidates: dict[int, Candidate], plan: Planned, tools: Tools) -> None:
    """Ask each channel about the candidates that only the other one found."""
    wordless = [c.key for c in candidates.values() if c.text_rank is None]
    for key, match in matches(plan, wordless, tools).items():
        candidates[key].match = match
    unmeant = [c.key for c in candidates.values() if c.cosine is None]
    for key, value in score_vectors(plan, unmeant, tools).items():
        candidates[key].cosine = value


def _weigh(candidate: Candidate, plan: Planned, tools: Tools) -> None:
    settings, cosine, matched = tools.config.recall, candidate.cosine, candidate.match.terms
    candidate.said = said_share(matched, plan.rarity) if matched else 0.0
    most = plan.mass * (tools.config.text.k1 + 1)
    weights = plan.shown.weights
    by_words = words_fit(matched, plan.kin, plan.covered) if matched else 0.0
    share = max(by_words, candidate.match.score) / most if most else 0.0
    candidate.text = min(1.0, max(share, SAID_RELEVANCE * candidate.said))
    fit = weights["text"] * by_words
    if cosine is not None:
        candidate.meaning = weights["vector"] * plan.noise.deviations(cosine)
        above = plan.usual_noise.deviations(cosine) / settings.certain_deviations
        candidate.vector = min(1.0, max(0.0, above))
    candidate.own = max(0.0, fit + candidate.meaning)
    candidate.relevance = 1.0 - (1.0 - candidate.text) * (1.0 - candidate.vector)


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
FEW_TERMS = 3
"""A question of so few telling words that asks for no fact is about whom it names: "Ilse?"."""
ABOUT = 0.5
"""What a fact about somebody counts against one that answers a question."""


def boost_from_facts(candidates: dict[int, Candidate], plan: Planned, question: str, tools: Tools) -> None:
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
    include(candidates, matches(plan, new, tools), plan, tools)
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
    include(candidates, matches(plan, new, tools), plan, tools)
    top = max((one.own for one in candidates.values()), default=0.0)
    for claim in claims:
        if claim.key in candidates:
            one, score = candidates[claim.key], ABOUT * claim.sure
            one.reached += settings.fact_share * score * top
            one.lent_relevance = max(one.lent_relevance, settings.fact_relevance * score)
            one.told.append(Evidence("facts", "a fact about this", score, _worded(claim)))


def _gain(candidate: Candidate, answer: TrailAnswer, explained: float, top: float, tools: Tools) -> None:
    settings, score = tools.config.recall, answer.score * explained
    lent = settings.fact_share * score * top
    candidate.reached += lent
    candidate.lent_relevance = max(candidate.lent_relevance, settings.fact_relevance * score)
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
EXPLICIT = frozenset({EdgeType.CAUSED_BY, EdgeType.SUPPORTS, EdgeType.RELATED_TO})
"""Edges that somebody drew on purpose: what they lead to comes along with a hit."""
SURE = 0.6
"""How sure such an edge must still be."""
LEAST = 0.1
"""What is less active than this neither spreads nor is brought to mind."""
GRAPH_SHOWN = 8
"""Characters of an id that tell it apart for a person."""


def boost_from_graph(
    candidates: dict[int, Candidate], plan: Planned, tools: Tools, *, explain: bool = False
) -> None:
    """Let the best candidates lend along their edges; new candidates may come in.

    To `explain` costs a look at the memories that the edges come from.
    """
    settings = tools.config.recall
    share = settings.graph_share * plan.shown.weights.get("graph", 1.0)
    best = sorted(candidates.values(), key=lambda c: (-c.own, c.key))[: settings.graph_starts]
    if share <= 0 or not best or best[0].own <= 0:
        return
    top = best[0].own
    reached, active = _walk({one.key: one.own / top for one in best}, plan, tools)
    got = {key: one for key, one in reached.items() if one.received >= LEAST}
    if not got:
        return
    new = [key for key in got if key not in candidates]
    include(candidates, matches(plan, new, tools), plan, tools)
    for key, one in got.items():
        if key in candidates:
            candidate, start = candidates[key], candidates[one.path[0].key]
            candidate.reached += share * active[key] * top
            candidate.lent_relevance = max(candidate.lent_relevance, share * active[key] * start.relevance)
            if all(link.type in EXPLICIT and link.confidence >= SURE for link in one.path):
                candidate.tied, candidate.tied_to = str(one.path[-1].type), start.key
    if explain:
        _tell(candidates, got, tools)


def _walk(
    starts: Mapping[int, float], plan: Planned, tools: Tools
) -> tuple[dict[int, Reached], dict[int, float]]:
    settings, walked = tools.config.recall, list[Link]()
    now, ageing, types = tools.clock.now(), tools.config.edges, tuple(WEIGHTS)

    def links(keys: Sequence[int]) -> list[Link]:
        found = [
            Link(
                link.key,
                link.other,
                link.type,
                link.forward,
                link.weight * WEIGHTS[link.type],
                confidence_now(link.type, link.confidence, link.drawn_at, now, ageing),
            )
            for link in tools.store.relations.links(keys, types, plan.view)
        ]
        walked.extend(found)
        return found

    limits = Spread(
        hops=plan.shown.hops,
        decay=settings.graph_decay,
        least_confidence=settings.graph_confidence,
        least_start=LEAST,
        wide=settings.graph_starts,
        nodes=settings.graph_nodes,
    )
    reached = spread(starts, links, limits)
    if settings.graph_rounds and walked:
        better = refined(reached, walked, settings.graph_rounds)
        return reached, {key: one.received * better[key] / one.activation for key, one in reached.items()}
    return reached, {key: one.received for key, one in reached.items()}


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


QUESTION_MARKS = ("?", "？", "吗", "呢")
QUESTION_TAIL = 40
"""A turn asks when a question mark stands within so many characters of its end."""


@dataclass(frozen=True, slots=True)
class Loan:
    """Who may lend to whom, and which share of it."""

    lender: int
    borrower: int
    share: float


@dataclass(slots=True)
class Borrowed:
    """What a turn has borrowed: the best offer for each word, and for the meaning."""

    words: dict[str, float] = field(default_factory=dict)
    meaning: float = 0.0
    relevance: float = 0.0

    @property
    def fit(self) -> float:
        """All of it together."""
        return sum(self.words.values()) + self.meaning


def boost_from_neighbours(candidates: dict[int, Candidate], plan: Planned, tools: Tools) -> None:
    """Let the best candidates lend to their neighbours; new candidates may come in."""
    best = sorted(candidates.values(), key=lambda c: (-c.own, c.key))[: tools.config.recall.lenders]
    loans = list(_loans([one.key for one in best if one.own > 0], plan, tools))
    if not loans:
        return
    parties = dict.fromkeys(key for loan in loans for key in (loan.lender, loan.borrower))
    include(candidates, matches(plan, [key for key in parties if key not in candidates], tools), plan, tools)
    told = {key: candidates[key].match for key in parties if key in candidates}
    for key, borrowed in _settle(loans, told, candidates, plan, tools.config.recall).items():
        candidates[key].lent = borrowed.fit
        candidates[key].lent_relevance = borrowed.relevance


def _loans(lenders: list[int], plan: Planned, tools: Tools) -> Iterator[Loan]:
    settings = tools.config.recall
    after, before = _steps(lenders, plan, tools)
    asking = _asking([key for key in lenders if after[key]], tools)
    for steps, near in ((after, settings.next_share), (before, settings.previous_share)):
        for lender in lenders:
            for first in steps[lender]:
                more = settings.answer_share if steps is after and lender in asking else 0.0
                yield Loan(lender, first, near + more)
                yield from (Loan(lender, second, near * settings.far_share) for second in steps[first])


def _steps(lenders: list[int], plan: Planned, tools: Tools) -> tuple[Mapping[int, list[int]], ...]:
    """For each turn those that follow it and those before it, as far as two steps from a lender."""
    links = tools.store.relations.links
    near = links(lenders, (EdgeType.NEXT,), plan.view)
    known = frozenset(lenders)
    further = links(sorted({link.other for link in near} - known), (EdgeType.NEXT,), plan.view)
    after, before = defaultdict[int, list[int]](list), defaultdict[int, list[int]](list)
    for link in (*near, *further):
        (after if link.forward else before)[link.key].append(link.other)
    return after, before


def _asking(keys: list[int], tools: Tools) -> set[int]:
    endings = tools.store.memories.endings(keys, QUESTION_TAIL) if keys else {}
    return {key for key, ending in endings.items() if asks(ending)}


def asks(content: str) -> bool:
    """Whether a turn ends with a question.

    >>> (
    ...     asks("I was there. How about you?"),
    ...     asks("Why? Because I said so, and that is the whole of it, really."),
    ... )
    (True, False)
    """
    return any(mark in content[-QUESTION_TAIL:] for mark in QUESTION_MARKS)


def _settle(
    loans: Iterable[Loan],
    told: Mapping[int, Match],
    candidates: Mapping[int, Candidate],
    plan: Planned,
    settings: RecallConfig,
) -> dict[int, Borrowed]:
    """What every borrower gets in the end."""
    weight = plan.shown.weights["text"]
    openness = {key: 1 / (1 + (match.length / settings.lending_words) ** 2) for key, match in told.items()}
    got: dict[int, Borrowed] = defaultdict(Borrowed)
    for loan in loans:
        if loan.lender not in told or loan.borrower not in told:
            continue
        share = loan.share * openness[loan.lender] * openness[loan.borrower]
        lender, borrower, held = candidates[loan.lender], candidates[loan.borrower], got[loan.borrower]
        has = told[loan.borrower].terms
        for term, value in told[loan.lender].terms.items():
            offer = share * weight * (value - has.get(term, 0.0))
            if offer > held.words.get(term, 0.0):
                held.words[term] = offer
        held.meaning = max(held.meaning, share * (lender.meaning - max(0.0, borrower.meaning)))
        held.relevance = max(held.relevance, share * lender.relevance)
    return got


# ---------------------------------------------------------------- overview
# The overview: a question that asks for everything and nothing in particular gets what matters most.


READ = 200
"""So many of the latest statements are looked at."""
FIT, RELEVANCE = 6.0, 0.6
"""The fit of what matters most, and its relevance: nothing was asked that it could fail to answer."""
PINNED = 0.2


def search(candidates: dict[int, Candidate], plan: Planned, question: Question, tools: Tools) -> None:
    """Take in what matters most, for a question that asks for an overview."""
    if not intents.is_overview(question.text):
        return
    filters = plan.view.filters
    lasting = (
        filters if filters.kinds else replace(filters, kinds=frozenset({Kind.SEMANTIC, Kind.PROCEDURAL}))
    )
    page = tools.store.memories.page(View(plan.view.access, lasting), READ)
    weight = {one.id: one.importance + PINNED * one.pinned for one in page}
    best = sorted(weight, key=lambda memory_id: -weight[memory_id])[: 2 * question.limit]
    keys = tools.store.memories.keys(best)
    include(candidates, matches(plan, list(keys.values()), tools), plan, tools)
    for memory_id, key in keys.items():
        if key in candidates:
            candidates[key].dated = FIT * weight[memory_id]
            candidates[key].lent_relevance = max(candidates[key].lent_relevance, RELEVANCE)


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
TICK = timedelta(microseconds=1)


STRICT = timedelta(days=8)
"""What happened in a stretch up to this long happened then or speaks of its days; May is told of in June."""
ALIKE = 0.6
"""What fits at least so well as the best is about the same thing: of these the first or last is meant."""
EVENT_RELEVANCE = 0.35
"""How well a memory must fit the words of an event to say when it was."""
EVENT_WORDS = 300
EVENT_DAY = timedelta(days=1)
BESIDE = 1
"""So many that lie before or after an event stand between those that speak of it."""
Ask = Callable[[Question, Tools], Recall]


@dataclass(frozen=True, slots=True)
class Anchored:
    """A question whose time may be told from an event, and what that came to."""

    question: Question
    """With dates in place of "the week before my trip", else as it was."""
    beside: tuple[Hit, ...] = ()
    """What answers the rest of the question and lies before or after the event, where no length is told."""
    rest: frozenset[str] = frozenset()
    """The words of that rest."""
    spans: tuple[Span, ...] = ()
    """The time before or after the event."""
    notes: tuple[str, ...] = ()


def anchor(question: Question, tools: Tools, ask: Ask) -> Anchored:
    """The time that a question tells from an event, if a memory tells when that was; `ask` recalls.

    "The week before my trip" is a stretch of dates, and what is asked for lies there. "After the accident"
    may ask about the accident itself as well as about later: both are looked for.
    """
    found = times.anchor(intents.asking(question.text)[:EVENT_WORDS], tools.clock.now())
    if found is None:
        return Anchored(question)
    quiet = replace(
        question, limit=5, dry=True, explain=False, expand=False, rerank="none", budget=None, trial=""
    )
    event = _event(found, ask(replace(quiet, text=found.event), tools))
    if event is None:
        return Anchored(question, notes=(f"no memory tells when “{found.event}” was",))
    days = sorted(moment.date() for moment in _event_days(event))
    text, dated = times.told_from(question.text, found, days[0], days[-1])
    notes = (f"“{found.words}” is {dated}: {event.content[:80]}",)
    if found.length is not None:
        return Anchored(replace(question, text=text), notes=notes)
    rest = ask(replace(quiet, text=text), tools)
    fit = (hit for hit in rest if times.proximity(_moments(hit.memory), rest.plan.spans) == 1.0)
    others = words.content_words(question.text) - words.content_words(found.words)
    beside = tuple(hit for hit in fit if hit.memory.id != event.id and _covers(hit.memory, others))[:BESIDE]
    return Anchored(question, beside, others, tuple(map(_with_event, rest.plan.spans)), notes)


def _with_event(span: Span) -> Span:
    """The time before or after an event and its day: what is told of it is often told then."""
    first, last = span.first and span.first - EVENT_DAY, span.last and span.last + EVENT_DAY
    return replace(span, first=first, last=last)


def _covers(memory: Memory, asked: frozenset[str]) -> bool:
    """Whether it has half of the words or more."""
    return 2 * len(asked & words.content_words(memory.content)) >= len(asked) > 0


def _event(found: times.Anchor, told: Recall) -> Memory | None:
    """The memory that tells of an event."""
    wanted = words.content_words(found.event)
    fitting = (hit.memory for hit in told if hit.relevance >= EVENT_RELEVANCE)
    return next((memory for memory in fitting if wanted & words.content_words(memory.content)), None)


def _event_days(memory: Memory) -> list[datetime]:
    """The days that its words speak of, if they speak of one stretch; else when it happened."""
    told = list(_moments(memory))
    spoken = told[1:]
    return spoken if 0 < len(spoken) <= 2 else told[:1]  # noqa: PLR2004 - the ends of a stretch


def settle(ordered: list[Candidate], plan: Planned, asked: Anchored, tools: Tools) -> Settled:
    """What lies in the time asked about, and of several the first or the last before the others."""
    question = asked.question
    kept, gone, notes = _narrowed(ordered, plan)
    kept, notes = _interleaved(kept, asked, tools), (*asked.notes, *notes)
    which = times.superlative(intents.asking(question.text))
    if which is not None:
        kept = _by_time(kept, newest=which == "last")
        notes = (
            *notes,
            f"asks for the {which}: of what fits alike the {'newest' if which == 'last' else 'oldest'} first",
        )
    return Settled(kept, gone, notes)


def _interleaved(ordered: list[Candidate], asked: Anchored, tools: Tools) -> list[Candidate]:
    """What lies beside an event and what speaks of it, in turn, where the best speaks of nothing else."""
    beside, ordered = asked.beside, _preferred(ordered, asked.spans)
    if not beside or (ordered and asked.rest & words.content_words(ordered[0].record.content)):
        return ordered
    keys = tools.store.memories.keys([hit.memory.id for hit in beside])
    known = {one.record.id: one for one in ordered}
    first = [
        known.get(hit.memory.id)
        or Candidate(
            keys[hit.memory.id],
            own=hit.score,
            relevance=hit.relevance,
            trust=hit.trust,
            score=hit.score,
            memory=hit.memory,
            told=[Evidence("time", "lies beside the event", hit.relevance)],
        )
        for hit in beside
    ]
    rest = [one for one in ordered if one not in first]
    woven = [one for pair in zip(first, rest, strict=False) for one in pair]
    return _scored([*woven, *first[len(rest) :], *rest[len(first) :]])


def _preferred(ordered: list[Candidate], spans: tuple[Span, ...]) -> list[Candidate]:
    """Of those that fit about as well as the best, what lies in the time comes first."""
    if not spans or not ordered:
        return ordered
    best = ALIKE * max(one.fit for one in ordered)

    def place(one: Candidate) -> int:
        inside = times.proximity(_moments(one.record), spans) == 1.0
        return 2 if one.fit < best else 0 if inside else 1

    return _scored(sorted(ordered, key=place))


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
    inside = [one for one in ordered if times.proximity(_moments(one.record), spans) == 1.0]
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
    happened, *days = _moments(memory)
    return max((day for day in days if day <= happened), default=happened)


def search_time(candidates: dict[int, Candidate], plan: Planned, question: Question, tools: Tools) -> None:
    """Take in what happened at the times asked about, and mark it."""
    spans, most = plan.shown.spans, tools.config.plan.time_candidates
    gain = plan.shown.weights["time"]
    if not spans or not most or not gain:
        return
    alone = times.is_all(intents.asking(question.text), spans)
    for span in spans:
        view = _inside(plan.view, span)
        if view is None:
            continue
        found = _everything(view, most, tools) if alone else _best(plan, view, most, tools)
        include(candidates, matches(plan, found, tools), plan, tools)
        for key in found:
            one = candidates.get(key)
            if one is not None:
                one.time = 1.0 + gain
                one.dated = ALONE_FIT if alone else 0.0


def weigh(read: Iterable[Candidate], plan: Planned, tools: Tools) -> None:
    """Give each memory that was read what its time is worth, and what its being new is."""
    gain, freshness = plan.shown.weights["time"], plan.shown.freshness
    now, days = tools.clock.now(), tools.config.plan.fresh_days
    for one in read:
        if plan.shown.spans and gain:
            near = times.proximity(_moments(one.record), plan.shown.spans)
            one.time = 1.0 + gain * near
            if near == 1.0 and one.own > 0:
                one.lent_relevance = max(one.lent_relevance, THEN_RELEVANCE)
            if one.dated:
                one.lent_relevance = max(one.lent_relevance, ALONE_RELEVANCE * near)
        if freshness:
            age = max(0.0, (now - one.record.happened_at) / timedelta(days=1))
            one.fresh = 1.0 + freshness * 0.5 ** (age / days)


def _inside(view: View, span: Span) -> View | None:
    """The view, narrowed to a time; None when the caller's own filters leave nothing of it."""
    since, until = view.filters.happened_since, view.filters.happened_until
    last = None if span.last is None else span.last - TICK
    since = span.first if since is None else max(since, span.first or since)
    until = last if until is None else min(until, last or until)
    if since is not None and until is not None and since > until:
        return None
    return View(view.access, replace(view.filters, happened_since=since, happened_until=until))


def _best(plan: Planned, view: View, most: int, tools: Tools) -> list[int]:
    """The best of that time by words and by meaning."""
    found = (
        [key for key, _ in tools.store.texts.search(plan.weighted_terms, view, most)] if plan.terms else []
    )
    if plan.space is not None and plan.vector is not None:
        found += [key for key, _ in tools.index.search(plan.space, plan.vector, most, view)]
    return list(dict.fromkeys(found))


def _everything(view: View, most: int, tools: Tools) -> list[int]:
    """What there is of that time, as much as may come in, the latest stored first."""
    keys = tools.store.memories.select(view, MOST_READ)
    if keys is not None:
        return [int(key) for key in keys[::-1][:most]]
    page = tools.store.memories.page(view, most)
    return list(tools.store.memories.keys([memory.id for memory in page]).values())


def _moments(memory: Memory) -> Iterator[datetime]:
    """When it happened, and the days that its words speak of."""
    yield memory.happened_at
    for day in memory.metadata.get("dates", ()):
        try:
            yield datetime.fromisoformat(str(day)).replace(hour=12, tzinfo=memory.happened_at.tzinfo)
        except ValueError:
            continue
