"""What every step of maintenance works with: decisions and their effects, the context of a run, the sweep."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final, TypeVar

from engram.errors import EmbedderError
from engram.lazily import dataclass
from engram.model.capture import Draft
from engram.model.event import Delivery, Subscription, Verb
from engram.model.facts import Edge, EdgeType, Entity
from engram.model.maintenance import Judgement, Landscape, Run, Sketch, WhoIsNamed
from engram.model.memory import Filters, Layer, Memory, Status, Tier, Verification
from engram.model.scope import Scope
from engram.ports import Embedded, Findable, Tools
from engram.rules.enrich import prepare
from engram.rules.screen import screen
from engram.text.forms import key_text

Read = TypeVar("Read")
Group = TypeVar("Group")

# ---------------------------------------------------------------- decisions
# What a step may decide: a rule, its reason, and effects from a closed set.
#
# A step only looks and decides. `apply.py` does it, inside the writer, and only if what the decision
# rests on still holds. So every step can be tried on a copy, told in a report, and taken back.

PURGE: Final = "archive.purge"
"""The one rule that erases; a run in which it fired rewrites the file at its end."""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """A memory becomes another: the fields that differ are set, if they are still as they were seen.

    A new content is indexed anew by `rules/enrich.py`; its vector is made by the step that embeds.
    """

    old: Memory
    new: Memory
    verb: Verb = Verb.UPDATED
    related: str = ""
    """The other memory, where it is not that of the decision."""


@dataclass(frozen=True, slots=True)
class Add:
    """A new memory. Its id follows from what it is made of: made twice, it is made once."""

    memory: Memory
    findable: Findable
    vector: Embedded | None = None


@dataclass(frozen=True, slots=True)
class Reword:
    """The words a memory is found by are read anew."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Draw:
    """An edge, unless it is there or would close a circle."""

    edge: Edge


@dataclass(frozen=True, slots=True)
class Erase:
    """A memory goes for good. It cannot be taken back: only for what was archived long enough."""

    memory: Memory


@dataclass(frozen=True, slots=True)
class Alias:
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
class GoOnFrom:
    """A subscriber has been shown publications up to a place."""

    subscription: Subscription


Effect = MemoryChange | Add | Reword | Draw | Erase | Alias | Judge | Keep | Drop | Deliver | GoOnFrom | Prune


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
        return frozenset(effect.old.id for effect in self.effects if isinstance(effect, MemoryChange))

    @property
    def key(self) -> str:
        """What it is known by when a person has taken it back."""
        return f"{self.rule}:{self.memory}:{self.related}"


@dataclass(frozen=True, slots=True)
class Batch:
    """Decisions that are carried out in one unit of work, and the place from which the step goes on after."""

    decisions: tuple[Decision, ...]
    cursor: str = ""


def batches(decisions: Iterable[Decision], size: int) -> Iterator[Batch]:
    """So many decisions a batch; none when nothing was decided."""
    left = iter(decisions)
    while chunk := tuple(islice(left, size)):
        yield Batch(chunk)


def grouped(pairs: Iterable[tuple[Group, Read]]) -> dict[Group, list[Read]]:
    """Things by what they belong to, in their order."""
    groups: defaultdict[Group, list[Read]] = defaultdict(list)
    for group, item in pairs:
        groups[group].append(item)
    return dict(groups)


# ---------------------------------------------------------------- context
# The context of a run: everything a step of maintenance may use, and the few things every step does.

NAMES = uuid.UUID("8f6d2f0e-5a57-4d4f-9c53-1b7c3f2d9a10")
"""Where ids of memories made by maintenance come from: the same sources give the same id."""
ACTIVE = frozenset({Status.ACTIVE})
CLEAR = Filters(tiers=frozenset({Tier.CLEAR}))
"""What may stand in a summary: no secrets."""


