"""Traits: a memory comes in; what the rules want to know before they weigh it comes out, trait by trait."""

from __future__ import annotations

from contextlib import suppress
from datetime import datetime
from functools import lru_cache
from typing import Final

from engram.config import Config
from engram.model.axes import Kind, Policy, Priority, Status, Verification
from engram.model.commitment import LoopState
from engram.model.memory import Memory

USUAL = Config()
BY_HAND: Final = frozenset({"human", "agent"})
"""Sources that word a memory themselves; every other one had it taken out of something."""
SESSION_NOTES: Final = frozenset({"session", "session-note"})
DISTILLED: Final = frozenset({"distilled", "auto-distilled"})
DRAWN: Final = frozenset({"pattern", "inferred", "procedure"})
"""Tags of what consolidation drew from several memories together."""
LESSONS: Final = frozenset({"lesson"})
RESOLVED: Final = frozenset(state.value for state in LoopState if not state.is_open)
"""What `details["state"]` says of a commitment that nobody waits for any more."""


def protected(memory: Memory, config: Config = USUAL) -> str:
    """Why forgetting may do nothing to a memory; empty when it may.

    >>> day = datetime(2026, 1, 1)
    >>> protected(Memory("1", "Hi", "h", day, day, pinned=True)), protected(Memory("1", "Hi", "h", day, day))
    ('pinned', '')
    """
    if held := kept_by_itself(memory):
        return held
    if memory.priority in (Priority.P0, Priority.P1):
        return f"priority {memory.priority}"
    kept = _listed(config.forgetting.protected)
    return f"category {memory.category}" if memory.category in kept else ""


def kept_by_itself(memory: Memory) -> str:
    """Why a memory stays whatever becomes of it: a person asked for it, or it tells how to do something."""
    if memory.pinned:
        return "pinned"
    if memory.policy is Policy.PROTECTED:
        return "policy protected"
    return "procedural" if memory.kind is Kind.PROCEDURAL else ""


def is_lesson(memory: Memory) -> bool:
    """Whether it tells how to do something: a procedure, or tagged as a lesson."""
    return memory.kind is Kind.PROCEDURAL or not LESSONS.isdisjoint(memory.tags)


def is_session_note(memory: Memory) -> bool:
    """Whether it was noted about a session, to go on from there; what was learned in one is no such note."""
    return not SESSION_NOTES.isdisjoint(memory.tags)


def is_ephemeral(memory: Memory) -> bool:
    """Whether it is meant for a while only."""
    return memory.policy is Policy.EPHEMERAL or "ephemeral" in memory.tags


def is_distilled(memory: Memory) -> bool:
    """Whether it was drawn from session notes, or has been drawn upon."""
    return not DISTILLED.isdisjoint(memory.tags)


def is_drawn(memory: Memory) -> bool:
    """Whether it was drawn from other memories: it follows them, and is no repetition of any."""
    return memory.source == "engine" and not DRAWN.isdisjoint(memory.tags)


def is_extracted(memory: Memory) -> bool:
    """Whether nobody worded it as a memory: rules or a model took it out of something."""
    return memory.source.partition(":")[0] not in BY_HAND


def is_confirmed(memory: Memory) -> bool:
    """Whether somebody vouches for it."""
    return memory.verification is Verification.USER_CONFIRMED or memory.usage.confirmed > 0


def is_disputed(memory: Memory) -> bool:
    """Whether somebody doubts it."""
    return memory.verification is Verification.DISPUTED or memory.status is Status.CHALLENGED


def resolved_at(memory: Memory) -> datetime | None:
    """When a commitment was kept or given up; None for an open one and for anything else.

    >>> day = datetime(2026, 1, 1)
    >>> resolved_at(Memory("1", "Call Bob", "h", day, day, category="commitment")) is None
    True
    >>> over = {"state": "done", "closed_at": "2026-01-05T00:00:00+00:00"}
    >>> str(resolved_at(Memory("1", "Call Bob", "h", day, day, category="commitment", details=over)))
    '2026-01-05 00:00:00+00:00'
    """
    if memory.category != "commitment" or memory.details.get("state") not in RESOLVED:
        return None
    with suppress(ValueError):
        at = datetime.fromisoformat(str(memory.details.get("closed_at")))
        return at if at.tzinfo else memory.modified_at
    return memory.modified_at


@lru_cache(maxsize=64)
def _listed(names: str) -> frozenset[str]:
    return frozenset(name.strip() for name in names.split(",") if name.strip())
