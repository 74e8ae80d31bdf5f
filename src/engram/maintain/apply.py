"""Carrying out: decisions come in; what they say happens inside the writer, unless it no longer fits.

And taking a run back: its events come in, newest first; the memories are as they were before it. What has
been changed by somebody else since stays as that one left it. What a person has taken back is remembered,
so that the next run does not do it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from engram.errors import CycleRefused
from engram.maintain.step import (
    Add,
    Decision,
    Deliver,
    Draw,
    Drop,
    Effect,
    Erase,
    GoOnFrom,
    Judge,
    Keep,
    MemoryChange,
    Name,
    Prune,
    StepContext,
)
from engram.model.capture import Draft
from engram.model.event import Event, Verb
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import Carried, Decided, Judgement, RunState, Undone
from engram.model.memory import Memory, Status, Usage
from engram.model.scope import Scope
from engram.ports import Unit
from engram.rules import enrich
from engram.rules.archival import read_back
from engram.rules.screen import screen

UNDONE = "undone"
"""The kind of judgement that remembers what a person has taken back."""
VIEW = frozenset({"lifecycle"})
"""Fields that say how the engine sees a memory; another view of it is no modification."""
LIVING = frozenset({"usage", "last_accessed", "strength"})
"""Fields that change by being used: a decision does not rest on their exact value."""
GUIDELINES = "guidelines"
"""The kind of sketch that says what came of a rule's former decisions."""
HOLD_BACK = "hold_back"
AWAY = frozenset({Status.ARCHIVED, Status.MERGED, Status.SUPERSEDED})


def apply_decisions(
    unit: Unit, decisions: Sequence[Decision], step: str, context: StepContext
) -> list[Decided]:
    """Do what was decided; a line of the report for each that is not quiet."""
    refused = context.tools.store.upkeep.judged(UNDONE, [one.key for one in decisions if one.memory])
    lines: list[Decided] = []
    unit.read_ahead(name for one in decisions for effect in one.effects for name in _read_by(effect))
    for one in decisions:
        also: dict[str, Any] = {}
        advised = not _advised_against(one, context)
        done = advised and one.key not in refused and _fits(unit, one)
        if done:
            unit.within_run(context.run.id, one.rule)
            for effect in one.effects:
                also.update(_do(unit, effect, one, context))
        if not one.quiet:
            outcome = Carried.DONE if done else Carried.LEFT
            why = one.why if advised else f"{one.why}; held back, such decisions were taken back before"
            lines.append(Decided(0, step, one.rule, why, one.memory, one.related, outcome, also))
    unit.within_run("", "")
    return lines


def _advised_against(decision: Decision, context: StepContext) -> bool:
    """Whether it makes a memory, or puts one away, by a rule whose decisions there were often taken back."""
    for effect in decision.effects:
        match effect:
            case MemoryChange(old=old, new=new) if new.status in AWAY and old.status not in AWAY:
                scope = old.scope
            case Add(memory=made):
                scope = made.scope
            case _:
                continue
        if decision.rule in _held(scope, context):
            return True
    return False


def _held(scope: Scope, context: StepContext) -> frozenset[str]:
    """The rules that the guidelines of a place hold back, as they were when the run came there first."""
    known = context.notes.setdefault(GUIDELINES, {})
    if scope not in known:
        found = context.tools.store.upkeep.sketch(scope, GUIDELINES, "")
        rules = found.body["rules"] if found is not None else ()
        known[scope] = frozenset(one["rule"] for one in rules if one["advice"] == HOLD_BACK)
    rules_held: frozenset[str] = known[scope]
    return rules_held


def _fits(unit: Unit, decision: Decision) -> bool:
    """Whether everything the decision rests on is still as it was seen."""
    return all(_still(unit, effect) for effect in decision.effects)


def _read_by(effect: Effect) -> tuple[str, ...]:
    """The memories that are looked at before the effect happens."""
    match effect:
        case MemoryChange(old=memory) | Erase(memory=memory) | Add(memory=memory):
            return (memory.id,)
        case Draw(edge=edge):
            return edge.source, edge.target
        case _:
            return ()


