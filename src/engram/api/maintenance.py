"""The worker: while a server is up, one thread maintains the memory when it is due and nobody is asking."""

from __future__ import annotations

import json
import logging
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, Final, Protocol

from engram.api.caller import LAST_NUMBER, CallerContext, Noun, whole
from engram.api.vault import Backups
from engram.capture import reread as reading_again
from engram.capture.sources.code import walk
from engram.config import MaintainConfig, overlay
from engram.errors import (
    AccessDenied,
    EngramError,
    ModelNeeded,
    NotUndoable,
    UnknownRun,
    UnknownValue,
    UpkeepBusy,
)
from engram.lazily import dataclass
from engram.model.clock import Clock
from engram.model.event import Finding
from engram.model.maintenance import (
    LISTED,
    Carried,
    Decided,
    Landscape,
    Progress,
    Report,
    Run,
    RunKind,
    RunState,
    Tally,
    Undone,
)
from engram.model.memory import Memory
from engram.model.scope import Role
from engram.ports import NoAdvisor, Tools, Unit
from engram.rules.enrich import findable
from engram.rules.maintenance import due
from engram.text import re
from engram.text.tokens import is_exact

if TYPE_CHECKING:
    from engram.maintain.step import Step

FILES_MOST = 20_000  # files of a directory that are looked at
FILE_BYTES = 1_000_000  # bytes of a file that is read for symbols at most


# ---------------------------------------------------------------- landscape
# A landscape: a directory comes in; its files, the identifiers in them and the versions it names come out.
#
# What `.gitignore` leaves out is not read, links are not followed, and there are limits on how much is
# read.


IDENTIFIER = re.compile(r"[A-Za-z_]\w{1,99}")
WORDS: Final = 2_000_000
"""Identifiers that are kept at most."""
BINARY: Final = b"\0"
EXACT = re.compile(r"^[\^~=v ]*(\d+(?:\.\d+){0,3})$")
PINNED = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?\s*==\s*(\d[\w.]*)", re.MULTILINE)


def landscape(directory: str | Path) -> Landscape | None:
    """What is in a directory; None when it cannot be looked at."""
    root = Path(directory).expanduser()
    try:
        root = root.resolve(strict=True)
        if not root.is_dir():
            return None
        files = list(islice(walk(root, None), FILES_MOST + 1))
    except OSError:
        return None
    complete, files = len(files) <= FILES_MOST, files[:FILES_MOST]
    words: set[str] = set()
    for path in files:
        words.update(_words(path, FILE_BYTES))
        if len(words) > WORDS:
            complete = False
            break
    return Landscape(
        root=root.as_posix(),
        paths=frozenset(path.relative_to(root).as_posix() for path in files),
        words=frozenset(words),
        versions=_versions(files),
        complete=complete,
        there=lambda path: _is_there(root, path),
    ).seen()


def _words(path: Path, most: int) -> set[str]:
    try:
        with path.open("rb") as file:
            raw = file.read(most)
    except OSError:
        return set()
    return set() if BINARY in raw else set(IDENTIFIER.findall(raw.decode("utf-8", errors="ignore")))


def _is_there(root: Path, path: str) -> bool:
    """Whether it exists below the root, not by way of a link that leads out."""
    try:
        return (root / path).resolve(strict=True).is_relative_to(root)
    except (OSError, ValueError):
        return False


# ---------------------------------------------------------------- versions


def _versions(files: list[Path]) -> dict[str, frozenset[str]]:
    """What manifests say is built here, and what it needs in one certain version."""
    found: dict[str, set[str]] = {}
    for path in files:
        with suppress(OSError, ValueError):  # what cannot be read or is no manifest says nothing
            for name, version in _manifest(path):
                if match := EXACT.match(version.strip()):
                    found.setdefault(name.lower(), set()).add(match[1])
    return {name: frozenset(versions) for name, versions in found.items()}


MANIFESTS: Final = {"pyproject.toml": "project", "Cargo.toml": "package", "package.json": ""}
"""The table that names what is built, by file; empty: the whole of it."""


