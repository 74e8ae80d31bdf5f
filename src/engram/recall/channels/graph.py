"""The graph channel: what the best candidates are linked to comes to mind, the surer the link the more.

Edges that say "instead of this" or "against this" carry no relevance; the order of a conversation is the
neighbours' affair.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from engram.graph.activation import Reached, Spread, refined, spread
from engram.lifecycle.edges import confidence_now
from engram.model.recall import Evidence
from engram.model.relations import EdgeType
from engram.ports import Link, Tools
from engram.recall.candidates import Candidate
from engram.recall.channels import text
from engram.recall.fuse import include
from engram.recall.plan import Planned

WEIGHTS: Mapping[EdgeType, float] = MappingProxyType(
    {
        EdgeType.CAUSED_BY: 1.0,
        EdgeType.SUPPORTS: 0.9,
        EdgeType.RELATED_TO: 0.8,
        EdgeType.DERIVED_FROM: 0.8,
        EdgeType.INFERRED_FROM: 0.7,
        EdgeType.INSTANCE_OF: 0.7,
        EdgeType.SIMILAR_TO: 0.6,
        EdgeType.SAME_ENTITY: 0.5,
    }
)
"""How much of a memory's relevance passes to the other end, by type."""
EXPLICIT = frozenset({EdgeType.CAUSED_BY, EdgeType.SUPPORTS, EdgeType.RELATED_TO})
"""Edges that somebody drew on purpose: what they lead to comes along with a hit."""
SURE = 0.6
"""How sure such an edge must still be."""
LEAST = 0.1
"""What is less active than this neither spreads nor is brought to mind."""
SHOWN = 8
"""Characters of an id that tell it apart for a person."""


def lend(candidates: dict[int, Candidate], plan: Planned, tools: Tools, *, explain: bool = False) -> None:
    """Let the best candidates lend along their edges; new candidates may come in.

    To `explain` costs a look at the memories that the edges come from.
    """
    settings = tools.config.recall
    share = settings.graph_share * plan.shown.weights.get("graph", 1.0)
    best = sorted(candidates.values(), key=lambda c: (-c.own, c.key))[: settings.graph_starts]
    if share <= 0 or not best or best[0].own <= 0:
        return
    top = best[0].own
    reached, active = _walk({one.key: one.own / top for one in best}, plan, tools)
    got = {key: one for key, one in reached.items() if one.received >= LEAST}
    if not got:
        return
    new = [key for key in got if key not in candidates]
    include(candidates, text.matches(plan, new, tools), plan, tools)
    for key, one in got.items():
        if key in candidates:
            candidate, start = candidates[key], candidates[one.path[0].key]
            candidate.reached += share * active[key] * top
            candidate.lent_relevance = max(candidate.lent_relevance, share * active[key] * start.relevance)
            if all(link.type in EXPLICIT and link.confidence >= SURE for link in one.path):
                candidate.tied, candidate.tied_to = str(one.path[-1].type), start.key
    if explain:
        _tell(candidates, got, tools)


def _walk(
    starts: Mapping[int, float], plan: Planned, tools: Tools
) -> tuple[dict[int, Reached], dict[int, float]]:
    settings, walked = tools.config.recall, list[Link]()
    now, ageing, types = tools.clock.now(), tools.config.edges, tuple(WEIGHTS)

    def links(keys: Sequence[int]) -> list[Link]:
        found = [
            Link(
                link.key,
                link.other,
                link.type,
                link.forward,
                link.weight * WEIGHTS[link.type],
                confidence_now(link.type, link.confidence, link.drawn_at, now, ageing),
            )
            for link in tools.store.relations.links(keys, types, plan.view)
        ]
        walked.extend(found)
        return found

    limits = Spread(
        hops=plan.shown.hops,
        decay=settings.graph_decay,
        least_confidence=settings.graph_confidence,
        least_start=LEAST,
        wide=settings.graph_starts,
        nodes=settings.graph_nodes,
    )
    reached = spread(starts, links, limits)
    if settings.graph_rounds and walked:
        better = refined(reached, walked, settings.graph_rounds)
        return reached, {key: one.received * better[key] / one.activation for key, one in reached.items()}
    return reached, {key: one.received for key, one in reached.items()}


def _tell(candidates: Mapping[int, Candidate], got: Mapping[int, Reached], tools: Tools) -> None:
    """Write down the edges that were walked, with where they come from and how sure they are."""
    read = tools.store.memories.read(sorted({link.key for one in got.values() for link in one.path}))
    for key, one in got.items():
        if key in candidates:
            told = (_worded(link, read[link.key].id) for link in one.path if link.key in read)
            candidates[key].told.append(
                Evidence("graph", "lent along edges", candidates[key].reached, " · ".join(told))
            )


def _worded(link: Link, came_from: str) -> str:
    arrow = "→" if link.forward else "←"
    return f"{came_from[:SHOWN]} {arrow} {link.type}, confidence {link.confidence:.2f}"
