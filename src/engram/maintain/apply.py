"""Carrying out: decisions come in; what they say happens inside the writer, unless it no longer fits.

And taking a run back: its events come in, newest first; the memories are as they were before it. What has
been changed by somebody else since stays as that one left it. What a person has taken back is remembered,
so that the next run does not do it again.
"""

from __future__ import annotations

from collections.abc import Sequence
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
    Reword,
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
        done = advised and one.key not in refused and all(_still(unit, effect) for effect in one.effects)
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


def _read_by(effect: Effect) -> tuple[str, ...]:
    """The memories that are looked at before the effect happens."""
    match effect:
        case MemoryChange(old=memory) | Erase(memory=memory) | Add(memory=memory) | Reword(memory=memory):
            return (memory.id,)
        case Draw(edge=edge):
            return edge.source, edge.target
        case _:
            return ()


def _still(unit: Unit, effect: Effect) -> bool:
    """Whether what the effect rests on is still as it was seen."""
    match effect:
        case MemoryChange(old=seen) | Erase(memory=seen) | Reword(memory=seen):
            now = unit.get(seen.id)
            return now is not None and LIVING.issuperset(now.differing(seen))
        case Add(memory=memory):
            return unit.get(memory.id) is None
        case _:
            return True


def _do(unit: Unit, effect: Effect, decision: Decision, context: StepContext) -> dict[str, Any]:
    match effect:
        case MemoryChange():
            _change(unit, effect, decision, context)
        case Reword(memory=memory):
            unit.reword(memory.id, enrich.findable(memory))
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


def _change(unit: Unit, effect: MemoryChange, decision: Decision, context: StepContext) -> None:
    # Its version and time are set here and now.
    names = (name for name in effect.old.differing(effect.new) if name not in STAYS)
    changed = {name: getattr(effect.new, name) for name in names}
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
    before = ""
    # Newest first, in pieces; what taking it back writes is newer than all of it.
    while events := store.upkeep.events(run.id, TOGETHER, before):
        for memory, was in store.write(partial(_take_back, events=events, context=context), actor):
            if was:
                restored.add(memory)
            else:
                left[memory] = None
        before = events[-1].id
    undone = replace(run, state=RunState.UNDONE, finished_at=run.finished_at or context.tools.clock.now())

    def end(unit: Unit) -> None:
        unit.upkeep.unsketch_run(run.id)
        unit.upkeep.note(undone)

    after = 0
    while lines := store.upkeep.decided(run.id, after, TOGETHER):
        store.write(partial(_remember, lines=lines, context=context), actor)
        after = lines[-1].number
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
        known = unit.get(event.related) is not None
        if known:
            unit.relate(Edge(event.memory, event.related, EdgeType(event.before["type"])), RULE)
        return known
    if event.verb is Verb.STORED:  # what the run made is not erased: somebody may rest on it already
        if memory.status is not Status.ARCHIVED:
            unit.change(memory.having(status=Status.ARCHIVED), Verb.ARCHIVED, RULE)
        return True
    return _restore(unit, memory, event, context)


def _restore(unit: Unit, memory: Memory, event: Event, context: StepContext) -> bool:
    before, after = read_back(event.before), read_back(event.after)
    names = [name for name in event.before if name not in STAYS]
    ours = [name for name in names if getattr(memory, name) == after[name]]
    was = {name: before[name] for name in ours}
    if "usage" in names and "usage" not in ours:
        # What the run added is taken off; what was counted since stays.
        less = {
            name: event.before["usage"][name] - event.after["usage"][name] for name in event.after["usage"]
        }
        counts = {name: max(0, count + less[name]) for name, count in asdict(memory.usage).items()}
        was["usage"] = Usage(**counts)
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
