"""The room: everything a step of maintenance may use, and the few things every step does."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from engram.errors import EmbedderError
from engram.maintain.decisions import Add, Change
from engram.model.axes import Status
from engram.model.draft import Draft
from engram.model.drift import Landscape
from engram.model.event import Verb
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.upkeep import Run
from engram.ports import Embedded, Findable, Tools
from engram.text.key import key_text

NAMES = uuid.UUID("8f6d2f0e-5a57-4d4f-9c53-1b7c3f2d9a10")
"""Where ids of memories made by maintenance come from: the same sources give the same id."""
ACTIVE = frozenset({Status.ACTIVE})


@dataclass(frozen=True, slots=True)
class Made:
    """A draft, worked out: the memory, and what it is found by."""

    memory: Memory
    findable: Findable


@dataclass(frozen=True, slots=True)
class Room:
    """What a run of maintenance works with. It sees the whole file; scopes are never mixed by a step."""

    tools: Tools
    run: Run
    make: Callable[[Draft], Made]
    """How a draft becomes a memory: capture's own way, handed in by the engine."""
    findable: Callable[[Memory], Findable]
    """What a memory with these words is found by, likewise."""
    repay: Callable[[int], int] = field(default=lambda _most: 0)
    """Makes up to so many vectors that are missing; how many were made."""
    spoken_of: Callable[[Memory], dict[str, Any]] = field(default=lambda _memory: {})
    """What a memory's words speak of, to be filtered by, likewise."""
    landscape: Callable[[str], Landscape | None] = field(default=lambda _directory: None)
    """What is in a directory; None when it is not there."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What one step of a run worked out and a later one can use; lost without harm."""
    stopping: Callable[[], bool] = field(default=lambda: False)
    """Whether somebody wants the run to pause; it goes on the next time."""
    told: Callable[[str, str], None] = field(default=lambda _step, _cursor: None)
    """Hears which step is under way."""

    @property
    def now(self) -> datetime:
        """The time all rules look at: that of the run's beginning, also when it goes on after a crash."""
        return self.run.started_at

    def memories(self, filters: Filters, after: int = 0) -> Iterator[list[tuple[int, Memory]]]:
        """A pass over memories that fit, in slices by key."""
        size = self.tools.config.maintain.slice
        while found := self.tools.store.upkeep.slice(filters, after, size):
            yield found
            after = found[-1][0]
            if len(found) < size:
                return

    def new(self, draft: Draft, rule: str, *sources: str) -> Add:
        """A memory made by maintenance: it belongs to the run's time and is known by rule and sources."""
        made = self.make(draft)
        name = "\n".join((rule, *sorted(sources)))
        memory = replace(
            made.memory, id=str(uuid.uuid5(NAMES, name)), created_at=self.now, modified_at=self.now
        )
        return Add(memory, made.findable, self.vector(memory))

    def vector(self, memory: Memory) -> Embedded | None:
        """The memory's vector; None while vectors cannot be made: it comes later."""
        try:
            space, rows = self.tools.embedder.embed([key_text(memory.content, memory.told_by, memory.after)])
        except EmbedderError:
            return None
        return Embedded(space, rows[0])


def becomes(old: Memory, verb: Verb = Verb.UPDATED, **fields: object) -> Change:
    """The change of a few fields of a memory."""
    return Change(old, replace(old, **fields), verb)  # type: ignore[arg-type]  # names are checked by replace
