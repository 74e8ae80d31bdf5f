"""Reranking: what was found and judged is put in order once more. Begin with `rerank`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, fields
from datetime import datetime
from functools import partial
from itertools import combinations
from math import exp
from types import MappingProxyType
from typing import TYPE_CHECKING

from engram.errors import RerankerDown
from engram.lazily import dataclass, lazily
from engram.model.facts import EdgeType
from engram.model.memory import SOURCE_TRUST, Memory, Status
from engram.model.recall import Evidence, Question
from engram.ports import Noise, Tools
from engram.recall import intents
from engram.recall.candidates import Candidate
from engram.recall.judge import GONE, asks_of_oneself, gain
from engram.recall.plan import USER, Planned
from engram.text import re
from engram.text.cues import slots_asked, slots_told
from engram.text.facts import facts
from engram.text.marks import differences, marks
from engram.text.slots import asks_where, kinds_asked, tells_where, value_kinds
from engram.text.words import content_words

if TYPE_CHECKING:
    from engram.recall.pool import Pool
    from engram.rules import sameness
    from engram.text import assertion
else:
    assertion = lazily("engram.text.assertion")
    sameness = lazily("engram.rules.sameness")

MMR_LAMBDA = 0.7  # relevance against variety
MMR_DEPTH = 15  # how far down the list reranking looks (measured)
READ_DEPTH = 30  # hits that a cross-encoder or a model puts in order

# ---------------------------------------------------------------- order
# An order: what a reranking proposes. Nothing is changed before it is chosen, so two can be compared.


@dataclass(frozen=True, slots=True)
class RankingOrder:
    """Candidates in an order, and why."""

    ordered: Sequence[Candidate]
    scores: Mapping[int, float] = field(default_factory=dict)
    """New scores by key; the others keep theirs."""
    told: Mapping[int, tuple[Evidence, ...]] = field(default_factory=dict)
    """What is to be told of a candidate, by key."""
    notes: tuple[str, ...] = ()

    def score(self, one: Candidate) -> float:
        """What a candidate is worth in this order."""
        return self.scores.get(one.key, one.score)

    def settle(self) -> list[Candidate]:
        """Let it count: scores and reasons are written into the candidates."""
        for one in self.ordered:
            one.score = self.score(one)
            one.told.extend(self.told.get(one.key, ()))
        return list(self.ordered)

    def ndcg(self, limit: int) -> float:
        """The first `limit` in this order against the best choice of as many, by their own relevance."""
        grades = [one.relevance for one in self.ordered]
        best = gain(sorted(grades, reverse=True)[:limit])
        return gain(grades[:limit]) / best if best else 0.0


# ---------------------------------------------------------------- mmr
# Variety: near-duplicates must not crowd the list.
#
# Maximal marginal relevance, where only what is nearly the same counts as repetition: two memories on one
# topic are no repetition of each other, and pushing one down for that would lose answers that need both.
# What says just the same as a hit above it, with the same numbers, names, times and negation, goes behind
# all else.


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


def spread_by_mmr(order: RankingOrder, plan: Planned, question: Question) -> RankingOrder:
    """The order with repetitions moved down; those beyond the depth stay where they are."""
    head, tail = _cut(order, question)
    likeness = _likeness(head, plan)
    if not likeness.near:
        return order
    picked, repeats = _pick(head, order, likeness, MMR_LAMBDA)
    return _apart([*picked, *tail], order, likeness, repeats)


def set_apart(order: RankingOrder, plan: Planned, question: Question) -> RankingOrder:
    """The order as it is, but what says just the same as something above goes to the end."""
    likeness = _likeness(_cut(order, question)[0], plan)
    return _apart(list(order.ordered), order, likeness, {}) if likeness.same else order


def _cut(order: RankingOrder, question: Question) -> tuple[list[Candidate], list[Candidate]]:
    depth = max(MMR_DEPTH, question.limit)
    return list(order.ordered[:depth]), list(order.ordered[depth:])


def _likeness(head: Sequence[Candidate], plan: Planned) -> Likeness:
    near, close = _by_vectors(head, plan) if plan.near_search is not None else _by_words(head)
    read = {one.key: one.record.content for one in head}
    same = frozenset((a, b) for a, b in close if not differences(marks(read[a]), marks(read[b])))
    return Likeness(near, same)


def _by_vectors(head: Sequence[Candidate], plan: Planned) -> tuple[dict[Pair, float], list[Pair]]:
    """Pairs that are nearly the same with how nearly, and those of them that may be just the same."""
    import numpy as np

    assert plan.near_search is not None  # noqa: S101 - asked before; told to the type checker
    keys = [one.key for one in head]
    start = plan.near.strong
    cosines = plan.near_search.between(np.array(keys, dtype=np.int64))
    near = zip(*(part.tolist() for part in (cosines > start).nonzero()), strict=True)
    found = [(_sorted(keys[i], keys[j]), float(cosines[i, j])) for i, j in near if i < j]
    alike = {pair: (cosine - start) / (1.0 - start) for pair, cosine in found}
    return alike, [pair for pair, cosine in found if cosine >= plan.near.duplicate]


def _by_words(head: Sequence[Candidate]) -> tuple[dict[Pair, float], list[Pair]]:
    """The same by shared words, where there are no vectors."""
    start = sameness.JACCARD_ALONE
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
    head: list[Candidate], order: RankingOrder, likeness: Likeness, balance: float
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


def _apart(
    ordered: list[Candidate], order: RankingOrder, likeness: Likeness, repeats: dict[int, float]
) -> RankingOrder:
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
    return RankingOrder([*shown, *behind], order.scores, told, order.notes)


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


# ---------------------------------------------------------------- readers
# Readers: question and memory are read together, by a cross-encoder in this process or by the model.
#
# Only the head of the list is read; what stands below stays below.


def by_cross_encoder(
    ranked: list[Candidate], plan: Planned, question: Question, tools: Tools
) -> RankingOrder:
    """The head in the order of the cross-encoder's scores; near-duplicates still stand apart."""
    if tools.reranker is None:
        raise RerankerDown("No cross-encoder is configured: set rerank.path to the folder of one.")
    head, tail = _cut_readers(ranked, question)
    given = tools.reranker.score(question.text, [_read(one) for one in head])
    said = {one.key: value for one, value in zip(head, given, strict=True)}
    told = {key: (Evidence("rerank", "cross-encoder", value),) for key, value in said.items()}
    order = RankingOrder(
        [*sorted(head, key=lambda one: -said[one.key]), *tail],
        {key: 1 / (1 + exp(-max(-50.0, min(50.0, value)))) for key, value in said.items()} | _below(tail),
        told,
    )
    return set_apart(order, plan, question)


