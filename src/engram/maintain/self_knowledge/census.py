"""The census: every clear memory in use comes in, place by place, as the few things that sums are made of.

One pass serves all steps of the stage: they make sketches only, and change no memory.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engram.maintain.room import Room
from engram.maintain.telling import tells
from engram.model.axes import Kind, Lifecycle, Status, Tier, Verification
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Scope

NOTE: Final = "census"
CLEAR = Filters(tiers=frozenset({Tier.CLEAR}))


@dataclass(frozen=True, slots=True)
class Known:
    """A memory in a few words and numbers."""

    key: int
    id: str
    text: str
    """Its key fact."""
    label: str
    speaker: str
    kind: Kind
    category: str
    topics: tuple[str, ...]
    languages: tuple[str, ...]
    at: datetime
    used_at: datetime | None
    accessed: int
    confirmed: int
    importance: float
    confidence: float
    strength: float
    trust: float
    pinned: bool
    doubtful: bool
    """Challenged, disputed, stale, or hardly believed."""
    is_reflection: bool

    @property
    def statement(self) -> str:
        """Its key fact, and whose words it is where somebody said it."""
        return f"{self.speaker}: {self.text}" if self.speaker else self.text

    @property
    def tells(self) -> bool:
        """Whether its key fact says something by itself; much of what people say to each other does not."""
        return tells(self.text, self.speaker)

    @property
    def weight(self) -> tuple[bool, int, float, int, int]:
        """What says more than another: pinned, confirmed, important, used, late."""
        return self.pinned, self.confirmed, self.importance, self.accessed, self.key


Census = Mapping[Scope, list[Known]]


def census(room: Room) -> Census:
    """Everything in use, place by place, in the order of storing."""
    known = room.notes.get(NOTE)
    if known is None:
        known = room.notes[NOTE] = _counted(room)
    counted: Census = known
    return counted


def forget(room: Room) -> None:
    """The last step of the stage lets go of it."""
    room.notes.pop(NOTE, None)


def _counted(room: Room) -> Census:
    found: dict[Scope, list[Known]] = {}
    shared: dict[tuple[str, ...], tuple[str, ...]] = {}
    for part in room.memories(CLEAR):
        for key, one in part:
            found.setdefault(one.scope, []).append(_known(key, one, shared))
    return found


UNSURE: Final = 0.4
REFLECTION: Final = "reflection"


def _known(key: int, memory: Memory, shared: dict[tuple[str, ...], tuple[str, ...]]) -> Known:
    topics = tuple(memory.metadata.get("topics", ()))
    languages = tuple(memory.metadata.get("languages", ()))
    return Known(
        key=key,
        id=memory.id,
        text=memory.forms.key_fact or memory.content,
        label=memory.forms.label,
        speaker=memory.speaker,
        kind=memory.kind,
        category=memory.category,
        topics=shared.setdefault(topics, topics),
        languages=shared.setdefault(languages, languages),
        at=memory.happened_at,
        used_at=memory.last_accessed,
        accessed=memory.usage.accessed,
        confirmed=memory.usage.confirmed,
        importance=memory.importance,
        confidence=memory.confidence,
        strength=memory.strength,
        trust=memory.trust,
        pinned=memory.pinned,
        doubtful=_doubtful(memory),
        is_reflection=memory.category == "identity" or REFLECTION in memory.tags,
    )


def _doubtful(memory: Memory) -> bool:
    return (
        memory.status is Status.CHALLENGED
        or memory.verification is Verification.DISPUTED
        or memory.lifecycle is Lifecycle.STALE
        or memory.confidence < UNSURE
    )
