"""Packing: ranked candidates become hits that fit the token budget, each in the best form that still fits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

from engram.model.memory import Memory
from engram.model.recall import Evidence, Hit, Question
from engram.recall.candidates import Candidate, evidence
from engram.text import packing
from engram.text.packing import Parcel

EXPLAINED = 50
"""So many hits carry their evidence unasked; to write it all down takes as long as to find them."""
FORMS = ("content", "summary", "key_fact", "label")


def pack(ranked: Sequence[Candidate], question: Question) -> tuple[Hit, ...]:
    """At most `limit` hits, together at most `budget` tokens. A memory gets shorter before it is left out."""
    if question.budget is None:
        return _hits([(one, 0) for one in ranked[: question.limit]], question)
    parcels = [
        Parcel(packing.value(rank, one.relevance), _costs(one.record)) for rank, one in enumerate(ranked)
    ]
    chosen = packing.pack(parcels, question.budget, question.limit)
    pairs = [(one, form) for one, form in zip(ranked, chosen, strict=True) if form is not None]
    return _hits(pairs, question)


def _hits(pairs: Sequence[tuple[Candidate, int]], question: Question) -> tuple[Hit, ...]:
    """The hits; those far down say why they are there only when somebody wants to know."""
    told = len(pairs) if question.explain else EXPLAINED
    shown = accumulate((one.relevance for one, _ in pairs), min)
    return tuple(
        _hit(one, form, relevance, evidence(one) if place < told else ())
        for place, ((one, form), relevance) in enumerate(zip(pairs, shown, strict=True))
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


def _hit(one: Candidate, form: int, relevance: float, why: tuple[Evidence, ...]) -> Hit:
    """A hit. What stands below is never shown as more relevant: the number orders the list it stands in."""
    memory = one.record
    texts = (memory.content, memory.forms.summary, memory.forms.key_fact, memory.forms.label)
    whole = not texts[form]
    return Hit(
        memory=memory,
        score=one.score,
        relevance=relevance,
        trust=one.trust,
        text=memory.content if whole else texts[form],
        form=FORMS[0 if whole else form],
        tokens=_costs(memory)[form],
        evidence=why,
    )