def by_model(ranked: list[Candidate], plan: Planned, question: Question, tools: Tools) -> RankingOrder:
    """The head in the order of the model; without an answer the repetitions are spread instead."""
    head, tail = _cut_readers(ranked, question)
    places = tools.advisor.rank(question.text, [_read(one) for one in head])
    if places is None:
        spread = spread_by_mmr(RankingOrder(ranked), plan, question)
        note = "the model gave no order: near-duplicates were spread instead (mmr)"
        return RankingOrder(spread.ordered, spread.scores, spread.told, (note,))
    ordered = [head[place] for place in places]
    scores = {one.key: 1 - place / max(1, len(ordered)) for place, one in enumerate(ordered)}
    told = {
        one.key: (Evidence("rerank", "the model's place", float(place)),)
        for place, one in enumerate(ordered, 1)
    }
    return RankingOrder([*ordered, *tail], scores | _below(tail), told)


def _cut_readers(ranked: list[Candidate], question: Question) -> tuple[list[Candidate], list[Candidate]]:
    depth = max(READ_DEPTH, question.limit)
    return ranked[:depth], ranked[depth:]


def _read(one: Candidate) -> str:
    memory = one.record
    return f"{memory.speaker}: {memory.content}" if memory.speaker else memory.content


def _below(tail: list[Candidate]) -> dict[int, float]:
    """What was not read is worth nothing beside what was."""
    return {one.key: 0.0 for one in tail}


