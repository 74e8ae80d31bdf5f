"""Layers: what is stuck, stale or misplaced is seen to first; what proved itself leaves the buffer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from engram.maintain import pairs
from engram.maintain.step import (
    PAUSE_EVERY,
    PURGE,
    Batch,
    Decision,
    Erase,
    Judge,
    Prune,
    Reword,
    Slice,
    Step,
    StepContext,
    archive_decision,
    becomes,
    move_decision,
    plan_each,
    sweep,
)
from engram.maintain.support import GATE, REFUSED, judgements_of, rejections, triaged_ids
from engram.model.maintenance import Judgement
from engram.model.memory import Filters, Kind, Layer, Memory, Status
from engram.rules.archival import archive_verdict, purge_due
from engram.rules.importance import (
    COLD,
    IMPORTANCE_FLOOR,
    cold_ones,
    decay,
    heat,
    lifecycle_state,
    tier_move,
    tier_value,
)
from engram.rules.promotion import (
    SEMANTIC_IMPORTANCE,
    buffer_expiry,
    buffer_immune,
    buffer_rescue,
    buffer_verdict,
    demotion,
    semantic_candidate,
    step_layer,
)
from engram.rules.retention import age_days, last_used
from engram.rules.traits import EXTRACTED, by_layers, is_lesson, is_overheard, lasting, protected

STUCK_DAYS = 7.0  # days after which an unused memory is stuck in the buffer (layers)
LOG_DAYS = 90  # days that reports and logs of use are kept
STUCK_USES = 2  # uses under which it counts as unused (layers)
EVERY = 1_000_000  # judgements of the gate that are looked through for refusals
STALE_TAG_HOURS = 24.0  # hours without use after which marks of an old review go (layers)

# ---------------------------------------------------------------- layers
# Layers: memories that stand too high come in; they go down by one.
#
# Session notes and passing things leave the core. What was extracted by itself and the gate has refused
# often enough leaves the working layer, unless the buffer would send it back at once.

CORE = Filters(layers=frozenset({Layer.CORE}))
WORKING = Filters(layers=frozenset({Layer.WORKING}))


def plan_working_quality(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Working quality: what the gate refused for good goes back to the buffer.

    By the rules of *layers* what was refused and left alone for a week goes for good.
    """
    config = context.tools.config

    def decide(part: Slice) -> Iterable[Decision]:
        left_alone = [memory for _, memory in part if by_layers(config) and _is_left_alone(memory, context)]
        for memory in left_alone:
            days = age_days(memory, context.now)
            why = f"the gate refused it, and {days:.0f} days brought nothing new"
            yield archive_decision(memory, "stuck.archive", why)
        gone = {memory.id for memory in left_alone}
        extracted = [memory for _, memory in part if is_overheard(memory) or EXTRACTED in memory.tags]
        judgements = judgements_of(GATE, extracted, context)
        for memory in extracted:
            verdict = demotion(memory, config, rejections=rejections(memory, judgements, context))
            if verdict and memory.id not in gone and not _rises(replace(memory, layer=Layer.BUFFER), context):
                yield move_decision(memory, "working.rejected", verdict.why, step_layer(memory, up=False))

    for filters in (WORKING,) if by_layers(config) else _refused(context):
        yield from sweep(context, cursor if filters is WORKING else "", filters, decide)


def _refused(context: StepContext) -> Iterator[Filters]:
    """What to ask for to see the few that a gate has refused often enough, here or where they came from."""
    enough = context.tools.config.promotion.demote_rejections
    judgements = context.tools.store.upkeep.judgements(GATE, EVERY, times=enough)
    often = sorted(judgement.key for judgement in judgements if judgement.verdict.startswith("reject"))
    size = context.tools.config.maintain.slice
    for start in range(0, len(often), size):
        yield replace(WORKING, ids=frozenset(often[start : start + size]))
    yield replace(WORKING, tags_any=frozenset(REFUSED))


def _is_left_alone(memory: Memory, context: StepContext) -> bool:
    since = context.now - timedelta(days=STUCK_DAYS)
    refused = not REJECTED.isdisjoint(memory.tags) and not protected(memory, context.tools.config)
    return refused and (memory.modified_at < since or last_used(memory) < since)


def core_hygiene(memory: Memory, context: StepContext) -> Decision | None:
    """What is not meant to last leaves the core."""
    verdict = demotion(memory, context.tools.config)
    lower = step_layer(memory, up=False)
    return move_decision(memory, "core.hygiene", verdict.why, lower) if verdict else None


