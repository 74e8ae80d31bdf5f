"""Bridges: memories that a dream has touched come in; those of other topics with the same name are tied.

Two things said about one person or project in quite different connections rarely meet in words or vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.maintain.decisions import Batch, Decision, Draw
from engram.maintain.dreaming.touched import touched
from engram.maintain.room import Room
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Access, Role
from engram.ports import View

NAMES: Final = 3
"""Names of a memory that are followed."""
NAMING: Final = 10
"""Memories of each that are looked at."""
MOST: Final = 20
"""Bridges in one dream."""


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Tie memories of different topics that name the same entity."""
    if cursor:
        return
    decisions: dict[frozenset[str], Decision] = {}
    for one in touched(room).values():
        for other, name_count in _elsewhere(room, one):
            pair = frozenset({one.id, other.id})
            if len(decisions) < MOST and pair not in decisions and not _tied(room, one, other):
                edge = Edge(one.id, other.id, EdgeType.RELATED_TO, weight=0.5, confidence=0.5)
                why = f"one name in {name_count} memories, no topic in common"
                decisions[pair] = Decision("dream.bridge", why, (Draw(edge),), one.id, other.id)
    yield Batch(tuple(decisions.values()), "done")


def _elsewhere(room: Room, one: Memory) -> Iterator[tuple[Memory, int]]:
    """The latest memory of another topic for each of its names."""
    topics = _topics(one)
    if not topics:
        return
    view = View(Access(one.scope, Role.AGENT), Filters())
    for name in one.entities[:NAMES]:
        entity = room.tools.store.entities.get(name, view.access)
        if entity is None:
            continue
        found = room.tools.store.entities.memories(entity, view, NAMING)
        for _, other in found:
            theirs = _topics(other)
            if other.scope == one.scope and other.id != one.id and theirs and topics.isdisjoint(theirs):
                yield other, len(found)
                break


def _topics(memory: Memory) -> frozenset[str]:
    return frozenset(memory.metadata.get("topics", ()))


def _tied(room: Room, one: Memory, other: Memory) -> bool:
    edges = room.tools.store.relations.of(one.id, Access.everything())
    return any(other.id in (edge.source, edge.target) for edge in edges)
