"""Procedures: results of tasks and flows come in; what was done again and again in one order is known then.

Each flow tells its own steps; tasks of one session follow on one another. A sequence that was done often
enough becomes a procedural memory with the number of times it succeeded, failed, or did in part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from engram.graph.sequences import Repeated, repeated
from engram.maintain.decisions import Batch, Change, Decision, Draw, Effect, Erase
from engram.maintain.room import ACTIVE, Room
from engram.maintain.since import EVERYTHING, noted, places, since
from engram.model.axes import Kind, Layer, Status, Tier, Type, Verification
from engram.model.draft import Draft
from engram.model.filters import ANY_STATUS, Filters
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Scope
from engram.ports import View

NAME: Final = "procedures"
TAG: Final = "procedure"
RESULTS = Filters(
    statuses=ACTIVE,
    tiers=frozenset({Tier.CLEAR}),
    tags_any=frozenset({"task", "flow"}),
    not_tags=frozenset({TAG}),
)
ENDINGS: Final = ("success", "failure", "partial")
EDGES: Final = 50
"""Results that a procedure is linked to, the latest."""


@dataclass(frozen=True, slots=True)
class Done:
    """One occasion: what was done, how it ended, and the memories that tell of it."""

    actions: tuple[str, ...]
    outcome: str
    times: int
    told_by: tuple[Memory, ...]
    name: str = ""


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Procedures of every place that has new results."""
    news = since(room, NAME)
    if not news.any:
        return
    told = replace(RESULTS, statuses=ANY_STATUS.statuses)
    where = places(room, news, told)
    known = _known(room)
    if news.gone:
        where |= known.keys()
    for scope, done in _occasions(room, where).items():
        decided = list(_decide(room, scope, done, known.get(scope, {})))
        if decided:
            yield Batch(tuple(decided))
    yield from noted(room, NAME, news)


def _known(room: Room) -> dict[Scope, dict[str, Memory]]:
    """Procedures that were learned, in every status, by place and sequence."""
    found: dict[Scope, dict[str, Memory]] = {}
    for part in room.memories(replace(ANY_STATUS, tags_any=frozenset({TAG}))):
        for _, one in part:
            told = one.details.get("procedure")
            if one.source == "engine" and isinstance(told, Mapping):
                found.setdefault(one.scope, {})[_named(told.get("steps", ()))] = one
    return found


def _occasions(room: Room, places: set[Scope]) -> dict[Scope, dict[str, Done]]:
    flows: dict[Scope, dict[str, Done]] = {scope: {} for scope in sorted(places, key=lambda one: one.parts)}
    tasks: dict[Scope, dict[str, list[Memory]]] = {scope: {} for scope in flows}
    for part in room.memories(RESULTS) if flows else ():
        for _, one in part:
            if one.scope not in flows:
                continue
            steps = _steps(one)
            if steps:
                flow = Done(steps, _outcome(one), 1 + one.usage.repeated, (one,), _name(one))
                flows[one.scope][one.id] = flow
            elif one.details.get("task"):
                tasks[one.scope].setdefault(one.session or f"{one.happened_at:%Y-%m-%d}", []).append(one)
    for scope, sessions in tasks.items():
        flows[scope] |= {session: _session(some) for session, some in sessions.items() if len(some) > 1}
    return flows


def _session(results: Sequence[Memory]) -> Done:
    """Tasks that followed on one another; it failed if the last of them did."""
    ordered = sorted(results, key=lambda one: one.happened_at)
    actions = tuple(" ".join(str(one.details["task"]).split()) for one in ordered)
    return Done(actions, _outcome(ordered[-1]), 1, tuple(ordered))


def _decide(
    room: Room, scope: Scope, done: Mapping[str, Done], known: Mapping[str, Memory]
) -> Iterator[Decision]:
    least = room.tools.config.knowledge.procedure_runs
    found = {_named(one.actions): one for one in repeated(_repeats(done), least)}
    for name, one in found.items():
        occasions = [done[occasion] for occasion in dict.fromkeys(at for at, _ in one.occasions)]
        if name not in known:
            yield _learned(room, scope, one, occasions)
        elif known[name].status in ACTIVE:
            yield from _counted(room, known[name], occasions)
    for name, memory in known.items():
        if name not in found and not any(_holds(one.actions, memory) for one in done.values()):
            yield from _gone(room, memory)


def _repeats(done: Mapping[str, Done]) -> dict[tuple[str, int], tuple[str, ...]]:
    """An occasion that was told again in the same words counts as often as it was told."""
    return {
        (occasion, number): one.actions
        for occasion, one in done.items()
        for number in range(min(one.times, MOST_REPEATS))
    }


MOST_REPEATS: Final = 100


