"""Entities: who and what memories speak of. `memory.entities` shows, joins and parts them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from engram.api.caller import PAGE_LIMIT, CallerContext, whole
from engram.api.facts import holds, known
from engram.api.knowledge import Knowledge
from engram.api.timelines import Window, of_entity
from engram.capture import screen
from engram.errors import AccessDenied, EmptyContent, InvalidInput, UnknownEntity, UnknownValue
from engram.model.facts import ENTITY_TYPES, Claim, Entity, FactQuery
from engram.model.knowledge import Card
from engram.model.maintenance import Sketch
from engram.model.memory import Filters, Memory
from engram.model.recall import TimelineStep
from engram.ports import Unit, View
from engram.text.statement import asked

SAMPLE = 200
"""So many memories of an entity are looked at for its profile: the latest."""
SHOWN = 5
BESIDE = 10
JOINED = "joined"
"""The kind of sketch that says which name leads to which in a place."""
FACTS = 50


_MINE = re.compile(r"(?:my|our|the user's|user's) (?P<role>[\w' -]+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Profile:
    """What is known about one entity."""

    entity: Entity
    facts: tuple[Claim, ...] = ()
    """What holds about it now, newest first."""
    memories: tuple[Memory, ...] = ()
    """The weightiest memories that name it."""
    beside: tuple[tuple[str, int], ...] = ()
    """Other names in the same memories with how often, counted over the latest of them."""
    card: Card | None = None
    """The card that consolidation wrote about it, if it did."""


Found = list[Entity]
Steps = list[TimelineStep]


class Entities:
    """Who and what is spoken of. Hangs on the facade; safe to use from many threads."""

    def __init__(self, caller: CallerContext) -> None:
        self._caller = caller

    def get(self, name: str) -> Profile | None:
        """What is known about somebody or something, under any of its names; None when nothing is.

        A name that nobody has may still mean one: the first name of one person, a known short form, or
        "my sister", where it was told who that is.
        """
        entity = known(_name(name), self._caller.tools.store.entities, self._caller.access)
        entity = entity or self._of_mine(_name(name))
        return None if entity is None else self._profile(entity)

    def list(self, *, type: str = "", prefix: str = "", limit: int = 50) -> Found:
        """Entities, last seen first: of one type, or with a name that begins so."""
        if type and type not in ENTITY_TYPES:
            raise UnknownValue("type", type, ENTITY_TYPES)
        most = whole("limit", limit, 1, PAGE_LIMIT)
        beginning = screen.readable("prefix", prefix).strip()
        return self._caller.tools.store.entities.page(self._caller.access, most, type, beginning)

    def alias(self, name: str, other: str) -> Entity:
        """Let an entity go by one more name; what was known under that name becomes part of it.

        The owner of a namespace says so for all of it, others for their own place and what lies below.
        `split` takes it back.
        """
        entity, also = self._known(name), _name(other)
        if also.casefold() in entity.aliases:
            return entity
        self._caller.check_write(self._caller.access.scope)

        def work(unit: Unit) -> None:
            if self._caller.access.owns_namespace:
                unit.alias(also, entity)
            else:
                body = {"to": entity.name.casefold()}
                scope, now = self._caller.access.scope, self._caller.tools.clock.now()
                unit.upkeep.sketch(Sketch(scope, JOINED, also.casefold(), body, now))

        self._caller.tools.store.write(work, self._caller.actor)
        return self._known(entity.name)

    def merge(self, keep: str, other: str) -> Entity:
        """Say that two entities are one; it is shown by the first name. `split` takes it back."""
        one, two = self._known(keep), self._known(other)
        if one.key == two.key:
            raise InvalidInput(f"{keep!r} and {other!r} are names of one entity already.")
        return self.alias(one.name, two.name)

    def split(self, name: str) -> Entity | None:
        """Make a name stand for an entity of its own again, with the memories that use this name.

        None when no memory that the caller may see does.
        """
        entity = self._known(name)
        self._caller.check_write(self._caller.access.scope)
        if not self._caller.access.owns_namespace:
            return self._part_here(_name(name))

        def work(unit: Unit) -> bool:
            from engram.maintain.knowledge import parted

            for judgement in parted(
                entity.name, _name(name), entity.namespace, self._caller.tools.clock.now()
            ):
                unit.upkeep.judge(judgement)
            return unit.split(_name(name), entity.namespace)

        done = self._caller.tools.store.write(work, self._caller.actor)
        if not done:
            raise InvalidInput(f"{name!r} is the entity's own name: split off one of its other names.")
        return self._caller.tools.store.entities.get(_name(name), self._caller.access)

    def timeline(self, name: str, limit: int = 50) -> Steps:
        """How the knowledge about an entity grew, oldest first; of a long story the latest steps."""
        most = whole("limit", limit, 1, PAGE_LIMIT)
        entity = known(_name(name), self._caller.tools.store.entities, self._caller.access)
        if entity is None:
            raise UnknownEntity(name)
        return list(Window(most).of(of_entity(entity, most, self._caller.access, self._caller)))

    # ------------------------------------------------------------ inside

    def _of_mine(self, name: str) -> Entity | None:
        """Whom "my sister" or "my boss" means by what was told last."""
        role = _MINE.match(name)
        if role is None:
            return None
        store, view = self._caller.tools.store, View(self._caller.access, Filters())
        claims = store.facts.find(FactQuery(predicates=asked(role["role"])), view, FACTS)
        now = self._caller.tools.clock.now()
        named = [claim.fact.object for claim in claims if holds(claim, now)]
        found = (store.entities.get(one, self._caller.access) for one in named)
        return next((one for one in found if one is not None), None)

    def _known(self, name: str) -> Entity:
        entity = self._caller.tools.store.entities.get(_name(name), self._caller.access)
        if entity is None:
            raise UnknownEntity(name)
        return entity

    def _part_here(self, name: str) -> Entity | None:
        """Take back what was joined in the caller's own place; what holds for all is the owner's to part."""
        scope, key = self._caller.access.scope, name.casefold()
        done = self._caller.tools.store.write(
            lambda unit: unit.upkeep.unsketch(scope, JOINED, key), self._caller.actor
        )
        if not done:
            raise AccessDenied(f"part {name!r} for everybody: only the owner of the namespace may")
        return self._caller.tools.store.entities.get(name, self._caller.access)

    def _profile(self, entity: Entity) -> Profile:
        store, view = self._caller.tools.store, View(self._caller.access, Filters())
        now = self._caller.tools.clock.now()
        names = frozenset({entity.name.lower(), *(alias.lower() for alias in entity.aliases)})
        claims = store.facts.find(FactQuery(subjects=names), view, FACTS)
        memories = [memory for _, memory in store.entities.memories(entity, view, SAMPLE)]
        return Profile(
            entity,
            tuple(claim for claim in claims if holds(claim, now)),
            tuple(sorted(memories, key=_weight, reverse=True)[:SHOWN]),
            _beside(memories, names),
            Knowledge(self._caller).card(entity.name),
        )


def _name(name: str) -> str:
    clean = " ".join(screen.readable("name", name).split())
    if not clean:
        raise EmptyContent("name")
    screen.name("name", clean)
    return clean


def _weight(memory: Memory) -> tuple[bool, float, datetime]:
    return memory.pinned, memory.importance, memory.happened_at


def _beside(memories: Iterable[Memory], own: frozenset[str]) -> tuple[tuple[str, int], ...]:
    counts = Counter(name for memory in memories for name in memory.entities if name.lower() not in own)
    return tuple(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:BESIDE])
