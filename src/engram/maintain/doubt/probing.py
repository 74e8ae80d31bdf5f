"""Probing: beliefs that nobody has looked at for long come in; what was said since bears them out or not.

Borne out, a belief is validated; contradicted, it is challenged and the pair is among the conflicts; what is
used all the time and can be told neither way becomes a question. Each pair is weighed once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

from engram.lifecycle.gaps import STALE, of_memory
from engram.lifecycle.probing import (
    Evidence,
    Speaks,
    is_belief,
    is_since,
    may_be_challenged,
    outcome,
    probe_due,
    weighed,
)
from engram.lifecycle.sameness import Limits, Statement
from engram.maintain.decisions import Batch, Decision, Draw, Effect, Judge
from engram.maintain.doubt.gaps import FOUND, closed, keep
from engram.maintain.doubt.rounds import rounds
from engram.maintain.near import cosines, limits
from engram.maintain.neighbours import pairs
from engram.maintain.room import ACTIVE, Room, becomes
from engram.maintain.sweep import Slice
from engram.model.advice import Comparison
from engram.model.axes import Lifecycle, Status, Tier, Verification
from engram.model.event import Verb
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.upkeep import SETTLED, Judgement, pair_key

NAME: Final = "beliefs"
PROBE: Final = "probe"
"""The kind of judgement that says when a belief was probed."""
PAIR: Final = "probe.pair"
"""The kind that says what a later memory says about a belief."""
FACTS: Final = 3
CLAIMS: Final = 10
"""Facts of a belief that are followed, and statements of each that are looked at."""
Near = dict[int, list[tuple[Memory, float | None]]]


@dataclass(slots=True)
class Asking:
    """How often a model may still be asked in this run."""

    level: str
    left: int
    told: list[Judge] = field(default_factory=list)


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Probe beliefs that are due, a bounded number in a run."""
    settings = room.tools.config.doubt
    old = room.now - timedelta(days=settings.probe_days)
    asking = Asking(room.tools.config.llm.level, settings.model_calls)

    def decide(part: Slice, left: int) -> tuple[int, int, Sequence[Decision]]:
        due, reached = _due(part, left, room)
        near = _said_since(due, room)
        decisions = [one for key, belief in due for one in _probed(belief, near.get(key, []), asking, room)]
        return len(due), reached, decisions

    filters = Filters(statuses=ACTIVE, created_until=old)
    yield from rounds(room, cursor, NAME, filters, settings.probes, decide)


def _due(part: Slice, left: int, room: Room) -> tuple[list[tuple[int, Memory]], int]:
    """Beliefs to look at now, no more than so many; and how far was looked."""
    known = room.tools.store.upkeep.judged(PROBE, [one.id for _, one in part])
    found: list[tuple[int, Memory]] = []
    for key, one in part:
        before = known.get(one.id)
        rests = before is not None and before.again_at is not None and before.again_at > room.now
        if not rests and is_belief(one) and probe_due(one, room.now, room.tools.config):
            found.append((key, one))
        if len(found) >= left:
            return found, key
    return found, part[-1][0] if part else 0


# ---------------------------------------------------------------- what was said since


def _said_since(due: Slice, room: Room) -> Near:
    """Later memories that state the same facts, or lie near; each once, with the cosine where it is known."""
    found: dict[int, dict[str, tuple[Memory, float | None]]] = {key: {} for key, _ in due}
    for key, belief in due:
        for other in _stated(belief, room):
            if is_since(other, belief):
                found[key][other.id] = (other, None)
    beliefs = dict(due)
    for key, other, cosine in _near(due, room):
        if is_since(other, beliefs[key]):
            found[key][other.id] = (other, cosine)
    return {key: _unweighed(beliefs[key], list(others.values()), room) for key, others in found.items()}


def _stated(belief: Memory, room: Room) -> Iterator[Memory]:
    for fact in Statement.of(belief).facts[:FACTS]:
        for claim in room.tools.store.facts.stated(fact.subject, fact.predicate, belief.scope, CLAIMS):
            yield claim.memory


def _near(due: Slice, room: Room) -> Iterator[tuple[int, Memory, float]]:
    known = cosines(room)
    if known is None or not due:
        return
    space, marks = known
    for scope in dict.fromkeys(one.scope for _, one in due):
        keys = [key for key, one in due if one.scope == scope]
        found = list(pairs(room, space, scope, keys, marks.related))
        records = room.tools.store.memories.read(sorted({other for _, other, _ in found}))
        for key, other, cosine in found:
            record = records.get(other)
            if record is not None and record.scope == scope and record.status is Status.ACTIVE:
                yield key, record, cosine


def _unweighed(
    belief: Memory, others: Iterable[tuple[Memory, float | None]], room: Room
) -> list[tuple[Memory, float | None]]:
    """Those that were not weighed before and that nobody has settled."""
    by_pair = {pair_key(belief.id, other.id): (other, cosine) for other, cosine in others}
    upkeep = room.tools.store.upkeep
    known = {**upkeep.judged(PAIR, by_pair), **upkeep.judged(SETTLED, by_pair)}
    return [other for key, other in by_pair.items() if key not in known]


# ---------------------------------------------------------------- what that means


