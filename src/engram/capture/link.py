"""Linking: names in new memories come in; each goes out with the entity it means, if that is known already.

One look for all names of a call; only a name that nobody has used before is compared with others like it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import log2

from engram.capture.enrich import PreparedDraft
from engram.model.facts import Edge, EdgeType, Named
from engram.model.memory import Memory
from engram.model.scope import Access, Role, Scope
from engram.ports import Tools, Unit
from engram.rules.entities import resolve
from engram.text.statement import USER

CANDIDATES = 20
"""How many entities with a like name a new name is compared with."""


def link(prepared: Sequence[PreparedDraft], tools: Tools) -> list[PreparedDraft]:
    """The same, with each name resolved."""
    meant: dict[tuple[Scope, str], str] = {}
    for scope in dict.fromkeys(item.memory.scope for item in prepared):
        here = [item for item in prepared if item.memory.scope == scope]
        named = {one.name.casefold(): one for item in here for one in item.findable.names}
        meant |= {(scope, name): entity for name, entity in _meant(named.values(), scope, tools)}
    return [_resolved(item, meant) for item in prepared]


def _meant(named: Iterable[Named], scope: Scope, tools: Tools) -> Iterable[tuple[str, str]]:
    """Names that are new and mean an entity that is known under another name."""
    names = {one.name.casefold(): one for one in named}
    if not names:
        return
    access = Access(scope, Role.AGENT)
    entities = tools.store.entities
    known = {alias for entity in entities.among(list(names), access) for alias in entity.aliases}
    for name, one in names.items():
        if name not in known:
            found = resolve(one, entities.like(one.name, access, CANDIDATES))
            if found is not None:
                yield name, found.name


def _resolved(item: PreparedDraft, meant: dict[tuple[Scope, str], str]) -> PreparedDraft:
    scope = item.memory.scope
    if not any((scope, one.name.casefold()) in meant for one in item.findable.names):
        return item
    names = tuple(
        replace(one, canonical=meant.get((scope, one.name.casefold()), "")) for one in item.findable.names
    )
    return replace(item, findable=replace(item.findable, names=names))


# ---------------------------------------------------------------- connect
# Connecting: a new memory comes in; edges to what it is like, speaks of and goes on from are drawn.
#
# The work for each memory is bounded and never goes over pairs: a few nearest ones, which are known
# already, the latest mentions of a few names, and the ends of its facts. One edge leads to each, of the
# most telling type.


CONFIDENCE = 0.7
"""How sure an edge is that nobody drew: it has to prove itself, or it fades."""


def connect(
    unit: Unit, item: PreparedDraft, memory: Memory, near: Sequence[tuple[Memory, float]], tools: Tools
) -> None:
    """Draw the edges of a memory that was just stored; `near` are its nearest ones with their cosines."""
    settings = tools.config.edges
    if settings.draw == "off":
        return
    edges: dict[str, Edge] = {}
    for target, kind, weight in (
        *_similar(near, settings.similar),
        *_hanging_together(unit, item, settings.facts),
        *_same_names(unit, item, tools),
    ):
        if target != memory.id:
            edges.setdefault(target, Edge(memory.id, target, kind, weight, CONFIDENCE))
    if edges:
        unit.add_edges(list(edges.values()), settings.most)


Drawn = tuple[str, EdgeType, float]


def _similar(near: Sequence[tuple[Memory, float]], most: int) -> Iterator[Drawn]:
    nearest = sorted(near, key=lambda pair: -pair[1])[:most]
    return ((memory.id, EdgeType.SIMILAR_TO, min(1.0, cosine)) for memory, cosine in nearest)


def _hanging_together(unit: Unit, item: PreparedDraft, most: int) -> Iterator[Drawn]:
    left = most
    for fact in item.findable.facts:
        if left <= 0 or item.memory.speaker:
            return
        # Nothing ends with the user of whom everything else is told.
        found = unit.hanging_on(fact, item.memory.scope, left) if fact.object != USER else []
        left -= len(found)
        yield from ((target, EdgeType.RELATED_TO, 1.0) for target in found)


def _same_names(unit: Unit, item: PreparedDraft, tools: Tools) -> Iterator[Drawn]:
    settings = tools.config.edges
    if not settings.mentions or item.memory.speaker:
        return
    for named in item.findable.names[: settings.entities]:
        # The new memory has the name too, so one more than wanted is looked for.
        found = (settings.mentions + 1, settings.common_name)
        count, latest = unit.naming(named.canonical or named.name, item.memory.scope, *found)
        others = [target for target in latest if target != item.memory.id][: settings.mentions]
        yield from ((target, EdgeType.SAME_ENTITY, _telling(count)) for target in others)


def _telling(count: int) -> float:
    """What a name that so many memories have says: all when it is rare, little when it is everywhere.

    >>> [round(_telling(count), 2) for count in (1, 2, 16, 200)]
    [1.0, 0.67, 0.33, 0.21]
    """
    return 1.0 / (1.0 + log2(max(1, count)) / 2)
