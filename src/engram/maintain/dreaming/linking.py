"""Linking: what a dream has touched comes in; it is linked to what is like it and was never linked.

A memory that finds several links at once gains a little importance: it holds others together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engram.lifecycle.calibration import meant
from engram.maintain.decisions import Batch, Decision, Draw, Effect
from engram.maintain.dreaming.touched import touched
from engram.maintain.neighbours import pairs, space_of
from engram.maintain.room import Room, becomes
from engram.model.axes import Status
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Access
from engram.ports import View

ALIKE: Final = 0.75
"""The cosine, in terms of the common models, above which two memories belong together."""
MOST: Final = 3
"""New links of one memory in one dream."""
INSIGHT_LINKS: Final = 3
INSIGHT: Final = 0.05
"""Importance that a memory gains when it finds so many links."""
LINKS: Final = frozenset({EdgeType.RELATED_TO, EdgeType.SIMILAR_TO, EdgeType.SAME_ENTITY, EdgeType.NEXT})


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Draw edges between what is alike and not linked yet."""
    space = space_of(room)
    if cursor or space is None:
        return
    known = touched(room)
    least = meant(ALIKE, space.key)
    decisions: list[Decision] = []
    for scope in dict.fromkeys(one.scope for one in known.values()):
        keys = [key for key, one in known.items() if one.scope == scope]
        near: dict[int, list[tuple[int, float]]] = {}
        for key, other, cosine in pairs(room, space, scope, keys, least):
            near.setdefault(key, []).append((other, cosine))
        decisions += _links(room, known, near)
    yield Batch(tuple(decisions), "done")


def _links(
    room: Room, known: dict[int, Memory], near: dict[int, list[tuple[int, float]]]
) -> Iterator[Decision]:
    linked = _linked(room, list(near))
    others = room.tools.store.memories.read(sorted({key for found in near.values() for key, _ in found}))
    done: set[frozenset[int]] = set()
    for key, found in near.items():
        mine = known[key]
        fresh = [
            (other, cosine)
            for other, cosine in found
            if frozenset({key, other}) not in done
            and other not in linked.get(key, ())
            and other in others
            and others[other].scope == mine.scope
            and others[other].status is Status.ACTIVE
        ][:MOST]
        if not fresh:
            continue
        done.update(frozenset({key, other}) for other, _ in fresh)
        effects: list[Effect] = [_edge(mine, others[other], cosine) for other, cosine in fresh]
        if len(fresh) >= INSIGHT_LINKS and mine.importance < 1.0:
            effects.append(becomes(mine, importance=min(1.0, round(mine.importance + INSIGHT, 3))))
        why = f"{len(fresh)} alike, the nearest at {max(cosine for _, cosine in fresh):.2f}"
        yield Decision("dream.link", why, tuple(effects), mine.id)


def _edge(one: Memory, other: Memory, cosine: float) -> Draw:
    return Draw(Edge(one.id, other.id, EdgeType.RELATED_TO, weight=round(cosine, 2), confidence=0.7))


def _linked(room: Room, keys: list[int]) -> dict[int, set[int]]:
    view = View(Access.everything(), Filters())
    found: dict[int, set[int]] = {}
    for link in room.tools.store.relations.links(keys, LINKS, view):
        found.setdefault(link.key, set()).add(link.other)
    return found
