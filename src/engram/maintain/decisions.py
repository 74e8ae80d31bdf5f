"""What a step may decide: a rule, its reason, and effects from a closed set.

A step only looks and decides. `carry_out.py` does it, inside the writer, and only if what the decision rests
on still holds. So every step can be tried on a copy, told in a report, and taken back.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from engram.model.bus import Delivery, Subscription
from engram.model.entity import Entity
from engram.model.event import Verb
from engram.model.memory import Memory
from engram.model.relations import Edge
from engram.model.scope import Scope
from engram.model.upkeep import Judgement, Sketch
from engram.ports import Embedded, Findable

PURGE: Final = "archive.purge"
"""The one rule that erases; a run in which it fired rewrites the file at its end."""


@dataclass(frozen=True, slots=True)
class Change:
    """A memory becomes another: the fields that differ are set, if they are still as they were seen.

    A new content is indexed anew by `Room.findable`; its vector is made by the step that embeds.
    """

    old: Memory
    new: Memory
    verb: Verb = Verb.UPDATED
    related: str = ""
    """The other memory, where it is not that of the decision."""


@dataclass(frozen=True, slots=True)
class Add:
    """A new memory. Its id follows from what it is made of (`Room.new`): made twice, it is made once."""

    memory: Memory
    findable: Findable
    vector: Embedded | None = None


@dataclass(frozen=True, slots=True)
class Draw:
    """An edge, unless it is there or would close a circle."""

    edge: Edge


@dataclass(frozen=True, slots=True)
class Erase:
    """A memory goes for good. It cannot be taken back: only for what was archived long enough."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Name:
    """An entity goes by one more name."""

    name: str
    entity: Entity
    namespace: str


@dataclass(frozen=True, slots=True)
class Judge:
    """Remember a judgement."""

    judgement: Judgement


@dataclass(frozen=True, slots=True)
class Keep:
    """Keep a sketch in place of the former one; one that says the same changes nothing."""

    sketch: Sketch


@dataclass(frozen=True, slots=True)
class Drop:
    """Drop a sketch."""

    scope: Scope
    kind: str
    key: str


@dataclass(frozen=True, slots=True)
class Prune:
    """Logs of uses and reports of finished runs from before a time go."""

    before: datetime


@dataclass(frozen=True, slots=True)
class Deliver:
    """Note what a memory is a copy of."""

    delivery: Delivery


@dataclass(frozen=True, slots=True)
class Place:
    """A subscriber has been shown publications up to a place."""

    subscription: Subscription


Effect = Change | Add | Draw | Erase | Name | Judge | Keep | Drop | Deliver | Place | Prune


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision. Its effects happen together or not at all."""

    rule: str
    """What fired, as `subject.rule`: `buffer.promote`, `merge.pair`."""
    why: str
    """The numbers in words. Never a memory's own words: the report outlives an erased memory."""
    effects: tuple[Effect, ...]
    memory: str = ""
    related: str = ""
    quiet: bool = False
    """Left out of the report: bookkeeping (numbers, judgements) that nobody would want to take back."""

    @property
    def changes(self) -> frozenset[str]:
        """The ids of the memories that it changes."""
        return frozenset(effect.old.id for effect in self.effects if isinstance(effect, Change))

    @property
    def key(self) -> str:
        """What it is known by when a person has taken it back."""
        return f"{self.rule}:{self.memory}:{self.related}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Decisions that are carried out in one unit of work, and the place from which the step goes on after."""

    decisions: tuple[Decision, ...]
    cursor: str = ""
    told: Mapping[str, Any] = field(default_factory=dict)
    """Anything a watcher may want to show: how many of how many."""