def _still(unit: Unit, effect: Effect) -> bool:
    match effect:
        case MemoryChange(old=old) | Erase(memory=old):
            return _same(unit.get(old.id), old)
        case Add(memory=memory):
            return unit.get(memory.id) is None
        case _:
            return True


def _same(now: Memory | None, seen: Memory) -> bool:
    return now is not None and LIVING.issuperset(now.differing(seen))


def _do(unit: Unit, effect: Effect, decision: Decision, context: StepContext) -> dict[str, Any]:
    match effect:
        case MemoryChange(old=old, new=new):
            _change(unit, effect, decision, context, _differences(old, new))
        case Add(memory=memory, findable=findable, vector=vector):
            unit.add(memory, findable, vector, decision.why)
        case Draw():
            _draw(unit, effect, decision)
        case Erase(memory=memory):
            unit.erase(memory.id, decision.why)
        case Name(name=name, entity=entity, namespace=namespace):
            unit.alias(name, entity)
            return {"alias": name, "namespace": namespace}
        case _:
            _note(unit, effect, context)
    return {}


def _note(unit: Unit, effect: Effect, context: StepContext) -> None:
    """What is kept beside the records."""
    match effect:
        case Judge(judgement=judgement):
            unit.upkeep.judge(judgement)
        case Keep(sketch=sketch):
            unit.upkeep.sketch(replace(sketch, run=context.run.id))
        case Drop(scope=scope, kind=kind, key=key):
            unit.upkeep.unsketch(scope, kind, key)
        case Deliver(delivery=delivery):
            unit.bus.deliver(delivery)
        case GoOnFrom(subscription=subscription):
            unit.bus.subscribe(subscription)
        case Prune(before=before):
            unit.upkeep.prune(before)


def _change(
    unit: Unit, effect: MemoryChange, decision: Decision, context: StepContext, changed: dict[str, Any]
) -> None:
    now = unit.get(effect.old.id)
    if now is None or not changed:
        return
    if changed.keys() - VIEW:
        changed["modified_at"] = max(now.modified_at, context.now)
    new = now.having(**changed)
    reworded = new.content != now.content
    if reworded and now.sealed:
        return  # its words are not known here
    if reworded:
        derived = {} if new.content_hash != now.content_hash else _told_by_words(new, context)
        new = new.having(version=now.version + 1, **derived)
    findable = enrich.findable(new) if reworded or new.tags != now.tags else None
    related = effect.related or decision.related
    unit.change(new, effect.verb, decision.why, findable=findable, related=related)
    vector = context.vector(new) if reworded else None
    if vector is not None:
        unit.embed(new.id, vector)


def _told_by_words(memory: Memory, context: StepContext) -> dict[str, Any]:
    """The fields that follow from a content."""
    made = enrich.prepare(
        screen(Draft(memory.content, speaker=memory.speaker, event_time=memory.event_time)), context.tools
    ).memory
    return {name: getattr(made, name) for name in ("content_hash", "forms", "entities", "metadata")}


def _draw(unit: Unit, effect: Draw, decision: Decision) -> None:
    edge = effect.edge
    if unit.get(edge.source) is None or unit.get(edge.target) is None:
        return
    try:
        unit.relate(replace(edge, origin=f"rule:{decision.rule}"), decision.why)
    except CycleRefused:
        return


def _differences(old: Memory, new: Memory) -> dict[str, Any]:
    """The fields that a change sets; its version and time are set when it happens."""
    return {name: getattr(new, name) for name in old.differing(new) if name not in STAYS}


TOGETHER = 200
"""Events taken back in one unit of work."""
RULE = "undo"
TELLING = frozenset({"content", "tags", "entities", "details"})
"""Fields from which it follows what a memory is found by and what it states."""
STAYS = frozenset({"modified_at", "version"})


