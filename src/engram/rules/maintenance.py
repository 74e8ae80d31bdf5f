"""Sharing between agents: who receives what, how far it is believed, and what happens to two versions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum

from engram.config import Config, MaintainConfig
from engram.model.event import Clock, Delivery, Publication, Subscription
from engram.model.knowledge import Proposal
from engram.model.maintenance import RunKind, Verdict, no, yes
from engram.model.memory import Layer, Memory, Status
from engram.rules.retention import age_days
from engram.rules.traits import protected

AUDIT_MODIFIED_HOURS = 24.0  # hours after a change in which an audit takes no standing away (layers)
QUIET = timedelta(minutes=2)  # without any call before the server dreams (retention)
AUDIT_NEW_HOURS = 48.0  # the same after a memory was stored (layers)

# ---------------------------------------------------------------- sandbox
# The sandbox: what an auditor proposes comes in; whether it may be done goes out, and which rule says no.
#
# An auditor is a model. It may move a memory by one layer, weigh it anew, or join several into one; it
# never deletes. What is new or was changed lately loses no standing, because nobody has had time to use it.


USUAL = Config()
HOURS = 24.0
LEAST_MERGED = 2
ONE_TARGET = frozenset({"promote", "demote", "adjust"})


def check(
    proposal: Proposal, targets: Sequence[Memory | None], now: datetime, config: Config = USUAL
) -> Verdict:
    """Whether one operation may be carried out.

    >>> day = datetime(2026, 1, 1)
    >>> note = Memory("1", "Hi", "h", day, day, layer=Layer.CORE)
    >>> check(Proposal("delete", (0,)), [note], datetime(2026, 2, 1)).why
    'an auditor may not delete'
    >>> bool(check(Proposal("demote", (0,)), [note], datetime(2026, 2, 1)))
    True
    """
    found = [target for target in targets if target is not None and target.status is Status.ACTIVE]
    if not targets or len(found) != len(targets):
        return no("a target is not there", "target exists")
    if proposal.verb == "merge":
        return _merged(proposal, found, now, config)
    if proposal.verb not in ONE_TARGET:
        return no(f"an auditor may not {proposal.verb}", "no such power")
    if len(found) != 1:
        return no(f"{len(found)} targets where one is meant", "one target")
    return _moved(proposal, found[0], now, config)


def _moved(proposal: Proposal, memory: Memory, now: datetime, config: Config) -> Verdict:
    if proposal.verb == "promote":
        return _promoted(memory)
    if proposal.verb == "demote":
        return _demoted(memory, now, config)
    return _adjusted(proposal, memory, now, config)


def _promoted(memory: Memory) -> Verdict:
    if memory.layer is Layer.CORE:
        return no("already in the core", "one layer at a time")
    return yes("audit.promote", f"from {memory.layer.name.lower()}")


def _demoted(memory: Memory, now: datetime, config: Config) -> Verdict:
    if memory.layer is Layer.BUFFER:
        return no("already in the buffer", "one layer at a time")
    guard = _guarded(memory, now, config)
    return yes("audit.demote", f"from {memory.layer.name.lower()}") if guard is None else guard


def _adjusted(proposal: Proposal, memory: Memory, now: datetime, config: Config) -> Verdict:
    value = proposal.importance
    if value is None or not 0.0 <= value <= 1.0:
        return no("an importance outside 0 to 1", "importance bounds")
    guard = _guarded(memory, now, config) if value < memory.importance else None
    if guard is not None:
        return guard
    return yes("audit.adjust", f"importance {memory.importance:.2f} to {value:.2f}")


def _merged(proposal: Proposal, found: Sequence[Memory], now: datetime, config: Config) -> Verdict:
    if len({one.id for one in found}) < LEAST_MERGED:
        return no("a merge of fewer than two", "merge minimum")
    if len({one.scope for one in found}) > 1 or any(one.speaker for one in found):
        return no("another scope, or a turn of a conversation", "merge apart")
    top = max(one.layer for one in found)
    if proposal.layer is not None and proposal.layer < top.number:
        return no("a merge into a lower layer", "merge upward")
    shortest = min(len(one.content) for one in found)
    if len(proposal.content.strip()) < shortest / 2:
        return no("shorter than half of the shortest", "merge length")
    guards = [guard for one in found if (guard := _guarded(one, now, config)) is not None]
    return guards[0] if guards else yes("audit.merge", f"{len(found)} into one")


def _guarded(memory: Memory, now: datetime, config: Config) -> Verdict | None:
    """Why it may not lose standing yet; None when it may."""
    if reason := protected(memory, config):
        return no(f"protected: {reason}", "protected")
    since_change = (now - memory.modified_at).total_seconds() / 3600
    if since_change < AUDIT_MODIFIED_HOURS:
        return no(f"changed {since_change:.0f} h ago < {AUDIT_MODIFIED_HOURS:g}", "changed lately")
    age = age_days(memory, now) * HOURS
    if age < AUDIT_NEW_HOURS:
        return no(f"{age:.0f} h old < {AUDIT_NEW_HOURS:g}", "too new")
    return None


# ---------------------------------------------------------------- schedule
# The schedule: when memories were maintained last and how idle it is come in; what is due comes out.


SCHEDULE_USUAL = MaintainConfig()


def due(
    now: datetime,
    idle: timedelta,
    consolidated: datetime | None,
    dreamt: datetime | None,
    settings: MaintainConfig = SCHEDULE_USUAL,
    began: datetime | None = None,
) -> RunKind | None:
    """What is to be run now. A consolidation goes first; a dream waits until nobody has asked for a while.

    A memory that was never maintained is consolidated at the first quiet moment, or, where there is none,
    two periods after somebody `began` to look.

    >>> from datetime import UTC
    >>> now, day = datetime(2026, 3, 2, tzinfo=UTC), timedelta(days=1)
    >>> due(now, timedelta(minutes=5), None, None).value
    'consolidate'
    >>> due(now, timedelta(minutes=5), now - timedelta(hours=1), None).value
    'dream'
    >>> due(now, timedelta(minutes=1), now - timedelta(hours=1), None) is None
    True
    """
    quiet = idle >= QUIET
    if settings.every_hours and _is_over(consolidated, timedelta(hours=settings.every_hours), now):
        last = consolidated or began
        late = last is not None and _is_over(last, 2 * timedelta(hours=settings.every_hours), now)
        # A memory that is never left alone is maintained all the same, a period later.
        return RunKind.CONSOLIDATE if quiet or late else None
    if settings.dream_every_minutes and quiet:
        pause = timedelta(minutes=settings.dream_every_minutes)
        return RunKind.DREAM if _is_over(dreamt, pause, now) else None
    return None


def _is_over(last: datetime | None, pause: timedelta, now: datetime) -> bool:
    return last is None or now - last >= pause


INHERITED = 0.9
"""What is told by another is believed a little less than by the one who knew it."""
CLEARLY = 0.1
"""The difference in confidence that decides between two versions; below it the later one is taken."""


class DeliveryOrder(StrEnum):
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


def order(one: Clock, other: Clock) -> DeliveryOrder:
    """Whether the first has seen all that the second has, or the other way round, or neither.

    >>> order({"rex": 2}, {"rex": 1}).value, order({"rex": 2}, {"rex": 1, "ada": 1}).value
    ('newer', 'concurrent')
    """
    agents = one.keys() | other.keys()
    ahead = any(one.get(agent, 0) > other.get(agent, 0) for agent in agents)
    behind = any(one.get(agent, 0) < other.get(agent, 0) for agent in agents)
    if ahead and behind:
        return DeliveryOrder.CONCURRENT
    if ahead:
        return DeliveryOrder.NEWER
    return DeliveryOrder.OLDER if behind else DeliveryOrder.SAME


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
