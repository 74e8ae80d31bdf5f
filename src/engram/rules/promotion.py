"""Promotion and demotion: a memory and the time come in; whether it rises, stays, falls or expires comes out.

Every verdict names its rule and its numbers: they become the rule and the reason of the event. What a person
moves by hand goes one layer at a time as well.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from engram.config import Config
from engram.errors import NoFurtherLayer
from engram.model.maintenance import Verdict, no, yes
from engram.model.memory import Kind, Layer, Memory, Policy
from engram.rules.importance import decayed_importance, reinforcement
from engram.rules.retention import age_days
from engram.rules.traits import (
    EXTRACTED,
    by_layers,
    is_banter,
    is_distilled,
    is_ephemeral,
    is_lesson,
    is_overheard,
    is_reference,
    is_session_note,
    lasting,
    protected,
)

RESCUE_SHARE = 0.5  # share of the reinforcement needed that rescues an expired memory (layers)
RESCUE_IMPORTANCE = 0.70  # importance that rescues an expired memory (layers)
FIRST_RETRY_HOURS = 24.0  # hours until a rejected memory may ask again (layers)
SECOND_RETRY_HOURS = 72.0  # hours after the second rejection; after the third it never asks again (layers)
LESSON_HOURS = 2.0  # hours after which lessons and procedures leave the buffer (layers)
UNTRIAGED_HOURS = 48.0  # hours that the buffer holds a memory which was never looked at (layers)
SEMANTIC_IMPORTANCE = 0.7  # importance from which an episode may become knowledge (retention)
SEMANTIC_ACCESSES = 5  # uses it needs for that (retention)

USUAL = Config()
HOURS: Final = 24.0
MINUTES: Final = 1_440.0
FINAL: Final = 3
"""The rejection after which a memory never asks again."""


def buffer_verdict(memory: Memory, now: datetime, config: Config = USUAL) -> Verdict:
    """Whether a memory leaves the buffer for the working layer.

    >>> from engram.model.memory import Usage
    >>> day = datetime(2026, 1, 1)
    >>> buffer_verdict(Memory("1", "Hi", "h", day, day, usage=Usage(repeated=2)), day)
    Verdict(yes=True, rule='buffer reinforced', why='reinforcement 5.0 >= 5')
    """
    settings = config.promotion
    if memory.layer is not Layer.BUFFER:
        return no("not in the buffer")
    earned, age = reinforcement(memory), age_days(memory, now)
    if earned >= settings.buffer_reinforcement:
        return yes("buffer reinforced", f"reinforcement {earned:.1f} >= {settings.buffer_reinforcement:g}")
    if is_lesson(memory) and not is_distilled(memory) and age * HOURS >= LESSON_HOURS:
        return yes("lesson", f"a lesson or procedure for {age * HOURS:.1f} h >= {LESSON_HOURS:g}")
    if settings.buffer_accesses and memory.usage.accessed >= settings.buffer_accesses:
        return yes("buffer used", f"accesses {memory.usage.accessed} >= {settings.buffer_accesses}")
    if settings.buffer_minutes and age * MINUTES >= settings.buffer_minutes:
        return yes("buffer aged", f"age {age * MINUTES:.0f} min >= {settings.buffer_minutes:g}")
    return no(f"reinforcement {earned:.1f} < {settings.buffer_reinforcement:g}")


def buffer_immune(memory: Memory, config: Config = USUAL) -> str:
    """Why the buffer's lifetime, cap and triage leave a memory alone; empty when they may not.

    >>> day = datetime(2026, 1, 1)
    >>> heard = Memory("1", "Hi", "h", day, day, source="session", details={"turns": ["t1"]})
    >>> buffer_immune(heard), buffer_immune(Memory("1", "Hi", "h", day, day, source="agent"))
    ('', 'given on purpose')
    """
    if not is_overheard(memory) and not by_layers(config):
        return "given on purpose"
    if memory.pinned:
        return "pinned"
    if memory.policy is Policy.PROTECTED:
        return "policy protected"
    return "a lesson or procedure" if is_lesson(memory) else ""


def buffer_rescue(memory: Memory, now: datetime, config: Config = USUAL) -> Verdict:
    """Whether a memory whose time in the buffer is over is worth the working layer.

    >>> from datetime import UTC
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> heard = Memory("1", "I live in Rome", "h", day, day, source="session", details={"turns": ["t1"]})
    >>> buffer_rescue(heard, day + timedelta(days=2)).why
    'it lasts: a fact about the user'
    """
    settings = config.promotion
    age = age_days(memory, now) * HOURS
    if memory.layer is not Layer.BUFFER or buffer_immune(memory, config):
        return no(buffer_immune(memory, config) or "not in the buffer")
    if age <= settings.ttl_hours:
        return no(f"age {age:.1f} h <= {settings.ttl_hours:g}")
    if not by_layers(config) and (reason := _worth_keeping(memory, now, config)):
        return yes("buffer rescue", reason)
    earned, needed = reinforcement(memory), RESCUE_SHARE * settings.buffer_reinforcement
    if earned >= needed:
        return yes("buffer rescue", f"reinforcement {earned:.1f} >= {needed:g}, half of what is needed")
    if memory.importance >= RESCUE_IMPORTANCE and not is_banter(memory.content):
        return yes("buffer rescue", f"importance {memory.importance:.2f} >= {RESCUE_IMPORTANCE:.2f}")
    return no(f"reinforcement {earned:.1f} < {needed:g}, importance {memory.importance:.2f}")


def _worth_keeping(memory: Memory, now: datetime, config: Config) -> str:
    if reason := protected(memory, config):
        return f"protected: {reason}"
    reason = lasting(memory, now)
    return f"it lasts: {reason}" if reason else ""


def buffer_expiry(memory: Memory, now: datetime, config: Config = USUAL, *, triaged: bool = False) -> Verdict:
    """Whether a memory's time in the buffer is over and nothing keeps it; one never triaged has longer."""
    settings = config.promotion
    if memory.layer is not Layer.BUFFER:
        return no("not in the buffer")
    if (immune := buffer_immune(memory, config)) or (rescued := buffer_rescue(memory, now, config)):
        return no(immune or rescued.why)
    triaged = triaged or (by_layers(config) and memory.modified_at != memory.created_at)
    hours = settings.ttl_hours if triaged else max(settings.ttl_hours, UNTRIAGED_HOURS)
    age = age_days(memory, now) * HOURS
    if age <= hours:
        return no(f"age {age:.1f} h <= {hours:g}")
    seen = "triaged" if triaged else "never triaged"
    return yes("buffer expiry", f"age {age:.1f} h > {hours:g}, {seen}")