def _manifest(path: Path) -> Iterator[tuple[str, str]]:
    if path.name.startswith("requirements") and path.suffix in {".txt", ".lock"}:
        yield from PINNED.findall(path.read_text(encoding="utf-8"))
    if path.name not in MANIFESTS:
        return
    read = json.loads if path.suffix == ".json" else tomllib.loads
    tree = read(path.read_text(encoding="utf-8"))
    own = _table({"": tree, **tree} if isinstance(tree, dict) else {}, MANIFESTS[path.name])
    if own.get("name") and own.get("version"):
        yield str(own["name"]), str(own["version"])
    needs = own.get("dependencies")
    for line in needs if isinstance(needs, list) else ():
        yield from PINNED.findall(str(line))
    for group in ("dependencies", "devDependencies"):
        for name, wanted in _table(tree, group).items():
            version = wanted.get("version") if isinstance(wanted, dict) else wanted
            yield name, str(version)


def _table(tree: Any, name: str) -> Mapping[str, Any]:
    found = tree.get(name) if isinstance(tree, dict) else None
    return found if isinstance(found, dict) else {}


# ---------------------------------------------------------------- checkup
# The check-up: every part is looked at; what is wrong is told in words, with what to do about it.


def examine(caller: CallerContext, others: Iterable[Finding], *, repair: bool) -> list[Finding]:
    """What the doctor finds: the file, the embedder, tokens, what others found, the model, the vectors."""
    if repair:
        check_owner(caller, "mend the file")
        store, after = caller.tools.store, 0
        while lost := store.memories.without_words(READ_AT_ONCE, after):
            # Bound now: the writer runs it later than the loop goes on.
            def work(unit: Unit, lost: Sequence[tuple[int, Memory]] = tuple(lost)) -> None:
                for _, memory in lost:
                    unit.reword(memory.id, findable(memory))

            store.write(work, caller.actor)
            after = lost[-1][0]
    counted = (
        "counted exactly" if is_exact() else "estimated; `pip install engram-cortex[tokens]` counts them"
    )
    health = caller.tools.embedder.health()
    advice = "memories are found by their words meanwhile; check the embedder's settings"
    return [
        *caller.tools.store.check(repair=repair),
        Finding("embedder", health.ok, health.detail, "" if health.ok else advice),
        Finding("tokens", ok=True, detail=counted),
        *others,
        _model(caller),
        *_vectors(caller),
    ]


def check_owner(caller: CallerContext, what: str) -> None:
    """Raises AccessDenied unless the caller is an owner."""
    if caller.access.role is not Role.OWNER:
        raise AccessDenied(f"{what}; only an owner may")


def _model(caller: CallerContext) -> Finding:
    """Whether a model can be asked, and what it has cost today; one that was never asked is tried out."""
    health = caller.tools.advisor.health()
    if health.ok and not isinstance(caller.tools.advisor, NoAdvisor) and not _was_asked(caller):
        caller.tools.advisor.compare(*TRIAL)
    today = caller.tools.here().replace(hour=0, minute=0, second=0, microsecond=0)
    spent = caller.tools.store.spending.tokens_since(today)
    trouble = caller.tools.model_trouble()
    told = trouble if health.ok and trouble else health.detail
    detail = f"{told}; {spent:,} tokens today" if spent else told
    ok = health.ok and not trouble
    return Finding("model", ok, detail, "" if ok else "rules decide meanwhile; check the settings of `llm`")


def _was_asked(caller: CallerContext) -> bool:
    since = caller.tools.clock.now() - TRIED_FOR
    return bool(caller.tools.store.spending.summary(since))


TRIAL: Final = ("Anna lives in Rome.", "Anna lives in Rome now.")
"""What a model is asked that nobody has asked yet: whether these two say the same."""
TRIED_FOR: Final = timedelta(days=30)


def _vectors(caller: CallerContext) -> list[Finding]:
    space = caller.space()
    if space is None:
        return []
    index = caller.tools.index.stats(space)
    pending = caller.tools.store.memories.stats(caller.access, space).pending
    held = f"{index.vectors:,} in {space.key}, searched by {index.mode}, {pending:,} pending"
    return [Finding("vectors", pending == 0, held, "run `engram reembed`" if pending else "")]


# ---------------------------------------------------------------- upkeep
# Upkeep: a caller asks for maintenance; it runs, is reported, and can be taken back.


READ_AT_ONCE = 200
"""Memories whose words are worked out anew in one unit of work."""
LISTED_DRY = 100_000
"""The same of a dry run: nobody can ask for the rest later."""
LEASE = "upkeep"
"""One maintainer a file."""


