"""Reconciling: memories about the same thing come in; a later one may update or absorb an earlier one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta

from engram.lifecycle.joining import apart, stands
from engram.lifecycle.sameness import Limits
from engram.maintain import joined, near
from engram.maintain.asking import Questions, level
from engram.maintain.decisions import Batch, Decision, Judge
from engram.maintain.near import Pair
from engram.maintain.replaced import superseded
from engram.maintain.room import Room
from engram.model.advice import Reconciled
from engram.model.axes import Layer
from engram.model.upkeep import Judgement

STEP = "reconcile"
NEAREST = 3
"""What updates a memory is among the nearest that are not the same: only so many of each are looked at."""
LAYERS = frozenset({Layer.WORKING, Layer.CORE})
Outcome = tuple[Reconciled, str]


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Judge pairs that are near but not the same, and were stored some time apart; each pair once."""
    known = near.cosines(room)
    if known is None:
        return
    questions = Questions(STEP, room.tools.config.review.pairs_most, level(room))
    limits = near.limits(known[1].reconcile, room, known[1])
    for part, place in near.news(room, STEP, LAYERS, cursor):
        found, unseen = near.pairs(part, room, known[1].reconcile, below=known[1].merge, most=NEAREST)
        made = (
            *_decided([pair for pair in found if _is_due(pair, room)], limits, questions, room),
            *joined.noted(questions, unseen, STEP, room),
        )
        if made:
            yield Batch(made, place)
    yield Batch((near.looked(room, STEP),), cursor)


def _is_due(pair: Pair, room: Room) -> bool:
    gap = timedelta(hours=room.tools.config.review.reconcile_hours)
    if not {pair.older.layer, pair.newer.layer} <= LAYERS or apart(pair.older, pair.newer):
        return False
    return pair.newer.created_at - pair.older.created_at >= gap


def _decided(pairs: Sequence[Pair], limits: Limits, questions: Questions, room: Room) -> Iterator[Decision]:
    """What was changed by one decision is not looked at for another: it is fresh."""
    judged = room.tools.store.upkeep.judged(STEP, [pair.key for pair in pairs])
    changed: frozenset[str] = frozenset()
    for pair in pairs:
        if pair.key in judged or not changed.isdisjoint({pair.older.id, pair.newer.id}):
            continue
        outcome = _outcome(pair, limits, questions, room)
        if outcome is not None:
            decision = _decision(pair, outcome, room)
            changed |= decision.changes
            note = Judge(Judgement(STEP, pair.key, outcome[0].value, room.now))
            yield replace(decision, effects=(*decision.effects, note))


def _outcome(pair: Pair, limits: Limits, questions: Questions, room: Room) -> Outcome | None:
    """What becomes of the older one; None: both stay."""
    ruled = _by_rule(pair, limits, questions)
    if (questions.level != "full" and ruled is not None) or not questions.may_ask(pair.older, pair.newer):
        return ruled
    answer = room.tools.advisor.reconcile(pair.older.content, pair.newer.content)
    if answer is None:
        return ruled
    questions.answered.append(Judgement(STEP, pair.key, answer.value, room.now))
    if answer is Reconciled.KEEP_BOTH or (answer is Reconciled.ABSORB and _loses(pair, questions)):
        return None
    return answer, f"cosine {pair.cosine:.2f}, a model says {answer.value}"


def _by_rule(pair: Pair, limits: Limits, questions: Questions) -> Outcome | None:
    why = f"cosine {pair.cosine:.2f}"
    if questions.compared.replaces(pair.older, pair.newer, pair.cosine, limits):
        return Reconciled.UPDATE, f"{why}, states it otherwise later"
    verdict = questions.compared.same(pair.older, pair.newer, pair.cosine, limits)
    if verdict is not None and verdict.fuller is pair.newer and not stands(pair.older):
        return Reconciled.ABSORB, f"{why}, the later one says all of it"
    return None


def _loses(pair: Pair, questions: Questions) -> bool:
    """Whether something that only the older one tells would be lost."""
    return stands(pair.older) or bool(questions.compared.differing(pair.older, pair.newer))


def _decision(pair: Pair, outcome: Outcome, room: Room) -> Decision:
    what, why = outcome
    if what is Reconciled.UPDATE:
        return superseded(pair.older, pair.newer, "reconcile.update", why)
    return joined.taken_in(pair.newer, pair.older, "reconcile.absorb", why, room)