def _probed(
    belief: Memory, others: Sequence[tuple[Memory, float | None]], asking: Asking, room: Room
) -> Iterator[Decision]:
    marks = _limits(room)
    found = [weighed(belief, other, cosine, marks) for other, cosine in others]
    if asking.level == "full" or (asking.level == "auto" and outcome(found) is None):
        found = _asked(belief, found, asking, room)
    telling = outcome(found)
    if telling is None:
        yield from _left(belief, asking, room)
    elif telling.speaks is Speaks.FOR:
        yield _borne_out(belief, found, asking, room)
    else:
        yield _contradicted(belief, telling, asking, room)


def _asked(belief: Memory, found: list[Evidence], asking: Asking, room: Room) -> list[Evidence]:
    """What a model says about those that rules cannot tell, the latest first; secrets are not shown."""
    ordered = sorted(found, key=lambda one: one.memory.happened_at, reverse=True)
    told: list[Evidence] = []
    for one in ordered:
        clear = belief.tier is one.memory.tier is Tier.CLEAR
        uncertain = one.speaks is Speaks.NEITHER or asking.level == "full"
        if clear and uncertain and asking.left > 0:
            asking.left -= 1
            answer = room.tools.advisor.compare(belief.content, one.memory.content)
            one = _answered(one, answer)  # noqa: PLW2901 - the same evidence, better known
            if answer is not None and one.speaks is Speaks.NEITHER:
                pair = pair_key(belief.id, one.memory.id)
                asking.told.append(Judge(Judgement(PAIR, pair, answer.value, room.now)))
        told.append(one)
    return told


def _answered(one: Evidence, answer: Comparison | None) -> Evidence:
    if answer is None:
        return one
    speaks = {
        Comparison.SAME: Speaks.FOR,
        Comparison.REPLACES: Speaks.AGAINST,
        Comparison.CONTRADICTS: Speaks.AGAINST,
    }.get(answer, Speaks.NEITHER)
    return replace(one, speaks=speaks, why=f"a model says {answer.value}")


def _borne_out(belief: Memory, found: Sequence[Evidence], asking: Asking, room: Room) -> Decision:
    backing = [one for one in found if one.speaks is Speaks.FOR]
    usage = replace(belief.usage, confirmed=belief.usage.confirmed + 1)
    inferred = belief.verification is Verification.UNVERIFIED
    validated = becomes(
        belief,
        Verb.CONFIRMED,
        usage=usage,
        verified_at=room.now,
        lifecycle=Lifecycle.VALIDATED,
        verification=Verification.SYSTEM_INFERRED if inferred else belief.verification,
    )
    effects: list[Effect] = [validated, *_noted(belief, backing, asking, room)]
    effects += [Draw(Edge(one.memory.id, belief.id, EdgeType.SUPPORTS, confidence=0.7)) for one in backing]
    why = f"{len(backing)} later: {backing[0].why}"
    return Decision("belief.validated", why, tuple(effects), belief.id, backing[0].memory.id)


def _contradicted(belief: Memory, telling: Evidence, asking: Asking, room: Room) -> Decision:
    edge = Draw(Edge(telling.memory.id, belief.id, EdgeType.CONTRADICTS, confidence=0.7))
    days = (telling.memory.happened_at - belief.happened_at).days
    why = f"{days} days later: {telling.why}"
    effects: list[Effect] = [edge, *_noted(belief, [telling], asking, room)]
    if not may_be_challenged(belief):
        shown = (*effects, _resting(belief, "disputed", room))
        return Decision("belief.disputed", why, shown, belief.id, telling.memory.id)
    challenged = becomes(belief, Verb.STATUS_CHANGED, status=Status.CHALLENGED)
    return Decision("belief.challenged", why, (challenged, *effects), belief.id, telling.memory.id)


def _left(belief: Memory, asking: Asking, room: Room) -> Iterator[Decision]:
    """Nothing speaks for or against: it rests; what much rests on is asked about."""
    notes = (_resting(belief, "nothing", room), *_told(asking))
    yield Decision("belief.probed", "", notes, quiet=True)
    if belief.usage.accessed >= room.tools.config.doubt.stale_uses and belief.tier is Tier.CLEAR:
        gap = of_memory(STALE, belief)
        why = f"used {belief.usage.accessed} times, nothing said since"
        if gap.key not in closed(room, [gap.key]) and not _is_open(belief, gap.key, room):
            yield Decision(FOUND, why, (keep(room, gap, [belief.id]),), gap.key)


def _is_open(belief: Memory, key: str, room: Room) -> bool:
    return room.tools.store.upkeep.sketch(belief.scope, "gap", key) is not None


def _noted(belief: Memory, used: Sequence[Evidence], asking: Asking, room: Room) -> Iterator[Judge]:
    for one in used:
        yield Judge(Judgement(PAIR, pair_key(belief.id, one.memory.id), one.speaks.value, room.now))
    yield from _told(asking)


def _told(asking: Asking) -> list[Judge]:
    told, asking.told = asking.told, []
    return told


def _resting(belief: Memory, verdict: str, room: Room) -> Judge:
    again = room.now + timedelta(days=room.tools.config.doubt.probe_again_days)
    return Judge(Judgement(PROBE, belief.id, verdict, room.now, again))


def _limits(room: Room) -> Limits:
    from engram.lifecycle.calibration import DEFAULT

    known = cosines(room)
    marks = DEFAULT if known is None else known[1]
    return replace(limits(marks.duplicate, room, marks), strong=marks.strong)
