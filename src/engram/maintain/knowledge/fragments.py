"""Fragments: entities come in; two that are one, known under two names, become one.

Names are resolved when they are first heard. What could not be told then may be plain later: "Smith" while
there were two of them, "k8s" before its type was known. Both must mean the other, and be spoken of in one
place; a doubt leaves them apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from engram.graph.entities import resolve
from engram.maintain.carry_out import UNDONE
from engram.maintain.decisions import Batch, Decision, Name
from engram.maintain.room import Room
from engram.maintain.since import EVERYTHING, memories, noted, since
from engram.model.axes import Tier
from engram.model.entity import Entity, Named, mark_of
from engram.model.filters import Filters
from engram.model.scope import Access, Role, Scope
from engram.model.upkeep import Judgement
from engram.ports import View

NAME: Final = "fragments"
CLEAR = Filters(tiers=frozenset({Tier.CLEAR}))
RULE: Final = "entity.joined"
CANDIDATES: Final = 20
SAMPLE: Final = 20
TOGETHER: Final = 100


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Names that came up since the last time, each compared with those like it."""
    news = since(room, NAME)
    if not news.any:
        return
    names: dict[Scope, dict[str, None]] = {}
    for part in memories(room, news, CLEAR):
        for _, one in part:
            names.setdefault(one.scope, {}).update((name.casefold(), None) for name in one.entities)
    joined: set[int] = set()
    for scope, some in names.items():
        every = list(some)
        for start in range(0, len(every), TOGETHER):
            decided = list(_decide(room, scope, every[start : start + TOGETHER], joined))
            if decided:
                yield Batch(tuple(decided))
    yield from noted(room, NAME, news)


def _decide(room: Room, scope: Scope, names: list[str], joined: set[int]) -> Iterator[Decision]:
    access = Access(scope, Role.AGENT)
    for entity in room.tools.store.entities.among(names, access):
        other = _same(room, entity, access) if entity.key not in joined else None
        if other is None or other.key in joined:
            continue
        joined |= {entity.key, other.key}
        keep, part = _fuller(room, entity, other, access)
        if not _share_a_place(room, keep, part):
            continue
        why = f"one name means the other, {_mentions(room, part, access)} memories"
        name = Name(part.name, keep, keep.namespace)
        part_mark, keep_mark = (mark_of(one.namespace, one.name) for one in (part, keep))
        yield Decision(RULE, why, (name,), part_mark, keep_mark)


def _same(room: Room, entity: Entity, access: Access) -> Entity | None:
    """The entity that this one means and that means this one."""
    found = _meant(room, entity, access)
    if found is None or found.namespace != entity.namespace:
        return None
    back = _meant(room, found, access)
    return found if back is not None and back.key == entity.key else None


def _meant(room: Room, entity: Entity, access: Access) -> Entity | None:
    alike = room.tools.store.entities.like(entity.name, access, CANDIDATES)
    others = [one for one in alike if one.key != entity.key]
    return resolve(Named(entity.name, entity.type), others)


def _fuller(room: Room, one: Entity, other: Entity, access: Access) -> tuple[Entity, Entity]:
    """The one that stays and the one that becomes part of it: the longer name, then the commoner."""
    ranked = sorted(
        (one, other),
        key=lambda it: (len(it.name.split()), it.type != "unknown", _mentions(room, it, access), it.name),
        reverse=True,
    )
    return ranked[0], ranked[1]


def _mentions(room: Room, entity: Entity, access: Access) -> int:
    found = room.tools.store.entities.get(entity.name, access)
    return 0 if found is None else found.mentions


def _share_a_place(room: Room, one: Entity, other: Entity) -> bool:
    return not _places(room, one).isdisjoint(_places(room, other))


def _places(room: Room, entity: Entity) -> frozenset[Scope]:
    found = room.tools.store.entities.memories(entity, View(EVERYTHING, Filters()), SAMPLE)
    return frozenset(one.scope for _, one in found)


def parted(one: str, other: str, namespace: str, at: datetime) -> Iterator[Judgement]:
    """What to remember when a person says that two names are not one: it is not said again by rule."""
    marks = (mark_of(namespace, one), mark_of(namespace, other))
    for part, keep in (marks, marks[::-1]):
        yield Judgement(UNDONE, Decision(RULE, "", (), part, keep).key, "parted", at)
