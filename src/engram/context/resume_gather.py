"""Gathering for a resume: who asks comes in; the memories of each section come out, best first.

Everything is read in bounded pieces: the latest memories, the last lines of the ledger, and those of a layer
that lie nearest to the middle of what goes on. Nothing is counted as a use.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from itertools import islice
from typing import TYPE_CHECKING, Any

from engram.config import ResumeConfig
from engram.context.resume_rules import (
    HIGH,
    HIGH_TAGS,
    LOW,
    LOW_TAGS,
    choose,
    gain,
    in_workspace,
    relevance,
)
from engram.context.telling import may_be_told
from engram.errors import EmbedderError
from engram.lifecycle.calibration import thresholds
from engram.model.axes import Layer
from engram.model.memory import Memory
from engram.model.vectors import Space
from engram.ports import Tools, View

if TYPE_CHECKING:
    from engram.ports import Floats

LATEST = 400
"""So many of the newest memories are looked at."""
EVENTS = 300
"""So many of the last events."""
AROUND = 20
"""So many of each say what goes on."""
WIDER = 4
"""So many times more are looked at when some will be left out by their workspace."""
SESSION = "session"


@dataclass(frozen=True, slots=True)
class Gathered:
    """The memories of each section."""

    core: list[Memory]
    sessions: list[Memory]
    working: list[Memory]
    recent: list[Memory]
    buffer: list[Memory]

    def of(self, section: str) -> list[Memory]:
        """Those of one section."""
        found: list[Memory] = getattr(self, section)
        return found


def gather(view: View, workspace: str, tools: Tools) -> Gathered:
    """What each section may tell. A memory stands in one section only."""
    settings = tools.config.resume
    latest = _here(tools.store.memories.page(view, LATEST), workspace)
    told: set[str] = set()
    sessions = _fresh(_sessions(view, workspace, tools), told, settings.sessions_most)
    changed = _changed(view, workspace, tools)
    new = [memory for memory in latest if memory.layer is Layer.BUFFER]
    middle = _middle((new[:AROUND], sessions, changed[:AROUND]), tools)
    core = _near(view, Layer.CORE, middle, workspace, tools)
    working = _near(view, Layer.WORKING, middle, workspace, tools)
    altered = [one for one in changed if one.layer is not Layer.BUFFER or one.version > 1]
    return Gathered(
        core=_fresh(choose(core, _floor(middle, settings.core_relevance), settings.core_most), told),
        sessions=sessions,
        working=_fresh(
            choose(working, _floor(middle, settings.working_relevance), settings.working_most), told
        ),
        recent=_fresh(altered, told, settings.recent_most),
        buffer=_fresh(new, told, settings.buffer_most),
    )


@dataclass(frozen=True, slots=True)
class _Middle:
    """The centroid of what goes on, and the space it lies in."""

    space: Space
    vector: Floats


def _floor(middle: _Middle | None, floor: float) -> float:
    """Where nothing goes on, or no vectors are to be had, nearness decides nothing."""
    return 0.0 if middle is None else floor


def _here(memories: Iterable[Memory], workspace: str) -> list[Memory]:
    return [memory for memory in memories if in_workspace(memory, workspace)]


def _fresh(memories: Iterable[Memory], told: set[str], most: int | None = None) -> list[Memory]:
    """Those that are not told yet and may be; from now on they are."""
    fit = (memory for memory in memories if memory.id not in told and may_be_told(memory))
    found = list(islice(fit, most))
    told.update(memory.id for memory in found)
    return found


def _sessions(view: View, workspace: str, tools: Tools) -> list[Memory]:
    """Notes that sessions left behind: their summaries, or what is tagged so; the newest first.

    What was merely said in a session is no note of it.
    """
    pages = (
        tools.store.memories.page(_with(view, **asked), LATEST // 4)
        for asked in ({"origin_prefix": f"{SESSION}:"}, {"tags_any": frozenset({SESSION})})
    )
    found = {one.id: one for page in pages for one in _here(page, workspace)}
    return sorted(found.values(), key=lambda one: (one.happened_at, one.id), reverse=True)


def _changed(view: View, workspace: str, tools: Tools) -> list[Memory]:
    """What has changed lately, the last change first."""
    since = tools.clock.now() - timedelta(days=tools.config.resume.recent_days)
    events = tools.store.ledger.events(None, view.access, EVENTS)
    ids = list(dict.fromkeys(event.memory for event in events if event.at >= since))
    keys = tools.store.memories.keys(ids)
    allowed = tools.store.memories.allow(view, list(keys.values()))
    read = tools.store.memories.read(sorted(allowed))
    found = {memory.id: memory for memory in read.values()}
    return _here((found[one] for one in ids if one in found), workspace)


def _middle(around: Sequence[Sequence[Memory]], tools: Tools) -> _Middle | None:
    """The middle of what goes on; None when nothing does, or no vectors are to be had."""
    ids = list(dict.fromkeys(memory.id for memories in around for memory in memories))
    try:
        space = tools.embedder.space
    except EmbedderError:
        return None
    keys = sorted(tools.store.memories.keys(ids).values())
    stored = tools.store.vectors.rows(space, keys) if keys else None
    if stored is None or not len(stored.keys):
        return None
    from engram.vectors.similarity import unit

    rows = unit(stored.rows.astype("float32"))
    vector: Floats = unit(rows.mean(axis=0))
    return _Middle(space, vector) if vector.any() else None


def _near(
    view: View, layer: Layer, middle: _Middle | None, workspace: str, tools: Tools
) -> list[tuple[float, Memory]]:
    """Memories of a layer with their scores; what a memory is counts only in the core.

    Each class that gains something is searched by itself: within a class the nearest by cosine are the
    nearest by score, so that the best of all classes together are the best there are.
    """
    settings = tools.config.resume if layer is Layer.CORE else _without_gains(tools.config.resume)
    most = max(settings.core_most, settings.working_most) * (WIDER if workspace else 1)
    layered = _with(view, layers=frozenset({layer}))
    if middle is None:
        return [
            (gain(one, settings), one) for one in _here(tools.store.memories.page(layered, most), workspace)
        ]
    space = thresholds(middle.space.key)
    cosines: dict[int, float] = {}
    for asked in _CLASSES if layer is Layer.CORE else _CLASSES[:1]:
        cosines |= dict(tools.index.search(middle.space, middle.vector, most, _with(layered, **asked)))
    read = tools.store.memories.read(sorted(cosines))
    return [
        (relevance(cosines[key], space) + gain(memory, settings), memory)
        for key, memory in read.items()
        if in_workspace(memory, workspace)
    ]


def _without_gains(settings: ResumeConfig) -> ResumeConfig:
    return replace(settings, high_gain=0.0, low_gain=0.0)


_CLASSES: tuple[dict[str, Any], ...] = (
    {},
    {"categories": HIGH},
    {"tags_any": HIGH_TAGS},
    {"categories": LOW},
    {"tags_any": LOW_TAGS},
)


def _with(view: View, **asked: Any) -> View:
    return View(view.access, replace(view.filters, **asked))
