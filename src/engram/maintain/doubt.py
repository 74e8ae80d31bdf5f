"""Doubt: old beliefs, claims about files, gaps and contradictions are looked at again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field, replace
from datetime import timedelta
from functools import partial
from typing import Final

from engram.lazily import dataclass
from engram.maintain import gaps
from engram.maintain.gaps import FOUND, closed_gaps, keep_gap
from engram.maintain.pairs import compared_space, neighbour_pairs, sameness_limits
from engram.maintain.step import (
    ACTIVE,
    PAUSE_EVERY,
    Batch,
    Decision,
    Draw,
    Effect,
    Judge,
    Slice,
    Step,
    StepContext,
    becomes,
    is_fresh,
)
from engram.maintain.support import judge
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType
from engram.model.knowledge import Comparison
from engram.model.maintenance import SETTLED, Judgement, Landscape, pair_key
from engram.model.memory import Filters, Lifecycle, Memory, Status, Tier, Verification
from engram.model.scope import Access
from engram.rules.doubt import (
    CHALLENGE,
    DEAD,
    INVALIDATE,
    PROBE_DAYS,
    STALE,
    STALE_USES,
    Look,
    ProbeEvidence,
    Speaks,
    drift_verdict,
    is_belief,
    is_claim,
    is_since,
    looked,
    may_be_challenged,
    of_memory,
    outcome,
    probe_due,
    weighed,
)
from engram.rules.sameness import NewStatement, SamenessLimits
from engram.text.metadata import references

PROBE_AGAIN_DAYS = 30.0  # days before a belief that nothing speaks for or against is probed again
PROBES = 200  # beliefs probed in a run at most
REFERENCES_MOST = 20_000  # memories whose references are checked in a run at most

# ---------------------------------------------------------------- rounds
# Rounds: a large memory is gone through bit by bit, run by run; each goes on where the last one stopped.
#
# A run that is asked for twice at one moment looks at the same stretch again, and so decides nothing new.

PLACE: Final = "doubt.place"
"""The kind of judgement that says which stretch a step looked at last."""
DONE: Final = "done"
Decide = Callable[[Slice, int], tuple[int, int, Sequence[Decision]]]
"""Memories and how many may be looked at come in; how many were, up to which key, and what was decided."""


def rounds(
    context: StepContext, cursor: str, step: str, filters: Filters, most: int, decide: Decide
) -> Iterator[Batch]:
    """One stretch of the memories that fit: batches, and at the end the place to go on from."""
    if cursor == DONE:
        return
    start, stop = _stretch(context, step)
    count, _, at = cursor.partition(" ")
    looked, after, ended = int(count or 0), int(at or start), True
    for number, part in enumerate(context.memories(filters, after), 1):
        if looked >= most or 0 < stop <= after:
            ended = False
            break
        usable = [entry for entry in part if not is_fresh(entry[1], context) and not 0 < stop < entry[0]]
        more, reached, decisions = decide(usable, most - looked)
        looked, after = looked + more, reached if looked + more >= most else part[-1][0]
        if decisions or number % PAUSE_EVERY == 0:
            yield Batch(tuple(decisions), f"{looked} {after}")
        if looked >= most:  # the rest of the slice is for the next run
            ended = False
            break
    here = Judgement(PLACE, step, f"{start} {stop or (0 if ended else after)}", context.now)
    if here != context.tools.store.upkeep.judged(PLACE, [step]).get(step):
        yield Batch((Decision(PLACE, "", (Judge(here),), quiet=True),), DONE)


def _stretch(context: StepContext, step: str) -> tuple[int, int]:
    """Where to begin, and where to stop if this moment was looked at before (0: nowhere)."""
    judgement = context.tools.store.upkeep.judged(PLACE, [step]).get(step)
    if judgement is None:
        return 0, 0
    start, end = (int(number) for number in judgement.verdict.split())
    return (start, end) if judgement.at >= context.now else (end, 0)


# ---------------------------------------------------------------- drifting
# Drift: claims about files, symbols, versions and addresses come in; those that lead nowhere are doubted.
#
# The first time a memory is challenged. Still dead in a later run it is invalidated, alive again it comes
# back. What a person decides about it meanwhile stands.

NAME: Final = "drift"
KIND: Final = "drift"
EVENTS: Final = 50
"""Events of a memory that are looked at for other words."""
CLAIMS = Filters(statuses=frozenset({Status.ACTIVE, Status.CHALLENGED, Status.INVALIDATED}))
BECOMES: Final = {CHALLENGE: Status.CHALLENGED, INVALIDATE: Status.INVALIDATED}


def plan_drift_check(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Check claims against the configured directory; nothing when there is none, or nothing in it."""
    place = context.landscape
    if place is not None and place.paths:
        decide = partial(_check_claims, place, context)
        yield from rounds(context, cursor, NAME, CLAIMS, REFERENCES_MOST, decide)