def never() -> bool:
    """Nobody wants the run to pause."""
    return False


class FoldersInStep(Protocol):
    """Folders that are written before and after a consolidation."""

    def folders(self) -> list[str]:
        """Where they are."""
        ...

    def before_run(self, kind: RunKind) -> None:
        """A run of this kind is about to begin."""
        ...

    def after_run(self, report: Report) -> None:
        """A run has come to its end."""
        ...


class Upkeep(Noun):
    """Maintenance as a caller asks for it. Only an owner may: it looks at the whole file.

    The owner of a place within it is told of a run what concerns that place, and nothing of others.
    """

    def __init__(self, caller: CallerContext, in_step: Callable[[], FoldersInStep] | None = None) -> None:
        super().__init__(caller)
        self._in_step = in_step

    def consolidate(
        self,
        *,
        dry: bool = False,
        stages: Sequence[str] = (),
        progress: Progress | None = None,
        stopping: Callable[[], bool] = never,
        settings: Mapping[str, Any] | None = None,
    ) -> Report:
        """Carry a consolidation out, or go on with one that was cut off. Raises UpkeepBusy.

        `settings` hold for this run alone.
        """
        from engram.maintain.pipeline import consolidation

        steps = _only(consolidation(), stages)
        folders = self._folders() if not dry else None
        if folders is not None:
            folders.before_run(RunKind.CONSOLIDATE)
        run = self._with(settings) if settings else self
        report = run._carry(RunKind.CONSOLIDATE, steps, progress, stopping, dry=dry)  # noqa: SLF001 - its own kind
        if folders is not None:
            folders.after_run(report)
        return report

    def _with(self, settings: Mapping[str, Any]) -> Upkeep:
        """The same caller under other settings."""
        tools = replace(self._tools, config=overlay(self._tools.config, settings))
        return Upkeep(CallerContext(tools, self._caller.access, self._caller.actor, self._caller.opened))

    def _folders(self) -> FoldersInStep | None:
        """The folders that are kept in step with this file; None when there are none, or it is another's."""
        if self._in_step is None or not self._caller.owns_file or self._caller.access.role is not Role.OWNER:
            return None
        found = self._in_step()
        return found if found.folders() else None

    def dream(
        self, *, dry: bool = False, progress: Progress | None = None, stopping: Callable[[], bool] = never
    ) -> Report:
        """Replay, link and strengthen memories. Raises UpkeepBusy."""
        from engram.maintain.pipeline import DREAM

        return self._carry(RunKind.DREAM, DREAM, progress, stopping, dry=dry)

    def audit(self, *, dry: bool = False, progress: Progress | None = None) -> Report:
        """Let a model look over core and working memories; it may only promote, demote, weigh and merge.

        Every proposal is tried in a sandbox first. Raises ModelNeeded and UpkeepBusy.
        """
        from engram.maintain.auditing import STEPS

        if isinstance(self._tools.advisor, NoAdvisor) or self._tools.config.llm.level == "off":
            raise ModelNeeded("An audit")
        return self._carry(RunKind.AUDIT, STEPS, progress, dry=dry)

    def drift(self, directory: str) -> Report:
        """Doubt memories whose references are dead in a directory, and nothing else."""
        from engram.maintain.doubt import DRIFT

        run = self._with({"doubt.directory": directory})
        return run._carry(RunKind.DRIFT, (DRIFT,), dry=False)  # noqa: SLF001 - its own kind

    def reread(
        self, *, session: str = "", rules: bool = False, dry: bool = False, progress: Progress | None = None
    ) -> Report:
        """Read the log of turns again with today's rules, or the model, and let what is believed follow.

        What people changed by hand stays as they left it. Cut off, it goes on where it stopped; `undo` takes
        all of it back. Only the turns of one `session`, if it is named; with `rules` no model is asked;
        `dry` only tells what would happen. `progress` hears how many turns of how many are read.
        Raises UpkeepBusy.
        """
        self._check()
        tools = self._tools
        if rules:
            settings = replace(tools.config, llm=replace(tools.config.llm, level="off"))
            tools = replace(tools, config=settings)
        actor = self._caller.actor
        return self._run_on(
            tools, lambda tools, listed: _reread(session, tools, actor, progress, listed), dry=dry
        )

    @property
    def settings(self) -> MaintainConfig:
        """When memories are maintained."""
        return self._tools.config.maintain

    @property
    def clock(self) -> Clock:
        """The time by which that is."""
        return self._tools.clock

    @property
    def is_tight(self) -> bool:
        """Whether memory is so short that maintenance waits."""
        return self._tools.pressure.relieve().is_tight

    def last(self, kind: RunKind) -> datetime | None:
        """When a run of this kind last came to its end."""
        done = self._store.upkeep.runs(1, kind, RunState.DONE)
        return done[0].finished_at if done else None

    def runs(self, limit: int = 20) -> list[Run]:
        """The last runs, newest first."""
        self._check()
        found = self._store.upkeep.runs(whole("limit", limit, 1, 1_000))
        if self._caller.owns_file:
            return found
        return [run for run in found if next(self._seen(run), None) is not None]

    def report(self, run_id: str, *, limit: int = LISTED, after: int = 0) -> Report:
        """What a run did: counts by rule, and its decisions in order, beginning after a number."""
        self._check()
        most, first = whole("limit", limit, 0, 100_000), whole("after", after, 0, LAST_NUMBER)
        return self._told(_report(self._run(run_id), self._tools, most, first), most, first)

    def undo(self, run_id: str) -> Undone:
        """Take a whole run back. What somebody has changed since stays. Raises NotUndoable."""
        from engram.maintain.apply import undo
        from engram.maintain.step import StepContext

        self._check()
        run = self._run(run_id)
        if not self._caller.owns_file and any(not seen for _, seen in self._looked_at(run)):
            raise AccessDenied("take back what a run did for others: only the owner of the file may")
        if run.state is RunState.UNDONE:
            raise NotUndoable(run.id, "it has been taken back already")
        tools = self._tools
        with tools.store.lease(LEASE):
            return undo(StepContext(tools, run), self._caller.actor)

    def _carry(
        self,
        kind: RunKind,
        steps: Sequence[Step],
        progress: Progress | None = None,
        stopping: Callable[[], bool] = never,
        *,
        dry: bool,
    ) -> Report:
        from engram.maintain.doubt import DRIFT
        from engram.maintain.pipeline import begin, go
        from engram.maintain.step import StepContext

        names = [one.name for one in steps]

        def hear(step: str, _cursor: str) -> None:
            if progress is not None:
                progress(names.index(step), len(names))

        def work(tools: Tools, listed: int) -> Report:
            run = begin(tools.store, kind, tools.clock, self._caller.actor)
            directory = tools.config.doubt.directory
            around = landscape(directory) if directory and DRIFT.name in names else None
            context = StepContext(tools, run, landscape=around, stopping=stopping, progress=hear)
            return _report(go(context, steps), tools, listed, 0)

        self._check()
        self._tools.pressure.check_room(kind.value)
        return self._run_on(self._tools, work, dry=dry)

    def _run_on(self, tools: Tools, work: Callable[[Tools, int], Report], *, dry: bool) -> Report:
        """Carry a run out; a dry one on a copy of the file, which goes afterwards."""
        if not dry:
            with tools.store.lease(LEASE):
                Backups(self._caller).make_if_due()
                report = work(tools, LISTED)
                Backups(self._caller).make_if_due()  # a run that erases takes the backups with it
                return self._told(report, LISTED)
        from engram.index import SignatureIndex

        twin = tools.store.copy()
        try:
            index = SignatureIndex(twin)
            report = work(replace(tools, store=twin, index=index), LISTED_DRY)
            index.settle()
        finally:
            twin.close()
        return self._told(replace(report, dry=True), LISTED_DRY)

    def _told(self, report: Report, limit: int, after: int = 0) -> Report:
        """A report as far as the caller may see the memories it is about."""
        if self._caller.owns_file:
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
        while lines := self._store.upkeep.decided(run.id, after, LISTED):
            for one in lines:
                yield one, self._sees(one)
            after = lines[-1].number

    def _sees(self, one: Decided) -> bool:
        get, access = self._store.memories.get, self._caller.access
        about = [id_ for id_ in (one.memory, one.related) if id_]
        return bool(about) and all(get(id_, access) is not None for id_ in about)

    def _run(self, run_id: str) -> Run:
        run = self._store.upkeep.run(run_id.strip().upper())
        if run is None:
            raise UnknownRun(run_id)
        return run

    def _check(self) -> None:
        if self._caller.access.role is not Role.OWNER:
            raise AccessDenied("maintain the memory: only an owner may")


