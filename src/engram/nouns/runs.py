"""Runs: what came of work comes in; procedures that learn, and a project's lessons for everybody, go out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engram.capture import change, screen
from engram.capture.sources.results import ENDED, Step, step
from engram.errors import UnknownValue
from engram.model.axes import Kind, Status, Tier, Type
from engram.model.draft import Draft
from engram.model.filters import Filters
from engram.model.memory import CONTENT_LIMIT, TAG_LENGTH_LIMIT, Memory
from engram.model.receipt import Receipt
from engram.model.scope import Scope
from engram.nouns.desk import Desk
from engram.ports import View

FLOW = "flow"
STRONG = 0.6
"""The least strength and importance of a project's memory that is worth everybody's while."""
LOOKED_AT = 1_000
PROMOTED_MOST = 100
LESSON_IMPORTANCE = 0.7
StepGiven = str | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Learned:
    """A procedure after one more run."""

    memory: Memory
    runs: int
    successes: int

    @property
    def success_rate(self) -> float:
        """How often it went well."""
        return self.successes / self.runs


@dataclass(frozen=True, slots=True)
class Completed:
    """What a project leaves behind."""

    summary: Memory | None
    lessons: tuple[Memory, ...]
    promoted: tuple[Memory, ...]
    """What everybody may know from now on."""


class Runs:
    """What came of work in one place. Any thread may use it."""

    def __init__(self, desk: Desk, scope: Scope, session: str = "") -> None:
        self._desk = desk
        self._scope = scope
        self._session = session

    def learn(
        self, name: str, steps: Sequence[StepGiven], *, outcome: str = "success", result: str = ""
    ) -> Learned:
        """Keep how a flow ran: one procedure for each flow, which counts its runs and knows the last one."""
        if outcome not in ENDED:
            raise UnknownValue("outcome", outcome, tuple(ENDED))
        flow, taken = screen.content(name), [step(one) for one in steps]
        self._desk.check_write(self._scope)
        old = self._known(flow)
        former = old.details if old else {}
        runs = int(former.get("runs", 0)) + 1
        successes = int(former.get("successes", 0)) + (outcome == "success")
        told = _told(flow, taken, outcome, result, f"{successes} of {runs} runs went well.")
        details = {
            "flow": flow,
            "steps": [{"name": one.name, "outcome": one.outcome, "result": one.result} for one in taken],
            "outcome": outcome,
            "runs": runs,
            "successes": successes,
        }
        return Learned(self._keep(old, flow, told, details), runs, successes)

    def complete(self, project: str, summary: str = "", *, lessons: Sequence[str] = ()) -> Completed:
        """End a project: keep what it came to and taught, and let everybody know what proved itself.

        Raises AccessDenied unless the caller may write where everybody reads.
        """
        wide = Scope(self._scope.namespace)
        self._desk.check_write(wide)
        place = replace(wide, project=screen.content(project))
        inside = self._desk.access.may_write(place)  # an agent that stands above may not look below
        ended = Draft(
            f"Project {project} is complete. {summary}".strip(),
            scope=place if inside else wide,
            session=self._session,
            kind=Kind.EPISODIC,
            importance=LESSON_IMPORTANCE,
            tags=("project", "complete"),
            source=f"project:{project}",
        )
        taught = [_lesson(lesson, project, wide) for lesson in lessons]
        [kept, *others] = self._desk.write([ended, *taught])
        found = self._strong(place, kept) if inside else []
        strong = [self._for_everybody(one, project, wide) for one in found]
        promoted = self._desk.write(strong) if strong else []
        return Completed(kept.memory, _memories(others), _memories(promoted))

    def _known(self, flow: str) -> Memory | None:
        """The procedure of this flow in this very place."""
        wanted = Filters(tags_all=frozenset({FLOW, _tag(flow)}), kinds=frozenset({Kind.PROCEDURAL}))
        found = self._desk.tools.store.memories.page(View(self._desk.at(self._scope), wanted), LOOKED_AT)
        return next((one for one in found if one.scope == self._scope), None)

    def _keep(self, old: Memory | None, flow: str, told: str, details: dict[str, Any]) -> Memory:
        if old is not None:
            changes = {"content": told, "details": details}
            return change.update(old.id, changes, self._desk.tools, self._desk.actor, "ran again")
        made = Draft(
            told,
            kind=Kind.PROCEDURAL,
            type=Type.PROCEDURE,
            category="procedure",
            tags=(FLOW, _tag(flow)),
            details=details,
            scope=self._scope,
            session=self._session,
            source=f"flow:{flow}",
        )
        return self._desk.write([made])[0].memory

    def _strong(self, place: Scope, ended: Receipt) -> list[Memory]:
        """What a project's agents learned that proved itself; nothing secret."""
        wanted = Filters(statuses=frozenset({Status.ACTIVE}), tiers=frozenset({Tier.CLEAR}))
        found = self._desk.tools.store.memories.page(View(self._desk.at(place), wanted), LOOKED_AT)
        inside = [one for one in found if one.scope.project == place.project and one.id != ended.memory.id]
        strong = [one for one in inside if min(one.strength, one.importance) > STRONG]
        return sorted(strong, key=lambda one: -one.importance)[:PROMOTED_MOST]

    def _for_everybody(self, one: Memory, project: str, wide: Scope) -> Draft:
        return Draft(
            one.content,
            category=one.category,
            kind=Kind.SEMANTIC if one.kind is Kind.EPISODIC else one.kind,
            tags=one.tags,
            details={**one.details, "from_project": project, "from_memory": one.id},
            importance=one.importance,
            confidence=one.confidence,
            scope=wide,
            source=f"project:{project}",
        )


def _told(flow: str, steps: Sequence[Step], outcome: str, result: str, count: str) -> str:
    """A run in words: "Flow release: 1. test, 2. tag. The last run failed at tag: no rights. 1 of 2 …".

    >>> _told("release", [Step("test"), Step("tag", "failure", "no rights")], "failure", "", "0 of 1 runs.")
    'Flow release: 1. test, 2. tag. The last run failed at tag: no rights. 0 of 1 runs.'
    """
    listed = ", ".join(f"{place}. {one.name}" for place, one in enumerate(steps, 1))
    failed = next((one for one in steps if one.outcome != "success"), None)
    where = f" at {failed.name}" if failed is not None and outcome != "success" else ""
    why = (failed.result if failed is not None and outcome != "success" else "") or result
    ended = f"The last run {ENDED[outcome]}{where}" + (
        f": {why.strip().rstrip('.')}." if why.strip() else "."
    )
    steps_told = f"Flow {flow}: {listed}." if listed else f"Flow {flow}."
    return f"{steps_told} {ended} {count}"[:CONTENT_LIMIT]


def _lesson(lesson: str, project: str, wide: Scope) -> Draft:
    return Draft(
        lesson,
        category="lesson",
        kind=Kind.SEMANTIC,
        importance=LESSON_IMPORTANCE,
        scope=wide,
        source=f"project:{project}",
        details={"from_project": project},
    )


def _memories(receipts: Sequence[Receipt]) -> tuple[Memory, ...]:
    return tuple(one.memory for one in receipts)


def _tag(flow: str) -> str:
    return f"flow:{flow}"[:TAG_LENGTH_LIMIT]
