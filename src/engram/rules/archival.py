"""Archival: a memory and the time come in; whether it goes to the archive, and later for good, comes out.

Archiving can be undone for 90 days. What is protected stays, whatever else is true of it; only a commitment
that is resolved goes although its category and priority would keep it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, Final

from engram.config import Config
from engram.errors import BadTransition
from engram.model.maintenance import Verdict, no, yes
from engram.model.memory import (
    MOMENTS,
    Affect,
    Forms,
    Kind,
    Layer,
    Lifecycle,
    Memory,
    Policy,
    Priority,
    Status,
    Tier,
    Type,
    Usage,
    Verification,
)
from engram.model.scope import Scope
from engram.rules.importance import decayed_importance, effective_importance
from engram.rules.retention import DAY_S, age_days, retention, strength, unused_days
from engram.rules.traits import (
    by_layers,
    is_confirmed,
    is_lesson,
    is_overheard,
    is_passing,
    is_reference,
    kept_by_itself,
    lasting,
    protected,
    resolved_at,
)
from engram.text.forms import FormsOnDemand

__all__ = ["archive_verdict", "protected", "purge_due"]


# ---------------------------------------------------------------- status
# Status: which changes of a memory's status make sense.


_OUT = frozenset({Status.INVALIDATED, Status.SUPERSEDED, Status.ARCHIVED})

TRANSITIONS: Mapping[Status, frozenset[Status]] = MappingProxyType(
    {
        Status.ACTIVE: _OUT | {Status.CHALLENGED},
        Status.CHALLENGED: _OUT | {Status.ACTIVE},
        Status.INVALIDATED: frozenset({Status.ACTIVE, Status.CHALLENGED, Status.ARCHIVED}),
        Status.MERGED: frozenset({Status.ACTIVE, Status.ARCHIVED}),
        Status.SUPERSEDED: frozenset({Status.ACTIVE, Status.ARCHIVED}),
        Status.ARCHIVED: frozenset({Status.ACTIVE}),
        Status.SAID: frozenset({Status.ARCHIVED}),
        Status.QUARANTINED: frozenset({Status.ACTIVE, Status.ARCHIVED}),
    }
)
"""What may follow on what. `merged` comes about only by merging, never by hand."""


def check_transition(old: Status, new: Status) -> None:
    """Raise BadTransition unless a memory may go from one status to the other.

    >>> check_transition(Status.ACTIVE, Status.ARCHIVED)
    """
    if new not in TRANSITIONS[old]:
        raise BadTransition(old, new)


# ---------------------------------------------------------------- past
# The past of a memory: its record and the fields that have changed since come in; what it was goes out.


READ: Mapping[str, Callable[[Any], Any]] = {
    "kind": Kind,
    "type": Type,
    "layer": Layer,
    "lifecycle": Lifecycle,
    "status": Status,
    "verification": Verification,
    "policy": Policy,
    "priority": Priority,
    "tier": Tier,
    "tags": tuple,
    "entities": tuple,
    "scope": lambda parts: Scope(**parts),
    "affect": lambda parts: Affect(**parts),
    "usage": lambda parts: Usage(**parts),
    "forms": lambda parts: Forms(**parts),
    **dict.fromkeys(MOMENTS, datetime.fromisoformat),
}
"""How the ledger's plain values become those of a memory; the others are plain themselves."""

WORDS = ("content", "content_hash", "forms", "tags", "entities", "details", "metadata", "speaker")
"""Fields whose former values may not have been kept: those of a secret."""


