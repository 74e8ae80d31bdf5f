"""Merging: what says the same twice becomes one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from engram.lazily import dataclass
from engram.maintain import pairs as maintain_pairs
from engram.maintain.pairs import NearPair
from engram.maintain.step import Batch, Decision, Draw, Judge, MemoryChange, Step, StepContext, becomes
from engram.maintain.support import Questions, questions
from engram.model.capture import Draft
from engram.model.event import Verb
from engram.model.facts import Edge, EdgeType
from engram.model.knowledge import Comparison
from engram.model.maintenance import Judgement
from engram.model.memory import Layer, Memory, Status
from engram.rules.enrich import prepare
from engram.rules.joining import absorbed, apart, ranked, stands
from engram.rules.sameness import SamenessLimits
from engram.rules.screen import screen

# ---------------------------------------------------------------- joined
# Joined memories: pairs come in; which memory absorbs which others is decided, cluster by cluster.
#
# Rules decide by the words. A model is asked only about pairs whose marks agree and of which rules cannot
# say that they are the same (`auto`), or about all of them (`full`); its answer is remembered under the
# pair.

EVERY = frozenset(Layer)
JOINED = "joined"
"""The kind of judgement that remembers which memories became one."""


def plan_joins(context: StepContext, cursor: str, step: str, layers: frozenset[Layer]) -> Iterator[Batch]:
    """Look at what is new to a step, in some layers, from its cosine on; and join what says the same."""
    compared = maintain_pairs.compared_space(context)
    if compared is None:
        return iter(())
    least: float = getattr(compared[1], step)
    limits = maintain_pairs.sameness_limits(least, compared[1])
    asked = questions(context, step)

    def decide(near: Sequence[NearPair], unseen: Sequence[Memory]) -> Iterator[Decision]:
        yield from join_decisions(find_joints(near, limits, asked, context), step, context)
        yield from note_open_pairs(asked, unseen, step, context)

    return maintain_pairs.plan_pairs(context, cursor, step, layers, least, decide)


def note_open_pairs(
    questions: Questions, unseen: Sequence[Memory], step: str, context: StepContext
) -> Iterator[Decision]:
    """What was answered, and what has to be looked at again, is remembered; the questions begin anew."""
    ids = sorted(questions.postponed | {memory.id for memory in unseen})
    open_again = [Judgement(f"open {step}", id_, "open", context.now) for id_ in ids]
    notes = tuple(Judge(judgement) for judgement in (*questions.answered, *open_again))
    questions.answered, questions.postponed = [], set()
    if notes:
        yield Decision(f"{step}.noted", "", notes, quiet=True)


@dataclass(frozen=True, slots=True)
class Joint:
    """Two memories that say the same, and the words that say it."""

    pair: NearPair
    words: str
    why: str


def find_joints(
    pairs: Sequence[NearPair], limits: SamenessLimits, questions: Questions, context: StepContext
) -> list[Joint]:
    """Those of the pairs that say the same."""
    upkeep = context.tools.store.upkeep
    answered = upkeep.judged(questions.kind, [pair.key for pair in pairs])
    # What was joined once and stands apart again was parted by a person.
    before = upkeep.judged(JOINED, [_pair_key(pair.older, pair.newer) for pair in pairs])
    joints_found: list[Joint] = []
    for pair in pairs:
        decided_before = pair.key in answered or _pair_key(pair.older, pair.newer) in before
        both_stand = stands(pair.older) and stands(pair.newer)
        if decided_before or both_stand or apart(pair.older, pair.newer):
            continue
        verdict = questions.compared.same(pair.older, pair.newer, pair.cosine, limits)
        joint = None if verdict is None else Joint(pair, verdict.fuller.content, verdict.why)
        if questions.level == "full" or (questions.level == "auto" and joint is None):
            joint = _by_model(pair, joint, questions, context)
        # What stands as it is takes in only what adds no words.
        fixed = [memory for memory in (pair.older, pair.newer) if stands(memory)]
        if joint is not None and all(memory.content == joint.words for memory in fixed):
            joints_found.append(joint)
    return joints_found


def join_decisions(find_joints: Sequence[Joint], rule: str, context: StepContext) -> Iterator[Decision]:
    """Clusters of joints become decisions: one memory takes in those that say the same as it."""
    edges: dict[str, dict[str, Joint]] = {}
    members: dict[str, Memory] = {}
    for joint in find_joints:
        for memory, other in ((joint.pair.older, joint.pair.newer), (joint.pair.newer, joint.pair.older)):
            edges.setdefault(memory.id, {})[other.id] = joint
            members[memory.id] = memory
    for winner in ranked(list(members.values())):
        if winner.id not in members:
            continue
        taken = [
            (members[id_], joint)
            for id_, joint in sorted(edges[winner.id].items())
            if id_ in members and not stands(members[id_])
        ]
        if taken:
            for loser, _ in taken:
                del members[loser.id]
            del members[winner.id]
            yield _decision(winner, taken, rule, context)


def take_in(winner: Memory, loser: Memory, rule: str, why: str, context: StepContext) -> Decision:
    """One memory takes in another that says nothing it does not say."""
    change = MemoryChange(winner, absorbed(winner, [loser]), Verb.MERGED, related=loser.id)
    joined = Judge(Judgement(JOINED, _pair_key(winner, loser), "joined", context.now))
    return Decision(rule, why, (change, *_merged_losers([loser], winner), joined), winner.id, loser.id)


def become_one(
    winner: Memory, losers: Sequence[Memory], words: str, context: StepContext
) -> tuple[MemoryChange | Draw, ...]:
    """One memory takes in others, in words that say what all of them say."""
    new = absorbed(winner, losers)
    if words != winner.content:
        new = _reworded(new, words, losers, context)
    return (MemoryChange(winner, new, Verb.MERGED, related=losers[0].id), *_merged_losers(losers, winner))


def _by_model(
    pair: NearPair, ruled: Joint | None, questions: Questions, context: StepContext
) -> Joint | None:
    """What a model says about a pair; what rules say when it may not be asked or gives no answer.

    Whatever it says: another number, name, time or a denial is another statement.
    """
    if questions.compared.differing(pair.older, pair.newer):
        return None
    if not questions.may_ask(pair.older, pair.newer):
        return None if pair.older.id in questions.postponed else ruled
    older, newer = pair.older.content, pair.newer.content
    answer = context.tools.advisor.compare(older, newer)
    if answer is None:
        return ruled
    questions.answered.append(Judgement(questions.kind, pair.key, answer.value, context.now))
    why = f"cosine {pair.cosine:.2f}, a model says {answer.value}"
    if answer is Comparison.SAME:
        return Joint(pair, max(newer, older, key=len), why)
    words = context.tools.advisor.merge(older, newer) if answer is Comparison.ADDS else None
    return Joint(pair, words, why) if words else None


def _decision(
    winner: Memory, taken: Sequence[tuple[Memory, Joint]], rule: str, context: StepContext
) -> Decision:
    losers = [loser for loser, _ in taken]
    words = max(chain([winner.content], (joint.words for _, joint in taken)), key=len)
    effects = become_one(winner, losers, winner.content if stands(winner) else words, context)
    name = f"{rule}.cluster" if len(losers) > 1 else f"{rule}.pair"
    why = f"{len(losers)} taken in: {'; '.join(dict.fromkeys(joint.why for _, joint in taken))}"
    return Decision(name, why, effects, winner.id, " ".join(loser.id for loser in losers))


def _merged_losers(losers: Iterable[Memory], winner: Memory) -> Iterator[MemoryChange | Draw]:
    for loser in losers:
        merged = becomes(loser, Verb.MERGED, status=Status.MERGED)
        yield replace(merged, related=winner.id)
        yield Draw(Edge(winner.id, loser.id, EdgeType.SUPERSEDES))


def _pair_key(first: Memory, second: Memory) -> str:
    return " ".join(sorted((first.id, second.id)))


def _reworded(memory: Memory, words: str, losers: Sequence[Memory], context: StepContext) -> Memory:
    """The memory with other words, and what follows from them: known already where a loser had them."""
    reworded = next((loser for loser in losers if loser.content == words), None)
    if reworded is None:
        draft = Draft(words, scope=memory.scope, source=memory.source)
        reworded = prepare(screen(draft), context.tools).memory
    derived: dict[str, Any] = {
        "content": reworded.content,
        "content_hash": reworded.content_hash,
        "forms": reworded.forms,
        "metadata": reworded.metadata,
        "entities": tuple(dict.fromkeys((*memory.entities, *reworded.entities))),
    }
    return replace(memory, **derived)


# Merging: memories that came or changed come in; those that say what another one says become one with it.
# What is left stands in the highest layer.

STEPS: tuple[Step, ...] = (Step("merge", "merge", partial(plan_joins, step="merge", layers=EVERY)),)
