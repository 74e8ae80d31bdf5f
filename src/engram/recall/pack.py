"""Packing: ranked candidates become hits that fit the token budget, each in the best form that still fits."""

from __future__ import annotations

from collections.abc import Sequence

from engram.model.memory import Memory
from engram.model.recall import Hit, Question
from engram.recall.candidates import Candidate, evidence


def pack(ranked: Sequence[Candidate], question: Question) -> tuple[Hit, ...]:
    """At most `limit` hits, together at most `budget` tokens. A memory gets shorter before it is left out."""
    hits: list[Hit] = []
    left = question.budget
    for one in ranked:
        if len(hits) == question.limit:
            break
        form = _best_form(one.record, left)
        if form is None:
            continue
        name, text, tokens = form
        left = None if left is None else left - tokens
        hits.append(
            Hit(
                memory=one.record,
                score=one.score,
                relevance=one.relevance,
                trust=one.trust,
                text=text,
                form=name,
                tokens=tokens,
                evidence=evidence(one),
            )
        )
    return tuple(hits)


def _best_form(memory: Memory, left: int | None) -> tuple[str, str, int] | None:
    forms = memory.forms
    choices = (
        ("content", memory.content, forms.content_tokens),
        ("summary", forms.summary, forms.summary_tokens),
        ("key_fact", forms.key_fact, forms.key_fact_tokens),
        ("label", forms.label, forms.label_tokens),
    )
    return next(
        ((n, text, cost) for n, text, cost in choices if text and (left is None or cost <= left)), None
    )
