"""Activation: the first hits and what they are linked to come in, what they bring to mind comes out.

Activation spreads from memory to memory along edges, less with each step: it is multiplied by the weight of
the edge, by how sure the edge is, and by a decay. A memory keeps the most that reaches it over any path.
Steps, memories and edges of one memory are bounded, so a walk costs the same in a small file and a large one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence

from engram.lazily import dataclass
from engram.model.facts import EdgeType
from engram.ports import Link

EDGE_GAIN = 0.1  # confidence a link gains when it is drawn again or proves itself
GRACE_DAYS = 30.0  # days without use before a link begins to fade
WINDOW_DAYS = 30.0  # the span after which it has lost the next part
EDGE_LOSS = 0.1  # confidence lost in each such span
EDGE_FLOOR = 0.1  # confidence that a link keeps in any case

# ---------------------------------------------------------------- edges
# Edges over time: how sure an edge was when it was last drawn comes in, how sure it is by now comes out.
#
# What tells an origin, an order or a dispute stays as sure as it was drawn. What only associates two
# memories fades unless it proves itself: nothing happens for a while, then it loses a little with each span
# of time, down to a floor. It is worked out when an edge is looked at; nothing has to be rewritten.


FADING: frozenset[EdgeType] = frozenset(
    {EdgeType.RELATED_TO, EdgeType.SIMILAR_TO, EdgeType.SAME_ENTITY, EdgeType.SUPPORTS}
)
"""Types that associate."""


def confidence_now(edge_type: EdgeType, drawn: float, idle_days: float) -> float:
    """How sure an edge is that was drawn or confirmed so many days ago.

    >>> confidence_now(EdgeType.NEXT, 1.0, 900), confidence_now(EdgeType.SIMILAR_TO, 1.0, 900)
    (1.0, 0.1)
    """
    return faded(drawn, idle_days) if edge_type in FADING else drawn


def faded(drawn: float, idle_days: float) -> float:
    """The confidence that is left after so many days without use.

    >>> faded(0.8, 29), faded(0.8, 90), faded(0.8, 10_000), faded(0.05, 10_000)
    (0.8, 0.6, 0.1, 0.05)
    """
    spans = max(0.0, idle_days - GRACE_DAYS) / WINDOW_DAYS
    return min(drawn, max(EDGE_FLOOR, round(drawn - EDGE_LOSS * spans, 9)))


Links = Callable[[Sequence[int]], Iterable[Link]]
"""The links at these keys."""


@dataclass(frozen=True, slots=True)
class Spread:
    """How far and how wide activation goes."""

    hops: int = 2
    decay: float = 0.6
    """What is left after a step along a sure edge of full weight."""
    least_confidence: float = 0.2
    """Edges that are less sure are not taken."""
    least_start: float = 0.1
    """What is less active than this spreads nothing."""
    wide: int = 200
    """So many memories spread in each step, the most active."""
    nodes: int = 200
    """So many memories are reached at most, the starts among them."""
    each: int = 20
    """So many edges of one memory are taken, the strongest."""


@dataclass(frozen=True, slots=True)
class Reached:
    """How active a memory is: by itself, or because edges led there."""

    activation: float
    received: float = 0.0
    """The most that came over an edge; a start may be more active than that by itself."""
    path: tuple[Link, ...] = ()
    """The edges it came over, the first one first."""


ACTIVATION_USUAL = Spread()


def spread(
    starts: Mapping[int, float], links: Links, limits: Spread = ACTIVATION_USUAL
) -> dict[int, Reached]:
    """Everything that is active in the end: the starts, and what they reach.

    >>> from engram.model.facts import EdgeType
    >>> edge = Link(1, 2, EdgeType.RELATED_TO, True, 1.0, 0.5)
    >>> reached = spread({1: 1.0}, lambda keys: [edge] if 1 in keys else [])
    >>> {key: one.activation for key, one in reached.items()}
    {1: 1.0, 2: 0.3}
    """
    found = {key: Reached(min(1.0, value)) for key, value in starts.items() if value > 0}
    edge = _strong(found, found, limits)
    for _ in range(limits.hops):
        if not edge:
            break
        nearer = _step(edge, found, links, limits)
        for key, one in sorted(nearer.items(), key=lambda pair: (-pair[1].activation, pair[0])):
            if key in found or len(found) < limits.nodes:
                found[key] = one
        edge = _strong(
            (key for key in nearer if nearer[key].received >= nearer[key].activation), found, limits
        )
    return found


def _step(
    edge: Sequence[int], found: Mapping[int, Reached], links: Links, limits: Spread
) -> dict[int, Reached]:
    """What is reached, or reached better, from these."""
    nearer: dict[int, Reached] = {}
    for key, ways in _ways(edge, links, limits).items():
        here = found[key]
        # A start that is more active by itself than by what reached it is where the path begins.
        path = here.path if here.received >= here.activation else ()
        passed = {key, *(step.key for step in path)}
        active = here.activation * limits.decay
        for strength, link in ways:
            if link.other in passed:
                continue
            value = active * strength
            known = nearer.get(link.other) or found.get(link.other) or _ASLEEP
            if value > known.received:
                nearer[link.other] = Reached(max(value, known.activation), value, (*path, link))
    return nearer


_ASLEEP = Reached(0.0)


def _ways(edge: Sequence[int], links: Links, limits: Spread) -> dict[int, list[tuple[float, Link]]]:
    """The links from each of these, with how strong they are."""
    wanted, ways = frozenset(edge), defaultdict[int, list[tuple[float, Link]]](list)
    for link in links(edge):
        strength = _strength(link)
        if strength > 0 and link.confidence >= limits.least_confidence and link.key in wanted:
            ways[link.key].append((strength, link))
    for key, some in ways.items():
        if len(some) > limits.each:
            ways[key] = sorted(some, key=lambda way: (-way[0], way[1].other))[: limits.each]
    return ways


def _strong(keys: Iterable[int], found: Mapping[int, Reached], limits: Spread) -> list[int]:
    """Those that spread, the most active first."""
    some = [key for key in keys if key in found and found[key].activation >= limits.least_start]
    return sorted(some, key=lambda key: (-found[key].activation, key))[: limits.wide]


def _strength(link: Link) -> float:
    return min(1.0, max(0.0, link.weight)) * min(1.0, link.confidence)
