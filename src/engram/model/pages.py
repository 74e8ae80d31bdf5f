"""Answers that come in pages, and counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engram.model.event import Event
from engram.model.memory import Memory


@dataclass(frozen=True, slots=True)
class Page:
    """Some memories, and where the next page begins."""

    memories: tuple[Memory, ...]
    cursor: str | None = None
    """Give this to get the next page; None on the last one."""

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)


@dataclass(frozen=True, slots=True)
class News:
    """Some events, oldest first, and where to go on."""

    events: tuple[Event, ...]
    place: str
    """Ask for what came after this the next time. It may be an event that the caller does not see."""


@dataclass(frozen=True, slots=True)
class Stats:
    """How much is kept, of what."""

    memories: int
    by_status: Mapping[str, int] = field(default_factory=dict)
    by_kind: Mapping[str, int] = field(default_factory=dict)
    by_category: Mapping[str, int] = field(default_factory=dict)
    by_layer: Mapping[str, int] = field(default_factory=dict)
    by_namespace: Mapping[str, int] = field(default_factory=dict)
    in_use_by_kind: Mapping[str, int] = field(default_factory=dict)
    """Of those that are active or challenged, as is the next."""
    in_use_by_layer: Mapping[str, int] = field(default_factory=dict)
    edges: int = 0
    events: int = 0
    vectors: Mapping[str, int] = field(default_factory=dict)
    """How many vectors each space holds."""
    pending: int = 0
    """Memories whose vector in the present space is still to come."""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the doctor looked at."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    mended: int = 0
    """How much was wrong and has been put right."""
