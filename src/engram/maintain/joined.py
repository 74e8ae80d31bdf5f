"""Joined memories: pairs come in; who takes in whom is decided, cluster by cluster, and what becomes of them.

Rules decide by the words. A model is asked only about pairs whose marks agree and of which rules cannot say
that they are the same (`auto`), or about all of them (`full`); its answer is remembered under the pair.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from engram.lifecycle.joining import Same, absorbed, apart, differing, ranked, same, stands
from engram.lifecycle.sameness import Limits
from engram.maintain.decisions import Change, Decision, Draw, Judge
from engram.maintain.near import Pair
from engram.maintain.room import Room, becomes
from engram.model.advice import Comparison
from engram.model.axes import Status, Tier
from engram.model.draft import Draft
from engram.model.event import Verb
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.upkeep import Judgement


@dataclass(slots=True)
class Asking:
    """How a step asks a model about pairs: under which name it remembers, and how often it may still ask."""

    kind: str
    left: int
    level: str
    asked: list[Judge] = field(default_factory=list)
    """What was answered in this slice, to be remembered."""
    postponed: set[str] = field(default_factory=set)
    """Ids of memories of pairs that there was no asking about any more."""


@dataclass(frozen=True, slots=True)
class Joint:
    """Two memories that say the same, and the words that say it."""

    pair: Pair
    words: str
    why: str
    rule: str


def joints(pairs: Sequence[Pair], limits: Limits, asking: Asking, room: Room) -> list[Joint]:
    """Those of the pairs that say the same."""
    known = room.tools.store.upkeep.judged(asking.kind, [pair.key for pair in pairs])
    found: list[Joint] = []
    for pair in pairs:
        if pair.key in known or apart(pair.older, pair.newer) or (stands(pair.older) and stands(pair.newer)):
            continue
        joint = _by_rule(pair, same(pair.older, pair.newer, pair.cosine, limits))
        if asking.level == "full" or (joint is None and not differing(pair.older, pair.newer)):
            joint = _by_model(pair, joint, asking, room)
        if joint is not None and _fits(joint):
            found.append(joint)
    return found


def decisions(found: Sequence[Joint], rule: str, room: Room) -> Iterator[Decision]:
    """Clusters of joints become decisions: one memory takes in those that say the same as it."""
    edges: dict[str, dict[str, Joint]] = {}
    members: dict[str, Memory] = {}
    for joint in found:
        for one, other in ((joint.pair.older, joint.pair.newer), (joint.pair.newer, joint.pair.older)):
            edges.setdefault(one.id, {})[other.id] = joint
            members[one.id] = one
    for winner in ranked(list(members.values())):
        if winner.id not in members:
            continue
        taken = [
            (members[id_], joint)
            for id_, joint in sorted(edges[winner.id].items())
            if id_ in members and not stands(members[id_])
        ]
        if taken:
            for one, _ in taken:
                del members[one.id]
            del members[winner.id]
            yield _decision(winner, taken, rule, room)


def levelled(room: Room) -> str:
    """How far a model may be asked."""
    return room.tools.config.llm.level


def _by_rule(pair: Pair, verdict: Same | None) -> Joint | None:
    return None if verdict is None else Joint(pair, verdict.fuller.content, verdict.why, "")


def _by_model(pair: Pair, ruled: Joint | None, asking: Asking, room: Room) -> Joint | None:
    """What a model says about a pair; what rules say when it may not be asked or gives no answer."""
    if asking.level == "off" or Tier.CLEAR is not pair.older.tier:
        return ruled
    if asking.left <= 0:
        asking.postponed |= {pair.older.id, pair.newer.id}
        return None
    asking.left -= 1
    older, newer = pair.older.content, pair.newer.content
    answer = room.tools.advisor.compare(older, newer)
    if answer is None:
        return ruled
    asking.asked.append(Judge(Judgement(asking.kind, pair.key, answer.value, room.now)))
    why = f"cosine {pair.cosine:.2f}, a model says {answer.value}"
    if answer is Comparison.SAME:
        return Joint(pair, max(newer, older, key=len), why, ".model")
    if answer is Comparison.ADDS:
        words = room.tools.advisor.merge(older, newer)
        return Joint(pair, words, why, ".model") if words else None
    return None


def _fits(joint: Joint) -> bool:
    """What stands as it is takes in only what adds no words."""
    return all(one.content == joint.words for one in (joint.pair.older, joint.pair.newer) if stands(one))


def _decision(winner: Memory, taken: Sequence[tuple[Memory, Joint]], rule: str, room: Room) -> Decision:
    losers = [one for one, _ in taken]
    words = max(chain([winner.content], (joint.words for _, joint in taken)), key=len)
    new = absorbed(winner, losers)
    if words != winner.content and not stands(winner):
        new = _reworded(new, words, room)
    effects = [Change(winner, new, Verb.MERGED, related=losers[0].id), *_gone(losers, winner)]
    last = taken[-1][1]
    name = f"{rule}.cluster" if len(losers) > 1 else f"{rule}.pair"
    why = f"{len(losers)} taken in: {'; '.join(dict.fromkeys(joint.why for _, joint in taken))}"
    return Decision(name + last.rule, why, tuple(effects), winner.id, " ".join(one.id for one in losers))


def _gone(losers: Iterable[Memory], winner: Memory) -> Iterator[Change | Draw]:
    for one in losers:
        merged = becomes(one, Verb.MERGED, status=Status.MERGED)
        yield replace(merged, related=winner.id)
        yield Draw(Edge(winner.id, one.id, EdgeType.SUPERSEDES))


def _reworded(memory: Memory, words: str, room: Room) -> Memory:
    """The memory with other words, and what follows from them."""
    made = room.make(Draft(words, scope=memory.scope, source=memory.source)).memory
    derived: dict[str, Any] = {
        "content": made.content,
        "content_hash": made.content_hash,
        "forms": made.forms,
        "metadata": made.metadata,
        "entities": tuple(dict.fromkeys((*memory.entities, *made.entities))),
    }
    return replace(memory, **derived)
