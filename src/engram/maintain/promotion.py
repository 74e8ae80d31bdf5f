"""Promotion: what proved itself leaves the buffer; what did not is let go in time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from engram.maintain.step import Batch, Decision, Slice, Step, StepContext, becomes, sweep
from engram.maintain.support import triaged
from engram.model.event import Verb
from engram.model.memory import Filters, Kind, Layer, Memory, Status
from engram.model.scope import Scope
from engram.rules.promotion import (
    buffer_expiry,
    buffer_immune,
    buffer_rescue,
    buffer_verdict,
    semantic_candidate,
)
from engram.rules.traits import by_layers, is_lesson, is_overheard, lasting, protected

# ---------------------------------------------------------------- rising
# Rising: memories of the buffer come in; those that proved themselves go to the working layer.


BUFFER = Filters(layers=frozenset({Layer.BUFFER}))


def plan_promotion(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Promote what was used or said often enough, and lessons that have settled."""

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            verdict = buffer_verdict(one, context.now, context.tools.config)
            if verdict:
                rule = f"promote.{verdict.rule.replace(' ', '-')}"
                yield Decision(rule, verdict.why, (becomes(one, layer=Layer.WORKING),), one.id)

    return sweep(context, cursor, BUFFER, decide)


# ---------------------------------------------------------------- capping
# Capping: the buffer of each scope comes in; what is over the limit is archived, the oldest first.


def plan_buffer_cap(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Archive the oldest of each buffer that holds too many; what is protected stays and counts."""
    config = context.tools.config
    cap = config.forgetting.buffer_cap
    over = _over(context, cap) if cap else Counter()

    def decide(part: Slice) -> Iterable[Decision]:
        # Keys grow with the time of storing: the first ones are the oldest.
        for one in (one for _, one in part if _counts(one, context)):
            if over[one.scope] > 0 and not _stays(one, context):
                why = f"{over[one.scope]} more than {cap} in the buffer, the oldest"
                over[one.scope] -= 1
                archived = becomes(one, Verb.ARCHIVED, status=Status.ARCHIVED)
                yield Decision("buffer.cap", why, (archived,), one.id)

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


def _over(context: StepContext, cap: int) -> Counter[Scope]:
    """How many each buffer holds above the limit."""
    held = Counter(one.scope for part in context.memories(BUFFER) for _, one in part if _counts(one, context))
    return Counter({scope: count - cap for scope, count in held.items() if count > cap})


# ---------------------------------------------------------------- expiring
# Expiring: memories whose time in the buffer is over come in; they are rescued, or go to the archive.


def plan_expiry(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Rescue what half proved itself or matters; archive the rest. What was never triaged has longer."""
    now, config = context.now, context.tools.config

    def decide(part: Slice) -> Iterable[Decision]:
        seen = triaged([one for _, one in part], context)
        for _, one in part:
            if rescued := buffer_rescue(one, now, config):
                yield Decision("buffer.rescue", rescued.why, (becomes(one, layer=Layer.WORKING),), one.id)
            elif over := buffer_expiry(one, now, config, triaged=one.id in seen):
                archived = becomes(one, Verb.ARCHIVED, status=Status.ARCHIVED)
                yield Decision("buffer.expire", over.why, (archived,), one.id)

    return sweep(context, cursor, BUFFER, decide)


# ---------------------------------------------------------------- learning
# Learning: episodes that matter and are used again and again come in; they become knowledge.


def plan_knowledge_promotion(context: StepContext, cursor: str) -> Iterator[Batch]:
    """Let an important episode that is used often be remembered as knowledge: it fades no more."""
    config = context.tools.config
    # Disuse only takes importance off: what has too little stored can be left out unread.
    episodes = Filters(kinds=frozenset({Kind.EPISODIC}), min_importance=config.promotion.semantic_importance)

    def decide(part: Slice) -> Iterable[Decision]:
        for _, one in part:
            verdict = semantic_candidate(one, context.now, config)
            if verdict and not one.speaker:
                effect = becomes(one, kind=Kind.SEMANTIC)
                yield Decision("promote.knowledge", verdict.why, (effect,), one.id)

    return sweep(context, cursor, episodes, decide)


STEPS: tuple[Step, ...] = (
    Step("promotion", "buffer to working", plan_promotion),
    Step("promotion", "buffer expiry", plan_expiry),
    Step("promotion", "buffer cap", plan_buffer_cap),
    Step("promotion", "episodes to knowledge", plan_knowledge_promotion),
)
