"""Taking a run back: its events come in, newest first; the memories are as they were before it.

What has been changed by somebody else since stays as that one left it. What a person has taken back is
remembered, so that the next run does not do it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from typing import Any

from engram.maintain.apply import UNDONE
from engram.maintain.step import Decision, StepContext
from engram.model.event import Event, Verb
from engram.model.facts import Edge, EdgeType
from engram.model.maintenance import Carried, Decided, Judgement, RunState, Undone
from engram.model.memory import Memory, Status, Usage
from engram.ports import Unit
from engram.rules.archival import READ

TOGETHER = 200
"""Events taken back in one unit of work."""
RULE = "undo"
TELLING = frozenset({"content", "tags", "entities", "details"})
"""Fields from which it follows what a memory is found by and what it states."""
STAYS = frozenset({"modified_at", "version"})


def undo(context: StepContext, actor: str) -> Undone:
    """Take everything back that the run of this room did. Cut off, it can be asked for again."""
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
        unit.change(replace(memory, status=Status.ARCHIVED), Verb.ARCHIVED, RULE)
    return True


def _relate_again(unit: Unit, event: Event) -> bool:
    if unit.get(event.related) is None:
        return False
    unit.relate(Edge(event.memory, event.related, EdgeType(event.before["type"])), RULE)
    return True


def _restore(unit: Unit, memory: Memory, event: Event, context: StepContext) -> bool:
    names = [name for name in event.before if name not in STAYS]
    ours = [name for name in names if getattr(memory, name) == _read(name, event.after[name])]
    was = {name: _read(name, event.before[name]) for name in ours}
    if "usage" in names and "usage" not in ours:
        was["usage"] = _less(memory.usage, event.before["usage"], event.after["usage"])
    if not was:
        return all(getattr(memory, name) == _read(name, event.before[name]) for name in names)
    old = replace(memory, **was)
    told_anew = TELLING & was.keys() or Status.SAID in {old.status, memory.status}
    findable = context.findable(old) if told_anew else None
    unit.change(old, Verb.RESTORED, RULE, findable=findable)
    vector = context.vector(old) if "content" in was else None
    if vector is not None:
        unit.embed(old.id, vector)
    return len(was) == len(names)


def _less(now: Usage, before: Mapping[str, int], after: Mapping[str, int]) -> Usage:
    """What the run added is taken off; what was counted since stays."""
    counts = {name: max(0, count - after[name] + before[name]) for name, count in asdict(now).items()}
    return Usage(**counts)


def _read(name: str, value: Any) -> Any:
    return READ[name](value) if name in READ and value is not None else value


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
