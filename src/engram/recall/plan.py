"""The plan: a question comes in; what it is after, which words, vector, weights and view come out."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from engram.errors import EmbedderError
from engram.lifecycle.calibration import Thresholds, thresholds
from engram.model.clock import zone_of
from engram.model.recall import Intent, Plan, Question, Span
from engram.ports import Lean, Noise, Tools, View
from engram.recall import intents, named, shape, times
from engram.text import kinship, words
from engram.text.languages import language
from engram.text.scripts import PAIRED

if TYPE_CHECKING:
    from datetime import datetime

    from engram.model.entity import Entity
    from engram.model.scope import Access
    from engram.model.vectors import Space
    from engram.ports import Floats

SELF_WORDS = frozenset({"i", "me", "my", "mine", "myself", "we", "our", "us", "我", "我的", "我们"})
"""Words by which the asker means the user; a stop word everywhere else."""
USER = "user"
PAIR_SHARE = 0.3
"""Pairs of a script without spaces run across the borders of words: most of them mean nothing."""
MOST_MASS = 30.0
"""A question that talks on and on is answered by what would answer one of about six telling words."""
_PAIRED = re.compile(f"[{PAIRED}]")
NOISE_PRIOR = 100
"""The known figures of a space weigh as much as so many measured vectors."""
MIN_DEVIATION = 0.01
KIN_SHARE = 0.5
"""What another word for what is asked counts against the word itself."""


@dataclass(frozen=True, slots=True)
class Planned:
    """The plan as shown, and what only the steps need."""

    shown: Plan
    view: View
    terms: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    """Quoted parts of the question, whose words should stand together."""
    mass: float
    """The most the words of a memory could weigh."""
    space: Space | None
    vector: Floats | None
    near: Thresholds
    noise: Noise
    """How near this question lies to memories in general: the order of the hits is measured against it."""
    usual_noise: Noise
    """How near any question does: relevance is measured against it, so a question nothing answers shows."""
    named: frozenset[str]
    """Lower-case words of the question, to recognise a speaker's name."""
    fetch: float = 1.0
    """Factor on the number of candidates."""
    entities: tuple[Entity, ...] = ()
    """The known things that it names."""
    alias_share: float = 1.0
    """What a term of another name counts."""
    whole: str = ""
    """A question of a few Chinese characters: what has all of it in a row fits."""

    rarity: Mapping[str, float] = field(default_factory=dict)
    """How much each of its own words tells."""
    kin: frozenset[str] = frozenset()
    """Other words for what it asks for."""
    covered: float = 1.0
    """How far memories say its own words, 0 to 1."""
    lent: Mapping[str, float] = field(default_factory=dict)
    """Words of the talk around it, with what each counts."""

    @property
    def weighted_terms(self) -> dict[str, float]:
        """What each term counts: the question's own whole, those of other names, kin and the talk less."""
        return {
            **dict.fromkeys(self.kin, KIN_SHARE),
            **self.lent,
            **dict.fromkeys(self.shown.aliases, self.alias_share),
            **dict.fromkeys(self.shown.terms, 1.0),
        }


@dataclass(frozen=True, slots=True)
class Read:
    """What the words of a question say by themselves."""

    intent: Intent | None
    confidence: float
    row: intents.Row
    spans: tuple[Span, ...]
    entities: list[Entity]
    fresh: bool


def asked_at(question: Question, tools: Tools) -> datetime:
    """When a question is asked, on the clocks of whoever asks."""
    zone = zone_of(question.access.timezone) if question.access.timezone else tools.zone
    return tools.clock.now().astimezone(zone)


def read(question: Question, tools: Tools) -> Read:
    """What a question is after, when, and whom it names."""
    asks = intents.asking(question.text)
    spans = times.spans(asks, asked_at(question, tools))
    entities = named.known(question.text, question.access, tools)
    others = named.others(question.text, entities) if len(entities) == 1 else 0
    found = intents.guess(asks, timed=bool(spans), named=len(entities), others=others)
    wished = question.wish.intent
    intent = wished or found.clear
    row = intents.rows()[intent] if intent else intents.NEUTRAL
    confidence = 1.0 if wished else found.confidence
    return Read(intent, confidence, row, spans, entities, intents.is_fresh(asks))