# ---------------------------------------------------------------- rrf
# Reciprocal rank fusion: each channel has ranked what it found; only the ranks count.
#
# What a channel did not find gets nothing from it. Every `…_rank` of a candidate is a channel's; the turns
# that neighbours lent to are ranked by what they were lent.


K = 60
"""How little the first places differ: the figure of the method's authors."""
_RANKS = tuple(field.name for field in fields(Candidate) if field.name.endswith("_rank"))


def fuse_ranks(ranked: Sequence[Candidate]) -> RankingOrder:
    """The order by the sum of 1/(K + rank); equals stay as they were judged. The best scores 1."""
    lent = sorted((one for one in ranked if one.lent > 0), key=lambda one: -one.lent)
    lent_rank = {one.key: rank for rank, one in enumerate(lent, 1)}
    sums = {one.key: sum(1 / (K + rank) for rank in _ranks(one, lent_rank)) for one in ranked}
    top = max(sums.values(), default=0.0) or 1.0
    return RankingOrder(
        sorted(ranked, key=lambda one: -sums[one.key]),
        {key: value / top for key, value in sums.items()},
        {key: (Evidence("rerank", "rank fusion", value / top),) for key, value in sums.items()},
    )


def _ranks(one: Candidate, lent_rank: dict[int, int]) -> Iterator[int]:
    for name in _RANKS:
        rank = getattr(one, name)
        if rank is not None:
            yield rank
    if one.key in lent_rank:
        yield lent_rank[one.key]


# ---------------------------------------------------------------- choose
# Choosing: the judged list comes in; the list as it is shown comes out, and what is to be said about it.
#
# A memory that holds no longer never rises above one that does, whatever the mode.


Way = Callable[[list[Candidate], Planned, Question, Tools], RankingOrder]


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


def _propose(
    ranked: list[Candidate], mode: str, *, plan: Planned, question: Question, tools: Tools
) -> RankingOrder:
    """One order of what holds, followed by one of what holds no longer."""
    holds = [one for one in ranked if one.record.status not in GONE]
    gone = [one for one in ranked if one.record.status in GONE]
    orders = [WAYS[mode](part, plan, question, tools) for part in (holds, gone) if part]
    return RankingOrder(
        [one for order in orders for one in order.ordered],
        {key: score for order in orders for key, score in order.scores.items()},
        {key: told for order in orders for key, told in order.told.items()},
        tuple(dict.fromkeys(note for order in orders for note in order.notes)),
    )


WAYS: Mapping[str, Way] = MappingProxyType(
    {
        "none": lambda ranked, *_: RankingOrder(ranked),
        "mmr": lambda ranked, plan, question, _: spread_by_mmr(RankingOrder(ranked), plan, question),
        "rrf": lambda ranked, *_: fuse_ranks(ranked),
        "rrf_then_mmr": lambda ranked, plan, question, _: spread_by_mmr(fuse_ranks(ranked), plan, question),
        "cross_encoder": by_cross_encoder,
        "model": by_model,
    }
)


# ---------------------------------------------------------------- several
# Several things: what a question after more than one is answered by was seldom all said in one conversation.


AGAIN = 0.93
"""What a further hit of the same conversation counts, for each that stands above it (measured)."""
SPREAD = 20
"""So many hits are spread over their conversations, the best (measured)."""


