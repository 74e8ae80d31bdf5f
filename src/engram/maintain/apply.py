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
    Alias,
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
    keys = [decision.key for decision in decisions if decision.memory]
    refused = context.tools.store.upkeep.judged(UNDONE, keys)
    lines: list[Decided] = []
    effects = (effect for decision in decisions for effect in decision.effects)
    unit.read_ahead(id_ for effect in effects for id_ in _ids_read_by(effect))
    for decision in decisions:
        also: dict[str, Any] = {}
        advised = not _advised_against(decision, context)
        unchanged = (_is_unchanged(unit, effect) for effect in decision.effects)
        done = advised and decision.key not in refused and all(unchanged)
        if done:
            unit.within_run(context.run.id, decision.rule)
            for effect in decision.effects:
                also.update(_apply_effect(unit, effect, decision, context))
        if not decision.quiet:
            outcome = Carried.DONE if done else Carried.LEFT
            why = decision.why + ("" if advised else "; held back, such decisions were taken back before")
            ids = (decision.memory, decision.related)
            lines.append(Decided(0, step, decision.rule, why, *ids, outcome, also))
    unit.within_run("", "")
    return lines


def _advised_against(decision: Decision, context: StepContext) -> bool:
    """Whether it makes a memory, or puts one away, by a rule whose decisions there were often taken back."""
    for effect in decision.effects:
        match effect:
            case MemoryChange(old=old, new=new) if new.status in AWAY and old.status not in AWAY:
                scope = old.scope
            case Add(memory=memory):
                scope = memory.scope
            case _:
                continue
        if decision.rule in _rules_held_back(scope, context):
            return True
    return False


def _rules_held_back(scope: Scope, context: StepContext) -> frozenset[str]:
    """The rules that the guidelines of a place hold back, as they were when the run came there first."""
    held_by_scope = context.notes.setdefault(GUIDELINES, {})
    if scope not in held_by_scope:
        sketch = context.tools.store.upkeep.sketch(scope, GUIDELINES, "")
        rules = sketch.body["rules"] if sketch is not None else ()
        held_by_scope[scope] = frozenset(rule["rule"] for rule in rules if rule["advice"] == HOLD_BACK)
    rules_held: frozenset[str] = held_by_scope[scope]
    return rules_held


def _ids_read_by(effect: Effect) -> tuple[str, ...]:
    """The memories that are looked at before the effect happens."""
    match effect:
        case MemoryChange(old=memory) | Erase(memory=memory) | Add(memory=memory) | Reword(memory=memory):
            return (memory.id,)
        case Draw(edge=edge):
            return edge.source, edge.target
        case _:
            return ()


def _is_unchanged(unit: Unit, effect: Effect) -> bool:
    """Whether what the effect rests on is still as it was seen."""
    match effect:
        case MemoryChange(old=old) | Erase(memory=old) | Reword(memory=old):
            current = unit.get(old.id)
            return current is not None and LIVING.issuperset(current.differing(old))
        case Add(memory=memory):
            return unit.get(memory.id) is None
        case _:
            return True


def _apply_effect(unit: Unit, effect: Effect, decision: Decision, context: StepContext) -> dict[str, Any]:
    match effect:
        case MemoryChange():
            _apply_change(unit, effect, decision, context)
        case Reword(memory=memory):
            unit.reword(memory.id, enrich.findable(memory))
        case Add(memory=memory, findable=findable, vector=vector):
            unit.add(memory, findable, vector, decision.why)
        case Draw():
            _draw_edge(unit, effect, decision)
        case Erase(memory=memory):
            unit.erase(memory.id, decision.why)
        case Alias(name=name, entity=entity, namespace=namespace):
            unit.alias(name, entity)
            return {"alias": name, "namespace": namespace}
        case _:
            _apply_note(unit, effect, context)
    return {}


def _apply_note(unit: Unit, effect: Effect, context: StepContext) -> None:
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