def undo(context: StepContext, actor: str) -> Undone:
    """Take everything back that the run did. Cut off, it can be asked for again."""
    store, run = context.tools.store, context.run
    restored: set[str] = set()
    left: dict[str, None] = {}
    for events in _events(context):
        for memory, was in store.write(partial(_take_back, events=events, context=context), actor):
            if was:
                restored.add(memory)
            else:
                left[memory] = None
    undone = replace(run, state=RunState.UNDONE, finished_at=run.finished_at or context.tools.clock.now())

    def end(unit: Unit) -> None:
        unit.upkeep.unsketch_run(run.id)
        unit.upkeep.note(undone)

    for lines in _decided(context):
        store.write(partial(_remember, lines=lines, context=context), actor)
    store.write(end, actor)
    return Undone(undone, len(restored - left.keys()), tuple(left))


def _take_back(unit: Unit, events: Sequence[Event], context: StepContext) -> list[tuple[str, bool]]:
    unit.within_run(context.run.id, RULE)
    done = [(event.memory, _one(unit, event, context)) for event in events if event.rule != RULE]
    unit.within_run("", "")
    return done


def _one(unit: Unit, event: Event, context: StepContext) -> bool:
    """Take one event back; False when it has to stay as it is."""
    memory = unit.get(event.memory)
    if event.verb is Verb.ERASED or memory is None:
        return False
    if event.verb is Verb.RELATED:
        if event.after.get("new"):
            unit.unrelate(event.memory, event.related, EdgeType(event.after["type"]), RULE)
        return True
    if event.verb is Verb.UNRELATED:
        return _relate_again(unit, event)
    if event.verb is Verb.STORED:
        return _withdraw(unit, memory)
    return _restore(unit, memory, event, context)


def _withdraw(unit: Unit, memory: Memory) -> bool:
    """What the run made is archived, not erased: somebody may rest on it already."""
    if memory.status is not Status.ARCHIVED:
        unit.change(memory.having(status=Status.ARCHIVED), Verb.ARCHIVED, RULE)
    return True


def _relate_again(unit: Unit, event: Event) -> bool:
    if unit.get(event.related) is None:
        return False
    unit.relate(Edge(event.memory, event.related, EdgeType(event.before["type"])), RULE)
    return True


def _restore(unit: Unit, memory: Memory, event: Event, context: StepContext) -> bool:
    before, after = read_back(event.before), read_back(event.after)
    names = [name for name in event.before if name not in STAYS]
    ours = [name for name in names if getattr(memory, name) == after[name]]
    was = {name: before[name] for name in ours}
    if "usage" in names and "usage" not in ours:
        was["usage"] = _less(memory.usage, event.before["usage"], event.after["usage"])
    if not was:
        return all(getattr(memory, name) == before[name] for name in names)
    old = memory.having(**was, **({"forms": before["forms"]} if "content" in was else {}))
    told_anew = TELLING & was.keys() or Status.SAID in {old.status, memory.status}
    findable = enrich.findable(old) if told_anew else None
    unit.change(old, Verb.RESTORED, RULE, findable=findable)
    vector = context.vector(old) if "content" in was else None
    if vector is not None:
        unit.embed(old.id, vector)
    return len(was) == len(names)


def _less(now: Usage, before: Mapping[str, int], after: Mapping[str, int]) -> Usage:
    """What the run added is taken off; what was counted since stays."""
    counts = {name: max(0, count - after[name] + before[name]) for name, count in asdict(now).items()}
    return Usage(**counts)


def _remember(unit: Unit, lines: Sequence[Decided], context: StepContext) -> None:
    """Names stand for themselves again, and nothing of this is done a second time."""
    for line in lines:
        if line.outcome is not Carried.DONE:
            continue
        if "alias" in line.also:
            unit.split(line.also["alias"], line.also["namespace"])
        if line.memory:
            key = Decision(line.rule, "", (), line.memory, line.related).key
            unit.upkeep.judge(Judgement(UNDONE, key, context.run.id, context.tools.clock.now()))


def _decided(context: StepContext) -> Iterator[list[Decided]]:
    after = 0
    while lines := context.tools.store.upkeep.decided(context.run.id, after, TOGETHER):
        yield lines
        after = lines[-1].number


def _events(context: StepContext) -> Iterator[list[Event]]:
    """What the run did, newest first, in pieces; what taking it back writes is newer than all of it."""
    before = ""
    while events := context.tools.store.upkeep.events(context.run.id, TOGETHER, before):
        yield events
        before = events[-1].id
