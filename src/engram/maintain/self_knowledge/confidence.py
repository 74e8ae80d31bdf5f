"""The confidence map: domains of the tree come in; how well each is known comes out.

How much is known of it, how fresh that is, and how much of it is in doubt, each from 0 to 1; confidence is
depth times freshness times what is not in doubt.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from engram.lifecycle.gaps import GAP
from engram.maintain.decisions import Batch, Decision, Drop
from engram.maintain.room import Room
from engram.maintain.self_knowledge.census import Known, census, forget
from engram.maintain.self_knowledge.tree import BRANCH, TREE
from engram.maintain.sketching import keep
from engram.model.scope import Access, Role, Scope

NAME: Final = "map"
ENOUGH: Final = 10.0
"""So many strong, trusted memories make a domain known to two thirds."""
HALF_LIFE_DAYS: Final = 30.0
MOST_GAPS: Final = 1_000
DAY_S: Final = 86_400.0


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """A map for each place that has a tree."""
    for scope, known in census(room).items():
        tree = room.tools.store.upkeep.sketch(scope, TREE, "")
        if tree is None:
            if room.tools.store.upkeep.sketch(scope, NAME, "") is not None:
                yield Batch((Decision("map.dropped", "there is no tree", (Drop(scope, NAME, ""),)),))
            continue
        members = _members(room, scope, {one.id: one for one in known})
        gaps = _gaps(room, scope)
        domains = [_domain(room, one, members, gaps) for one in tree.body["domains"]]
        whole = sum(one["memories"] for one in domains)
        coverage = sum(one["confidence"] * one["memories"] for one in domains) / max(whole, 1)
        body = {"domains": domains, "coverage": round(coverage, 3)}
        effects = keep(room, scope, NAME, "", body, sources=tree.sources)
        if effects:
            why = f"{len(domains)} domains, coverage {coverage:.2f}"
            yield Batch((Decision("map.drawn", why, effects),))
    forget(room)


def _members(room: Room, scope: Scope, by_id: Mapping[str, Known]) -> dict[str, list[Known]]:
    found = room.tools.store.upkeep.sketches(BRANCH, Access(scope, Role.AGENT), 100_000)
    return {
        one.key: [by_id[id_] for id_ in one.sources if id_ in by_id] for one in found if one.scope == scope
    }


def _gaps(room: Room, scope: Scope) -> list[frozenset[str]]:
    """What is known not to be known: for each open gap the memories it comes from."""
    found = room.tools.store.upkeep.sketches(GAP, Access(scope, Role.AGENT), MOST_GAPS)
    return [frozenset((*one.sources, *one.body["memories"])) for one in found if one.scope == scope]


def _domain(
    room: Room,
    domain: Mapping[str, Any],
    members: Mapping[str, Sequence[Known]],
    gaps: Sequence[frozenset[str]],
) -> dict[str, Any]:
    some = [one for key in domain["branches"] for one in members.get(key, ())]
    held = sum(min(one.strength, 1.0) * one.trust for one in some)
    depth = 1.0 - math.exp(-held / ENOUGH)
    latest = max((max(one.at, one.used_at or one.at) for one in some), default=room.now)
    days = max(0.0, (room.now - latest).total_seconds() / DAY_S)
    freshness = 2.0 ** (-days / HALF_LIFE_DAYS)
    ids = {one.id for one in some}
    open_ = sum(not gap.isdisjoint(ids) for gap in gaps)
    uncertainty = min(1.0, (sum(one.doubtful for one in some) + open_) / max(len(some), 1))
    return {
        "label": domain["title"],
        "memories": len(some),
        "depth": round(depth, 3),
        "freshness": round(freshness, 3),
        "uncertainty": round(uncertainty, 3),
        "confidence": round(depth * freshness * (1.0 - uncertainty), 3),
    }