def _apply_change(unit: Unit, effect: MemoryChange, decision: Decision, context: StepContext) -> None:
    # Its version and time are set here and now.
    names = (name for name in effect.old.differing(effect.new) if name not in STAYS)
    changed = {name: getattr(effect.new, name) for name in names}
    current = unit.get(effect.old.id)
    if current is None or not changed:
        return
    if changed.keys() - VIEW:
        changed["modified_at"] = max(current.modified_at, context.now)
    new = current.having(**changed)
    reworded = new.content != current.content
    if reworded and current.sealed:
        return  # its words are not known here
    if reworded:
        derived = {} if new.content_hash != current.content_hash else _derived_fields(new, context)
        new = new.having(version=current.version + 1, **derived)
    findable = enrich.findable(new) if reworded or new.tags != current.tags else None
    related = effect.related or decision.related
    unit.change(new, effect.verb, decision.why, findable=findable, related=related)
    vector = context.vector(new) if reworded else None
    if vector is not None:
        unit.embed(new.id, vector)


def _derived_fields(memory: Memory, context: StepContext) -> dict[str, Any]:
    memory_read = enrich.prepare(
        screen(Draft(memory.content, speaker=memory.speaker, event_time=memory.event_time)), context.tools
    ).memory
    return {name: getattr(memory_read, name) for name in ("content_hash", "forms", "entities", "metadata")}


def _draw_edge(unit: Unit, effect: Draw, decision: Decision) -> None:
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
INDEXED_FIELDS = frozenset({"content", "tags", "entities", "details"})
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
        for memory_id, whole in store.write(partial(_take_back, events=events, context=context), actor):
            if whole:
                restored.add(memory_id)
            else:
                left[memory_id] = None
        before = events[-1].id
    undone = replace(run, state=RunState.UNDONE, finished_at=run.finished_at or context.tools.clock.now())

    def end(unit: Unit) -> None:
        unit.upkeep.unsketch_run(run.id)
        unit.upkeep.note(undone)

    after = 0
    while lines := store.upkeep.decided(run.id, after, TOGETHER):
        store.write(partial(_remember_undone, lines=lines, context=context), actor)
        after = lines[-1].number
    store.write(end, actor)
    return Undone(undone, len(restored - left.keys()), tuple(left))


def _take_back(unit: Unit, events: Sequence[Event], context: StepContext) -> list[tuple[str, bool]]:
    unit.within_run(context.run.id, RULE)
    done = [(event.memory, _take_back_event(unit, event, context)) for event in events if event.rule != RULE]
    unit.within_run("", "")
    return done


def _take_back_event(unit: Unit, event: Event, context: StepContext) -> bool:
    """Take one event back; False when it has to stay as it is."""
    memory = unit.get(event.memory)
    if event.verb is Verb.ERASED or memory is None:
        return False
    if event.verb is Verb.RELATED:
        if event.after.get("new"):
            unit.unrelate(event.memory, event.related, EdgeType(event.after["type"]), RULE)
        return True
    if event.verb is Verb.UNRELATED:
        exists = unit.get(event.related) is not None
        if exists:
            unit.relate(Edge(event.memory, event.related, EdgeType(event.before["type"])), RULE)
        return exists
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
    reindex = INDEXED_FIELDS & was.keys() or Status.SAID in {old.status, memory.status}
    findable = enrich.findable(old) if reindex else None
    unit.change(old, Verb.RESTORED, RULE, findable=findable)
    vector = context.vector(old) if "content" in was else None
    if vector is not None:
        unit.embed(old.id, vector)
    return len(was) == len(names)


def _remember_undone(unit: Unit, lines: Sequence[Decided], context: StepContext) -> None:
    """Names stand for themselves again, and nothing of this is done a second time."""
    for line in lines:
        if line.outcome is not Carried.DONE:
            continue
        if "alias" in line.also:
            unit.split(line.also["alias"], line.also["namespace"])
        if line.memory:
            key = Decision(line.rule, "", (), line.memory, line.related).key
            unit.upkeep.judge(Judgement(UNDONE, key, context.run.id, context.tools.clock.now()))
