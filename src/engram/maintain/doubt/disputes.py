"""Disputes: a place comes in; pairs of its memories that cannot both be true and are not settled come out."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.maintain.room import Room
from engram.model.axes import Status, Tier
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.relations import EdgeType
from engram.model.scope import Access, Role, Scope
from engram.model.upkeep import SETTLED, pair_key
from engram.ports import View

LOOKED_AT: Final = 200
"""So many challenged memories, and so many of the newest, are looked at for edges."""
CLEAR = frozenset({Tier.CLEAR})


def disputes(room: Room, scope: Scope, most: int) -> list[tuple[Memory, Memory]]:
    """Open pairs of this very place, each once: marked by an edge, or with facts that exclude each other."""
    found: dict[str, tuple[Memory, Memory]] = {}
    for one, two in (*_marked(room, scope), *_torn(room, scope, most)):
        if one.scope == scope == two.scope and one.tier is two.tier is Tier.CLEAR:
            found.setdefault(pair_key(one.id, two.id), (one, two))
    settled = room.tools.store.upkeep.judged(SETTLED, found)
    return [pair for key, pair in found.items() if key not in settled][:most]


def _torn(room: Room, scope: Scope, most: int) -> Iterator[tuple[Memory, Memory]]:
    view = View(Access(scope, Role.AGENT), Filters(tiers=CLEAR))
    for one, two in room.tools.store.facts.disputed(view, max(1, most)):
        yield one.memory, two.memory


def _marked(room: Room, scope: Scope) -> Iterator[tuple[Memory, Memory]]:
    """Pairs with a `contradicts` edge of which both still stand."""
    store, access = room.tools.store, Access(scope, Role.AGENT)
    view = View(access, Filters(tiers=CLEAR))
    challenged = View(access, Filters(tiers=CLEAR, statuses=frozenset({Status.CHALLENGED})))
    pages = (store.memories.page(one, LOOKED_AT) for one in (challenged, view))
    ids = list(dict.fromkeys(memory.id for page in pages for memory in page))
    keys = sorted(store.memories.keys(ids).values())
    links = store.relations.links(keys, {EdgeType.CONTRADICTS}, view)
    ends = sorted({(min(link.key, link.other), max(link.key, link.other)) for link in links})
    records = store.memories.read(sorted({key for pair in ends for key in pair}))
    for one, two in ends:
        if one in records and two in records:
            yield records[one], records[two]
