"""Dropping: what must not be shown is taken out, each with the rule that did it.

The floor is for no evidence at all. A memory is let in by its relevance, by saying nearly all that is asked,
by a name that was asked for and more, by words and meaning that both put it first, by facts that answer. When
one is let in, those that fit about as well come with it; when none is, nothing is shown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING

from engram.lazily import lazily
from engram.model.memory import Lifecycle, Memory, Status
from engram.model.recall import UNDER_FLOOR, Dropped, Evidence, Hit, Question, Trust
from engram.recall.candidates import Candidate, evidence
from engram.recall.judge import asks_of_oneself, is_own, trust
from engram.text import tokens, words
from engram.text.tokens import Parcel

if TYPE_CHECKING:
    from engram.model.facts import Entity
    from engram.ports import Tools
    from engram.recall.plan import Planned
    from engram.rules import importance
else:
    importance = lazily("engram.rules.importance")

SAID_ENOUGH = 0.75
"""Share of a question's words, by how much they tell, that suffices alone."""
NAMED_AND = 0.5
"""The same beside a name that was asked for; so does any second word."""
SAID_ONLY = 0.5
"""The same for words that are only said, and not believed."""
SAID_FLOOR = 2.0
"""How many times the floor suffices for them."""
AGREED_RANK, AGREED_SAID = 2, 0.3
"""Words and meaning agree on what both rank so high, when it says so much of the question."""
ALONG = 0.25
"""What fits so well against the best hit comes along with it."""
UNSTEADY_FLOOR = 0.5
"""Share of the floor that suffices in a space whose noise is another in every talk: it tells little there."""
OWN_FLOOR = 0.8
"""Share of the floor that suffices when people ask about themselves: they told it in other words."""
OWN_ABOVE = 0.5
"""Deviations above chance that suffice for what somebody said of themselves, asked about themselves."""
SHOWN_DROPS = 20
"""So many dropped candidates are told of, best first."""


def drop_unwanted(
    ranked: list[Candidate], plan: Planned, question: Question, tools: Tools
) -> tuple[list[Candidate], tuple[Dropped, ...]]:
    """Those that stay, in the same order with what is only tied to them below, and those that went."""
    let_in: dict[int, str] = {}
    reasons = {one.key: why for one, why in _reasons(ranked, let_in, plan, question, tools)}
    reasons |= {one.key: "known to the caller already" for one in ranked if one.record.id in question.known}
    kept = _tied_below([one for one in ranked if one.key not in reasons], let_in)
    if tools.config.recall.cold == "last":
        kept = _cold_last(kept, tools)
    gone = [one for one in ranked if one.key in reasons][:SHOWN_DROPS]
    told = tuple(
        Dropped(
            one.record.id, one.record.forms.label or one.record.content[:40], reasons[one.key], one.relevance
        )
        for one in gone
    )
    return kept, told


def _cold_last(kept: list[Candidate], tools: Tools) -> list[Candidate]:
    """What has become cold stands behind all that has not."""
    known = importance.cold_ones(tools.store.upkeep.judged(importance.COLD, [one.record.id for one in kept]))
    cold = [one for one in kept if one.record.id in known]
    warm = [one for one in kept if one.record.id not in known]
    for one in cold if warm else ():
        one.score = min(one.score, warm[-1].score)
        one.told.append(Evidence("tier", importance.COLD, 1.0, "stands behind what is in use"))
    return [*warm, *cold]


def _tied_below(kept: list[Candidate], let_in: Mapping[int, str]) -> list[Candidate]:
    """What came along by an edge stands behind all that matched by itself, before what is only near."""
    tied = [one for one in kept if not let_in[one.key] and one.tied and let_in.get(one.tied_to)]
    if not tied:
        return kept
    rest = [one for one in kept if one not in tied]
    after = max(place for place, one in enumerate(rest) if let_in[one.key]) + 1
    for one in tied:
        one.score = min(one.score, rest[after - 1].score)
    return [*rest[:after], *tied, *rest[after:]]


