"""Forgetting: what faded is archived, what was archived long enough is erased."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final

from engram.maintain.step import (
    PAUSE_EVERY,
    PURGE,
    Batch,
    Decision,
    Erase,
    Judge,
    Prune,
    Slice,
    Step,
    StepContext,
    becomes,
    sweep,
)
from engram.model.event import Verb
from engram.model.maintenance import Judgement
from engram.model.memory import Filters, Layer, Memory, Status
from engram.rules.archival import archive_verdict, purge_due
from engram.rules.importance import decay, heat, lifecycle_state
from engram.rules.retention import age_days, last_used
from engram.rules.traits import by_layers, is_lesson

# ---------------------------------------------------------------- ageing
# Ageing: memories and the time come in; each is called candidate, validated, active or stale accordingly.
#
# It is the last look of a run at the memories: whatever was decided before counts.


def plan_lifecycle_states(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Set the lifecycle state of every memory that has come to another one."""
    for number, part in enumerate(context.memories(Filters(), int(cursor or 0)), 1):
        decisions = tuple(_decided((one for _, one in part), context))
        if decisions or number % PAUSE_EVERY == 0:
            yield Batch(decisions, str(part[-1][0]))


def _decided(memories: Iterable[Memory], context: StepContext) -> Iterator[Decision]:
    now, config = context.now, context.tools.config
    for one in memories:
        state = lifecycle_state(one, now, config)
        if state is not one.lifecycle:
            why = (
                f"{one.lifecycle} to {state}: heat {heat(one, now):.2f}, decay {decay(one, now, config):.2f}"
            )
            yield Decision(f"lifecycle.{state}", why, (becomes(one, lifecycle=state),), one.id)


# ---------------------------------------------------------------- archiving
# Archiving: memories come in; what faded, expired or was resolved long ago goes to the archive.


USES: Final = 20
"""Uses of a memory that are looked at to weigh it."""


def plan_archive(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Archive by rule: speculative, expired, resolved, too weak, or old, gone, unimportant and unused."""
    now, config = context.now, context.tools.config

    def decide(part: Slice) -> Iterable[Decision]:
        used = _uses(part, context)
        for key, one in part:
            if verdict := archive_verdict(one, now, config, used.get(key, ())):
                rule = f"archive.{verdict.rule.replace(' ', '-')}"
                archived = becomes(one, Verb.ARCHIVED, status=Status.ARCHIVED)
                yield Decision(rule, verdict.why, (archived,), one.id)

    return sweep(context, cursor, Filters(), decide)


def _uses(part: Slice, context: StepContext) -> dict[int, list[datetime]]:
    """When those were used whose importance may decide."""
    settings = context.tools.config.forgetting
    weighed = [
        key
        for key, one in part
        if 0 < one.usage.accessed < settings.accesses_below
        and age_days(one, context.now) > settings.archive_days
    ]
    return context.tools.store.upkeep.uses(weighed, USES) if weighed else {}


# ---------------------------------------------------------------- losing
# Losing importance, by the rules of *layers*: what was not used for a day has a little less, for all to see.


DECAYED: Final = "importance"
"""Remembered of a memory: when it last lost some."""


def plan_importance_loss(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Take importance off what lies idle, once a day; the core, procedures and lessons keep theirs."""
    config, now = context.tools.config, context.now
    settings = config.forgetting
    if not by_layers(config) or not settings.importance_loss:
        return iter(())
    day = timedelta(hours=24)

    def decide(part: Slice) -> Iterable[Decision]:
        idle = [one for _, one in part if _loses(one) and last_used(one) + day <= now]
        known = context.tools.store.upkeep.judged(DECAYED, [one.id for one in idle])
        for one in idle:
            if one.id in known and known[one.id].at + day > now:
                continue
            left = max(settings.importance_floor, round(one.importance - settings.importance_loss, 9))
            effects = (becomes(one, importance=left), Judge(Judgement(DECAYED, one.id, "", now)))
            yield Decision(
                "importance.decay", f"idle for a day: {one.importance:.2f} to {left:.2f}", effects, one.id
            )

    def _loses(one: Memory) -> bool:
        return one.importance > settings.importance_floor and not is_lesson(one) and not one.pinned

    return sweep(context, cursor, BELOW_CORE, decide)


BELOW_CORE: Final = Filters(layers=frozenset({Layer.BUFFER, Layer.WORKING}))


# ---------------------------------------------------------------- pruning
# Pruning: the logs of uses and the reports of old runs come in; what is older than they are kept goes.


def plan_log_pruning(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Drop log lines that nobody looks at any more."""
    days = context.tools.config.maintain.log_days
    before = context.now - timedelta(days=days)
    yield Batch((Decision("logs.prune", f"older than {days} days", (Prune(before),), quiet=True),))


# ---------------------------------------------------------------- purging
# Purging: what lay in the archive long enough comes in, and is erased for good.
#
# The run empties the file of its traces once, at its end.


def plan_purge(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Erase what was archived so long ago that nobody will restore it."""
    now, config = context.now, context.tools.config
    # The last change of an archived memory is the one that archived it, or a later one: never too early.
    long_ago = now - timedelta(days=config.forgetting.purge_days)
    archived = Filters(statuses=frozenset({Status.ARCHIVED}), modified_until=long_ago)

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            if verdict := purge_due(one, one.modified_at, now, config):
                yield Decision(PURGE, verdict.why, (Erase(one),), one.id)

    return sweep(context, cursor, archived, decide)


STEPS: tuple[Step, ...] = (
    Step("forgetting", "archive", plan_archive),
    Step("forgetting", "importance", plan_importance_loss),
    Step("forgetting", "purge", plan_purge),
    Step("forgetting", "lifecycle state", plan_lifecycle_states),
    Step("forgetting", "prune logs", plan_log_pruning),
)