def core_candidate(memory: Memory, now: datetime, config: Config = USUAL) -> Verdict:
    """Whether a memory of the working layer may ask the gate for the core."""
    settings = config.promotion
    if memory.layer is not Layer.WORKING or (barred := _barred(memory)):
        return no("not in the working layer" if memory.layer is not Layer.WORKING else barred)
    weight = memory.importance if by_layers(config) else decayed_importance(memory, now, config)
    if weight < settings.core_importance:
        return no(f"importance {weight:.2f} < {settings.core_importance:.2f}")
    earned, age = reinforcement(memory), age_days(memory, now)
    if earned >= settings.core_reinforcement:
        return yes("core candidate", f"reinforcement {earned:.1f} >= {settings.core_reinforcement:g}")
    if age > settings.core_days and earned > 0:
        return yes(
            "core candidate", f"age {age:.1f} days > {settings.core_days:g}, reinforcement {earned:.1f} > 0"
        )
    return no(f"reinforcement {earned:.1f} < {settings.core_reinforcement:g}, age {age:.1f} days")


def next_try(rejections: int, at: datetime) -> datetime | None:
    """When a memory may ask the gate again after so many rejections, the last one at `at`; None: never.

    >>> day = datetime(2026, 1, 1)
    >>> [str(next_try(count, day)) for count in (0, 1, 2, 3)]
    ['2026-01-01 00:00:00', '2026-01-02 00:00:00', '2026-01-04 00:00:00', 'None']
    """
    if rejections >= FINAL:
        return None
    hours = (0.0, FIRST_RETRY_HOURS, SECOND_RETRY_HOURS)[max(0, rejections)]
    return at + timedelta(hours=hours)


def semantic_candidate(memory: Memory, now: datetime, config: Config = USUAL) -> Verdict:
    """Whether an episode has become knowledge."""
    if memory.kind is not Kind.EPISODIC:
        return no(f"{memory.kind} already")
    weight, used = decayed_importance(memory, now, config), memory.usage.accessed
    if weight < SEMANTIC_IMPORTANCE:
        return no(f"importance {weight:.2f} < {SEMANTIC_IMPORTANCE:.2f}")
    if used < SEMANTIC_ACCESSES:
        return no(f"accesses {used} < {SEMANTIC_ACCESSES}")
    return yes(
        "episode to knowledge",
        f"importance {weight:.2f} >= {SEMANTIC_IMPORTANCE:.2f}, accesses {used} >= {SEMANTIC_ACCESSES}",
    )


def demotion(memory: Memory, config: Config = USUAL, *, rejections: int = 0) -> Verdict:
    """Whether a memory falls by one layer: notes of a day leave the core, rejects leave the working layer."""
    settings = config.promotion
    if memory.pinned or memory.policy is Policy.PROTECTED:
        return no("pinned" if memory.pinned else "policy protected")
    if memory.layer is Layer.CORE and (is_session_note(memory) or is_ephemeral(memory)):
        return yes("core hygiene", "a session note" if is_session_note(memory) else "ephemeral")
    if by_layers(config) and memory.layer is Layer.WORKING and EXTRACTED in memory.tags:
        return yes("rejected", "extracted by itself")
    taken_out = is_overheard(memory) or EXTRACTED in memory.tags
    if memory.layer is Layer.WORKING and taken_out and not protected(memory, config):
        if rejections >= settings.demote_rejections:
            return yes("rejected", f"extracted, rejections {rejections} >= {settings.demote_rejections}")
        return no(f"rejections {rejections} < {settings.demote_rejections}")
    return no("nothing against its layer")


def step_layer(memory: Memory, *, up: bool) -> Layer:
    """The next layer up or down. Raises NoFurtherLayer at the ends.

    >>> day = datetime(2026, 1, 1)
    >>> step_layer(Memory("1", "Hi", "h", day, day), up=True).name
    'WORKING'
    """
    if memory.layer is (Layer.CORE if up else Layer.BUFFER):
        raise NoFurtherLayer(memory.layer.name.lower(), "promote" if up else "demote")
    return memory.layer.step(1 if up else -1)


def _barred(memory: Memory) -> str:
    if is_reference(memory):
        return "a document"
    if is_session_note(memory):
        return "a session note"
    if is_ephemeral(memory):
        return "ephemeral"
    return "distilled" if is_distilled(memory) else ""
