"""The plan: a question comes in; which words, which vector, which weights and which view come out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engram.errors import EmbedderError
from engram.lifecycle.calibration import Thresholds, thresholds
from engram.model.recall import Plan, Question
from engram.ports import Noise, Tools, View
from engram.text import words
from engram.text.scripts import PAIRED

if TYPE_CHECKING:
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


def make(question: Question, tools: Tools) -> Planned:
    """The plan for a question. Without an embedder it goes by words alone and says so."""
    asked = words.query_terms(question.text)
    notes: list[str] = []
    if asked.weak:
        notes.append("only common words: they are searched as they are")
    if asked.phrases:
        notes.append("quoted words count more where they stand together")
    space, vector = _embed(question.text, tools, notes)
    settings = tools.config.recall
    named = frozenset(words.normalized(question.text).split())
    speakers = (USER,) if named & SELF_WORDS else ()
    near = thresholds(space.key if space else "")
    noise = _noise(space, vector, near, tools)
    shown = Plan(
        terms=asked.terms,
        weights={"text": settings.text_weight, "vector": settings.vector_weight if space else 0.0},
        space=space.key if space else "",
        speakers=speakers,
        notes=tuple(notes),
    )
    return Planned(
        shown=shown,
        view=View(question.access, question.filters),
        terms=asked.terms,
        phrases=asked.phrases,
        mass=_mass(tools.store.texts.rarity(asked.terms)),
        space=space,
        vector=vector,
        near=near,
        noise=noise,
        usual_noise=_usual(near) if near.is_measured else noise,
        named=named | frozenset(speakers),
    )


def _mass(rarity: dict[str, float]) -> float:
    whole = sum(value * (PAIR_SHARE if _PAIRED.search(term) else 1.0) for term, value in rarity.items())
    return min(whole, MOST_MASS)


def _usual(near: Thresholds) -> Noise:
    return Noise(near.noise_mean, near.noise_sd, 0)


def _noise(space: Space | None, vector: Floats | None, near: Thresholds, tools: Tools) -> Noise:
    """What is measured in this file, leaning on the space's known figures while there is little of it."""
    if space is None or vector is None:
        return _usual(near)
    found = tools.index.noise(space, vector)
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
