"""Contradictions: facts that cannot both be true come in; the later one replaces, or the pair is in doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from engram.lifecycle.calibration import thresholds
from engram.maintain import near
from engram.maintain.asking import Questions, level
from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.near import Pair
from engram.maintain.replaced import doubted, superseded
from engram.maintain.room import Room
from engram.maintain.sweep import is_fresh
from engram.model.advice import Comparison
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access
from engram.model.upkeep import Judgement
from engram.ports import View

KIND: Final = "reconcile"
"""Remembered together with what is reconciled: a pair is judged once, whoever meets it first."""
MOST: Final = 1_000
"""Pairs that are looked at in one run."""
TOGETHER: Final = 100
"""Pairs that are decided in one piece."""
EVERYTHING: Final = View(Access.everything(), Filters())


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Judge pairs of facts of which one object at a time can hold; each pair once."""
    pairs = _pairs(room)
    questions = Questions(KIND, room.tools.config.review.pairs_most, level(room))
    changed: frozenset[str] = frozenset()
    for start in range(0, len(pairs), TOGETHER):
        some = pairs[start : start + TOGETHER]
        judged = room.tools.store.upkeep.judged(KIND, [pair.key for pair in some])
        decisions: list[Decision] = []
        for pair in some:
            if pair.key not in judged and changed.isdisjoint({pair.older.id, pair.newer.id}):
                made = _decided(pair, questions, room)
                decisions += [made] if made is not None else []
                changed |= made.changes if made is not None else frozenset()
        if decisions:
            yield Batch(tuple(decisions))


def _pairs(room: Room) -> list[Pair]:
    """What is in dispute and may be judged: no turns of a conversation, nothing this run has changed."""
    found = room.tools.store.facts.disputed(EVERYTHING, MOST)
    return [
        Pair(older.memory, newer.memory, 0.0)
        for newer, older in found
        if _may_judge(older.memory, room) and _may_judge(newer.memory, room)
    ]


def _may_judge(memory: Memory, room: Room) -> bool:
    return not memory.speaker and not is_fresh(memory, room)


def _decided(pair: Pair, questions: Questions, room: Room) -> Decision | None:
    """What becomes of a pair; None when it has to wait until a model may be asked again."""
    known = near.cosines(room)
    limits = near.limits(1.0, room, known[1] if known else thresholds(""))
    ruled = questions.compared.replaces(pair.older, pair.newer, None, limits)
    said: Comparison | None = None
    if questions.level == "full" or not ruled:
        if questions.may_ask(pair.older, pair.newer):
            said = room.tools.advisor.compare(pair.older.content, pair.newer.content)
        elif pair.older.id in questions.postponed:
            return None
    answer = said or (Comparison.REPLACES if ruled else Comparison.CONTRADICTS)
    why = f"{'by rule' if said is None else 'a model says'}: {answer.value}"
    decision = _decision(pair, answer, why)
    note = Judge(Judgement(KIND, pair.key, answer.value, room.now))
    return replace(decision, effects=(*decision.effects, note))


def _decision(pair: Pair, answer: Comparison, why: str) -> Decision:
    if answer is Comparison.REPLACES:
        return superseded(pair.older, pair.newer, "contradiction.replace", why)
    if answer is Comparison.CONTRADICTS:
        return doubted(pair.older, pair.newer, "contradiction.doubt", why)
    return Decision("contradiction.keep", why, (), pair.older.id, pair.newer.id, quiet=True)
