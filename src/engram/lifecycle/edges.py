"""Edges over time: how sure an edge was when it was last drawn comes in, how sure it is by now comes out.

What tells an origin, an order or a dispute stays as sure as it was drawn. What only associates two memories
fades unless it proves itself: nothing happens for a while, then it loses a little with each span of time,
down to a floor. It is worked out when an edge is looked at; nothing has to be rewritten.
"""

from __future__ import annotations

from datetime import datetime

from engram.config import EdgesConfig
from engram.lifecycle.curves import DAY_S
from engram.model.relations import EdgeType

FADING: frozenset[EdgeType] = frozenset(
    {EdgeType.RELATED_TO, EdgeType.SIMILAR_TO, EdgeType.SAME_ENTITY, EdgeType.SUPPORTS}
)
"""Types that associate."""
USUAL = EdgesConfig()


def confidence_now(
    edge_type: EdgeType, drawn: float, at: datetime | None, now: datetime, settings: EdgesConfig = USUAL
) -> float:
    """How sure an edge is, last drawn or confirmed at `at`; one of unknown age is taken as it is.

    >>> from datetime import UTC, timedelta
    >>> now = datetime(2024, 1, 1, tzinfo=UTC)
    >>> confidence_now(EdgeType.NEXT, 1.0, now - timedelta(days=900), now)
    1.0
    >>> confidence_now(EdgeType.SIMILAR_TO, 1.0, now - timedelta(days=900), now)
    0.1
    """
    if at is None or edge_type not in FADING:
        return drawn
    return faded(drawn, (now - at).total_seconds() / DAY_S, settings)


def faded(drawn: float, idle_days: float, settings: EdgesConfig = USUAL) -> float:
    """The confidence that is left after so many days without use.

    >>> faded(0.8, 29), faded(0.8, 90), faded(0.8, 10_000), faded(0.05, 10_000)
    (0.8, 0.6, 0.1, 0.05)
    """
    spans = max(0.0, idle_days - settings.grace_days) / settings.window_days
    return min(drawn, max(settings.floor, round(drawn - settings.loss * spans, 9)))


def confirmed(drawn: float, settings: EdgesConfig = USUAL) -> float:
    """The confidence of an edge that is drawn again or proved itself.

    >>> confirmed(0.5), confirmed(0.95)
    (0.6, 1.0)
    """
    return min(1.0, drawn + settings.gain)