def make(question: Question, tools: Tools, lean: Lean | None = None) -> Planned:
    """The plan for a question. Without an embedder it goes by words alone and says so."""
    said = read(question, tools)
    searched = intents.unframed(times.written_out(question.text, said.spans, asked_at(question, tools)))
    asked = words.query_terms(searched)
    notes: list[str] = []
    if asked.weak:
        notes.append("only common words: they are searched as they are")
    if asked.phrases:
        notes.append("quoted words count more where they stand together")
    space, vector = _leaning(*_embed(searched, tools, notes), lean, notes)
    spoken = _words(question.text)
    speakers = (USER,) if spoken & SELF_WORDS else ()
    near = thresholds(space.key if space else "")
    noise = _noise(space, vector, near, question.access, tools)
    aliases = named.aliases(said.entities, asked.terms) if tools.config.plan.alias_share else ()
    weights = _weights(question, said, tools)
    lent = _lent(lean, (*asked.terms, *aliases))
    kindred = (*kinship.slots_asked(question.text), *kinship.kin(searched, asked.terms))
    rarity = tools.store.texts.rarity(_untimed(asked.terms, said.spans), question.access)
    shown = Plan(
        terms=asked.terms,
        weights=weights if space else weights | {"vector": 0.0},
        intent=said.intent,
        confidence=said.confidence,
        language=language(question.text),
        spans=said.spans,
        entities=tuple(one.name for one in said.entities),
        aliases=aliases,
        hops=said.row.hops if question.wish.hops is None else question.wish.hops,
        prefer=said.row.prefer if question.wish.prefer is None else tuple(sorted(question.wish.prefer)),
        freshness=_freshness(question, said, tools),
        space=space.key if space else "",
        speakers=speakers,
        notes=tuple(notes),
    )
    return Planned(
        shown=shown,
        view=View(question.access, question.filters),
        terms=(*asked.terms, *aliases, *lent, *kindred),
        phrases=asked.phrases,
        mass=_mass(rarity)
        + (_lent_mass(tools.store.texts.rarity(tuple(lent), question.access), lent) if lent else 0.0),
        space=space,
        vector=vector,
        near=near,
        noise=noise,
        usual_noise=_usual(near) if near.is_measured else noise,
        named=spoken | frozenset(speakers),
        fetch=said.row.candidates,
        entities=tuple(said.entities),
        alias_share=tools.config.plan.alias_share,
        whole=shape.short_chinese(question.text),
        kin=frozenset(kindred),
        rarity=rarity,
        lent=lent,
    )


def _words(text: str) -> frozenset[str]:
    """The words of a question without case; whose something is, is named too."""
    plain = text.replace("’", "'")
    owners = words.normalized(plain.replace("'s", " ")) if "'s" in plain else ""
    return frozenset([*words.normalized(plain).split(), *owners.split()])


def _weights(question: Question, said: Read, tools: Tools) -> dict[str, float]:
    """The configured weights as intent and shape move them, and the caller's own."""
    settings, row, plan = tools.config.recall, said.row, tools.config.plan
    share = shape.balance(question.text)
    strength = 1.0 if shape.short_chinese(question.text) else plan.shape
    by_text = 1.0 + strength * (share / shape.USUAL - 1.0)
    by_vector = 1.0 + strength * ((1.0 - share) / (1.0 - shape.USUAL) - 1.0)
    if said.intent is not None and strength < 1.0:
        by_text = by_vector = 1.0
    return {
        "text": settings.text_weight * row.text * by_text,
        "vector": settings.vector_weight * row.vector * by_vector,
        "graph": row.graph,
        "time": plan.time_gain * row.time,
        **question.wish.weights,
    }


def _freshness(question: Question, said: Read, tools: Tools) -> float:
    if question.wish.freshness is not None:
        return question.wish.freshness
    return max(said.row.freshness, tools.config.plan.fresh_gain if said.fresh else 0.0)


def _untimed(terms: tuple[str, ...], spans: tuple[Span, ...]) -> tuple[str, ...]:
    """The terms without those of times: a memory of "two months ago" need not say so."""
    told = {term for span in spans for term in words.terms(f"{span.words} {times.day_words(span)}")}
    return tuple(term for term in terms if term not in told) or terms


def _mass(rarity: dict[str, float]) -> float:
    whole = sum(value * (PAIR_SHARE if _PAIRED.search(term) else 1.0) for term, value in rarity.items())
    return min(whole, MOST_MASS)


def _usual(near: Thresholds) -> Noise:
    return Noise(near.noise_mean, near.noise_sd, 0)


def _noise(
    space: Space | None, vector: Floats | None, near: Thresholds, access: Access, tools: Tools
) -> Noise:
    """What is measured in what the caller may read; where that is little, the space's known figures count."""
    if space is None or vector is None:
        return _usual(near)
    found = tools.index.noise(space, vector, access)
    share = found.sample / (found.sample + NOISE_PRIOR)
    mean = share * found.mean + (1 - share) * near.noise_mean
    deviation = max(MIN_DEVIATION, share * found.deviation + (1 - share) * near.noise_sd)
    return Noise(mean, deviation, found.sample)


def _embed(text: str, tools: Tools, notes: list[str]) -> tuple[Space | None, Floats | None]:
    try:
        space, vector = tools.embedder.embed_query(text)
    except EmbedderError as down:
        notes.append(f"words only: {down.message}")
        return None, None
    if not vector.any():
        notes.append("words only: the embedder knows none of these words")
        return None, None
    return space, vector


def _lent(lean: Lean | None, asked: tuple[str, ...]) -> dict[str, float]:
    """The words that the talk lends a question, with what each counts there."""
    if lean is None or not lean.share:
        return {}
    return {term: weight for term, weight in lean.terms.items() if term not in asked}


def _lent_mass(rarity: dict[str, float], lent: Mapping[str, float]) -> float:
    """The most that lent words could weigh: half of them, for nothing repeats all that was said before."""
    return 0.5 * sum(value * lent[term] for term, value in rarity.items())


def _leaning(
    space: Space | None, vector: Floats | None, lean: Lean | None, notes: list[str]
) -> tuple[Space | None, Floats | None]:
    """What the question means, leaning towards the talk around it; vectors of another space say nothing."""
    if lean is None or not lean.share or (space is not None and space != lean.space):
        return space, vector
    notes.append(f"leans by {lean.share:.0%} towards the talk so far")
    if vector is None:
        return lean.space, lean.vector
    from engram.vectors.similarity import unit

    return lean.space, unit((1.0 - lean.share) * vector + lean.share * lean.vector)
