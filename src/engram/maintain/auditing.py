"""The audit: a model looks over core and working memories in clusters; its proposals are tried in a sandbox.

Good proposals are carried out and bad ones reported. When too many are bad, none is carried out: a model that
is wrong so often has not understood what it was shown.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from engram.lazily import dataclass
from engram.maintain import pairs as maintain_pairs
from engram.maintain.merge import made_one
from engram.maintain.step import Batch, Decision, Effect, Judge, Step, StepContext, becomes, grouped
from engram.maintain.support import may_be_shown
from engram.model.knowledge import Proposal
from engram.model.maintenance import Judgement, Verdict
from engram.model.memory import Filters, Layer, Memory, Status
from engram.rules.joining import ranked
from engram.rules.maintenance import check
from engram.rules.retention import age_days

AUDIT_MOST = 200  # memories that one audit shows to a model
AUDIT_TOGETHER = 40  # memories shown to it at once
AUDIT_DAYS = 30.0  # days before a memory is shown again unchanged
AUDIT_SAFE = 0.70  # share of proposals that must be allowed before any is carried out (layers)

AUDIT: Final = "audit"
"""The kind of judgement that says when a memory was shown to an auditor, and in which version."""
SEEN = Filters(layers=frozenset({Layer.CORE, Layer.WORKING}), statuses=frozenset({Status.ACTIVE}))


@dataclass(frozen=True, slots=True)
class Tried:
    """A proposal, what it is about, and what the sandbox says."""

    proposal: Proposal
    targets: tuple[Memory, ...]
    verdict: Verdict


def plan_audit(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Show what was not shown lately, cluster by cluster; the memories shown are remembered."""
    left = AUDIT_MOST
    for part in context.memories(SEEN, int(cursor or 0)):
        due = _due([one for _, one in part], context)[:left]
        left -= len(due)
        decisions: list[Decision] = []
        for group in _clusters(due, part, context):
            decisions += _audit(group, context)
        if decisions:
            yield Batch(tuple(decisions), str(part[-1][0]))
        if left <= 0:
            return


def _due(memories: Sequence[Memory], context: StepContext) -> list[Memory]:
    known = context.tools.store.upkeep.judged(AUDIT, [_key(memory) for memory in memories])
    rests = {key for key, one in known.items() if one.again_at is None or one.again_at > context.now}
    return [
        memory
        for memory in memories
        if may_be_shown(memory) and not memory.speaker and _key(memory) not in rests
    ]


def _clusters(
    due: Sequence[Memory], part: maintain_pairs.Slice, context: StepContext
) -> Iterator[list[Memory]]:
    """Memories of one scope, those near each other side by side, as many as are shown at once."""
    most = AUDIT_TOGETHER
    known = maintain_pairs.cosines(context)
    pairs = maintain_pairs.pairs(part, context, known[1].reconcile)[0] if known is not None else []
    for members in grouped((one.scope, one) for one in due).values():
        ordered = _side_by_side(members, pairs)
        yield from (ordered[start : start + most] for start in range(0, len(ordered), most))


def _side_by_side(members: Sequence[Memory], pairs: Sequence[maintain_pairs.NearPair]) -> list[Memory]:
    by_id = {member.id: member for member in members}
    both_ways = ((pair.older.id, pair.newer.id) for pair in pairs)
    close = grouped(end for one, other in both_ways for end in ((one, other), (other, one)))
    ordered: dict[str, Memory] = {}
    for one in members:
        for id_ in (one.id, *close.get(one.id, ())):
            if id_ in by_id:
                ordered.setdefault(id_, by_id[id_])
    return list(ordered.values())


def _audit(group: Sequence[Memory], context: StepContext) -> Iterator[Decision]:
    lines = [_line(one, context) for one in group]
    answer = context.tools.advisor.audit(lines, [one.content for one in group])
    if answer is None:
        return  # no usable answer: they are shown again the next time
    again = context.now + timedelta(days=AUDIT_DAYS)
    shown = (Judge(Judgement(AUDIT, _key(one), "shown", context.now, again)) for one in group)
    yield Decision("audit.shown", "", tuple(shown), quiet=True)
    tried = [_try(one, group, context) for one in answer]
    good = [one for one in tried if one.verdict]
    share = len(good) / len(tried) if tried else 1.0
    safe = share >= AUDIT_SAFE
    changed: set[str] = set()
    for one in tried:
        ids = {target.id for target in one.targets}
        if one.verdict and safe and changed.isdisjoint(ids):
            changed |= ids
            yield _decision(one, context)
        else:
            yield _refused(one, share, safe=safe)


def _try(proposal: Proposal, group: Sequence[Memory], context: StepContext) -> Tried:
    targets = [group[place] if 0 <= place < len(group) else None for place in proposal.places]
    verdict = check(proposal, targets, context.now, context.tools.config)
    return Tried(proposal, tuple(target for target in targets if target is not None), verdict)


def _decision(one: Tried, context: StepContext) -> Decision:
    proposal, targets = one.proposal, one.targets
    first = targets[0]
    effects: tuple[Effect, ...]
    match proposal.verb:
        case "promote":
            effects = (becomes(first, layer=first.layer.step(1)),)
        case "demote":
            effects = (becomes(first, layer=first.layer.step(-1)),)
        case "adjust":
            effects = (becomes(first, importance=proposal.importance),)
        case _:
            first, *losers = ranked(list(targets))
            effects = made_one(first, losers, proposal.content, context)
    others = " ".join(each.id for each in targets if each.id != first.id)
    return Decision(one.verdict.rule, one.verdict.why, effects, first.id, others)


def _refused(one: Tried, share: float, *, safe: bool) -> Decision:
    why = one.verdict.why if not one.verdict else "changed by another proposal of this audit"
    if one.verdict and not safe:
        why = f"only {share:.0%} of the proposals are allowed: none is carried out"
    memory = one.targets[0].id if one.targets else ""
    rule = f"audit.refused: {one.verdict.rule}" if not one.verdict else "audit.refused: unsafe"
    return Decision(rule, why, (), memory)


def _key(memory: Memory) -> str:
    return f"{memory.id}@{memory.version}"


def _line(memory: Memory, context: StepContext) -> str:
    changed = (context.now - memory.modified_at).days
    facts = (
        f"{memory.layer.name.lower()}, {memory.kind}, importance {memory.importance:.2f}",
        f"used {memory.usage.accessed} times, {age_days(memory, context.now):.0f} days old",
        f"changed {changed} days ago" + (f", tags {', '.join(memory.tags)}" if memory.tags else ""),
    )
    return f"{', '.join(facts)}: {memory.content}"


STEPS: tuple[Step, ...] = (Step("audit", "audit", plan_audit),)