def _reasons(
    ranked: list[Candidate], let_in: dict[int, str], plan: Planned, question: Question, tools: Tools
) -> Iterator[tuple[Candidate, str]]:
    floor, strict = _floor(question, plan, tools)
    own = asks_of_oneself(question.text, plan)
    let_in |= {one.key: evidence_for(one, plan, floor, strict=strict, own=own) for one in ranked}
    best = max((one.fit for one in ranked if let_in[one.key]), default=None)
    now = tools.clock.now()
    unwanted = _suppressed(ranked, plan, tools)
    seen: dict[str, Candidate] = {}
    for one in ranked:
        memory = one.record
        why = let_in[one.key]
        if not why and not strict and one.tied and let_in.get(one.tied_to):
            why = f"associated: tied to a hit by {one.tied}"
        elif not why and not strict and best is not None and one.fit >= ALONG * best > 0:
            why = "fits about as well as what was let in"
        if not why:
            said = " for what is only said" if one.record.status is Status.SAID else ""
            wanted = SAID_FLOOR * floor if said else floor
            yield one, f"{UNDER_FLOOR}{one.relevance:.2f} is under the floor of {wanted:.2f}{said}"
            continue
        one.let_in = one.relevance, why
        if not strict:
            one.relevance = max(one.relevance, floor)
        if over := _over(memory, plan, now, tools):
            yield one, over
        elif one.key in unwanted:
            yield one, "said not to help for a question like this"
        elif memory.content_hash in seen:
            _tell_of(one, seen[memory.content_hash])
            yield one, "says the same as a hit above it"
        else:
            seen[memory.content_hash] = one


def _over(memory: Memory, plan: Planned, now: datetime, tools: Tools) -> str:
    """Why a memory is not for now; empty when it is."""
    if memory.expires_at is not None and memory.expires_at <= now:
        return f"expired on {memory.expires_at:%Y-%m-%d}"
    if memory.valid_to is not None and _is_past(memory, plan, now):
        return f"held until {memory.valid_to:%Y-%m-%d}"
    if tools.config.recall.stale == "leave out" and memory.lifecycle is Lifecycle.STALE:
        return "it has gone stale"
    return ""


def _is_past(memory: Memory, plan: Planned, now: datetime) -> bool:
    """Whether what it says is over, though nothing took its place; who asks about a time wants it, too."""
    if plan.shown.spans or plan.view.filters.as_of is not None or memory.status is not Status.ACTIVE:
        return False
    return memory.valid_to is not None and memory.valid_to <= now


def _floor(question: Question, plan: Planned, tools: Tools) -> tuple[float, bool]:
    """The relevance that suffices alone, and whether nothing else does: a caller may be stricter than we."""
    usual = tools.config.recall.relevance_floor
    if question.min_relevance is None and plan.space is not None and not plan.near.is_steady:
        usual *= UNSTEADY_FLOOR
    if question.min_relevance is None:
        return usual, False
    return question.min_relevance, question.min_relevance > usual


def evidence_for(
    one: Candidate, plan: Planned, floor: float, *, strict: bool = False, own: bool = False
) -> str:
    """What lets a memory in, in words; empty when nothing does.

    Words that nobody believes must say half of what is asked, or fit twice as well as the floor wants.
    """
    if one.record.status is Status.SAID and one.said < SAID_ONLY and one.relevance < SAID_FLOOR * floor:
        return ""
    if own and not strict and one.record.status is not Status.SAID:
        floor *= OWN_FLOOR
    if one.relevance >= floor or strict:
        return _strongest(one) if one.relevance >= floor else ""
    return next(_without_relevance(one, plan, own=own), "")


def _without_relevance(one: Candidate, plan: Planned, *, own: bool) -> Iterator[str]:
    """What lets a memory in that is not relevant enough by itself."""
    if one.said >= SAID_ENOUGH:
        yield "it says what is asked for"
    name = next((entity.name for entity in plan.entities if _names(one, entity)), "")
    if name and (one.said >= NAMED_AND or len(one.match.terms) > len(words.terms(name))):
        yield f"it names {name}"
    if not plan.kinds.isdisjoint(one.match.terms):
        yield "it names a thing of the kind asked for"
    above = 0.0 if one.cosine is None else plan.usual_noise.deviations(one.cosine)
    if own and is_own(one.record):
        if above >= OWN_ABOVE:
            yield "you said it of yourself, and its meaning is not far"
        if not plan.slots.isdisjoint(one.match.terms):
            yield "you said it of yourself, and it tells what is asked for of a life"
    ranks = (one.text_rank, one.vector_rank)
    if one.said >= AGREED_SAID and all(rank is not None and rank <= AGREED_RANK for rank in ranks):
        yield "words and meaning agree on it"


