"""Guidelines: what past runs decided and what came of it come in; how to shorten and let go comes out.

A decision shows what it was worth after a while: taken back by a person, or what it put away was asked for,
or nothing. What is kept shows it by being recalled or not, category by category. Nothing is concluded from
few cases, and where there is nothing to read there are no guidelines: every rule works without them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from engram.maintain.carry_out import UNDONE
from engram.maintain.decisions import Batch, Decision
from engram.maintain.room import Room
from engram.maintain.self_knowledge.census import Known, census
from engram.maintain.sketching import keep
from engram.model.axes import Status
from engram.model.memory import Memory
from engram.model.scope import Scope
from engram.model.upkeep import Carried, RunState

NAME: Final = "guidelines"
RUNS: Final = 50
"""Runs that are looked back on."""
LINES: Final = 2_000
"""Decisions of a run that are looked at."""
OFTEN, SELDOM = 0.5, 0.05
"""From this share of recalled memories on a category is kept whole; up to that it may be told by a label."""
REGRET: Final = 0.1
"""From this share of decisions that were taken back a rule should hold back."""
AWAY: Final = frozenset({Status.ARCHIVED, Status.MERGED, Status.SUPERSEDED})


@dataclass(slots=True)
class Outcomes:
    """What came of a rule's decisions."""

    done: int = 0
    taken_back: int = 0
    used_since: int = 0

    @property
    def regret(self) -> float:
        """The share that somebody took back, or asked for although it was put away."""
        return (self.taken_back + self.used_since) / self.done if self.done else 0.0


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """Guidelines for each place."""
    rules = _rules(room)
    for scope, known in census(room).items():
        told = rules.get(scope, {})
        body = {"rules": _told(room, told), "categories": _categories(room, known)}
        if not any(body.values()) and room.tools.store.upkeep.sketch(scope, NAME, "") is None:
            continue
        effects = keep(room, scope, NAME, "", body)
        if effects:
            cases = sum(one.done for one in told.values())
            why = f"{len(body['rules'])} rules and {len(body['categories'])} categories, {cases} decisions"
            yield Batch((Decision("guidelines.learned", why, effects),))


def _rules(room: Room) -> dict[Scope, dict[str, Outcomes]]:
    """What became of the decisions of runs that are old enough, place by place and rule by rule."""
    until = room.now - timedelta(days=room.tools.config.knowledge.guideline_days)
    store = room.tools.store.upkeep
    found: dict[Scope, dict[str, Outcomes]] = {}
    for run in store.runs(RUNS):
        if run.state is RunState.RUNNING or run.started_at > until:
            continue
        every = store.decided(run.id, 0, LINES)
        decided = [one for one in every if one.outcome is Carried.DONE and one.memory]
        keys = [Decision(one.rule, "", (), one.memory, one.related).key for one in decided]
        undone = store.judged(UNDONE, keys)
        read = _read(room, [one.memory for one in decided])
        for one, key in zip(decided, keys, strict=True):
            memory = read.get(one.memory)
            if memory is not None:
                outcomes = found.setdefault(memory.scope, {}).setdefault(one.rule, Outcomes())
                outcomes.done += 1
                outcomes.taken_back += key in undone
                outcomes.used_since += key not in undone and _asked_for(memory, run.started_at)
    return found


def _asked_for(memory: Memory, since: datetime) -> bool:
    """Whether what was put away has been used since."""
    used = memory.last_accessed
    return memory.status in AWAY and used is not None and used > since


def _read(room: Room, ids: Sequence[str]) -> dict[str, Memory]:
    memories = room.tools.store.memories
    found = memories.read(list(memories.keys(list(dict.fromkeys(ids))).values()))
    return {one.id: one for one in found.values()}


def _told(room: Room, rules: Mapping[str, Outcomes]) -> list[dict[str, Any]]:
    least = room.tools.config.knowledge.guideline_cases
    return [
        {
            "rule": rule,
            "done": one.done,
            "taken_back": one.taken_back,
            "used_since": one.used_since,
            "advice": "hold_back" if one.regret >= REGRET else "go_on",
        }
        for rule, one in sorted(rules.items())
        if one.done >= least
    ]


def _categories(room: Room, known: Sequence[Known]) -> list[dict[str, Any]]:
    """How much of what is kept is ever recalled, and in which form such memories are told."""
    settled = room.now - timedelta(days=room.tools.config.knowledge.guideline_days)
    groups: dict[str, list[Known]] = {}
    for one in known:
        if one.at <= settled:
            groups.setdefault(one.category, []).append(one)
    least = room.tools.config.knowledge.guideline_cases
    return [
        {"category": category, "kept": len(some), "recalled": used, "advice": _advice(used / len(some))}
        for category, some in sorted(groups.items())
        if len(some) >= least
        for used in [sum(one.accessed > 0 for one in some)]
    ]


def _advice(share: float) -> str:
    """In which form such memories are told when there is little room.

    >>> _advice(0.6), _advice(0.2), _advice(0.0)
    ('whole', 'summary', 'label')
    """
    if share >= OFTEN:
        return "whole"
    return "label" if share <= SELDOM else "summary"