def checked(memory: Memory, place: Landscape, project: str) -> Look:
    """What the references of a memory lead to; nothing for what is no claim about this directory."""
    if not is_claim(memory) or (project and memory.scope.project != project):
        return Look()
    return looked(references(memory.content), place)


def _check_claims(
    place: Landscape, context: StepContext, part: Slice, left: int
) -> tuple[int, int, Sequence[Decision]]:
    claims: list[tuple[Memory, Look]] = []
    reached = part[-1][0] if part else 0
    for key, memory in part:
        look = checked(memory, place, context.tools.config.doubt.project)
        if look.checked:
            claims.append((memory, look))
        if len(claims) >= left:
            reached = key
            break
    before = context.tools.store.upkeep.judged(KIND, [memory.id for memory, _ in claims])
    decisions = [
        decision
        for memory, look in claims
        if (decision := _drifted(memory, look, before.get(memory.id), context)) is not None
    ]
    return len(claims), reached, decisions


def _drifted(memory: Memory, look: Look, before: Judgement | None, context: StepContext) -> Decision | None:
    if before is not None and memory.status is Status.ACTIVE and _is_reworded(memory, before, context):
        before = None  # other words are another claim
    verdict = drift_verdict(memory, look, before, context.now)
    if not verdict:
        return None
    status = BECOMES.get(verdict.rule, Status.ACTIVE)
    verb = Verb.RESTORED if status is Status.ACTIVE else Verb.STATUS_CHANGED
    since = before.at if verdict.rule == INVALIDATE and before is not None else context.now
    state = "alive" if status is Status.ACTIVE else DEAD
    effects = (becomes(memory, verb, status=status), judge(KIND, memory, state, since))
    return Decision(f"drift.{verdict.rule}", verdict.why, effects, memory.id)


def _is_reworded(memory: Memory, before: Judgement, context: StepContext) -> bool:
    """Whether its words changed since; that a person made it active again is another thing."""
    events = context.tools.store.ledger.events(memory.id, Access.everything(), EVENTS)
    return any("content" in event.after and event.at >= before.at for event in events)


# ---------------------------------------------------------------- probing
# Probing: beliefs that nobody has looked at for long come in; what was said since bears them out or not.
#
# Borne out, a belief is validated; contradicted, it is challenged and the pair is among the conflicts; what
# is used all the time and can be told neither way becomes a question. Each pair is weighed once.

PROBING_NAME: Final = "beliefs"
PROBE: Final = "probe"
"""The kind of judgement that says when a belief was probed."""
PAIR: Final = "probe.pair"
"""The kind that says what a later memory says about a belief."""
FACTS: Final = 3
PROBING_CLAIMS: Final = 10
"""Facts of a belief that are followed, and statements of each that are looked at."""
Near = dict[int, list[tuple[Memory, float | None]]]


@dataclass(slots=True)
class Asking:
    """How often a model may still be asked in this run."""

    level: str
    left: int
    unsaved: list[Judge] = field(default_factory=list)


