"""Inference: facts of one place come in; what follows from them is remembered, as long as they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final

from engram.graph.inference import Conclusion, conclude, predicates
from engram.maintain.decisions import Add, Batch, Decision, Draw, Erase
from engram.maintain.room import ACTIVE, Room, becomes
from engram.maintain.since import noted, places, since
from engram.model.axes import Kind, Layer, Status, Tier, Type, Verification
from engram.model.draft import Draft
from engram.model.event import Verb
from engram.model.facts import FactQuery
from engram.model.filters import ANY_STATUS, Filters
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Access, Role, Scope
from engram.ports import View
from engram.text.predicates import worded

NAME: Final = "inference"
TAG: Final = "inferred"
STATED = Filters(statuses=ACTIVE, tiers=frozenset({Tier.CLEAR}), not_tags=frozenset({TAG}))
MOST_FACTS: Final = 100_000
TOGETHER: Final = 100
Triple = tuple[str, str, str]


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Conclusions of every place where something changed; those that no longer follow are withdrawn."""
    news = since(room, NAME)
    if not news.any:
        return
    where = places(room, news, ANY_STATUS)
    known = _known(room)
    if news.gone:
        where |= known.keys()
    left = room.tools.config.knowledge.inferences
    for scope in sorted(where, key=lambda one: one.parts):
        found = _conclusions(room, scope)
        inferred = known.get(scope, {})
        yield from _batches(_withdrawn(room, inferred, found))
        fresh = [one for triple, one in found.items() if triple not in inferred][:left]
        left -= len(fresh)
        yield from _batches(_drawn(room, scope, fresh))
    yield from noted(room, NAME, news)


def _batches(decisions: Iterator[Decision]) -> Iterator[Batch]:
    every = list(decisions)
    for start in range(0, len(every), TOGETHER):
        yield Batch(tuple(every[start : start + TOGETHER]))


def _known(room: Room) -> dict[Scope, dict[Triple, Memory]]:
    """What was concluded before, in every status: what a person put away is not concluded again."""
    found: dict[Scope, dict[Triple, Memory]] = {}
    for part in room.memories(replace(ANY_STATUS, tags_any=frozenset({TAG}))):
        for _, one in part:
            for fact in one.details.get("facts", ()) if one.source == "engine" else ():
                triple = (fact["subject"], fact["predicate"], fact["object"])
                found.setdefault(one.scope, {})[triple] = one
    return found


def _conclusions(room: Room, scope: Scope) -> dict[Triple, Conclusion]:
    """What follows from facts of this very place."""
    settings = room.tools.config.knowledge
    view = View(Access(scope, Role.AGENT), STATED)
    query = FactQuery(predicates=predicates())
    told = [
        one
        for one in room.tools.store.facts.told(query, view, MOST_FACTS)
        if one.until is None or one.until > room.now
    ]
    found = conclude(told, settings.inference_steps, settings.inference_confidence)
    keys = sorted({premise.key for one in found for premise in one.premises})
    read = room.tools.store.memories.read(keys)
    here = {key for key, one in read.items() if one.scope == scope}
    return {
        (one.fact.subject, one.fact.predicate, one.fact.object): one
        for one in found
        if all(premise.key in here for premise in one.premises)
    }


def _withdrawn(
    room: Room, inferred: Mapping[Triple, Memory], found: Mapping[Triple, Conclusion]
) -> Iterator[Decision]:
    for triple, memory in inferred.items():
        premises = [str(one) for one in memory.details.get("premises", ())]
        if len(room.tools.store.memories.keys(premises)) < len(premises):
            why = "a memory it followed from was erased"
            yield Decision("inference.erased", why, (Erase(memory),), memory.id)
        elif triple not in found and memory.status in ACTIVE:
            why = f"no longer follows from {len(premises)} facts"
            away = becomes(memory, Verb.ARCHIVED, status=Status.ARCHIVED)
            yield Decision("inference.withdrawn", why, (away,), memory.id)


def _drawn(room: Room, scope: Scope, found: Sequence[Conclusion]) -> Iterator[Decision]:
    keys = sorted({premise.key for one in found for premise in one.premises})
    read = room.tools.store.memories.read(keys)
    for one in found:
        premises = list(dict.fromkeys(read[premise.key].id for premise in one.premises))
        if len(premises) < len({premise.key for premise in one.premises}):
            continue
        add = _memory(room, scope, one, premises)
        edges = [Draw(Edge(add.memory.id, premise, EdgeType.INFERRED_FROM)) for premise in premises]
        why = f"follows from {len(one.premises)} facts, sure to {one.sure:.2f}"
        yield Decision("inference.drawn", why, (add, *edges), add.memory.id)


def _memory(room: Room, scope: Scope, one: Conclusion, premises: Sequence[str]) -> Add:
    fact = {
        "subject": one.fact.subject,
        "predicate": one.fact.predicate,
        "object": one.fact.object,
        "functional": False,
        "confidence": round(one.sure, 4),
    }
    who, whom = (_called(room, scope, name) for name in (one.fact.subject, one.fact.object))
    draft = Draft(
        worded(who, one.fact.predicate, whom),
        category="fact",
        kind=Kind.SEMANTIC,
        type=Type.FACT,
        tags=(TAG,),
        details={"facts": [fact], "premises": list(premises)},
        confidence=round(one.sure, 4),
        layer=Layer.WORKING,
        scope=scope,
        source="engine",
    )
    add = room.new(draft, "inference", *premises, one.fact.predicate, one.fact.subject, one.fact.object)
    return replace(add, memory=replace(add.memory, verification=Verification.SYSTEM_INFERRED))


def _called(room: Room, scope: Scope, name: str) -> str:
    """A name as people write it; facts have it in lower case."""
    entity = room.tools.store.entities.get(name, Access(scope, Role.AGENT))
    return entity.name if entity is not None and entity.name.casefold() == name else name