@dataclass(frozen=True, slots=True)
class StepContext:
    """What a run of maintenance works with. It sees the whole file; scopes are never mixed by a step."""

    tools: Tools
    run: Run
    landscape: Landscape | None = None
    """What is in the directory that claims are checked against; None when there is none."""
    notes: dict[str, Any] = field(default_factory=dict)
    """What one step of a run worked out and a later one can use; lost without harm."""
    stopping: Callable[[], bool] = field(default=lambda: False)
    """Whether somebody wants the run to pause; it goes on the next time."""
    progress: Callable[[str, str], None] = field(default=lambda _step, _cursor: None)
    """Hears which step is under way."""

    @property
    def now(self) -> datetime:
        """The time all rules look at: that of the run's beginning, also when it goes on after a crash."""
        return self.run.started_at

    def memories(self, filters: Filters, after: int = 0) -> Iterator[list[tuple[int, Memory]]]:
        """A pass over memories that fit, in slices by key."""
        return self._pass(self.tools.store.upkeep.slice, filters, after)

    def named(self, filters: Filters) -> Iterator[list[tuple[int, WhoIsNamed]]]:
        """The same, for who only wants to know where memories belong and whom they name."""
        return self._pass(self.tools.store.upkeep.named, filters, 0)

    def bare(self, filters: Filters) -> Iterator[list[tuple[int, Memory]]]:
        """The same of memories without metadata."""
        return self._pass(self.tools.store.upkeep.bare, filters, 0)

    def _pass(
        self, read: Callable[[Filters, int, int], list[tuple[int, Read]]], filters: Filters, after: int
    ) -> Iterator[list[tuple[int, Read]]]:
        size = self.tools.config.maintain.slice
        while rows := read(filters, after, size):
            yield rows
            after = rows[-1][0]
            if len(rows) < size:
                return

    def new(self, draft: Draft, rule: str, *sources: str) -> Add:
        """A memory made by maintenance: it belongs to the run's time and is known by rule and sources."""
        prepared = prepare(screen(draft), self.tools)
        name = "\n".join((rule, *sorted(sources)))
        memory = replace(
            prepared.memory, id=str(uuid.uuid5(NAMES, name)), created_at=self.now, modified_at=self.now
        )
        return Add(memory, prepared.findable, self.vector(memory))

    def derived(
        self,
        draft: Draft,
        rule: str,
        sources: Sequence[str],
        *known_by: str,
        by: EdgeType = EdgeType.DERIVED_FROM,
    ) -> tuple[Add, tuple[Draw, ...]]:
        """A memory that the engine concludes from others, and edges to them; `known_by` if not by those."""
        draft = replace(draft, source="engine", layer=Layer.WORKING)
        add = self.new(draft, rule, *(known_by or sources))
        add = replace(add, memory=replace(add.memory, verification=Verification.SYSTEM_INFERRED))
        return add, tuple(Draw(Edge(add.memory.id, source, by)) for source in sources)

    def vector(self, memory: Memory) -> Embedded | None:
        """The memory's vector; None while vectors cannot be made: it comes later."""
        try:
            space, rows = self.tools.embedder.embed([key_text(memory.content, memory.told_by, memory.after)])
        except EmbedderError:
            return None
        return Embedded(space, rows[0])


def becomes(old: Memory, verb: Verb = Verb.UPDATED, **fields: object) -> MemoryChange:
    """The change of a few fields of a memory."""
    return MemoryChange(old, old.having(**fields), verb)


def move_decision(memory: Memory, rule: str, why: str, layer: Layer) -> Decision:
    """The decision that a memory stands in another layer from now on."""
    return Decision(rule, why, (becomes(memory, layer=layer),), memory.id)


def archive_decision(memory: Memory, rule: str, why: str) -> Decision:
    """The decision that a memory goes to the archive."""
    return Decision(rule, why, (becomes(memory, Verb.ARCHIVED, status=Status.ARCHIVED),), memory.id)


# ---------------------------------------------------------------- sweep
# A sweep: memories that fit a filter come in, slice by slice; what was decided about them goes out.
#
# A run moves a memory once. What it has changed (or what changed at its very moment) is *fresh*: rules look
# at it the next time. So a run that is asked for twice at one moment finds nothing the second time, and a
# run that was cut off does what it would have done.


Slice = Sequence[tuple[int, Memory]]
"""Memories with their keys."""
Decide = Callable[[Slice], Iterable[Decision]]
PAUSE_EVERY: Final = 20
"""Slices after which a step that decides nothing still says how far it has come, and may be paused."""


def sweep(context: StepContext, cursor: str, filters: Filters, decide: Decide) -> Iterator[Batch]:
    """Go once over the memories that fit and are not fresh; a batch for each slice that led to something."""
    settled = context.now - timedelta(microseconds=1)
    filters = replace(filters, modified_until=min(filters.modified_until or settled, settled))
    for number, part in enumerate(context.memories(filters, int(cursor or 0)), 1):
        decisions = tuple(decide(part))
        if decisions or number % PAUSE_EVERY == 0:
            yield Batch(decisions, str(part[-1][0]))


def plan_each(
    filters: Filters | Callable[[StepContext], Filters],
    decide: Callable[[Memory, StepContext], Decision | None],
) -> Plan:
    """The plan of a step that looks at the memories that fit one by one."""

    def plan(context: StepContext, cursor: str) -> Iterator[Batch]:
        def decided(part: Slice) -> Iterable[Decision]:
            return (decision for _, memory in part if (decision := decide(memory, context)) is not None)

        return sweep(context, cursor, filters(context) if callable(filters) else filters, decided)

    return plan


def is_fresh(memory: Memory, context: StepContext) -> bool:
    """Whether it was stored or changed at the moment this run looks at, or since."""
    return memory.modified_at >= context.now


# ---------------------------------------------------------------- step
# A step of maintenance: what it is called, where it stands, and how it looks at the memories.


Plan = Callable[[StepContext, str], Iterator[Batch]]
"""Looks at the memories, from a place on, and yields what it decided, slice by slice.

It may be cut off after any batch and is then called again with that batch's cursor. Called with nothing new
and no time passed it decides nothing.
"""


@dataclass(frozen=True, slots=True)
class Step:
    """One step, with the stage it belongs to."""

    stage: str
    name: str
    plan: Plan
