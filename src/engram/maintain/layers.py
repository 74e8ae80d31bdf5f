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
    archived,
    becomes,
    each,
    moved,
    sweep,
)
from engram.maintain.support import GATE, REFUSED, judged, rejections, triaged
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
        left_alone = [one for _, one in part if by_layers(config) and _is_left_alone(one, context)]
        for one in left_alone:
            days = age_days(one, context.now)
            why = f"the gate refused it, and {days:.0f} days brought nothing new"
            yield archived(one, "stuck.archive", why)
        gone = {one.id for one in left_alone}
        extracted = [one for _, one in part if is_overheard(one) or EXTRACTED in one.tags]
        known = judged(GATE, extracted, context)
        for one in extracted:
            verdict = demotion(one, config, rejections=rejections(one, known, context))
            if verdict and one.id not in gone and not _rises(replace(one, layer=Layer.BUFFER), context):
                yield moved(one, "working.rejected", verdict.why, step_layer(one, up=False))

    for some in (WORKING,) if by_layers(config) else _refused(context):
        yield from sweep(context, cursor if some is WORKING else "", some, decide)


def _refused(context: StepContext) -> Iterator[Filters]:
    """What to ask for to see the few that a gate has refused often enough, here or where they came from."""
    enough = context.tools.config.promotion.demote_rejections
    known = context.tools.store.upkeep.judgements(GATE, EVERY, times=enough)
    often = sorted(one.key for one in known if one.verdict.startswith("reject"))
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
    return moved(memory, "core.hygiene", verdict.why, step_layer(memory, up=False)) if verdict else None


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
    known = pairs.cosines(context)
    if known is None:
        return iter(())
    least = known[1].overlap

    def decide(found: Sequence[pairs.NearPair], _unseen: Sequence[Memory]) -> Iterator[Decision]:
        judged = context.tools.store.upkeep.judged(STEP, [pair.key for pair in found])
        for pair in found:
            if pair.key not in judged:
                flag = Judge(Judgement(STEP, pair.key, f"{pair.cosine:.2f}", context.now))
                why = f"cosine {pair.cosine:.2f} >= {least:.2f}"
                yield Decision("core.overlap", why, (flag,), pair.older.id, pair.newer.id)

    return pairs.look(context, cursor, STEP, OVERLAP_CORE, least, decide)


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
        return moved(memory, "stuck.promote", f"{why}, {immune}", Layer.WORKING)
    if memory.usage.accessed >= STUCK_USES or (protected(memory, config) and not by_layers(config)):
        return None
    if _rises(memory, context):  # it only waited for a run: promotion comes next
        return None
    return archived(memory, "stuck.archive", f"{why}, accesses {memory.usage.accessed}")


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
    kept = tuple(tag for tag in memory.tags if tag not in MOVED | over)
    if kept == memory.tags:
        return None
    why = f"{len(memory.tags) - len(kept)} marks of an old review"
    # How often it was refused still counts when the mark is gone.
    refused = judged(GATE, [memory], context).get(memory.id) if over else None
    notes = (Judge(refused),) if refused is not None else ()
    return Decision("tags.stale", why, (becomes(memory, tags=kept), *notes), memory.id)


# ---------------------------------------------------------------- rising
# Rising: memories of the buffer come in; those that proved themselves go to the working layer.


def promoted(memory: Memory, context: StepContext) -> Decision | None:
    """Promote what was used or said often enough, and lessons that have settled."""
    verdict = buffer_verdict(memory, context.now, context.tools.config)
    rule = f"promote.{verdict.rule.replace(' ', '-')}"
    return moved(memory, rule, verdict.why, Layer.WORKING) if verdict else None


# ---------------------------------------------------------------- capping
# Capping: the buffer of each scope comes in; what is over the limit is archived, the oldest first.


