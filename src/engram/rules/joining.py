"""Joining: two memories that lie near each other come in; whether they say the same, and who takes in whom.

Only words decide that two memories say the same: the later repeats the earlier or only adds to it, and
numbers, negation, names and times agree. What is pinned, protected, procedural or of priority P0 or P1 takes
others in but is never taken in and never reworded. Turns of a conversation are left as they were said.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engram.lazily import dataclass
from engram.model.memory import TAG_LIMIT, Kind, Memory, Priority, Status, Usage
from engram.rules.sameness import (
    Merge,
    Neighbour,
    NewStatement,
    Reinforce,
    SamenessLimits,
    Supersede,
    decide,
    shared,
    stands_in,
)
from engram.rules.traits import (
    is_distilled,
    is_ephemeral,
    is_overheard,
    is_reference,
    is_session_note,
    kept_by_itself,
)
from engram.text.marks import differences, meaning

SHARED = 0.45
"""What states the same thing otherwise shares that many of the words at least."""
HELD, LINES_HELD = 4_096, 8_192
"""Statements, and lines of words, that are kept in mind at most."""
TALES = frozenset({Kind.EPISODIC, Kind.SEMANTIC})
"""Kinds that may say the same; a procedure or a piece of code says something else than a tale about it."""


@dataclass(frozen=True, slots=True)
class Same:
    """Two memories say the same; the words of one of them hold what both say."""

    fuller: Memory
    why: str


def apart(one: Memory, other: Memory) -> str:
    """Why two memories are kept apart whatever they say; empty when their words may decide.

    >>> from datetime import datetime
    >>> day = datetime(2026, 1, 1)
    >>> note = Memory("1", "Anna called", "h", day, day)
    >>> apart(note, note.having(id="2")), apart(note, note.having(id="2", speaker="Anna"))
    ('', 'a turn of a conversation')
    """
    if one.scope != other.scope:
        return "another scope"
    if one.speaker or other.speaker:
        return "a turn of a conversation"
    if one.tier is not other.tier:
        return "not equally secret"
    of_other_kinds = one.kind is not other.kind and not TALES.issuperset({one.kind, other.kind})
    if of_other_kinds or is_reference(one) or is_reference(other):
        return f"{one.kind} and {other.kind}" if of_other_kinds else "a document"
    if _traits(one) != _traits(other):
        return "not meant to last equally long"
    return "" if one.status is Status.ACTIVE is other.status else "not active"


class Compared:
    """Memories as they are compared, each read once. One thread uses it; it holds so many at most."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], NewStatement] = {}
        self._lines: dict[tuple[str, int], tuple[str, ...]] = {}

    def of(self, memory: Memory) -> NewStatement:
        """What a memory states."""
        key = memory.id, memory.version
        if key not in self._known:
            if len(self._known) >= HELD:
                self._known.clear()
            self._known[key] = NewStatement(memory)
        return self._known[key]

    def _line(self, memory: Memory) -> tuple[str, ...]:
        key = memory.id, memory.version
        if key not in self._lines:
            if len(self._lines) >= LINES_HELD:
                self._lines.clear()
            self._lines[key] = meaning(memory.content)
        return self._lines[key]

    def same(self, older: Memory, newer: Memory, cosine: float, limits: SamenessLimits) -> Same | None:
        """Whether rules alone can say that two memories say the same."""
        # The words are looked at first: that is quick, and seldom enough.
        mine, theirs = self._line(newer), self._line(older)
        if not (stands_in(mine, theirs) or stands_in(theirs, mine)):
            return None
        before, after = self.of(older), self.of(newer)
        if older.content != newer.content and differences(before.marks, after.marks):
            return None
        verdict = decide(after, [Neighbour(older, before, cosine)], limits)
        why = f"cosine {cosine:.2f}, words agree"
        if isinstance(verdict, Reinforce):
            return Same(older, why)
        return Same(newer, f"{why}, one says more") if isinstance(verdict, Merge) else None

    def replaces(self, older: Memory, newer: Memory, cosine: float | None, limits: SamenessLimits) -> bool:
        """Whether rules alone can say that the later of two memories takes the place of the earlier."""
        if cosine is not None and shared(self._line(older), self._line(newer)) < SHARED:
            return False
        before, after = self.of(older), self.of(newer)
        verdict = decide(after, [Neighbour(older, before, cosine)], limits)
        return isinstance(verdict, Supersede) and verdict.whole

    def differing(self, one: Memory, other: Memory) -> tuple[str, ...]:
        """Which marks of two memories do not agree: numbers, negation, names, times."""
        return differences(self.of(one).marks, self.of(other).marks)


def stands(memory: Memory) -> bool:
    """Whether maintenance neither lets a memory give way nor rewords it."""
    return bool(kept_by_itself(memory)) or memory.priority in (Priority.P0, Priority.P1)


def ranked(memories: Sequence[Memory]) -> list[Memory]:
    """Who takes in the others: what stands for good, was given, is higher, weightier, older goes first."""
    return sorted(
        memories,
        key=lambda one: (
            not stands(one),
            is_overheard(one),
            -one.layer.number,
            -one.importance,
            -one.usage.accessed,
            one.created_at,
            one.id,
        ),
    )


def absorbed(winner: Memory, losers: Sequence[Memory]) -> Memory:
    """The winner after taking in the others: tags united, counts summed, the best of the rest.

    >>> from datetime import datetime
    >>> day = datetime(2026, 1, 1)
    >>> one = Memory("1", "Anna called", "h", day, day, tags=("a",), importance=0.4, usage=Usage(accessed=2))
    >>> two = Memory("2", "Anna called", "h", day, day, tags=("b",), importance=0.6, usage=Usage(accessed=3))
    >>> both = absorbed(one, [two])
    >>> both.tags, both.importance, both.usage.accessed
    (('a', 'b'), 0.6, 5)
    """
    every = (winner, *losers)
    used = [one.last_accessed for one in every if one.last_accessed is not None]
    vouched = [one.verified_at for one in every if one.verified_at is not None]
    changes: dict[str, Any] = {
        "tags": tuple(dict.fromkeys(tag for one in every for tag in one.tags))[:TAG_LIMIT],
        "entities": tuple(dict.fromkeys(name for one in every for name in one.entities)),
        "importance": max(one.importance for one in every),
        "confidence": max(one.confidence for one in every),
        "trust": max(one.trust for one in every),
        "strength": max(one.strength for one in every),
        "layer": max(one.layer for one in every),
        "usage": _summed([one.usage for one in every]),
        "last_accessed": max(used, default=None),
        "verified_at": max(vouched, default=None),
    }
    return winner.having(**changes)


def _summed(usages: Sequence[Usage]) -> Usage:
    """Counts add up, each memory taken in was one more time it was said; sessions may be the same ones."""
    return Usage(
        accessed=sum(usage.accessed for usage in usages),
        repeated=sum(usage.repeated for usage in usages) + len(usages) - 1,
        confirmed=sum(usage.confirmed for usage in usages),
        sessions=max(usage.sessions for usage in usages),
        helpful=sum(usage.helpful for usage in usages),
        unhelpful=sum(usage.unhelpful for usage in usages),
    )


def _traits(memory: Memory) -> tuple[bool, bool, bool]:
    return is_session_note(memory), is_ephemeral(memory), is_distilled(memory)
