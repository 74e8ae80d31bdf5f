"""Probing: a belief and what was said since come in; whether that bears it out comes out. Pure rules."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from engram.config import Config
from engram.lifecycle.curves import DAY_S
from engram.lifecycle.sameness import Limits, Merge, Neighbour, Reinforce, Statement, decide, opposing
from engram.lifecycle.traits import kept_by_itself
from engram.model.axes import Kind, Type, Verification
from engram.model.memory import Memory
from engram.model.verdict import Verdict, no, yes

USUAL = Config()


class Speaks(StrEnum):
    """What one statement says about another."""

    FOR = "for"
    AGAINST = "against"
    NEITHER = "neither"


@dataclass(frozen=True, slots=True)
class Evidence:
    """A later memory, and what it says about a belief; the reason holds no words of theirs."""

    memory: Memory
    speaks: Speaks
    why: str


def is_belief(memory: Memory) -> bool:
    """Whether it says how things are, not what happened or what somebody said at the time."""
    return not memory.speaker and (memory.kind is Kind.SEMANTIC or memory.type is Type.FACT)


def probe_due(memory: Memory, now: datetime, config: Config = USUAL) -> Verdict:
    """Whether a belief is to be looked at again: nobody vouched for it or used it for long.

    One that is used all the time is due as well, once nobody has vouched for it for that long: what many
    rest on is worth a look.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> belief = Memory("1", "The API uses JWT", "h", day, day, kind=Kind.SEMANTIC)
    >>> [bool(probe_due(belief, day + timedelta(days=days))) for days in (89, 90)]
    [False, True]
    """
    settings = config.doubt
    vouched = memory.verified_at or memory.created_at
    seen = max(vouched, memory.last_accessed or vouched)
    unvouched, unseen = ((now - one).total_seconds() / DAY_S for one in (vouched, seen))
    if unseen >= settings.probe_days:
        return yes("unseen", f"{unseen:.0f} days without use or confirmation")
    if unvouched >= settings.probe_days and memory.usage.accessed >= settings.stale_uses:
        return yes("used", f"used {memory.usage.accessed} times, {unvouched:.0f} days without confirmation")
    return no(f"looked at {unseen:.0f} days ago")


def may_be_challenged(memory: Memory) -> bool:
    """Whether a rule may doubt it by itself; of what a person vouches for the contradiction is only shown."""
    return kept_by_itself(memory) != "pinned" and memory.verification is not Verification.USER_CONFIRMED


def is_since(other: Memory, belief: Memory) -> bool:
    """Whether it was said later, by somebody, elsewhere: a belief does not bear itself out."""
    later = other.happened_at > belief.happened_at and other.id != belief.id
    elsewhere = not belief.session or other.session != belief.session
    return later and elsewhere and other.source != "engine"


def weighed(belief: Memory, other: Memory, cosine: float | None, limits: Limits) -> Evidence:
    """What a later memory says about a belief."""
    old, new = Statement.of(belief), Statement.of(other)
    neighbour = Neighbour(belief, old, cosine)
    if because := opposing(new, neighbour, limits):
        return Evidence(other, Speaks.AGAINST, because)
    mine, theirs = ({(f.subject, f.predicate, f.object) for f in one.facts} for one in (old, new))
    if mine and mine <= theirs:
        return Evidence(other, Speaks.FOR, "states the same facts")
    if isinstance(decide(new, [neighbour], limits), Reinforce | Merge):
        return Evidence(other, Speaks.FOR, "says the same")
    return Evidence(other, Speaks.NEITHER, "says neither")


def outcome(found: Sequence[Evidence]) -> Evidence | None:
    """What decides: the latest that speaks for or against; None when nothing does."""
    telling = [one for one in found if one.speaks is not Speaks.NEITHER]
    return max(telling, key=lambda one: (one.memory.happened_at, one.memory.id), default=None)