def over_sessions(ordered: list[Candidate], mode: str, question: Question) -> list[Candidate]:
    """The hits for a question after several things, from more conversations; the scores stay in order."""
    if mode in GIVEN or question.per_session is not None or not intents.is_several(question.text):
        return ordered
    rest, told = ordered[:SPREAD], Counter[str]()
    best: list[Candidate] = []
    while rest:
        one = max(rest, key=lambda one: one.score * AGAIN ** told[one.record.session])
        told[one.record.session] += bool(one.record.session)
        if one is not rest[0]:
            one.told.append(
                Evidence("rerank", "of another conversation", 1.0, "several things are asked for")
            )
        rest.remove(one)
        best.append(one)
    for one, score in zip(best, [one.score for one in ordered[:SPREAD]], strict=True):
        one.score = score
    return [*best, *ordered[SPREAD:]]


# ---------------------------------------------------------------- newest
# Newest first: of statements about the one thing that a question asks about, the latest leads.
#
# People say what is so now; what was so before they seldom take back in so many words. Whether a later
# statement is a later word on the first hit, and on the part of it that is asked about, is weighed: how well
# it fits the question beside the first, whether it tells of a change, whether it was linked to the first when
# it was heard ("the Fit died, I bought a Subaru" answers "what do I drive?" through "I drive a Fit"), whether
# it fills the slot that is asked for or another one, and whether it has a value of the kind that the first
# has, or lacks the kind that is asked for. Turns of a logged talk and documents keep their order: what was
# said in a talk is evidence, and a page has no "now".


GIVEN = frozenset({"none", "cross_encoder", "model"})
"""Ways of reranking whose order stays."""
HEAD = 4
"""So many hits are compared, the best."""
BELIEVED = 5
"""So many hits are put in order by whether they are believed."""
FITS, MEANS, CHANGES, LINKED = 1.0, 0.25, 1.4, 1.85
SAME_KIND, FILLS, SAME_TALK, SAME_NAME = 0.8, 1.45, 1.3, 0.8
LACKS, ELSEWHERE, LONG = -1.15, -2.0, -1.1
"""What speaks for a later word, and what against it: see `later_word`. By logistic regression over cases."""
SAYS_AS_MUCH, MUCH_SAID, AS_MUCH = 0.8, 0.5, 0.8
"""What speaks for it too: the first says that share of what is asked, and it nearly as much."""
LATER_WORD, MAYBE_LATER, SURE = 2.1, 1.3, 9.0
"""From so much on it is one and stands before the first hit; or may be one and stands right behind it."""
AS_SURE = 0.5
"""Of those as sure as the surest, or nearly, the latest counts."""


def newest_first(
    ordered: list[Candidate], mode: str, pool: Pool, question: Question, tools: Tools
) -> list[Candidate]:
    """The list with the latest words on its first hit before it; scores stay in order.

    An order that a reader gave, or that was asked for as judged, stays.
    """
    if mode in GIVEN or not ordered or _asks_for_the_past(pool.plan, question, tools):
        return ordered
    ordered = _believed_first(ordered)
    first = ordered[0]
    if not _may_move(first):
        return ordered
    found = _later_words(ordered, pool, question, tools)
    if not found:
        return ordered
    best = max(much for _, much in found)
    latest = max((one for one, much in found if much >= best - AS_SURE), key=_heard_at)
    moved, beside = ([latest], []) if best >= LATER_WORD else ([], [latest])
    for one in (*moved, *beside):
        one.told.append(Evidence("rerank", "a later word", 1.0, f"on {first.record.id[:8]}"))
    leading = [*moved, first, *beside]
    result = [*leading, *(one for one in ordered if one not in leading)]
    for one, score in zip(result, sorted((one.score for one in result), reverse=True), strict=True):
        one.score = score
    return result


def _heard_at(one: Candidate) -> datetime:
    return one.record.heard_at


def _believed_first(ordered: list[Candidate]) -> list[Candidate]:
    """Of the first hits those that are believed before those that are only said; the scores stay in order.

    What has nothing of its own that fits, and is there for what stands beside it, stays where it is.
    """
    head = ordered[:BELIEVED]
    moved = sorted(head, key=lambda one: one.record.status is Status.SAID or one.own + one.reached <= 0)
    for one, score in zip(moved, [one.score for one in head], strict=True):
        one.score = score
    return [*moved, *ordered[BELIEVED:]]


