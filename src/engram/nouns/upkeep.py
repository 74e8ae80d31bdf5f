"""Upkeep: a caller asks for maintenance; it runs, is reported, and can be taken back."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engram.capture import owed
from engram.capture.enrich import findable, prepare, said_at, spoken_of
from engram.capture.screen import screen
from engram.config import MaintainConfig
from engram.errors import AccessDenied, EmbedderError, ModelNeeded, NotUndoable, UnknownRun, UnknownValue
from engram.model.clock import Clock
from engram.model.draft import Draft
from engram.model.drift import Landscape
from engram.model.memory import Memory
from engram.model.scope import Role
from engram.model.upkeep import Carried, Decided, Report, Run, RunKind, RunState, Tally, Undone
from engram.nouns.desk import Desk, whole
from engram.ports import Alone, Findable, Tools
from engram.text import names

if TYPE_CHECKING:
    from engram.maintain.room import Made, Room
    from engram.maintain.step import Step

LISTED = 1_000
"""Decisions a report lists unless the caller says."""
LISTED_DRY = 100_000
"""The same of a dry run: nobody can ask for the rest later."""
LEASE = "upkeep"
"""One maintainer a file."""
Progress = Callable[[int, int], None]
"""Hears how many steps of how many are done."""


def never() -> bool:
    """Nobody wants the run to pause."""
    return False


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks on while a run goes on."""

    progress: Progress | None
    stopping: Callable[[], bool]

    def hearing(self, names: Sequence[str]) -> Callable[[str, str], None]:
        """What tells the watcher how far the steps of these names have come."""

        def told(step: str, _cursor: str) -> None:
            if self.progress is not None:
                self.progress(names.index(step), len(names))

        return told