def _rises(memory: Memory, context: StepContext) -> bool:
    """Whether promotion would take it out of the buffer."""
    now, config = context.now, context.tools.config
    return bool(buffer_verdict(memory, now, config)) or bool(buffer_rescue(memory, now, config))


# ---------------------------------------------------------------- overlap
# Overlap: memories of the core come in; pairs that lie near each other are flagged, each pair once.

STEP = "overlap"
OVERLAP_CORE = frozenset({Layer.CORE})


def plan_overlap_flags(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Flag what overlaps: an audit looks at it, nothing is changed here."""
    compared = pairs.compared_space(context)
    if compared is None:
        return iter(())
    least = compared[1].overlap

    def decide(near: Sequence[pairs.NearPair], _unseen: Sequence[Memory]) -> Iterator[Decision]:
        flagged_before = context.tools.store.upkeep.judged(STEP, [pair.key for pair in near])
        for pair in near:
            if pair.key not in flagged_before:
                flag = Judge(Judgement(STEP, pair.key, f"{pair.cosine:.2f}", context.now))
                why = f"cosine {pair.cosine:.2f} >= {least:.2f}"
                yield Decision("core.overlap", why, (flag,), pair.older.id, pair.newer.id)

    return pairs.plan_pairs(context, cursor, STEP, OVERLAP_CORE, least, decide)


# ---------------------------------------------------------------- stuck
# The stuck buffer: memories that no rule has moved come in; what is kept for good rises, the rest goes.

BUFFER = Filters(layers=frozenset({Layer.BUFFER}))


def stuck(memory: Memory, context: StepContext) -> Decision | None:
    """See to what has been in the buffer for a week, or longer than the buffer holds anything."""
    config = context.tools.config
    age = age_days(memory, context.now)
    if age <= STUCK_DAYS:
        return None
    why = f"{age:.1f} days in the buffer > {STUCK_DAYS:g}"
    if immune := buffer_immune(memory, config):
        return move_decision(memory, "stuck.promote", f"{why}, {immune}", Layer.WORKING)
    if memory.usage.accessed >= STUCK_USES or (protected(memory, config) and not by_layers(config)):
        return None
    if _rises(memory, context):  # it only waited for a run: promotion comes next
        return None
    return archive_decision(memory, "stuck.archive", f"{why}, accesses {memory.usage.accessed}")


# ---------------------------------------------------------------- tags
# Stale tags: memories with marks of an old review come in; the marks that say nothing any more go.
#
# Such marks come with imports: this engine remembers what it judged beside the memory, not on it.

REJECTED: Final = frozenset({"gate-rejected", "gate-rejected-2"})
"""Say that a memory may not ask yet; after a while it may."""
MOVED: Final = frozenset({"promotion", "_triaged"})
"""Say where a memory in the buffer stands; elsewhere they are orphans."""
TAGGED: Final = Filters(layers=frozenset({Layer.WORKING, Layer.CORE}), tags_any=REJECTED | MOVED)


def stale_tags(memory: Memory, context: StepContext) -> Decision | None:
    """Take off marks of promotion beyond the buffer, and of rejection after a day without use."""
    idle = last_used(memory) + timedelta(hours=STALE_TAG_HOURS) < context.now
    over = REJECTED if idle else frozenset()
    tags = tuple(tag for tag in memory.tags if tag not in MOVED | over)
    if tags == memory.tags:
        return None
    why = f"{len(memory.tags) - len(tags)} marks of an old review"
    # How often it was refused still counts when the mark is gone.
    refused = judgements_of(GATE, [memory], context).get(memory.id) if over else None
    notes = (Judge(refused),) if refused is not None else ()
    return Decision("tags.stale", why, (becomes(memory, tags=tags), *notes), memory.id)


# ---------------------------------------------------------------- rising
# Rising: memories of the buffer come in; those that proved themselves go to the working layer.


def promoted(memory: Memory, context: StepContext) -> Decision | None:
    """Promote what was used or said often enough, and lessons that have settled."""
    verdict = buffer_verdict(memory, context.now, context.tools.config)
    rule = f"promote.{verdict.rule.replace(' ', '-')}"
    return move_decision(memory, rule, verdict.why, Layer.WORKING) if verdict else None


# ---------------------------------------------------------------- capping
# Capping: the buffer of each scope comes in; what is over the limit is archived, the oldest first.


def plan_buffer_cap(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Archive the oldest of each buffer that holds too many; what is protected stays and counts."""
    config = context.tools.config
    cap = config.forgetting.buffer_cap
    buffered = (memory for part in context.memories(BUFFER) for _, memory in part)
    held = Counter(memory.scope for memory in buffered if _counts(memory, context)) if cap else Counter()
    over = Counter({scope: count - cap for scope, count in held.items() if count > cap})

    def decide(part: Slice) -> Iterable[Decision]:
        # Keys grow with the time of storing: the first ones are the oldest.
        for memory in (memory for _, memory in part if _counts(memory, context)):
            if over[memory.scope] > 0 and not _stays(memory, context):
                why = f"{over[memory.scope]} more than {cap} in the buffer, the oldest"
                over[memory.scope] -= 1
                yield archive_decision(memory, "buffer.cap", why)

    if not any(over.values()):
        return iter(())
    return sweep(context, cursor, BUFFER, decide)


def _counts(memory: Memory, context: StepContext) -> bool:
    """Whether the limit is meant for it: what was given on purpose is kept."""
    return is_overheard(memory) or by_layers(context.tools.config)


def _stays(memory: Memory, context: StepContext) -> bool:
    config = context.tools.config
    if by_layers(config):
        return bool(buffer_immune(memory, config))
    return bool(is_lesson(memory) or protected(memory, config) or lasting(memory, context.now))


# ---------------------------------------------------------------- expiring
# Expiring: memories whose time in the buffer is over come in; they are rescued, or go to the archive.


def plan_expiry(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Rescue what half proved itself or matters; archive the rest. What was never triaged has longer."""
    now, config = context.now, context.tools.config

    def decide(part: Slice) -> Iterable[Decision]:
        triaged_before = triaged_ids([memory for _, memory in part], context)
        for _, memory in part:
            if rescued := buffer_rescue(memory, now, config):
                yield move_decision(memory, "buffer.rescue", rescued.why, Layer.WORKING)
            elif over := buffer_expiry(memory, now, config, triaged=memory.id in triaged_before):
                yield archive_decision(memory, "buffer.expire", over.why)

    return sweep(context, cursor, BUFFER, decide)


# ---------------------------------------------------------------- learning
# Learning: episodes that matter and are used again and again come in; they become knowledge.


# Disuse only takes importance off: what has too little stored can be left out unread.
EPISODES = Filters(kinds=frozenset({Kind.EPISODIC}), min_importance=SEMANTIC_IMPORTANCE)


def learned(memory: Memory, context: StepContext) -> Decision | None:
    """Let an important episode that is used often be remembered as knowledge: it fades no more."""
    verdict = semantic_candidate(memory, context.now, context.tools.config)
    if not verdict or memory.speaker:
        return None
    return Decision("promote.knowledge", verdict.why, (becomes(memory, kind=Kind.SEMANTIC),), memory.id)


def plan_words(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Read anew the words of what rules other than today's have read: an older version, or another's file."""
    size, after = context.tools.config.maintain.slice, int(cursor or 0)
    while rows := context.tools.store.memories.without_words(size, after):
        after = rows[-1][0]
        why = "read by the rules of another version"
        again = (Decision("words.again", why, (Reword(memory),), memory.id, quiet=True) for _, memory in rows)
        yield Batch(tuple(again), str(after))


STEPS: tuple[Step, ...] = (
    Step("housekeeping", "words", plan_words),
    Step("housekeeping", "working quality", plan_working_quality),
    Step("housekeeping", "stale tags", plan_each(TAGGED, stale_tags)),
    Step("housekeeping", "stuck buffer", plan_each(BUFFER, stuck)),
    Step("housekeeping", "core hygiene", plan_each(CORE, core_hygiene)),
    Step("housekeeping", "core overlap", plan_overlap_flags),
    Step("promotion", "buffer to working", plan_each(BUFFER, promoted)),
    Step("promotion", "buffer expiry", plan_expiry),
    Step("promotion", "buffer cap", plan_buffer_cap),
    Step("promotion", "episodes to knowledge", plan_each(EPISODES, learned)),
)


# ---------------------------------------------------------------- ageing
# Ageing: memories and the time come in; each is called candidate, validated, active or stale accordingly.
#
# It is the last look of a run at the memories: whatever was decided before counts.


def plan_lifecycle_states(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Set the lifecycle state of every memory that has come to another one."""
    for number, part in enumerate(context.memories(Filters(), int(cursor or 0)), 1):
        memories = [memory for _, memory in part]
        decisions = (*_faded(memories, context), *_moved_tier(memories, context))
        if decisions or number % PAUSE_EVERY == 0:
            yield Batch(decisions, str(part[-1][0]))


def _faded(memories: Iterable[Memory], context: StepContext) -> Iterator[Decision]:
    now, config = context.now, context.tools.config
    for memory in memories:
        state = lifecycle_state(memory, now, config)
        if state is not memory.lifecycle:
            warmth = f"heat {heat(memory, now):.2f}, decay {decay(memory, now, config):.2f}"
            why = f"{memory.lifecycle} to {state}: {warmth}"
            yield Decision(f"lifecycle.{state}", why, (becomes(memory, lifecycle=state),), memory.id)


def _moved_tier(memories: Sequence[Memory], context: StepContext) -> Iterator[Decision]:
    """What is old and little worth becomes cold, where that counts; what is worth much again, hot."""
    if context.tools.config.recall.cold != "last":
        return
    cold = cold_ones(context.tools.store.upkeep.judged(COLD, [memory.id for memory in memories]))
    for memory in memories:
        if move := tier_move(memory, context.now, is_cold=memory.id in cold):
            why = f"value {tier_value(memory, context.now):.2f}"
            note = Judge(Judgement(COLD, memory.id, move, context.now))
            yield Decision(f"tier.{move}", why, (note,), memory.id)


# ---------------------------------------------------------------- archiving
# Archiving: memories come in; what faded, expired or was resolved long ago goes to the archive.

USES: Final = 20
"""Uses of a memory that are looked at to weigh it."""


def plan_archive(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Archive by rule: speculative, expired, resolved, too weak, or old, gone, unimportant and unused."""
    now, config = context.now, context.tools.config

    def decide(part: Slice) -> Iterable[Decision]:
        used = _uses(part, context)
        for key, memory in part:
            if verdict := archive_verdict(memory, now, config, used.get(key, ())):
                yield archive_decision(memory, f"archive.{verdict.rule.replace(' ', '-')}", verdict.why)

    return sweep(context, cursor, Filters(), decide)


def _uses(part: Slice, context: StepContext) -> dict[int, list[datetime]]:
    """When those were used whose importance may decide."""
    settings = context.tools.config.forgetting
    weighed = [
        key
        for key, memory in part
        if 0 < memory.usage.accessed < settings.accesses_below
        and age_days(memory, context.now) > settings.archive_days
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

    def idle_ones(part: Slice) -> Iterable[Memory]:
        for _, memory in part:
            loses = memory.importance > IMPORTANCE_FLOOR and not is_lesson(memory) and not memory.pinned
            if loses and last_used(memory) + day <= now:
                yield memory

    def decide(part: Slice) -> Iterable[Decision]:
        idle = list(idle_ones(part))
        judgements = context.tools.store.upkeep.judged(DECAYED, [memory.id for memory in idle])
        for memory in idle:
            if memory.id in judgements and judgements[memory.id].at + day > now:
                continue
            left = max(IMPORTANCE_FLOOR, round(memory.importance - settings.importance_loss, 9))
            effects = (becomes(memory, importance=left), Judge(Judgement(DECAYED, memory.id, "", now)))
            why = f"idle for a day: {memory.importance:.2f} to {left:.2f}"
            yield Decision("importance.decay", why, effects, memory.id)

    return sweep(context, cursor, BELOW_CORE, decide)


BELOW_CORE: Final = Filters(layers=frozenset({Layer.BUFFER, Layer.WORKING}))


# ---------------------------------------------------------------- pruning
# Pruning: the logs of uses and the reports of old runs come in; what is older than they are kept goes.


def plan_log_pruning(context: StepContext, _cursor: str) -> Iterator[Batch]:
    """Drop log lines that nobody looks at any more."""
    before = context.now - timedelta(days=LOG_DAYS)
    yield Batch((Decision("logs.prune", f"older than {LOG_DAYS} days", (Prune(before),), quiet=True),))


# ---------------------------------------------------------------- purging
# Purging: what lay in the archive long enough comes in, and is erased for good.
#
# The run empties the file of its traces once, at its end.


def purged(memory: Memory, context: StepContext) -> Decision | None:
    """Erase what was archived so long ago that nobody will restore it."""
    verdict = purge_due(memory, memory.modified_at, context.now, context.tools.config)
    return Decision(PURGE, verdict.why, (Erase(memory),), memory.id) if verdict else None


def _long_archived(context: StepContext) -> Filters:
    # The last change of an archived memory is the one that archived it, or a later one: never too early.
    long_ago = context.now - timedelta(days=context.tools.config.forgetting.purge_days)
    return Filters(statuses=frozenset({Status.ARCHIVED}), modified_until=long_ago)


FORGETTING: tuple[Step, ...] = (
    Step("forgetting", "archive", plan_archive),
    Step("forgetting", "importance", plan_importance_loss),
    Step("forgetting", "purge", plan_each(_long_archived, purged)),
    Step("forgetting", "lifecycle state", plan_lifecycle_states),
    Step("forgetting", "prune logs", plan_log_pruning),
)