def _later_words(
    ordered: Sequence[Candidate], pool: Pool, question: Question, tools: Tools
) -> list[tuple[Candidate, float]]:
    """What may be a later word on the first hit, among the best or led to by it, and how much says so."""
    first, known, plan = ordered[0], {one.key: one for one in ordered}, pool.plan
    links = tools.store.relations.links([first.key], (EdgeType.UPDATES,), plan.view)
    linked = {link.other for link in links if not link.forward}
    read = tools.store.memories.read(sorted(linked - known.keys()))
    pool.include(read)
    known |= {key: _brought(one, read[key], first) for key, one in pool.candidates(read).items()}
    ended = _ended_by(first, ordered[:BELIEVED])
    text = question.text
    asked = Asked(
        text,
        frozenset(slots_asked(text)),
        kinds_asked(text),
        plan.kinds,
        plan.noise,
        own=asks_of_oneself(text, plan),
    )
    tells = (one for one in ordered[HEAD:] if not asked.slots.isdisjoint(one.match.terms))
    led_to = (known[key] for key in linked | ended if key in known)
    beside = () if first.answers > 1 else (*ordered[1:HEAD], *tells)
    near = {one.key: one for one in (*beside, *led_to)}
    found = [
        (one, SURE if key in ended else later_word(first, one, asked, linked=key in linked))
        for key, one in near.items()
        if _may_move(one) and one.record.heard_at > first.record.heard_at
    ]
    return [(one, much) for one, much in found if much >= MAYBE_LATER]


@dataclass(frozen=True, slots=True)
class Asked:
    """What of a life, and what kind of value, a question asks for."""

    text: str
    slots: frozenset[str]
    kinds: frozenset[str]
    things: frozenset[str]
    """Terms for the kinds of things."""
    noise: Noise
    own: bool = False
    """Whether it is asked of whoever asks."""


TELLING_KINDS = frozenset({"day", "time", "money", "measure"})
"""A count stands in nearly every statement: two that have one have nothing in common."""
FEW_WORDS, MANY_WORDS = 8, 3.0
"""Telling words of a statement of one thing; from so many times that on one more makes no difference."""


def later_word(first: Candidate, one: Candidate, asked: Asked, *, linked: bool) -> float:
    """How much speaks for a later statement being the later word on what is asked about of the first.

    Of a long statement, which tells many things, a later one seldom takes back just the one asked about.
    """
    memory, before = one.record, first.record
    fills, filled = frozenset(slots_told(memory.content)), frozenset(slots_told(before.content))
    answered = first.answers > 1 or asked.slots & filled
    elsewhere = (
        (answered and fills and not asked.slots & fills)
        or (asked.own and _is_of_another(memory, before))
        or _leaves_out(memory, before, asked.text)
    )
    kinds, before_it = value_kinds(memory.content), value_kinds(before.content)
    alike = kinds & before_it & (asked.kinds or TELLING_KINDS)
    lacks_value = bool(asked.kinds & before_it and not asked.kinds & kinds)
    if first.answers > 1 and (elsewhere or _tells_of_others(memory)):
        return 0.0
    if asks_where(asked.text) and _leaves_open_where(memory, before):
        return 0.0
    lacks = lacks_value or _lacks_thing(first, one, asked)
    named = any(name in memory.content for name in before.entities)
    much = (
        FITS * min(1.0, one.fit / max(first.fit, 1e-9))
        + MEANS * (0.0 if one.cosine is None else asked.noise.deviations(one.cosine))
        + LINKED * linked
        + SAME_KIND * bool(alike)
        + FILLS * bool(asked.slots & fills)
        + ELSEWHERE * bool(elsewhere)
        + LACKS * lacks
        + SAME_TALK * (before.session != "" and memory.session == before.session)
        + SAME_NAME * named
        + SAYS_AS_MUCH * (not lacks and _says_as_much(first, one))
        + LONG * min(MANY_WORDS, len(content_words(before.content)) / FEW_WORDS)
    )
    tied = linked or alike or named or fills & (asked.slots | filled)
    if much + CHANGES < MAYBE_LATER or not (tied or _speaks_of_the_same(memory, before)):
        return 0.0  # it would be none if it told of a change for certain, which takes longest to tell
    return much + CHANGES * _change_told(memory)