class Upkeep:
    """Maintenance as a caller asks for it. Only an owner may: it looks at the whole file.

    The owner of a place within it is told of a run what concerns that place, and nothing of others.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def consolidate(
        self,
        *,
        dry: bool = False,
        stages: Sequence[str] = (),
        progress: Progress | None = None,
        stopping: Callable[[], bool] = never,
    ) -> Report:
        """Carry a consolidation out, or go on with one that was cut off. Raises UpkeepBusy."""
        from engram.maintain.order import CONSOLIDATION

        steps = _only(CONSOLIDATION, stages)
        return self._carry(RunKind.CONSOLIDATE, steps, Watch(progress, stopping), dry=dry)

    def dream(
        self, *, dry: bool = False, progress: Progress | None = None, stopping: Callable[[], bool] = never
    ) -> Report:
        """Replay, link and strengthen memories. Raises UpkeepBusy."""
        from engram.maintain.order import DREAM

        return self._carry(RunKind.DREAM, DREAM, Watch(progress, stopping), dry=dry)

    def audit(
        self, *, dry: bool = False, progress: Progress | None = None, stopping: Callable[[], bool] = never
    ) -> Report:
        """Let a model look over core and working memories; it may only promote, demote, weigh and merge.

        Every proposal is tried in a sandbox first. Raises ModelNeeded and UpkeepBusy.
        """
        from engram.maintain.auditing import STEPS

        if isinstance(self._desk.tools.advisor, Alone) or self._desk.tools.config.llm.level == "off":
            raise ModelNeeded("An audit")
        return self._carry(RunKind.AUDIT, STEPS, Watch(progress, stopping), dry=dry)

    def drift(self, *, dry: bool = False, stopping: Callable[[], bool] = never) -> Report:
        """Doubt memories whose references are dead in the configured directory, and nothing else."""
        from engram.maintain.doubt import DRIFT

        return self._carry(RunKind.DRIFT, (DRIFT,), Watch(None, stopping), dry=dry)

    @property
    def settings(self) -> MaintainConfig:
        """When memories are maintained."""
        return self._desk.tools.config.maintain

    @property
    def clock(self) -> Clock:
        """The time by which that is."""
        return self._desk.tools.clock

    def last(self, kind: RunKind) -> datetime | None:
        """When a run of this kind last came to its end."""
        done = self._desk.tools.store.upkeep.runs(1, kind, RunState.DONE)
        return done[0].finished_at if done else None

    def runs(self, limit: int = 20) -> list[Run]:
        """The last runs, newest first."""
        self._check()
        found = self._desk.tools.store.upkeep.runs(whole("limit", limit, 1, 1_000))
        if self._desk.owns_file:
            return found
        return [run for run in found if next(self._seen(run), None) is not None]

    def report(self, run_id: str, *, limit: int = LISTED, after: int = 0) -> Report:
        """What a run did: counts by rule, and its decisions in order, beginning after a number."""
        self._check()
        most = whole("limit", limit, 0, 100_000)
        return self._told(_report(self._run(run_id), self._desk.tools, most, after), most, after)

    def undo(self, run_id: str) -> Undone:
        """Take a whole run back. What somebody has changed since stays. Raises NotUndoable."""
        from engram.maintain.undo import undo

        self._check()
        run = self._run(run_id)
        if not self._desk.owns_file and any(not seen for _, seen in self._looked_at(run)):
            raise AccessDenied("take back what a run did for others: only the owner of the file may")
        if run.state is RunState.UNDONE:
            raise NotUndoable(run.id, "it has been taken back already")
        tools = self._desk.tools
        with tools.store.lease(LEASE):
            return undo(_room(tools, run), self._desk.actor)

    def _carry(self, kind: RunKind, steps: Sequence[Step], watch: Watch, *, dry: bool) -> Report:
        self._check()
        tools = self._desk.tools
        if not dry:
            with tools.store.lease(LEASE):
                return self._told(_carried(kind, steps, tools, self._desk.actor, watch), LISTED)
        from engram.index import SignatureIndex

        twin = tools.store.copy()
        try:
            index = SignatureIndex(twin, **asdict(tools.config.index))
            shadow = replace(tools, store=twin, index=index)
            report = _carried(kind, steps, shadow, self._desk.actor, watch, LISTED_DRY)
            index.settle()
            return self._told(replace(report, dry=True), LISTED_DRY)
        finally:
            twin.close()

    def _told(self, report: Report, limit: int, after: int = 0) -> Report:
        """A report as far as the caller may see the memories it is about."""
        if self._desk.owns_file:
            return report
        # The decisions of a dry run are in no store any more.
        seen = [*filter(self._sees, report.decided)] if report.dry else [*self._seen(report.run)]
        tallies = Counter((one.step, one.rule) for one in seen if one.outcome is Carried.DONE)
        shown = [one for one in seen if one.number > after]
        return replace(
            report,
            tallies=tuple(Tally(step, rule, count) for (step, rule), count in tallies.items()),
            decided=tuple(shown[:limit]),
            more=len(shown) > limit,
        )

    def _seen(self, run: Run) -> Iterator[Decided]:
        return (one for one, seen in self._looked_at(run) if seen)

    def _looked_at(self, run: Run) -> Iterator[tuple[Decided, bool]]:
        """What a run decided, and whether the caller may see what it is about."""
        after = 0
        while lines := self._desk.tools.store.upkeep.decided(run.id, after, LISTED):
            for one in lines:
                yield one, self._sees(one)
            after = lines[-1].number

    def _sees(self, one: Decided) -> bool:
        get, access = self._desk.tools.store.memories.get, self._desk.access
        about = [id_ for id_ in (one.memory, one.related) if id_]
        return bool(about) and all(get(id_, access) is not None for id_ in about)

    def _run(self, run_id: str) -> Run:
        run = self._desk.tools.store.upkeep.run(run_id.strip().upper())
        if run is None:
            raise UnknownRun(run_id)
        return run

    def _check(self) -> None:
        if self._desk.access.role is not Role.OWNER:
            what = "maintain the memory: only an owner may"
            raise AccessDenied(what)


def _carried(
    kind: RunKind, steps: Sequence[Step], tools: Tools, actor: str, watch: Watch, listed: int = LISTED
) -> Report:
    from engram.maintain.pipeline import begin, go

    run = begin(tools.store, kind, tools.clock, actor)
    hears = watch.hearing([one.name for one in steps])
    room = replace(_room(tools, run), stopping=watch.stopping, told=hears)
    return _report(go(room, steps), tools, listed, 0)


def _room(tools: Tools, run: Run) -> Room:
    from engram.maintain.room import Room

    return Room(
        tools,
        run,
        make=lambda draft: _made(draft, tools),
        repay=lambda most: _repay(most, tools),
        findable=_findable,
        spoken_of=_spoken_of,
        landscape=lambda directory: _landscape(directory, tools),
    )


def _landscape(directory: str, tools: Tools) -> Landscape | None:
    from engram.nouns.landscape import landscape

    return landscape(directory, tools.config.doubt)


def _repay(most: int, tools: Tools) -> int:
    try:
        return owed.fill(tools, most=most)
    except EmbedderError:
        return 0


def _made(draft: Draft, tools: Tools) -> Made:
    from engram.maintain.room import Made

    prepared = prepare(screen(draft), tools)
    return Made(prepared.memory, prepared.findable)


def _spoken_of(memory: Memory) -> dict[str, Any]:
    return spoken_of(memory.content, said_at(memory), names.entities(memory.content))


def _findable(memory: Memory) -> Findable:
    return findable(memory, names.entities(memory.content))


def _report(run: Run, tools: Tools, limit: int, after: int) -> Report:
    upkeep = tools.store.upkeep
    lines = upkeep.decided(run.id, after, limit + 1)
    return Report(run, tuple(upkeep.tallies(run.id)), tuple(lines[:limit]), more=len(lines) > limit)


def _only(steps: Sequence[Step], stages: Sequence[str]) -> Sequence[Step]:
    known = tuple(dict.fromkeys(step.stage for step in steps))
    for stage in stages:
        if stage not in known:
            raise UnknownValue("stage", stage, known)
    return [step for step in steps if step.stage in stages] if stages else steps