def _reread(session: str, tools: Tools, actor: str, progress: Progress | None, listed: int) -> Report:
    from engram.maintain.pipeline import begin

    step = f"{reading_again.STEP} {session}".strip()
    run = begin(tools.store, RunKind.REREAD, tools.clock, actor)
    if run.step not in {
        "",
        step,
    }:  # one of other turns was cut off: it ends here, and can be taken back by itself
        _noted(replace(run, state=RunState.DONE, finished_at=tools.clock.now()), tools)
        run = begin(tools.store, RunKind.REREAD, tools.clock, actor)
    run = _noted(replace(run, step=step), tools)
    total, done = tools.store.turns.count_read(session), 0
    for turns in reading_again.slices(int(run.cursor or 0), session, tools):
        run = replace(run, cursor=str(turns[-1].key))
        reading_again.reread(turns, run, tools, partial(_note, run=run))
        done += len(turns)
        if progress is not None:
            progress(done, max(done, total))
    ended = replace(run, state=RunState.DONE, finished_at=tools.clock.now(), step="", cursor="")
    return _report(_noted(ended, tools), tools, listed, 0)


def _noted(run: Run, tools: Tools) -> Run:
    tools.store.write(partial(_note, run=run), "engine")
    return run


def _note(unit: Unit, run: Run) -> None:
    unit.upkeep.note(run)


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