def _leaves_open_where(memory: Memory, before: Memory) -> bool:
    """Whether the one before tells where, and the later one neither a place nor a new name."""
    if memory.details.get("corrects") or not set(memory.entities) <= set(before.entities):
        return False
    return tells_where(before.content) and not tells_where(memory.content)


def _says_as_much(first: Candidate, one: Candidate) -> bool:
    """Whether both say what is asked about, in more than one word: two statements about one thing."""
    return len(first.match.terms) > 1 and first.said >= MUCH_SAID and one.said >= AS_MUCH * first.said


def _speaks_of_the_same(memory: Memory, before: Memory) -> bool:
    """Whether it names a thing that the statement before names, or nothing at all: "it's 9174 now"."""
    named = sameness.things(memory.content)
    return not named or not named.isdisjoint(sameness.things(before.content))


def _lacks_thing(first: Candidate, one: Candidate, asked: Asked) -> bool:
    """Whether the first names a thing of a kind that is asked for, and the later one none."""
    return not asked.things.isdisjoint(first.match.terms) and asked.things.isdisjoint(one.match.terms)


def _is_of_another(memory: Memory, before: Memory) -> bool:
    """Whether it speaks of somebody whom the statement before does not name, and not of its speaker."""
    names = tuple(name for name in memory.entities if name not in before.content)
    return bool(names) and memory.content.startswith(names) and not _FIRST_PERSON.search(memory.content)


def _leaves_out(memory: Memory, before: Memory, question: str) -> bool:
    """Whether it begins with somebody else than the one of the statement before whom the question names."""
    asked = [name for name in before.entities if name in question]
    others = tuple(name for name in (*before.entities, *memory.entities) if name not in question)
    return (
        bool(asked) and memory.content.startswith(others) and not any(one in memory.content for one in asked)
    )


def _tells_of_others(memory: Memory) -> bool:
    """Whether the facts it states are all of somebody else."""
    told = facts(memory.content, memory.speaker)
    return bool(told) and all(one.subject != USER for one in told)


_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|we|our|us)\b|[我咱]", re.IGNORECASE)


def _ended_by(first: Candidate, shown: Sequence[Candidate]) -> set[int]:
    """The hits beside the first that ended a part of it."""
    over = first.record.details.get("no_longer")
    by = (
        {str(part.get("by")) for part in over if isinstance(part, Mapping)}
        if isinstance(over, list)
        else set()
    )
    return {one.key for one in shown if one.record.id in by}


def _change_told(memory: Memory) -> float:
    return 1.0 if memory.details.get("corrects") else assertion.change_told(memory.content)


def _brought(one: Candidate, memory: Memory, first: Candidate) -> Candidate:
    """A candidate that the question alone would not have found."""
    one.record, one.relevance, one.score = memory, first.relevance, first.score
    one.let_in = (first.relevance, f"a later word on {first.record.id[:8]}")
    return one


def _may_move(one: Candidate) -> bool:
    """Whether it is a statement of somebody's, of which a newer one may say what is so now."""
    memory = one.record
    told = memory.source.partition(":")[0] in SOURCE_TRUST
    return told and not memory.speaker and memory.status not in (*GONE, Status.SAID)


def _asks_for_the_past(plan: Planned, question: Question, tools: Tools) -> bool:
    """Whether it asks for what was: in words, by looking back, or by a time that is over."""
    now = tools.clock.now()
    over = any(span.last is not None and span.last <= now for span in plan.shown.spans)
    return over or question.filters.as_of is not None or intents.is_past(question.text)