def as_it_was(memory: Memory, before: Mapping[str, Any], at: datetime) -> Memory | None:
    """The memory as it was; None when its words of that time were not kept.

    `before` holds the fields that have changed since, as the ledger tells them.

    >>> from datetime import UTC
    >>> day = datetime(2026, 3, 1, tzinfo=UTC)
    >>> now = Memory("1", "I live in Oslo", "h2", day, day, status=Status.ARCHIVED)
    >>> then = as_it_was(now, {"content": "I live in Rome", "status": "active"}, day)
    >>> then.content, then.status.value, as_it_was(now, {"content": None}, day)
    ('I live in Rome', 'active', None)
    """
    if any(before[name] is None for name in WORDS if name in before):
        return None
    was = replace(memory, **read_back(before))
    used_since = was.last_accessed is not None and was.last_accessed > at
    return replace(was, last_accessed=None) if used_since else was


def read_back(told: Mapping[str, Any]) -> dict[str, Any]:
    """Fields as a memory has them, of what the ledger tells; shorter forms follow from the content."""
    fields = {
        name: READ[name](value) if name in READ and value is not None else value
        for name, value in told.items()
    }
    if isinstance(told.get("content"), str):
        fields.setdefault("forms", FormsOnDemand(told["content"]))
    return fields


USUAL = Config()


def archive_verdict(
    memory: Memory, now: datetime, config: Config = USUAL, uses: Sequence[datetime] = ()
) -> Verdict:
    """Whether a memory goes to the archive. `uses` are the times of its uses, as far as they are kept.

    >>> from datetime import UTC
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "It rained", "h", day, day, importance=0.2)
    >>> archive_verdict(memory, day + timedelta(days=60)).yes
    False
    >>> archive_verdict(memory, day + timedelta(days=91)).rule
    'weak'
    """
    if memory.status is not Status.ACTIVE and memory.status is not Status.CHALLENGED:
        return no(f"status {memory.status}")
    if over := _expired(memory, now, config):
        return over
    if reason := _shield(memory, config):
        return no(f"protected: {reason}")
    if resolved_at(memory) is not None:
        return _resolved(memory, now)
    for rule in (_passing, _speculative, _by_priority, _weak):
        if verdict := rule(memory, now, config):
            return verdict
    return _faded(memory, now, config, uses)


def purge_due(memory: Memory, archived_at: datetime, now: datetime, config: Config = USUAL) -> Verdict:
    """Whether a memory archived at that time is erased for good."""
    days = (now - archived_at).total_seconds() / DAY_S
    if memory.status is not Status.ARCHIVED:
        return no(f"status {memory.status}")
    if reason := _shield(memory, config):
        return no(f"protected: {reason}")
    if days <= config.forgetting.purge_days:
        return no(f"archived for {days:.1f} days <= {config.forgetting.purge_days:g}")
    return yes("purge", f"archived for {days:.1f} days > {config.forgetting.purge_days:g}")


def _shield(memory: Memory, config: Config) -> str:
    """Why a memory stays; priority and category speak for a commitment only as long as it is open."""
    if is_reference(memory):
        return "a document"
    return protected(memory, config) if resolved_at(memory) is None else kept_by_itself(memory)


def _expired(memory: Memory, now: datetime, config: Config) -> Verdict:
    """What was given an end goes then, whoever gave it; the end of a guess is another matter."""
    end = memory.expires_at
    if end is None or now <= end or memory.pinned or memory.confidence < config.capture.speculative_below:
        return no("has no end" if end is None else "not over yet, pinned, or a guess")
    return yes("expired", f"was to go on {end:%Y-%m-%d}")


def _resolved(memory: Memory, now: datetime) -> Verdict:
    at, limit = resolved_at(memory), COMMITMENT_DAYS
    if at is None:
        return no("no resolved commitment")
    days = (now - at).total_seconds() / DAY_S
    if days <= limit:
        return no(f"resolved for {days:.1f} days <= {limit:g}")
    return yes("commitment resolved", f"resolved for {days:.1f} days > {limit:g}")


COMMITMENT_DAYS: Final = 90.0
"""Days after which a resolved commitment goes (files)."""
PASSES_DAYS: Final = 3.0
"""So long it may matter that somebody was tired, or that it rained."""


