"""Dropping: what must not be shown is taken out, each with the rule that did it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from engram.model.axes import Status
from engram.model.memory import Memory
from engram.model.recall import Dropped, Evidence, Question
from engram.ports import Tools
from engram.recall.candidates import Candidate
from engram.recall.plan import Planned

SHOWN_DROPS = 20
"""So many dropped candidates are told of, best first."""


def drop_unwanted(
    ranked: list[Candidate], plan: Planned, question: Question, tools: Tools
) -> tuple[list[Candidate], tuple[Dropped, ...]]:
    """Those that stay, in the same order, and those that went."""
    reasons = {one.key: why for one, why in _reasons(ranked, plan, question, tools)}
    kept = [one for one in ranked if one.key not in reasons]
    gone = [one for one in ranked if one.key in reasons][:SHOWN_DROPS]
    told = tuple(
        Dropped(
            one.record.id, one.record.forms.label or one.record.content[:40], reasons[one.key], one.relevance
        )
        for one in gone
    )
    return kept, told


def _reasons(
    ranked: list[Candidate], plan: Planned, question: Question, tools: Tools
) -> Iterator[tuple[Candidate, str]]:
    floor = tools.config.recall.relevance_floor if question.min_relevance is None else question.min_relevance
    now = tools.clock.now()
    unwanted = _suppressed(ranked, plan, tools)
    seen: dict[str, Candidate] = {}
    for one in ranked:
        memory = one.record
        if one.relevance < floor:
            yield one, f"relevance {one.relevance:.2f} is under the floor of {floor:.2f}"
        elif memory.expires_at is not None and memory.expires_at <= now:
            yield one, f"expired on {memory.expires_at:%Y-%m-%d}"
        elif _is_past(memory, plan, now):
            yield one, f"held until {memory.valid_to:%Y-%m-%d}"
        elif one.key in unwanted:
            yield one, "said not to help for a question like this"
        elif memory.content_hash in seen:
            _tell_of(one, seen[memory.content_hash])
            yield one, "says the same as a hit above it"
        else:
            seen[memory.content_hash] = one


def _is_past(memory: Memory, plan: Planned, now: datetime) -> bool:
    """Whether what it says is over, though nothing took its place; who asks about a time wants it, too."""
    if plan.shown.spans or plan.view.filters.as_of is not None or memory.status is not Status.ACTIVE:
        return False
    return memory.valid_to is not None and memory.valid_to <= now


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
    from engram.vectors.similarity import cosine

    now = tools.clock.now()
    since = now - timedelta(days=tools.config.recall.suppress_days)
    held = [one for one in tools.store.opinions.against(rated, plan.space, since) if one.at <= now]
    return {one.key for one in held if cosine(one.vector, plan.vector) > plan.near.suppress}
