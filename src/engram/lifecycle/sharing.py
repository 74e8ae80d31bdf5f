"""Sharing between agents: who receives what, how far it is believed, and what happens to two versions."""

from __future__ import annotations

from enum import StrEnum

from engram.model.bus import Clock, Delivery, Publication, Subscription
from engram.model.memory import Memory

INHERITED = 0.9
"""What is told by another is believed a little less than by the one who knew it."""
CLEARLY = 0.1
"""The difference in confidence that decides between two versions; below it the later one is taken."""


class Order(StrEnum):
    """How one version stands to another."""

    SAME = "same"
    NEWER = "newer"
    OLDER = "older"
    CONCURRENT = "concurrent"


def wants(subscription: Subscription, publication: Publication) -> bool:
    """Whether a subscriber receives a publication.

    >>> from datetime import UTC, datetime
    >>> from engram.model.scope import Scope
    >>> day, all_ = datetime(2026, 1, 1, tzinfo=UTC), Scope()
    >>> said = Publication("p", "m", "rex", Scope(agent="rex"), all_, day, topics=("deploy",))
    >>> wants(Subscription("s", "ada", Scope(agent="ada"), day, topics=("deploy",)), said)
    True
    >>> wants(Subscription("s", "rex", Scope(agent="rex"), day), said)
    False
    """
    return (
        subscription.agent != publication.agent
        and subscription.scope != publication.scope
        and subscription.scope.lies_below(publication.region)
        and (not publication.agents or subscription.agent in publication.agents)
        and (not subscription.agents or publication.agent in subscription.agents)
        and publication.importance >= subscription.min_importance
        and (not subscription.topics or not set(subscription.topics).isdisjoint(publication.topics))
    )


def order(one: Clock, other: Clock) -> Order:
    """Whether the first has seen all that the second has, or the other way round, or neither.

    >>> order({"rex": 2}, {"rex": 1}).value, order({"rex": 2}, {"rex": 1, "ada": 1}).value
    ('newer', 'concurrent')
    """
    agents = one.keys() | other.keys()
    ahead = any(one.get(agent, 0) > other.get(agent, 0) for agent in agents)
    behind = any(one.get(agent, 0) < other.get(agent, 0) for agent in agents)
    if ahead and behind:
        return Order.CONCURRENT
    if ahead:
        return Order.NEWER
    return Order.OLDER if behind else Order.SAME


def seen(delivery: Delivery, copy: Memory, agent: str) -> Clock:
    """What a copy has seen by now: what it came with, and the changes of its new owner."""
    changes = copy.version - delivery.version
    if changes <= 0:
        return delivery.clock
    return {**delivery.clock, agent: delivery.clock.get(agent, 0) + changes}


def joined(one: Clock, other: Clock) -> Clock:
    """A version that has seen both.

    >>> joined({"rex": 2}, {"rex": 1, "ada": 1})
    {'ada': 1, 'rex': 2}
    """
    return {agent: max(one.get(agent, 0), other.get(agent, 0)) for agent in sorted(one.keys() | other.keys())}


def inherited(trust: float, confidence: float) -> tuple[float, float]:
    """How far a copy is trusted and believed.

    >>> inherited(0.7, 0.8)
    (0.63, 0.72)
    """
    return round(trust * INHERITED, 4), round(confidence * INHERITED, 4)


def prevails(mine: Memory, theirs: Memory) -> bool:
    """Whether of two versions the receiver's own stands: the surer one, or else the later one."""
    difference = mine.confidence - theirs.confidence
    if abs(difference) > CLEARLY:
        return difference > 0
    return mine.modified_at >= theirs.modified_at