def plan_probes(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Probe beliefs that are due, a bounded number in a run."""
    old = context.now - timedelta(days=PROBE_DAYS)
    asking = Asking(context.tools.config.llm.level, context.tools.config.maintain.model_calls)

    def decide(part: Slice, left: int) -> tuple[int, int, Sequence[Decision]]:
        due, reached = _due(part, left, context)
        near = _said_since(due, context)
        decisions = [
            probed for key, belief in due for probed in _probed(belief, near.get(key, []), asking, context)
        ]
        return len(due), reached, decisions

    filters = Filters(statuses=ACTIVE, created_until=old)
    yield from rounds(context, cursor, PROBING_NAME, filters, PROBES, decide)


def _due(part: Slice, left: int, context: StepContext) -> tuple[list[tuple[int, Memory]], int]:
    """Up to `left` beliefs to probe now, and the last key that was looked at."""
    judgements = context.tools.store.upkeep.judged(PROBE, [memory.id for _, memory in part])
    due: list[tuple[int, Memory]] = []
    for key, memory in part:
        before = judgements.get(memory.id)
        rests = before is not None and before.again_at is not None and before.again_at > context.now
        if not rests and is_belief(memory) and probe_due(memory, context.now):
            due.append((key, memory))
        if len(due) >= left:
            return due, key
    return due, part[-1][0] if part else 0


# ---------------------------------------------------------------- what was said since


def _said_since(due: Slice, context: StepContext) -> Near:
    """Later memories that state the same facts, or lie near; each once, with the cosine where it is known."""
    later: dict[int, dict[str, tuple[Memory, float | None]]] = {key: {} for key, _ in due}
    for key, belief in due:
        for other in _stated(belief, context):
            if is_since(other, belief):
                later[key][other.id] = (other, None)
    beliefs = dict(due)
    for key, other, cosine in _near(due, context):
        if is_since(other, beliefs[key]):
            later[key][other.id] = (other, cosine)
    return {key: _unweighed(beliefs[key], list(others.values()), context) for key, others in later.items()}


def _stated(belief: Memory, context: StepContext) -> Iterator[Memory]:
    topics = [(fact.subject, fact.predicate) for fact in NewStatement(belief).facts[:FACTS]]
    store = context.tools.store
    stated = store.facts.stated(topics, belief.scope, PROBING_CLAIMS) if topics else {}
    yield from store.memories.read(list({key: None for keys in stated.values() for key in keys})).values()


def _near(due: Slice, context: StepContext) -> Iterator[tuple[int, Memory, float]]:
    compared = compared_space(context)
    if compared is None or not due:
        return
    space, near = compared
    for scope in dict.fromkeys(memory.scope for _, memory in due):
        keys = [key for key, memory in due if memory.scope == scope]
        pairs = list(neighbour_pairs(context, space, scope, keys, near.related))
        records = context.tools.store.memories.read(sorted({other for _, other, _ in pairs}))
        for key, other, cosine in pairs:
            record = records.get(other)
            if record is not None and record.scope == scope and record.status is Status.ACTIVE:
                yield key, record, cosine


def _unweighed(
    belief: Memory, others: Iterable[tuple[Memory, float | None]], context: StepContext
) -> list[tuple[Memory, float | None]]:
    """Those that were not weighed before and that nobody has settled."""
    by_pair = {pair_key(belief.id, other.id): (other, cosine) for other, cosine in others}
    upkeep = context.tools.store.upkeep
    judged = {**upkeep.judged(PAIR, by_pair), **upkeep.judged(SETTLED, by_pair)}
    return [other for key, other in by_pair.items() if key not in judged]


# ---------------------------------------------------------------- what that means


def _probed(
    belief: Memory, others: Sequence[tuple[Memory, float | None]], asking: Asking, context: StepContext
) -> Iterator[Decision]:
    limits_ = _limits(context)
    evidence = [weighed(belief, other, cosine, limits_) for other, cosine in others]
    if asking.level == "full" or (asking.level == "auto" and outcome(evidence) is None):
        evidence = _asked(belief, evidence, asking, context)
    decisive = outcome(evidence)
    if decisive is None:
        yield from _undecided(belief, asking, context)
    elif decisive.speaks is Speaks.FOR:
        yield _borne_out(belief, evidence, asking, context)
    else:
        yield _contradicted(belief, decisive, asking, context)


def _asked(
    belief: Memory, evidence: list[ProbeEvidence], asking: Asking, context: StepContext
) -> list[ProbeEvidence]:
    """What a model says about those that rules cannot tell, the latest first; secrets are not shown."""
    ordered = sorted(evidence, key=lambda each: each.memory.happened_at, reverse=True)
    judged: list[ProbeEvidence] = []
    for each in ordered:
        clear = belief.tier is each.memory.tier is Tier.CLEAR
        uncertain = each.speaks is Speaks.NEITHER or asking.level == "full"
        if clear and uncertain and asking.left > 0:
            asking.left -= 1
            answer = context.tools.advisor.compare(belief.content, each.memory.content)
            if answer is not None:
                speaks, why = SAYS.get(answer, Speaks.NEITHER), f"a model says {answer.value}"
                each = replace(each, speaks=speaks, why=why)  # noqa: PLW2901 - the same evidence, better known
                if speaks is Speaks.NEITHER:
                    pair = pair_key(belief.id, each.memory.id)
                    asking.unsaved.append(Judge(Judgement(PAIR, pair, answer.value, context.now)))
        judged.append(each)
    return judged


SAYS: Final = {
    Comparison.SAME: Speaks.FOR,
    Comparison.REPLACES: Speaks.AGAINST,
    Comparison.CONTRADICTS: Speaks.AGAINST,
}


def _borne_out(
    belief: Memory, evidence: Sequence[ProbeEvidence], asking: Asking, context: StepContext
) -> Decision:
    backing = [each for each in evidence if each.speaks is Speaks.FOR]
    usage = replace(belief.usage, confirmed=belief.usage.confirmed + 1)
    inferred = belief.verification is Verification.UNVERIFIED
    validated = becomes(
        belief,
        Verb.CONFIRMED,
        usage=usage,
        verified_at=context.now,
        lifecycle=Lifecycle.VALIDATED,
        verification=Verification.SYSTEM_INFERRED if inferred else belief.verification,
    )
    effects: list[Effect] = [validated, *_noted(belief, backing, asking, context)]
    effects += [Draw(Edge(each.memory.id, belief.id, EdgeType.SUPPORTS, confidence=0.7)) for each in backing]
    why = f"{len(backing)} later: {backing[0].why}"
    return Decision("belief.validated", why, tuple(effects), belief.id, backing[0].memory.id)


DOUBTED_SHARE, LEAST_LEFT = 0.7, 0.1
"""What a belief that is spoken against keeps of its importance, and at least (retention)."""


def _contradicted(belief: Memory, decisive: ProbeEvidence, asking: Asking, context: StepContext) -> Decision:
    edge = Draw(Edge(decisive.memory.id, belief.id, EdgeType.CONTRADICTS, confidence=0.7))
    days = (decisive.memory.happened_at - belief.happened_at).days
    why = f"{days} days later: {decisive.why}"
    effects: list[Effect] = [edge, *_noted(belief, [decisive], asking, context)]
    if not may_be_challenged(belief):
        shown = (*effects, _resting(belief, "disputed", context))
        return Decision("belief.disputed", why, shown, belief.id, decisive.memory.id)
    less = max(LEAST_LEFT, round(belief.importance * DOUBTED_SHARE, 4))
    challenged = becomes(belief, Verb.STATUS_CHANGED, status=Status.CHALLENGED, importance=less)
    return Decision("belief.challenged", why, (challenged, *effects), belief.id, decisive.memory.id)


def _undecided(belief: Memory, asking: Asking, context: StepContext) -> Iterator[Decision]:
    """No evidence either way: it is not probed for a while; one that is used much becomes a question."""
    notes = (_resting(belief, "nothing", context), *_take_unsaved(asking))
    yield Decision("belief.probed", "", notes, quiet=True)
    if belief.usage.accessed >= STALE_USES and belief.tier is Tier.CLEAR:
        gap = of_memory(STALE, belief)
        why = f"used {belief.usage.accessed} times, nothing said since"
        sketch = context.tools.store.upkeep.sketch(belief.scope, "gap", gap.key)
        if sketch is None and gap.key not in closed_gaps(context, [gap.key]):
            yield Decision(FOUND, why, (keep_gap(context, gap, [belief.id]),), gap.key)


def _noted(
    belief: Memory, used: Sequence[ProbeEvidence], asking: Asking, context: StepContext
) -> Iterator[Judge]:
    for each in used:
        yield Judge(Judgement(PAIR, pair_key(belief.id, each.memory.id), each.speaks.value, context.now))
    yield from _take_unsaved(asking)


def _take_unsaved(asking: Asking) -> list[Judge]:
    unsaved, asking.unsaved = asking.unsaved, []
    return unsaved


def _resting(belief: Memory, verdict: str, context: StepContext) -> Judge:
    again = context.now + timedelta(days=PROBE_AGAIN_DAYS)
    return Judge(Judgement(PROBE, belief.id, verdict, context.now, again))


def _limits(context: StepContext) -> SamenessLimits:
    from engram.rules.vectors import DEFAULT

    compared = compared_space(context)
    near = DEFAULT if compared is None else compared[1]
    return replace(sameness_limits(near.duplicate, near), strong=near.strong)


STAGE = "doubt"
DRIFT = Step(STAGE, NAME, plan_drift_check)
STEPS: tuple[Step, ...] = (
    Step(STAGE, PROBING_NAME, plan_probes),
    DRIFT,
    Step(STAGE, gaps.NAME, gaps.plan_gaps),
)