def _passing(memory: Memory, now: datetime, _config: Config) -> Verdict:
    """What was overheard and was true only for a moment."""
    if not is_overheard(memory) or age_days(memory, now) <= PASSES_DAYS or not is_passing(memory.content):
        return no("no passing state, or a fresh one")
    return yes("passing", f"a passing state of {age_days(memory, now):.0f} days ago")


def _speculative(memory: Memory, now: datetime, config: Config) -> Verdict:
    """A guess that nobody confirmed in time."""
    settings = config.capture
    if memory.confidence >= settings.speculative_below or is_confirmed(memory):
        return no("no guess, or confirmed")
    end = memory.expires_at or memory.created_at + timedelta(days=settings.speculative_days)
    if now <= end:
        return no("not over yet")
    return yes("speculative", f"confidence {memory.confidence:.2f}, unconfirmed until {end:%Y-%m-%d}")


def _by_priority(memory: Memory, now: datetime, config: Config) -> Verdict:
    settings = config.forgetting
    limit = {Priority.P2: settings.p2_days, Priority.P3: settings.p3_days}.get(memory.priority, 0.0)
    if not limit:
        return no(f"priority {memory.priority}")
    days = unused_days(memory, now)
    if days <= limit:
        return no(f"priority {memory.priority}, unused for {days:.1f} days")
    return yes("priority", f"priority {memory.priority}, unused for {days:.1f} days > {limit:g}")


def _weak(memory: Memory, now: datetime, config: Config) -> Verdict:
    """Hardly anything is left of it; what matters much or stirred is not given up for that."""
    settings, left = config.forgetting, strength(memory, now, config)
    if by_layers(config):
        weak = left < settings.strength_below and not is_lesson(memory)
        return Verdict(weak, "weak", f"strength {left:.3f}, dropped under {settings.strength_below:g}")
    if left < settings.strength_below and (reason := _overheard_for_good(memory, now)):
        return no(f"it lasts: {reason}")
    if memory.importance >= settings.kept_importance:
        return no(f"importance {memory.importance:.2f} >= {settings.kept_importance:g}")
    if memory.affect.arousal >= settings.kept_arousal:
        return no(f"arousal {memory.affect.arousal:.2f} >= {settings.kept_arousal:g}")
    if left >= settings.strength_below:
        return no(f"strength {left:.3f} >= {settings.strength_below:g}")
    return yes("weak", f"strength {left:.3f} < {settings.strength_below:g}")


def _faded(memory: Memory, now: datetime, config: Config, uses: Sequence[datetime]) -> Verdict:
    """Old, gone, unimportant and unused: all four."""
    settings = config.forgetting
    age, used = age_days(memory, now), memory.usage.accessed
    if age <= settings.archive_days:
        return no(f"age {age:.1f} days <= {settings.archive_days:g}")
    if used >= settings.accesses_below:
        return no(f"accesses {used} >= {settings.accesses_below}")
    if reason := _overheard_for_good(memory, now):
        return no(f"it lasts: {reason}")
    left = retention(memory, now, config)
    if left >= settings.retention_below and settings.retention_below < 1.0:
        return no(f"retention {left:.2f} >= {settings.retention_below:g}")
    weight = _importance(memory, now, config, uses)
    if weight >= settings.importance_below:
        return no(f"importance {weight:.2f} >= {settings.importance_below:g}")
    return yes("faded", f"age {age:.0f} days, retention {left:.2f}, importance {weight:.2f}, accesses {used}")


def _overheard_for_good(memory: Memory, now: datetime) -> str:
    """Why what was overheard is not given up for its age: nobody chose it, so what it says decides."""
    return lasting(memory, now, by_name=False) if is_overheard(memory) else ""


def _importance(memory: Memory, now: datetime, config: Config, uses: Sequence[datetime]) -> float:
    if config.forgetting.importance_kind == "stored":
        return decayed_importance(memory, now, config)
    return effective_importance(memory, uses, now, config).total