LOOKS_EVERY_S = 15.0
AFTER_FAILURE = timedelta(minutes=10)
"""After something went wrong the worker waits so long: a full disk does not mend itself in a second."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerReport:
    """How the worker is."""

    last: datetime | None
    """When it last finished something."""
    trouble: str = ""
    """What went wrong the last time, in words; empty when nothing did."""


class Worker:
    """Maintains one memory. `tick` decides and works; `start` lets a thread tick until `stop`."""

    def __init__(
        self, upkeep: Upkeep, idle: Callable[[], timedelta], beside: Callable[[], None] = lambda: None
    ) -> None:
        self._upkeep = upkeep
        self._idle = idle
        self._beside = beside
        self._stopping = Event()
        self._thread: Thread | None = None
        self._rests_until: datetime | None = None
        self._told = WorkerReport(None)
        self._began = upkeep.clock.now()

    @property
    def told(self) -> WorkerReport:
        """How it is; also that its thread has died of something nobody foresaw."""
        died = self._thread is not None and not self._thread.is_alive() and not self._stopping.is_set()
        return (
            WorkerReport(self._told.last, "its thread has died; restart the server") if died else self._told
        )

    def start(self) -> None:
        """Begin to look every few seconds whether something is due."""
        self._thread = Thread(target=self._live, name="engram-upkeep", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Let a run that is under way pause after its slice, and end. Safe to call twice."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def tick(self) -> Report | None:
        """Do what is due, if anything is; a run pauses as soon as somebody asks or the worker is to stop."""
        now = self._upkeep.clock.now()
        if self._upkeep.is_tight:
            return None  # memory is short: whoever asks goes first
        if self._rests_until is not None and now < self._rests_until:
            return None
        kind = due(now, self._idle(), *self._last(), self._upkeep.settings, self._began)
        if kind is None:
            return None
        try:
            return self._run(kind, now)
        except UpkeepBusy:
            return None  # another process maintains this file: it is in good hands
        except EngramError as error:
            log.warning("Maintenance failed and is tried again later: %s", error.message)
            self._rests_until = now + AFTER_FAILURE
            self._told = WorkerReport(self._told.last, error.message)
            return None

    def _run(self, kind: RunKind, now: datetime) -> Report:
        work = self._upkeep.consolidate if kind is RunKind.CONSOLIDATE else self._upkeep.dream
        report = work(stopping=self._stopping.is_set)
        if report.run.state is RunState.DONE:
            log.info("%s %s: %d changes", kind.value, report.run.id, report.changes)
            self._told = WorkerReport(now)
        return report

    def _last(self) -> tuple[datetime | None, datetime | None]:
        kinds = (RunKind.CONSOLIDATE, RunKind.DREAM)
        return self._upkeep.last(kinds[0]), self._upkeep.last(kinds[1])

    def _live(self) -> None:
        while not self._stopping.wait(LOOKS_EVERY_S):
            self._beside()
            self.tick()
