"""Maintenance: `memory.maintenance` makes runs, tells what they did, takes them back, and looks for damage.

A directory that memories speak of is looked at here as well (`landscape`).
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from engram.api.caller import LAST_NUMBER, CallerContext, Noun, whole
from engram.config import change_now, overlay
from engram.errors import (
    AccessDenied,
    ConfigError,
    InvalidInput,
    ModelNeeded,
    NotUndoable,
    UnknownRun,
    UnknownValue,
)
from engram.lazily import lazily, tomllib
from engram.model.clock import Clock
from engram.model.event import Audited, Finding
from engram.model.knowledge import Spent
from engram.model.maintenance import (
    LISTED,
    Carried,
    Decided,
    Drifted,
    DriftReport,
    Landscape,
    Progress,
    Report,
    Run,
    RunKind,
    RunState,
    Tally,
    Undone,
)
from engram.model.memory import Filters, Memory, Status
from engram.model.recall import RecallHealth
from engram.model.scope import Role, Scope
from engram.ports import NoAdvisor, Tools, Unit, View
from engram.text import re

if TYPE_CHECKING:
    from engram.api import vault
    from engram.api.recalling import Recalling
    from engram.api.workspace import Workspaces
    from engram.capture import reread as reading_again
    from engram.maintain.step import Step
    from engram.rules import enrich
    from engram.text import tokens
else:
    vault = lazily("engram.api.vault")
    reading_again = lazily("engram.capture.reread")
    enrich = lazily("engram.rules.enrich")
    tokens = lazily("engram.text.tokens")

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
    from engram.capture.sources.code import walk

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
                    unit.reword(memory.id, enrich.findable(memory))

            store.write(work, caller.actor)
            after = lost[-1][0]
    counted = (
        "counted exactly"
        if tokens.is_exact()
        else "estimated; `pip install engram-cortex[tokens]` counts them"
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
    state = trouble if health.ok and trouble else health.detail
    detail = f"{state.removesuffix('.')}; {spent:,} tokens today" if spent else state
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
CLAIMS: Final = frozenset({Status.ACTIVE, Status.CHALLENGED, Status.INVALIDATED})
NO_DIRECTORY: Final = "Say against which directory to check, or set `doubt.directory`."


class Maintenance(Noun):
    """Looking after the memory: runs and taking them back, damage, space, costs. Safe from many threads.

    Only an owner may make a run: it looks at the whole file. The owner of a place within it is told of a run
    what concerns that place, and nothing of others.
    """

    def __init__(
        self,
        caller: CallerContext,
        recalling: Recalling | None = None,
        parts: Sequence[Callable[[], Finding]] = (),
        in_step: Callable[[], Workspaces] | None = None,
    ) -> None:
        super().__init__(caller)
        self._recalling = recalling
        self._parts = parts
        self._in_step = in_step

    def consolidate(
        self,
        *,
        dry: bool = False,
        stages: Sequence[str] = (),
        progress: Progress | None = None,
        stopping: Callable[[], bool] | None = None,
        settings: Mapping[str, Any] | None = None,
    ) -> Report:
        """Carry a consolidation out, or go on with one that was cut off. Raises UpkeepBusy.

        `settings` hold for this run alone; it pauses after a slice when `stopping` says so.
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

    def _with(self, settings: Mapping[str, Any]) -> Maintenance:
        """The same caller under other settings."""
        tools = replace(self._tools, config=overlay(self._tools.config, settings))
        return Maintenance(CallerContext(tools, self._caller.access, self._caller.actor, self._caller.opened))

    def _folders(self) -> Workspaces | None:
        """The folders that are kept in step with this file; None when there are none, or it is another's."""
        if self._in_step is None or not self._caller.owns_file or self._caller.access.role is not Role.OWNER:
            return None
        found = self._in_step()
        return found if found.folders() else None

    def dream(
        self,
        *,
        dry: bool = False,
        progress: Progress | None = None,
        stopping: Callable[[], bool] | None = None,
    ) -> Report:
        """Replay what is at risk, link what belongs together, strengthen what matters. Raises UpkeepBusy."""
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
    def clock(self) -> Clock:
        """The time that it goes by."""
        return self._tools.clock

    def last(self, kind: RunKind) -> datetime | None:
        """When a run of this kind last came to its end."""
        done = self._store.upkeep.runs(1, kind, RunState.DONE)
        return done[0].finished_at if done else None

    def runs(self, limit: int = 20) -> list[Run]:
        """The last runs, newest first. Raises AccessDenied, InvalidInput."""
        self._check()
        found = self._store.upkeep.runs(whole("limit", limit, 1, 1_000))
        if self._caller.owns_file:
            return found
        return [run for run in found if next(self._seen(run), None) is not None]

    def report(self, run_id: str, *, limit: int = LISTED, after: int = 0) -> Report:
        """What a run did: counts by rule, and its decisions in order, beginning after a number.

        Raises UnknownRun, AccessDenied, InvalidInput.
        """
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

    def drift(
        self, directory: str = "", *, apply: bool = False, limit: int = 1_000, scope: Scope | None = None
    ) -> DriftReport:
        """Check what memories claim about files, symbols, versions and addresses against a directory.

        Without one the setting `doubt.directory`. With `apply` memories whose references are dead are
        challenged, and invalidated if they stay so; `undo` takes that back.
        """
        from engram.maintain.doubt import DRIFT

        self._caller.check_owns_file("look at directories of this machine")
        where = directory or self._tools.config.doubt.directory
        place = landscape(where) if where else None
        if place is None:
            message = f"There is no directory {where[:200]!r} to check against." if where else NO_DIRECTORY
            raise InvalidInput(message)
        report = self._dead_references(place, scope, whole("limit", limit, 0, 100_000))
        if not apply:
            return report
        run = self._with({"doubt.directory": where})
        return replace(report, run=run._carry(RunKind.DRIFT, (DRIFT,), dry=False))  # noqa: SLF001 - its own kind

    def _dead_references(self, place: Landscape, scope: Scope | None, limit: int) -> DriftReport:
        """What memories that the caller sees claim about a directory, and is gone."""
        from engram.maintain.doubt import checked

        config, view = self._tools.config, View(self._caller.at(scope), Filters(statuses=CLAIMS))
        memories = references = 0
        dead: list[Drifted] = []
        for memory in self._store.memories.every(view, config.maintain.slice):
            found = checked(memory, place, config.doubt.project)
            memories, references = memories + bool(found.checked), references + found.checked
            for reference, instead in found.dead:
                named = f"{reference.name} {reference.version}".strip()
                dead.append(Drifted(memory.id, reference.kind, named, instead))
        return DriftReport(
            place.root, len(place.paths), place.complete, memories, references, tuple(dead[:limit])
        )

    def doctor(self, *, repair: bool = False) -> list[Finding]:
        """Look at every part and say in words what to do; with `repair` mend what can be rebuilt."""
        return examine(self._caller, [part() for part in self._parts], repair=repair)

    def vacuum(self, *, full: bool = True) -> int:
        """Give freed space back. Returns how many bytes. Only `full` writes the whole file anew."""
        check_owner(self._caller, "rewrite the file")
        before = self._size()
        self._store.vacuum(full=full)
        return max(0, before - self._size())

    def _size(self) -> int:
        return self._store.memories.stats(self._caller.access, None).size_bytes

    def reembed(self, *, progress: Progress | None = None) -> int:
        """Give every memory a vector of the present model. Cut off, it goes on where it stopped."""
        self._tools.pressure.check_room("embed memories again")
        total = self._store.memories.stats(self._caller.access, self._caller.space()).pending
        tell = None if progress is None else (lambda done: progress(done, max(total, done)))
        from engram.maintain.dreaming import embed_missing

        count = embed_missing(self._tools, progress=tell)
        self._caller.owing = False
        return count

    def spending(self, *, days: int = 30, daily: bool = False) -> list[Spent]:
        """What calls to models have cost in the last days, by component and model; `daily`, by day too."""
        since = self._tools.clock.now() - timedelta(days=whole("days", days, 1, 36_500))
        return self._store.spending.summary(since, daily=daily)

    def forget_spending(self) -> int:
        """Forget what models have cost. Returns how many calls there were. Raises AccessDenied."""
        check_owner(self._caller, "forget what models have cost")
        return self._store.spending.clear()

    def configure(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Change settings while the memory is open, for everybody. Returns those that differ now.

        Holds until the memory is closed: `engram config set` keeps a setting, and a server follows that.
        Raises InvalidInput, and changes nothing, for what is unknown, out of range or read at opening only;
        AccessDenied unless the file is the caller's.
        """
        self._caller.check_owns_file("change settings")
        try:
            changed = change_now(self._tools.config, settings)
        except ConfigError as error:
            raise InvalidInput(error.message) from error
        for name, value in changed.items():
            self._caller.note(Audited.CONFIGURED, f"{name}={value}")
        return changed

    def recall_health(self) -> RecallHealth:
        """How the last recalls have been going: counts, averages by intent, times, warnings."""
        assert self._recalling is not None  # noqa: S101 - the facade's own has it
        return self._recalling.health()

    def _carry(
        self,
        kind: RunKind,
        steps: Sequence[Step],
        progress: Progress | None = None,
        stopping: Callable[[], bool] | None = None,
        *,
        dry: bool,
    ) -> Report:
        from engram.maintain.doubt import DRIFT
        from engram.maintain.pipeline import begin_run, run_steps
        from engram.maintain.step import StepContext

        names = [one.name for one in steps]

        def hear(step: str, _cursor: str) -> None:
            if progress is not None:
                progress(names.index(step), len(names))

        def work(tools: Tools, listed: int) -> Report:
            run = begin_run(tools.store, kind, tools.clock, self._caller.actor)
            directory = tools.config.doubt.directory
            around = landscape(directory) if directory and DRIFT.name in names else None
            context = StepContext(
                tools, run, landscape=around, stopping=stopping or (lambda: False), progress=hear
            )
            return _report(run_steps(context, steps), tools, listed, 0)

        self._check()
        self._tools.pressure.check_room(kind.value)
        return self._run_on(self._tools, work, dry=dry)

    def _run_on(self, tools: Tools, work: Callable[[Tools, int], Report], *, dry: bool) -> Report:
        """Carry a run out; a dry one on a copy of the file, which goes afterwards."""
        if not dry:
            with tools.store.lease(LEASE):
                vault.Backups(self._caller).make_if_due()
                report = work(tools, LISTED)
                vault.Backups(self._caller).make_if_due()  # a run that erases takes the backups with it
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
        tallies = Counter(
            (decision.step, decision.rule) for decision in seen if decision.outcome is Carried.DONE
        )
        shown = [decision for decision in seen if decision.number > after]
        return replace(
            report,
            tallies=tuple(Tally(step, rule, count) for (step, rule), count in tallies.items()),
            decided=tuple(shown[:limit]),
            more=len(shown) > limit,
        )

    def _seen(self, run: Run) -> Iterator[Decided]:
        return (decision for decision, seen in self._looked_at(run) if seen)

    def _looked_at(self, run: Run) -> Iterator[tuple[Decided, bool]]:
        """What a run decided, and whether the caller may see what it is about."""
        after = 0
        while lines := self._store.upkeep.decided(run.id, after, LISTED):
            for decision in lines:
                yield decision, self._sees(decision)
            after = lines[-1].number

    def _sees(self, decision: Decided) -> bool:
        get, access = self._store.memories.get, self._caller.access
        about = [id_ for id_ in (decision.memory, decision.related) if id_]
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
    from engram.maintain.pipeline import begin_run

    step = f"{reading_again.STEP} {session}".strip()
    run = begin_run(tools.store, RunKind.REREAD, tools.clock, actor)
    if run.step not in {
        "",
        step,
    }:  # one of other turns was cut off: it ends here, and can be taken back by itself
        _noted(replace(run, state=RunState.DONE, finished_at=tools.clock.now()), tools)
        run = begin_run(tools.store, RunKind.REREAD, tools.clock, actor)
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
