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
from engram.maintain.merge import become_one
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
    budget = AUDIT_MOST
    for part in context.memories(SEEN, int(cursor or 0)):
        due = _due([memory for _, memory in part], context)[:budget]
        budget -= len(due)
        decisions: list[Decision] = []
        for group in _clusters(due, part, context):
            decisions += _audit(group, context)
        if decisions:
            yield Batch(tuple(decisions), str(part[-1][0]))
        if budget <= 0:
            return


def _due(memories: Sequence[Memory], context: StepContext) -> list[Memory]:
    shown = context.tools.store.upkeep.judged(AUDIT, [_key(memory) for memory in memories])
    rests = {key for key, mark in shown.items() if mark.again_at is None or mark.again_at > context.now}
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
    compared = maintain_pairs.compared_space(context)
    pairs = maintain_pairs.near_pairs(part, context, compared[1].reconcile)[0] if compared is not None else []
    for members in grouped((memory.scope, memory) for memory in due).values():
        ordered = _side_by_side(members, pairs)
        yield from (ordered[start : start + most] for start in range(0, len(ordered), most))


def _side_by_side(members: Sequence[Memory], pairs: Sequence[maintain_pairs.NearPair]) -> list[Memory]:
    by_id = {member.id: member for member in members}
    both_ways = ((pair.older.id, pair.newer.id) for pair in pairs)
    close = grouped(end for older, newer in both_ways for end in ((older, newer), (newer, older)))
    ordered: dict[str, Memory] = {}
    for member in members:
        for id_ in (member.id, *close.get(member.id, ())):
            if id_ in by_id:
                ordered.setdefault(id_, by_id[id_])
    return list(ordered.values())


def _audit(group: Sequence[Memory], context: StepContext) -> Iterator[Decision]:
    lines = [_line(memory, context) for memory in group]
    answer = context.tools.advisor.audit(lines, [memory.content for memory in group])
    if answer is None:
        return  # no usable answer: they are shown again the next time
    again = context.now + timedelta(days=AUDIT_DAYS)
    shown = (Judge(Judgement(AUDIT, _key(memory), "shown", context.now, again)) for memory in group)
    yield Decision("audit.shown", "", tuple(shown), quiet=True)
    trials = [_try(proposal, group, context) for proposal in answer]
    good = [trial for trial in trials if trial.verdict]
    share = len(good) / len(trials) if trials else 1.0
    safe = share >= AUDIT_SAFE
    changed: set[str] = set()
    for trial in trials:
        ids = {target.id for target in trial.targets}
        if trial.verdict and safe and changed.isdisjoint(ids):
            changed |= ids
            yield _decision(trial, context)
        else:
            yield _refused(trial, share, safe=safe)


def _try(proposal: Proposal, group: Sequence[Memory], context: StepContext) -> Tried:
    targets = [group[place] if 0 <= place < len(group) else None for place in proposal.places]
    verdict = check(proposal, targets, context.now, context.tools.config)
    return Tried(proposal, tuple(target for target in targets if target is not None), verdict)


def _decision(trial: Tried, context: StepContext) -> Decision:
    proposal, targets = trial.proposal, trial.targets
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
            effects = become_one(first, losers, proposal.content, context)
    others = " ".join(target.id for target in targets if target.id != first.id)
    return Decision(trial.verdict.rule, trial.verdict.why, effects, first.id, others)


def _refused(trial: Tried, share: float, *, safe: bool) -> Decision:
    why = trial.verdict.why if not trial.verdict else "changed by another proposal of this audit"
    if trial.verdict and not safe:
        why = f"only {share:.0%} of the proposals are allowed: none is carried out"
    memory = trial.targets[0].id if trial.targets else ""
    rule = f"audit.refused: {trial.verdict.rule}" if not trial.verdict else "audit.refused: unsafe"
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