def plan_buffer_cap(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Archive the oldest of each buffer that holds too many; what is protected stays and counts."""
    config = context.tools.config
    cap = config.forgetting.buffer_cap
    counted = (one.scope for part in context.memories(BUFFER) for _, one in part if _counts(one, context))
    held = Counter(counted) if cap else Counter()
    over = Counter({scope: count - cap for scope, count in held.items() if count > cap})

    def decide(part: Slice) -> Iterable[Decision]:
        # Keys grow with the time of storing: the first ones are the oldest.
        for one in (one for _, one in part if _counts(one, context)):
            if over[one.scope] > 0 and not _stays(one, context):
                why = f"{over[one.scope]} more than {cap} in the buffer, the oldest"
                over[one.scope] -= 1
                yield archived(one, "buffer.cap", why)

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
        seen = triaged([one for _, one in part], context)
        for _, one in part:
            if rescued := buffer_rescue(one, now, config):
                yield moved(one, "buffer.rescue", rescued.why, Layer.WORKING)
            elif over := buffer_expiry(one, now, config, triaged=one.id in seen):
                yield archived(one, "buffer.expire", over.why)

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
    while found := context.tools.store.memories.without_words(size, after):
        after = found[-1][0]
        why = "read by the rules of another version"
        yield Batch(
            tuple(Decision("words.again", why, (Reword(one),), one.id, quiet=True) for _, one in found),
            str(after),
        )


STEPS: tuple[Step, ...] = (
    Step("housekeeping", "words", plan_words),
    Step("housekeeping", "working quality", plan_working_quality),
    Step("housekeeping", "stale tags", each(TAGGED, stale_tags)),
    Step("housekeeping", "stuck buffer", each(BUFFER, stuck)),
    Step("housekeeping", "core hygiene", each(CORE, core_hygiene)),
    Step("housekeeping", "core overlap", plan_overlap_flags),
    Step("promotion", "buffer to working", each(BUFFER, promoted)),
    Step("promotion", "buffer expiry", plan_expiry),
    Step("promotion", "buffer cap", plan_buffer_cap),
    Step("promotion", "episodes to knowledge", each(EPISODES, learned)),
)


# ---------------------------------------------------------------- ageing
# Ageing: memories and the time come in; each is called candidate, validated, active or stale accordingly.
#
# It is the last look of a run at the memories: whatever was decided before counts.


def plan_lifecycle_states(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Set the lifecycle state of every memory that has come to another one."""
    for number, part in enumerate(context.memories(Filters(), int(cursor or 0)), 1):
        memories = [one for _, one in part]
        decisions = (*_faded(memories, context), *_moved_tier(memories, context))
        if decisions or number % PAUSE_EVERY == 0:
            yield Batch(decisions, str(part[-1][0]))


def _faded(memories: Iterable[Memory], context: StepContext) -> Iterator[Decision]:
    now, config = context.now, context.tools.config
    for one in memories:
        state = lifecycle_state(one, now, config)
        if state is not one.lifecycle:
            warmth = f"heat {heat(one, now):.2f}, decay {decay(one, now, config):.2f}"
            why = f"{one.lifecycle} to {state}: {warmth}"
            yield Decision(f"lifecycle.{state}", why, (becomes(one, lifecycle=state),), one.id)


def _moved_tier(memories: Sequence[Memory], context: StepContext) -> Iterator[Decision]:
    """What is old and little worth becomes cold, where that counts; what is worth much again, hot."""
    if context.tools.config.recall.cold != "last":
        return
    cold = cold_ones(context.tools.store.upkeep.judged(COLD, [one.id for one in memories]))
    for one in memories:
        if move := tier_move(one, context.now, is_cold=one.id in cold):
            why = f"value {tier_value(one, context.now):.2f}"
            note = Judge(Judgement(COLD, one.id, move, context.now))
            yield Decision(f"tier.{move}", why, (note,), one.id)


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
                yield archived(one, f"archive.{verdict.rule.replace(' ', '-')}", verdict.why)

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

    def idle_ones(part: Slice) -> Iterable[Memory]:
        for _, one in part:
            loses = one.importance > IMPORTANCE_FLOOR and not is_lesson(one) and not one.pinned
            if loses and last_used(one) + day <= now:
                yield one

    def decide(part: Slice) -> Iterable[Decision]:
        idle = list(idle_ones(part))
        known = context.tools.store.upkeep.judged(DECAYED, [one.id for one in idle])
        for one in idle:
            if one.id in known and known[one.id].at + day > now:
                continue
            left = max(IMPORTANCE_FLOOR, round(one.importance - settings.importance_loss, 9))
            effects = (becomes(one, importance=left), Judge(Judgement(DECAYED, one.id, "", now)))
            why = f"idle for a day: {one.importance:.2f} to {left:.2f}"
            yield Decision("importance.decay", why, effects, one.id)

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
    Step("forgetting", "purge", each(_long_archived, purged)),
    Step("forgetting", "lifecycle state", plan_lifecycle_states),
    Step("forgetting", "prune logs", plan_log_pruning),
)