def _learned(room: Room, scope: Scope, one: Repeated[tuple[str, int]], occasions: Sequence[Done]) -> Decision:
    counts = _counts(occasions)
    names = Counter(occasion.name for occasion in occasions if occasion.actions == one.actions)
    name = names.most_common(1)[0][0] if names else ""
    steps = "; ".join(f"{place}. {action}" for place, action in enumerate(one.actions, 1))
    draft = Draft(
        f"How {name} is done: {steps}" if name else f"What is usually done in this order: {steps}",
        category="procedure",
        kind=Kind.PROCEDURAL,
        type=Type.PROCEDURE,
        tags=(TAG,),
        details={"procedure": {"name": name, "steps": list(one.actions), **counts}},
        confidence=_sure(counts),
        layer=Layer.WORKING,
        scope=scope,
        source="engine",
    )
    add = room.new(draft, "procedure", f"{scope}|{_named(one.actions)}")
    add = replace(add, memory=replace(add.memory, verification=Verification.SYSTEM_INFERRED))
    told_by = [memory for occasion in occasions for memory in occasion.told_by][-EDGES:]
    edges = [Draw(Edge(add.memory.id, told.id, EdgeType.DERIVED_FROM)) for told in told_by]
    return Decision("procedure.learned", _why(counts), (add, *edges), add.memory.id)


def _counted(room: Room, memory: Memory, occasions: Sequence[Done]) -> Iterator[Decision]:
    """The same procedure was done more often since."""
    counts, told = _counts(occasions), dict(memory.details["procedure"])
    if {name: told.get(name) for name in counts} == counts:
        return
    details = {**memory.details, "procedure": {**told, **counts}}
    effects: list[Effect] = [Change(memory, replace(memory, details=details, confidence=_sure(counts)))]
    store = room.tools.store
    key = store.memories.keys([memory.id])[memory.id]
    links = store.relations.links([key], (EdgeType.DERIVED_FROM,), View(EVERYTHING, ANY_STATUS))
    has = {link.other for link in links if link.forward}
    told_by = [one.id for occasion in occasions for one in occasion.told_by][-EDGES:]
    keys = store.memories.keys(told_by)
    effects += [
        Draw(Edge(memory.id, one, EdgeType.DERIVED_FROM)) for one in told_by if keys.get(one, -1) not in has
    ]
    related = told_by[-1] if told_by else ""
    yield Decision("procedure.counted", _why(counts), tuple(effects), memory.id, related)


def _gone(room: Room, memory: Memory) -> Iterator[Decision]:
    """Nobody tells of it any longer: put away; erased when what told of it was."""
    key = room.tools.store.memories.keys([memory.id])[memory.id]
    links = room.tools.store.relations.links([key], (EdgeType.DERIVED_FROM,), View(EVERYTHING, ANY_STATUS))
    if not any(link.forward for link in links):
        why = "all results it rested on were erased"
        yield Decision("procedure.erased", why, (Erase(memory),), memory.id)
    elif memory.status in ACTIVE:
        away = Change(memory, replace(memory, status=Status.ARCHIVED))
        yield Decision("procedure.unlearned", "no result tells of it any longer", (away,), memory.id)


def _counts(occasions: Sequence[Done]) -> dict[str, int]:
    totals = Counter[str]()
    for one in occasions:
        totals[one.outcome] += one.times
    return {"succeeded": totals["success"], "failed": totals["failure"], "partial": totals["partial"]}


def _sure(counts: Mapping[str, int]) -> float:
    """How far it can be relied on: successes among all, with one of each to begin with."""
    good = counts["succeeded"] + counts["partial"] / 2
    return round((good + 1) / (sum(counts.values()) + 2), 4)


def _why(counts: Mapping[str, int]) -> str:
    return f"succeeded {counts['succeeded']}, failed {counts['failed']}, in part {counts['partial']} times"


def _steps(memory: Memory) -> tuple[str, ...]:
    given = memory.details.get("steps")
    if not isinstance(given, Sequence) or isinstance(given, str):
        return ()
    names = [one.get("name", "") if isinstance(one, Mapping) else one for one in given]
    return tuple(" ".join(str(name).split()) for name in names if name)


def _outcome(memory: Memory) -> str:
    told: Any = memory.details.get("outcome")
    return told if told in ENDINGS else "success"


def _name(memory: Memory) -> str:
    return str(memory.details.get("flow") or memory.details.get("task") or "")


def _holds(actions: Sequence[str], memory: Memory) -> bool:
    return _named(memory.details["procedure"].get("steps", ())) in _named(actions)


def _named(actions: Sequence[str]) -> str:
    return "\x1f".join(action.casefold() for action in actions)