def _strongest(one: Candidate) -> str:
    """Which part of its relevance weighs most."""
    if one.lent_relevance > max(one.text, one.vector):
        return "what stands beside it, is linked to it, or its facts, answer"
    return "its meaning fits" if one.vector > one.text else "its words fit"


def _names(one: Candidate, entity: Entity) -> bool:
    return any(
        term in one.match.terms for name in (entity.name, *entity.aliases) for term in words.terms(name)
    )


def _tell_of(again: Candidate, shown: Candidate) -> None:
    """The same words of another kind or place are shown once; the hit that stands says where else."""
    memory = again.record
    place = f", {memory.scope}" if memory.scope != shown.record.scope else ""
    shown.told.append(
        Evidence("drop", "also kept as", again.relevance, f"{memory.id[:8]}: {memory.kind}{place}")
    )


def _suppressed(ranked: list[Candidate], plan: Planned, tools: Tools) -> set[int]:
    """Memories that did not help with a question near this one: suppression is per context."""
    if plan.space is None or plan.vector is None:
        return set()
    rated = [one.key for one in ranked if one.record.usage.unhelpful]
    if not rated:
        return set()
    from engram.rules.vectors import cosine

    now = tools.clock.now()
    since = now - timedelta(days=tools.config.recall.suppress_days)
    held = [one for one in tools.store.opinions.against(rated, plan.space, since) if one.at <= now]
    return {one.key for one in held if cosine(one.vector, plan.vector) > plan.near.suppress}


# ---------------------------------------------------------------- pack
# Packing: ranked candidates become hits that fit the token budget, each in the best form that still fits.


FORMS = ("content", "summary", "key_fact", "label")
BYTES_A_TOKEN = 4


def pack(ranked: Sequence[Candidate], question: Question) -> tuple[Hit, ...]:
    """At most `limit` hits, together at most `budget` tokens. A memory gets shorter before it is left out."""
    if question.per_session is not None:
        ranked = _spread(ranked, question.per_session)
    if question.budget is None:
        return _hits([(one, 0) for one in ranked[: question.limit]], question)
    parcels = [
        Parcel(tokens.value(rank, one.relevance), _costs(one.record)) for rank, one in enumerate(ranked)
    ]
    chosen = tokens.pack(parcels, question.budget, question.limit)
    pairs = [(one, form) for one, form in zip(ranked, chosen, strict=True) if form is not None]
    return _hits(pairs, question)


def _spread(ranked: Sequence[Candidate], most: int) -> list[Candidate]:
    """Those in order, at most so many of one conversation; what was said in none is not counted."""
    told = Counter[str]()
    kept = []
    for one in ranked:
        told[one.record.session] += 1
        if not one.record.session or told[one.record.session] <= most:
            kept.append(one)
    return kept


def _hits(pairs: Sequence[tuple[Candidate, int]], question: Question) -> tuple[Hit, ...]:
    counted = question.budget is not None
    shown = accumulate((one.relevance for one, _ in pairs), min)
    return tuple(
        _hit(one, form, relevance, counted=counted)
        for (one, form), relevance in zip(pairs, shown, strict=True)
    )


def _costs(memory: Memory) -> tuple[int, ...]:
    """What each form costs; one that is missing is as dear as the whole."""
    forms = memory.forms
    shorter = (
        (forms.summary, forms.summary_tokens),
        (forms.key_fact, forms.key_fact_tokens),
        (forms.label, forms.label_tokens),
    )
    return (forms.content_tokens, *(cost if text else forms.content_tokens for text, cost in shorter))


def _hit(one: Candidate, form: int, relevance: float, *, counted: bool) -> Hit:
    """A hit. What stands below is never shown as more relevant: the number orders the list it stands in.

    What it costs is counted where there is a budget to keep; elsewhere its length tells it well enough.
    """
    memory = one.record
    text = getattr(memory.forms, FORMS[form]) if form else memory.content

    def tell(what: str) -> Trust | tuple[Evidence, ...]:
        known = one.let_in[0] or one.relevance
        return evidence(one) if what == "evidence" else trust(memory, known, one.freshness)

    return Hit.told_later(
        tell,
        memory=memory,
        score=one.score,
        relevance=relevance,
        text=memory.with_mark(text or memory.content),
        form=FORMS[form if text else 0],
        tokens=_costs(memory)[form] if counted else len(memory.content.encode()) // BYTES_A_TOKEN + 1,
    )
