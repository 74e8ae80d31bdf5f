"""Upkeep: what time and the engine make of memories. Runs, what each decided, judgements, sketches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from enum import StrEnum
from typing import Any, Final

from engram.model.scope import Scope


class RunKind(StrEnum):
    """What a run of upkeep is about."""

    CONSOLIDATE = "consolidate"
    DREAM = "dream"
    AUDIT = "audit"
    DRIFT = "drift"


class RunState(StrEnum):
    """How far a run has come."""

    RUNNING = "running"
    DONE = "done"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True)
class Run:
    """One run of upkeep. All its rules look at the clock of its beginning, also when it goes on later."""

    id: str
    """`RUN-YYYYMMDD-NNN`, counted within the day."""
    kind: RunKind
    started_at: datetime
    actor: str = "engine"
    state: RunState = RunState.RUNNING
    finished_at: datetime | None = None
    step: str = ""
    """The step that is under way; a run that was cut off goes on there."""
    cursor: str = ""
    """How far that step has come, in its own words."""


class Carried(StrEnum):
    """What became of a decision."""

    DONE = "done"
    LEFT = "left"
    """The memory had changed meanwhile, or a person has taken such a change back before."""


@dataclass(frozen=True, slots=True)
class Decided:
    """One decision of a run as its report tells it. It never holds a memory's words."""

    number: int
    step: str
    rule: str
    why: str
    memory: str = ""
    related: str = ""
    outcome: Carried = Carried.DONE
    also: Mapping[str, Any] = field(default_factory=dict)
    """What was done beside changing records, to be taken back by."""


@dataclass(frozen=True, slots=True)
class Tally:
    """How often a rule decided something in a run."""

    step: str
    rule: str
    count: int


@dataclass(frozen=True, slots=True)
class Report:
    """What a run did: counts by rule, and each decision."""

    run: Run
    tallies: tuple[Tally, ...] = ()
    decided: tuple[Decided, ...] = ()
    dry: bool = False
    """Whether it was carried out on a copy that is gone."""
    more: bool = False
    """Whether there are more decisions than are listed."""

    @property
    def changes(self) -> int:
        """How many decisions were carried out."""
        return sum(tally.count for tally in self.tallies)

    def markdown(self, zone: tzinfo = UTC) -> str:
        """The report as a page for people, on the clocks of their zone."""
        run = self.run
        title = f"# {run.kind.value.capitalize()} {run.id}{' (dry run)' if self.dry else ''}"
        at = run.started_at.astimezone(zone)
        began = f"Began {at:%Y-%m-%d %H:%M} {at.tzname()}, {run.state.value}, {self.changes:,} changes."
        counts = [f"| {one.step} | {one.rule} | {one.count:,} |" for one in self.tallies]
        lines = [
            f"| {one.number} | {one.rule} | {one.memory} | {one.related} | {one.why} | {one.outcome.value} |"
            for one in self.decided
        ]
        parts = [title, began]
        if counts:
            parts.append("\n".join(("| step | rule | times |", "|---|---|---|", *counts)))
        if lines:
            head = ("| | rule | memory | other | why | outcome |", "|---|---|---|---|---|---|")
            parts += ["## Each decision", "\n".join((*head, *lines))]
        return "\n\n".join((*parts, "More decisions are not listed here.\n" if self.more else ""))


@dataclass(frozen=True, slots=True)
class Undone:
    """What taking a run back did."""

    run: Run
    restored: int
    """Records that are as they were before."""
    left: tuple[str, ...] = ()
    """Memories that have changed since, or were erased, and stay as they are."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was decided about a memory or a pair, so that it is not asked again."""

    kind: str
    """What the question was: gate, triage, merge, reconcile, undone …"""
    key: str
    verdict: str
    at: datetime
    again_at: datetime | None = None
    """When it may be asked again; None: never."""
    times: int = 1


SETTLED: Final = "settled"
"""The kind of judgement that says that two memories contradict each other no longer, by a person's word."""


def pair_key(one: str, other: str) -> str:
    """What two memories are known by together, whichever comes first.

    >>> pair_key("b", "a")
    'a+b'
    """
    return "+".join(sorted((one, other)))


@dataclass(frozen=True, slots=True)
class Sketch:
    """Something worked out from memories that can be worked out anew: a profile, a map, a tree's branch.

    Made of memories of one very scope; when one of its sources is erased, the sketch goes as well.
    """

    scope: Scope
    kind: str
    key: str
    body: Mapping[str, Any]
    made_at: datetime
    title: str = ""
    sources: tuple[str, ...] = ()
    """Ids of the memories it was made of, as far as it holds words of theirs."""
    run: str = ""
