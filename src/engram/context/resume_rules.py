"""The rules of a resume: numbers about memories come in; what is told, and in how much room, goes out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from engram.config import ResumeConfig
from engram.lifecycle.calibration import Thresholds
from engram.model.memory import Memory

SECTIONS = ("core", "sessions", "working", "recent", "buffer")
"""In the order in which they are filled and told."""
HIGH = frozenset({"identity", "constraint"})
HIGH_TAGS = HIGH | {"bootstrap"}
LOW = frozenset({"preference", "insight", "procedure"})
LOW_TAGS = frozenset({"lesson", "preference", "procedural"})
WORKSPACE_TAG = "workspace:"


def room_for(memories: int, settings: ResumeConfig) -> int:
    """Characters of a resume: more as memory grows, between two limits.

    >>> [room_for(count, ResumeConfig()) for count in (0, 1_000, 2_500, 4_000, 1_000_000)]
    [16000, 16000, 40000, 64000, 64000]
    """
    grown = int(memories * settings.per_memory)
    return max(settings.characters, min(settings.most, grown))


def allot(wanted: Mapping[str, int], budget: int, settings: ResumeConfig) -> dict[str, int]:
    """How much of a budget each section gets, in their order.

    The core is capped; what comes before working and recent leaves them their shares, as far as they want
    them; what a section leaves goes to those after it.

    >>> full = {"core": 900, "sessions": 900, "working": 900, "recent": 900, "buffer": 900}
    >>> allot(full, 1_000, ResumeConfig())
    {'core': 450, 'sessions': 50, 'working': 300, 'recent': 200, 'buffer': 0}
    >>> allot(
    ...     {"core": 100, "sessions": 900, "working": 0, "recent": 50, "buffer": 900}, 1_000, ResumeConfig()
    ... )
    {'core': 100, 'sessions': 850, 'working': 0, 'recent': 50, 'buffer': 0}
    """
    caps = MappingProxyType({"core": int(budget * settings.core_share)})
    floors = {
        "working": min(wanted["working"], int(budget * settings.working_share)),
        "recent": min(wanted["recent"], int(budget * settings.recent_share)),
    }
    found: dict[str, int] = {}
    left = budget
    for place, name in enumerate(SECTIONS):
        kept_free = sum(floors.get(later, 0) for later in SECTIONS[place + 1 :])
        found[name] = max(0, min(wanted[name], caps.get(name, budget), left - kept_free))
        left -= found[name]
    return found


def relevance(cosine: float, space: Thresholds) -> float:
    """How near a memory is to what goes on: 0 as any other of its space, 1 as what says nearly the same.

    In the space of a common model 0.35 is a cosine of about 0.35; in others it is what means as much there.

    >>> from engram.lifecycle.calibration import DEFAULT
    >>> [round(relevance(cosine, DEFAULT), 2) for cosine in (0.0, 0.1, 0.345, 0.8, 1.0)]
    [0.0, 0.0, 0.35, 1.0, 1.0]
    """
    return min(1.0, max(0.0, (cosine - space.noise_mean) / (space.strong - space.noise_mean)))


def gain(memory: Memory, settings: ResumeConfig) -> float:
    """What a memory gains for what it is."""
    if memory.category in HIGH or not HIGH_TAGS.isdisjoint(memory.tags):
        return settings.high_gain
    if memory.category in LOW or not LOW_TAGS.isdisjoint(memory.tags):
        return settings.low_gain
    return 0.0


def choose(scored: Iterable[tuple[float, Memory]], floor: float, most: int) -> list[Memory]:
    """Those that are near enough, the nearest first; the same whatever order they came in."""
    kept = [(score, memory) for score, memory in scored if round(score, 6) >= floor]
    kept.sort(key=lambda pair: (-round(pair[0], 6), -pair[1].importance, pair[1].happened_at, pair[1].id))
    return [memory for _, memory in kept[:most]]


def in_workspace(memory: Memory, workspace: str) -> bool:
    """Whether a memory belongs to a workspace: by its project, by a tag `workspace:…`, or to none at all.

    >>> from datetime import datetime
    >>> at = datetime(2026, 3, 2)
    >>> plain, web = Memory("1", "a", "h", at, at), Memory("2", "b", "h", at, at, tags=("workspace:web",))
    >>> in_workspace(plain, "web"), in_workspace(web, "web"), in_workspace(web, "api"), in_workspace(web, "")
    (True, True, False, True)
    """
    if not workspace:
        return True
    named = [tag.removeprefix(WORKSPACE_TAG) for tag in memory.tags if tag.startswith(WORKSPACE_TAG)]
    if named:
        return workspace in named
    return memory.scope.project in ("", workspace)
