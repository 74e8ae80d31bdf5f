"""Housekeeping: what is stuck, stale or in the wrong place is seen to first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Final

from engram.maintain import pairs
from engram.maintain.step import Batch, Decision, Judge, Slice, Step, StepContext, becomes, sweep
from engram.maintain.support import GATE, judged, rejections
from engram.model.event import Verb
from engram.model.maintenance import Judgement
from engram.model.memory import Filters, Layer, Memory, Status
from engram.rules.promotion import HOURS, buffer_immune, buffer_rescue, buffer_verdict, demotion, step_layer
from engram.rules.retention import age_days, last_used
from engram.rules.traits import EXTRACTED, by_layers, is_overheard, protected

STUCK_DAYS = 7.0  # days after which an unused memory is stuck in the buffer (layers)
STUCK_USES = 2  # uses under which it counts as unused (layers)
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
        if by_layers(config):
            yield from (_refused(one, context) for _, one in part if _is_left_alone(one, context))
        extracted = [one for _, one in part if is_overheard(one) or EXTRACTED in one.tags]
        known = judged(GATE, extracted, context)
        for one in extracted:
            verdict = demotion(one, config, rejections=rejections(one, known, context))
            gone = by_layers(config) and _is_left_alone(one, context)
            if verdict and not gone and not _comes_back(one, context):
                yield _down(one, "working.rejected", verdict.why)

    return sweep(context, cursor, WORKING, decide)


def _is_left_alone(memory: Memory, context: StepContext) -> bool:
    since = context.now - timedelta(days=STUCK_DAYS)
    refused = not REJECTED.isdisjoint(memory.tags) and not protected(memory, context.tools.config)
    return refused and (memory.modified_at < since or last_used(memory) < since)


def _refused(memory: Memory, context: StepContext) -> Decision:
    why = f"the gate refused it, and {age_days(memory, context.now):.0f} days brought nothing new"
    return Decision(
        "stuck.archive", why, (becomes(memory, Verb.ARCHIVED, status=Status.ARCHIVED),), memory.id
    )


def plan_core_hygiene(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Core hygiene: what is not meant to last leaves the core."""

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            if verdict := demotion(one, context.tools.config):
                yield _down(one, "core.hygiene", verdict.why)

    return sweep(context, cursor, CORE, decide)


def _down(memory: Memory, rule: str, why: str) -> Decision:
    return Decision(rule, why, (becomes(memory, layer=step_layer(memory, up=False)),), memory.id)


def _comes_back(memory: Memory, context: StepContext) -> bool:
    config = context.tools.config
    below = replace(memory, layer=Layer.BUFFER)
    return bool(buffer_verdict(below, context.now, config)) or bool(buffer_rescue(below, context.now, config))


# ---------------------------------------------------------------- overlap
# Overlap: memories of the core come in; pairs that lie near each other are flagged, each pair once.


STEP = "overlap"
OVERLAP_CORE = frozenset({Layer.CORE})


def plan_overlap_flags(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Flag what overlaps: an audit looks at it, nothing is changed here."""
    known = pairs.cosines(context)
    if known is None:
        return
    for part, place in pairs.news(context, STEP, OVERLAP_CORE, cursor):
        found, _ = pairs.pairs(part, context, known[1].overlap)
        inside = [pair for pair in found if pair.older.layer is pair.newer.layer is Layer.CORE]
        judged = context.tools.store.upkeep.judged(STEP, [pair.key for pair in inside])
        flags = tuple(
            Decision(
                "core.overlap",
                f"cosine {pair.cosine:.2f} >= {known[1].overlap:.2f}",
                (Judge(Judgement(STEP, pair.key, f"{pair.cosine:.2f}", context.now)),),
                pair.older.id,
                pair.newer.id,
            )
            for pair in inside
            if pair.key not in judged
        )
        if flags:
            yield Batch(flags, place)
    yield Batch((pairs.looked(context, STEP),), cursor)


# ---------------------------------------------------------------- stuck
# The stuck buffer: memories that no rule has moved come in; what is kept for good rises, the rest goes.


BUFFER = Filters(layers=frozenset({Layer.BUFFER}))


def plan_stuck_buffer(context: StepContext, cursor: str) -> Iterator[Batch]:
    """See to what has been in the buffer for a week, or longer than the buffer holds anything."""

    def decide(part: Slice) -> Iterable[Decision]:
        return (found for _, one in part if (found := _decided(one, context)) is not None)

    return sweep(context, cursor, BUFFER, decide)


def _decided(memory: Memory, context: StepContext) -> Decision | None:
    config = context.tools.config
    days = max(STUCK_DAYS, config.promotion.untriaged_hours / HOURS)
    age = age_days(memory, context.now)
    if age <= days:
        return None
    why = f"{age:.1f} days in the buffer > {days:g}"
    if immune := buffer_immune(memory, config):
        rises = becomes(memory, layer=Layer.WORKING)
        return Decision("stuck.promote", f"{why}, {immune}", (rises,), memory.id)
    if memory.usage.accessed >= STUCK_USES or (protected(memory, config) and not by_layers(config)):
        return None
    # It only waited for a run: promotion, which comes next, lets it rise.
    if buffer_verdict(memory, context.now, config) or buffer_rescue(memory, context.now, config):
        return None
    gone = becomes(memory, Verb.ARCHIVED, status=Status.ARCHIVED)
    return Decision("stuck.archive", f"{why}, accesses {memory.usage.accessed}", (gone,), memory.id)


# ---------------------------------------------------------------- tags
# Stale tags: memories with marks of an old review come in; the marks that say nothing any more go.
#
# Such marks come with imports: this engine remembers what it judged beside the memory, not on it.


REJECTED: Final = frozenset({"gate-rejected", "gate-rejected-2"})
"""Say that a memory may not ask yet; after a while it may."""
MOVED: Final = frozenset({"promotion", "_triaged"})
"""Say where a memory in the buffer stands; elsewhere they are orphans."""
TAGGED: Final = Filters(layers=frozenset({Layer.WORKING, Layer.CORE}), tags_any=REJECTED | MOVED)


def plan_stale_tags(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Take off marks of promotion beyond the buffer, and of rejection after a day without use."""
    wait = timedelta(hours=STALE_TAG_HOURS)

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            over = REJECTED if last_used(one) + wait < context.now else frozenset()
            kept = tuple(tag for tag in one.tags if tag not in MOVED | over)
            if kept != one.tags:
                why = f"{len(one.tags) - len(kept)} marks of an old review"
                # How often it was refused still counts when the mark is gone.
                refused = judged(GATE, [one], context).get(one.id) if over else None
                notes = (Judge(refused),) if refused is not None else ()
                yield Decision("tags.stale", why, (becomes(one, tags=kept), *notes), one.id)

    return sweep(context, cursor, TAGGED, decide)


STEPS: tuple[Step, ...] = (
    Step("housekeeping", "working quality", plan_working_quality),
    Step("housekeeping", "stale tags", plan_stale_tags),
    Step("housekeeping", "stuck buffer", plan_stuck_buffer),
    Step("housekeeping", "core hygiene", plan_core_hygiene),
    Step("housekeeping", "core overlap", plan_overlap_flags),
)
