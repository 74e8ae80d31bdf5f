"""Linking: names in new memories come in; each goes out with the entity it means, if that is known already.

One look for all names of a call; only a name that nobody has used before is compared with others like it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engram.capture.enrich import Prepared
from engram.graph.entities import resolve
from engram.model.entity import Named
from engram.model.scope import Access, Role, Scope
from engram.ports import Tools

CANDIDATES = 20
"""How many entities with a like name a new name is compared with."""


def link(prepared: Sequence[Prepared], tools: Tools) -> list[Prepared]:
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


def _resolved(item: Prepared, meant: dict[tuple[Scope, str], str]) -> Prepared:
    scope = item.memory.scope
    if not any((scope, one.name.casefold()) in meant for one in item.findable.names):
        return item
    names = tuple(
        replace(one, canonical=meant.get((scope, one.name.casefold()), "")) for one in item.findable.names
    )
    return replace(item, findable=replace(item.findable, names=names))
