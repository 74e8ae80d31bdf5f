"""What the store holds, as plain dicts of frozen values.

A unit of work gets a copy and changes that; committing swaps the copy in. So an exception leaves nothing
behind, and a reader that looks at one copy never sees half of a write.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from engram.model.advice import Call
from engram.model.answer import KeptAnswer
from engram.model.bus import Delivery, Publication, Subscription
from engram.model.entity import Entity
from engram.model.event import Event
from engram.model.health import Recalled
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Scope
from engram.model.session import Snapshot
from engram.model.token import Token
from engram.model.trigger import Trigger
from engram.model.turn import Turn
from engram.model.upkeep import Decided, Judgement, Run, Sketch
from engram.ports import Findable, Suppression

Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class KeptVector:
    """One quantized vector, and when it was set or its memory's place or status changed."""

    seq: int
    row: NDArray[np.int8]
    scale: float


@dataclass(slots=True)
class Tables:
    """Everything; dicts are ordered by key because keys only grow."""

    records: dict[int, Memory] = field(default_factory=dict)
    keys: dict[str, int] = field(default_factory=dict)
    findables: dict[int, Findable] = field(default_factory=dict)
    vectors: dict[tuple[str, int], KeptVector] = field(default_factory=dict)
    """By space and key."""
    gone: dict[tuple[str, int], int] = field(default_factory=dict)
    """When a vector went, by space and key."""
    centres: dict[str, Floats] = field(default_factory=dict)
    edges: dict[tuple[str, str, EdgeType], Edge] = field(default_factory=dict)
    events: dict[int, Event] = field(default_factory=dict)
    event_scopes: dict[str, Scope] = field(default_factory=dict)
    opinions: dict[int, Suppression] = field(default_factory=dict)
    used_in: dict[tuple[int, str], None] = field(default_factory=dict)
    """In which sessions a memory was used."""
    mentions: dict[int, frozenset[str]] = field(default_factory=dict)
    """The names of each memory, without case."""
    entities: dict[int, Entity] = field(default_factory=dict)
    """Without aliases and mentions, which are worked out."""
    aliases: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)
    """What a name of a namespace stands for, and how it was written."""
    turns: dict[int, Turn] = field(default_factory=dict)
    turn_memories: dict[tuple[int, int], None] = field(default_factory=dict)
    """Which turn led to which memory."""
    origins: dict[tuple[Scope, str], tuple[int, str]] = field(default_factory=dict)
    """Memory and digest, by scope and origin."""
    calls: dict[int, Call] = field(default_factory=dict)
    recalls: dict[int, Recalled] = field(default_factory=dict)
    tokens: dict[str, tuple[Token, str]] = field(default_factory=dict)
    answers: dict[tuple[str, str], KeptAnswer] = field(default_factory=dict)
    """Each with the digest of its secret."""
    triggers: dict[str, Trigger] = field(default_factory=dict)
    snapshots: dict[tuple[Scope, str], Snapshot] = field(default_factory=dict)
    publications: dict[str, Publication] = field(default_factory=dict)
    subscriptions: dict[str, Subscription] = field(default_factory=dict)
    deliveries: dict[str, Delivery] = field(default_factory=dict)
    """By the copy's id."""
    runs: dict[str, Run] = field(default_factory=dict)
    decisions: dict[int, tuple[str, Decided]] = field(default_factory=dict)
    """What each run decided, in order."""
    judgements: dict[tuple[str, str], Judgement] = field(default_factory=dict)
    sketches: dict[tuple[str, Scope, str], Sketch] = field(default_factory=dict)
    uses: dict[int, tuple[int, datetime]] = field(default_factory=dict)
    """Each use of a memory, by key."""
    scopes: dict[Scope, int] = field(default_factory=dict)
    namespaces: dict[str, int] = field(default_factory=dict)
    event_counts: dict[date, int] = field(default_factory=dict)
    counters: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Tables:
        """The same values in new dicts."""
        return Tables(**{f.name: getattr(self, f.name).copy() for f in fields(self)})

    def next_number(self, name: str) -> int:
        """Count up: numbers are never given twice, not even after an erase."""
        self.counters[name] = self.counters.get(name, 0) + 1
        return self.counters[name]

    def number_scope(self, scope: Scope) -> None:
        """Give a scope and its namespace their numbers, once."""
        self.scopes.setdefault(scope, len(self.scopes) + 1)
        self.namespaces.setdefault(scope.namespace, len(self.namespaces) + 1)
