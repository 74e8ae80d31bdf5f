"""Gaps: what is known of something comes in; the questions worth asking about it come out. Pure rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from hashlib import blake2b

from engram.model.entity import Entity
from engram.model.facts import Fact
from engram.model.memory import Memory
from engram.model.scope import Scope
from engram.model.session import Gap
from engram.text import gaps as wording
from engram.text.forms import summary
from engram.text.statement import USER

UNKNOWN, MISSING, CONFLICT, DUE, STALE, ASKED = "unknown", "missing", "conflict", "due", "stale", "asked"
GAP = "gap"
"""The kind of sketch that a gap is kept as, and of the judgement that one is closed."""
IN_VAIN = "asked"
"""The kind of sketch that counts questions about a name that found nothing."""
KINDS = (UNKNOWN, MISSING, CONFLICT, DUE, STALE, ASKED)
WEIGHTS = {CONFLICT: 0.9, ASKED: 0.7, STALE: 0.6, DUE: 0.5, UNKNOWN: 0.4, MISSING: 0.3}
"""How much it matters to know, before it is counted how often something is spoken of."""
QUOTED = 160
"""Characters of a statement that a question quotes."""


def about_entity(entity: Entity, mentions: int, facts: Sequence[Fact], scope: Scope) -> Iterator[Gap]:
    """What is missing about somebody or something spoken of so often: everything, or what one expects.

    >>> [gap.question for gap in about_entity(Entity("Carla", type="person"), 5, [], Scope())]
    ['Who is Carla?']
    >>> works = Fact("carla", "like", "tea")
    >>> [gap.expects for gap in about_entity(Entity("Carla", type="person"), 5, [works], Scope())]
    ['relation']
    """
    if USER in {entity.name.casefold(), *entity.aliases}:
        return
    if not facts:
        if question := wording.who(entity.name, entity.type):
            yield _named(UNKNOWN, question, entity.name, mentions, scope)
        return
    known = {fact.predicate for fact in facts}
    for one in wording.expected(entity.type):
        if known.isdisjoint(one.predicates):
            question = one.question.format(name=entity.name)
            yield _named(MISSING, question, entity.name, mentions, scope, one.what)


def asked_about(name: str, times: int, scope: Scope) -> Gap:
    """What was asked about in vain."""
    return _named(ASKED, wording.worded(ASKED, name=name), name, times, scope)


def of_conflict(one: Memory, two: Memory) -> Gap:
    """Two memories that cannot both be true; the earlier is told first."""
    first, second = sorted((one, two), key=lambda each: (each.happened_at, each.id))
    question = wording.worded(CONFLICT, one=_told(first), two=_told(second))
    return _about(CONFLICT, question, first, second)


def of_memory(kind: str, memory: Memory) -> Gap:
    """A question about one memory: by when (due), or whether it is still so (stale)."""
    return _about(kind, wording.worded(kind, one=_told(memory)), memory)


def _named(kind: str, question: str, name: str, count: int, scope: Scope, expects: str = "") -> Gap:
    key = key_of(kind, scope, f"{name.casefold()}\n{expects}")
    return Gap(key, question, name, weight(kind, count), kind, expects, scope=scope)


def _about(kind: str, question: str, *memories: Memory) -> Gap:
    ids, scope = tuple(one.id for one in memories), memories[0].scope
    name = next((name for one in memories for name in one.entities), "")
    count = max(one.usage.accessed for one in memories) if kind == STALE else 0
    times = memories[0].usage.confirmed if kind == STALE else ""  # asked anew after it was vouched for
    key = key_of(kind, scope, "\n".join((*ids, str(times))))
    return Gap(key, question, name, weight(kind, count), kind, "", ids, scope)


def key_of(kind: str, scope: Scope, ident: str) -> str:
    """What a gap is known by: it holds no word of what it is about."""
    told = "\n".join((kind, *scope.parts, ident)).encode()
    return f"gap-{blake2b(told, digest_size=8).hexdigest()}"


def weight(kind: str, count: int) -> float:
    """How much it matters to know, 0 to 1: by its kind, and a little more for what is spoken of often.

    >>> weight("conflict", 0), weight("unknown", 7), weight("unknown", 100_000)
    (0.9, 0.49, 0.6)
    """
    return round(min(1.0, WEIGHTS[kind] + min(0.2, 0.03 * math.log2(1 + count))), 2)


def _told(memory: Memory) -> str:
    words = memory.content if len(memory.content) <= QUOTED else summary(memory.content)
    return words[:QUOTED]
