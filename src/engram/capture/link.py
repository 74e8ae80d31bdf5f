"""Linking: names in new memories come in; each goes out with the entity it means, if that is known already.

One look for all names of a call; only a name that nobody has used before is compared with others like it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import log2

from engram.model.facts import Edge, EdgeType, FactQuery, Named
from engram.model.memory import Filters, Memory
from engram.model.scope import Access, Role, Scope
from engram.ports import Tools, Unit, View
from engram.rules.enrich import PreparedDraft
from engram.rules.entities import may_be_one, resolve, roles_in
from engram.text.statement import USER

SIMILAR_LINKS = 3  # near memories a new one is linked to
NAMES_LINKED = 3  # names in a memory that link it to others with the same name
LINKS_A_NAME = 2  # memories linked for each such name, the latest
COMMON_NAME = 200  # a name that more memories have says too little to link them
FACT_LINKS = 3  # memories linked because their facts hang together
LINKS_MOST = 20  # links that come by themselves to one memory

CANDIDATES = 20
"""How many entities with a like name a new name is compared with."""


def link(prepared: Sequence[PreparedDraft], tools: Tools) -> list[PreparedDraft]:
    """The same, with each name resolved; a namesake in another role goes by a name of its own."""
    meant: dict[tuple[Scope, str], str] = {}
    prepared = [_namesakes_apart(item, tools) if item.findable.facts else item for item in prepared]
    for scope in dict.fromkeys(item.memory.scope for item in prepared):
        here = [item for item in prepared if item.memory.scope == scope]
        named = {one.name.casefold(): one for item in here for one in item.findable.names}
        roles = {name: role for item in here for name, role in roles_in(item.findable.facts).items()}
        meant |= {(scope, name): entity for name, entity in _meant(named.values(), roles, scope, tools)}
    return [_resolved(item, meant) for item in prepared]


def _namesakes_apart(item: PreparedDraft, tools: Tools) -> PreparedDraft:
    """My boss Tom is not my brother Tom: whoever comes later is known as "Tom (boss)"."""
    for name, role in roles_in(item.findable.facts).items():
        known = _known_roles(frozenset({name}), item.memory.scope, tools)
        if known and not may_be_one(role, known):
            item = _renamed(item, name, role)
    return item


def _known_roles(names: frozenset[str], scope: Scope, tools: Tools) -> frozenset[str]:
    view = View(Access(scope, Role.AGENT), Filters())
    told = tools.store.facts.told(FactQuery(objects=names), view, CANDIDATES)
    return frozenset(role for one in told for role in roles_in((one.fact,)).values())


def _renamed(item: PreparedDraft, name: str, role: str) -> PreparedDraft:
    def shown(one: str) -> str:
        return f"{one} ({role})" if one.casefold() == name else one

    facts = tuple(
        replace(fact, subject=shown(fact.subject), object=shown(fact.object)) for fact in item.findable.facts
    )
    names = tuple(replace(one, name=shown(one.name)) for one in item.findable.names)
    memory = replace(item.memory, entities=tuple(map(shown, item.memory.entities)))
    return replace(item, memory=memory, findable=replace(item.findable, facts=facts, names=names))


def _meant(
    named: Iterable[Named], roles: Mapping[str, str], scope: Scope, tools: Tools
) -> Iterable[tuple[str, str]]:
    """Names that are new and mean an entity that is known under another name."""
    names = {one.name.casefold(): one for one in named}
    if not names:
        return
    access = Access(scope, Role.AGENT)
    entities = tools.store.entities
    known = entities.known(names, scope.namespace)
    new = {name: one for name, one in names.items() if name not in known}
    alike = entities.like_each([one.name for one in new.values()], access, CANDIDATES) if new else []
    for (name, one), candidates in zip(new.items(), alike, strict=True):
        found = resolve(one, candidates)
        if found is None:
            continue
        theirs = _known_roles(frozenset(found.aliases), scope, tools) if name in roles else frozenset()
        if not theirs or may_be_one(roles[name], theirs):
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
    if tools.config.capture.links == "off":
        return
    edges: dict[str, Edge] = {}
    for target, kind, weight in (
        *_similar(near, SIMILAR_LINKS),
        *_hanging_together(unit, item, FACT_LINKS),
        *_same_names(unit, item),
    ):
        if target != memory.id:
            edges.setdefault(target, Edge(memory.id, target, kind, weight, CONFIDENCE))
    if edges:
        unit.add_edges(list(edges.values()), LINKS_MOST)


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


def _same_names(unit: Unit, item: PreparedDraft) -> Iterator[Drawn]:
    if not LINKS_A_NAME or item.memory.speaker:
        return
    for named in item.findable.names[:NAMES_LINKED]:
        # The new memory has the name too, so one more than wanted is looked for.
        found = (LINKS_A_NAME + 1, COMMON_NAME)
        count, latest = unit.naming(named.canonical or named.name, item.memory.scope, *found)
        others = [target for target in latest if target != item.memory.id][:LINKS_A_NAME]
        yield from ((target, EdgeType.SAME_ENTITY, _telling(count)) for target in others)


def _telling(count: int) -> float:
    """What a name that so many memories have says: all when it is rare, little when it is everywhere.

    >>> [round(_telling(count), 2) for count in (1, 2, 16, 200)]
    [1.0, 0.67, 0.33, 0.21]
    """
    return 1.0 / (1.0 + log2(max(1, count)) / 2)
