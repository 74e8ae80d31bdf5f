"""Workspace: a folder of plain files in step with the memory, both ways. `memory.workspace` keeps it so.

    list files and events → read what a person changed → change the memory → write what changed there

What changed on both sides is shown, in the file and among the conflicts, and never guessed. Cut off at any
point, the next sync finishes: each side is compared with what both last agreed on.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from engram.api import workspace_views as views
from engram.api.caller import CallerContext, Noun
from engram.api.workspace_reading import PAGE, SyncConflict, SyncReport, open_conflicts
from engram.api.workspace_sync import FolderSync
from engram.errors import EngramError, InvalidInput, UnknownValue, WorkspaceError
from engram.lazily import dataclass
from engram.model.maintenance import Report, RunKind, Sketch
from engram.model.memory import Tier
from engram.model.plain import plain
from engram.model.scope import Scope
from engram.store.sqlite.purging import PurgeTargets
from engram.store.sqlite.reencrypt import wipe
from engram.workspace import folder, git
from engram.workspace import layouts as layout
from engram.workspace.folder import FolderLock
from engram.workspace.layouts import (
    LAYOUTS,
    LEDGER,
    OURS,
    SETUP,
    Setup,
    drop_setup,
    kind_of,
    load_setup,
    load_state,
    save_setup,
    save_state,
    tops,
)

SKETCH = "workspace"
WATCH_S = 1.0

log = logging.getLogger(__name__)


def to_purge_folders(caller: CallerContext) -> Callable[[Collection[str], Scope | None], int]:
    """What takes names or a place out of the folders that are known now; the purge itself forgets which."""
    found = Workspaces(caller, lambda _: None)
    return partial(found._purge, found.folders())  # noqa: SLF001 (`purge` of the vault is its door)


@dataclass(frozen=True, slots=True)
class WorkspaceStatus:
    """A folder as it stands."""

    folder: str
    layouts: tuple[str, ...]
    tiers: tuple[str, ...]
    files: int
    memories: int
    edited: tuple[str, ...]
    """Files that were changed, made or deleted since the last sync."""
    behind: int
    """Memories that changed since then."""
    conflicts: tuple[SyncConflict, ...] = ()
    is_repository: bool = False
    points: tuple[git.Point, ...] = ()


class Workspaces(Noun):
    """Folders in step with the memory. Hangs on the facade; only the owner of the file may use it."""

    def __init__(self, caller: CallerContext, undo: Callable[[str], object]) -> None:
        super().__init__(caller)
        self._undo = undo
        """Takes a run of maintenance back, by its id."""

    def init(
        self,
        directory: str | Path,
        *,
        layouts: Sequence[str] = (LEDGER,),
        include: Sequence[str] = (),
        scope: Scope | None = None,
    ) -> SyncReport:
        """Make a folder a workspace, or change how it is set up, and sync it.

        Args:
            directory: the folder; made if need be. Files of a layout that are there are read.
            layouts: `ledger`, `files` or both.
            include: `sensitive`, `confidential`: such memories stand in files only when asked for.
            scope: only memories seen from there; new ones go there.

        Raises:
            WorkspaceError: the folder cannot be used.

        """
        self._check()
        wanted = tuple(dict.fromkeys(layouts)) or (LEDGER,)
        for one in wanted:
            if one not in LAYOUTS:
                raise UnknownValue("layout", one, LAYOUTS)
        allowed = {str(tier) for tier in Tier}
        for one in include:
            if one not in allowed:
                raise UnknownValue("tier", one, tuple(sorted(allowed)))
        root = Path(directory).expanduser()
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise WorkspaceError(f"{root} cannot be made: {error.strerror}.") from error
        root = root.resolve()
        today = self._tools.here().date().isoformat()
        name = self._tools.new_id()
        with suppress(WorkspaceError):
            before = load_setup(root)
            today, name = before.since or today, before.id or name
        place = {} if scope is None else {k: v for k, v in plain(scope).items() if v}
        tiers = tuple(str(t) for t in Tier if t is Tier.CLEAR or str(t) in include)
        save_setup(root, Setup(wanted, tiers, place, today, name))
        return self.sync(root, full=True)

    def sync(
        self,
        directory: str | Path,
        *,
        full: bool = False,
        accept_deletions: bool = False,
        repair: bool = False,
        dry: bool = False,
    ) -> SyncReport:
        """Bring files and memory in step.

        Args:
            directory: the workspace.
            full: compare everything, not only what changed.
            accept_deletions: forget memories even when most files are missing at once.
            repair: give double ids of the ledger new ones, and move lines that are no events aside.
            dry: say what would change in the memory, and change nothing on either side.

        Raises:
            WorkspaceError: it is no workspace, or another process syncs it.

        """
        root, setup = self._opened(directory)
        with FolderLock(root):
            state = load_state(root, self._mark(root, setup))
            work = FolderSync(self._caller, root, setup, state, full=full, dry=dry)
            return work.run(accept_deletions=accept_deletions, repair=repair)

    def status(self, directory: str | Path) -> WorkspaceStatus:
        """How a folder stands, without changing anything. Raises AccessDenied, WorkspaceError."""
        root, setup = self._opened(directory)
        state = load_state(root, self._mark(root, setup))
        found = folder.list_files(root, tops(setup.layouts))
        edited = [
            path
            for path in sorted({*found, *state.files})
            if kind_of(path, setup.layouts)
            and found.get(path) != (state.files[path].stamp if path in state.files else None)
        ]
        behind = len(FolderSync(self._caller, root, setup, state, full=False, dry=True).changed_ids())
        repository = git.is_repository(root)
        return WorkspaceStatus(
            str(root),
            setup.layouts,
            setup.tiers,
            len(state.files),
            len(state.places()),
            tuple(edited),
            behind,
            tuple(open_conflicts(state)),
            repository,
            tuple(git.points(root, 5)) if repository else (),
        )

    def watch(
        self, directory: str | Path, *, every: float = WATCH_S, stopping: Callable[[], bool] = lambda: False
    ) -> Iterator[SyncReport]:
        """Sync whenever something changed on either side; yields each report that tells of a change."""
        yield self.sync(directory)
        while not stopping():
            time.sleep(every)
            with suppress(WorkspaceError):
                report = self.sync(directory)
                if report.changes or report.conflicts or report.problems:
                    yield report

    def points(self, directory: str | Path, limit: int = 20) -> list[git.Point]:
        """The points in the history of a folder that `rollback` takes, newest first.

        Raises AccessDenied, WorkspaceError.
        """
        root, _ = self._opened(directory)
        if not git.is_repository(root):
            raise WorkspaceError(
                f"{root} is in no git repository: `git init` there, and consolidations make points."
            )
        return git.points(root, limit)

    def rollback(self, directory: str | Path, point: str) -> SyncReport:
        """Put files and memory back as they were at a commit.

        Runs of maintenance since then are taken back first, newest first; then the files are, and what they
        say is read back as changes by a person. Nothing is lost: the present state is committed before.
        Raises AccessDenied, WorkspaceError.
        """
        root, setup = self._opened(directory)
        if not git.is_repository(root):
            raise WorkspaceError(f"{root} is in no git repository: there is no point to go back to.")
        full = git.resolve(root, point)
        self.sync(root)
        git.commit(root, tops(setup.layouts), f"engram: before rollback to {full[:12]}")
        for message in git.messages_since(root, full):
            for line in message.splitlines():
                if line.startswith("Engram-Run: "):
                    with suppress(InvalidInput):
                        self._undo(line.removeprefix("Engram-Run: ").strip())
        self.sync(root)
        git.restore(root, tops(setup.layouts), full)
        report = self.sync(root, accept_deletions=True)
        git.commit(root, tops(setup.layouts), f"engram: rolled back to {full[:12]}")
        return report

    def folders(self) -> list[str]:
        """The folders that are kept in step with this memory."""
        sketches = self._store.upkeep.sketches(SKETCH, self._caller.access, PAGE)
        return [str(sketch.body.get("folder")) for sketch in sketches if sketch.body.get("folder")]

    def leave(self, directory: str | Path) -> bool:
        """Keep a folder in step no longer; its files stay. Whether it was one.

        Raises AccessDenied, WorkspaceError.
        """
        root, setup = self._opened(directory)
        scope, key = self._caller.access.scope, setup.id or str(root)
        was = self._store.write(lambda unit: unit.upkeep.unsketch(scope, SKETCH, key), self._caller.actor)
        drop_setup(root)
        return was

    def _purge(self, folders: Sequence[str], names: Collection[str], place: Scope | None) -> int:
        """Take what was purged from the memory out of its folders too; how many files were wiped.

        A folder that was kept for the place, or for one below it, loses all it was given. Others are brought
        in step, and of the files that are kept in step those that speak of the names even then are wiped.
        What git keeps of them is out of reach.
        """
        gone, wiped = PurgeTargets(names=frozenset(map(str.casefold, names))), 0
        for root in (Path(one) for one in folders if Path(one, SETUP).exists()):
            setup = load_setup(root)
            own = Scope(**{"namespace": self._caller.access.scope.namespace, **setup.scope})
            whole = place is not None and (own == place or own.lies_below(place))
            if not whole:
                self.sync(root)
            with FolderLock(root):
                state = load_state(root, self._mark(root, setup))
                for path in list(state.files):
                    file = root / path
                    said = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
                    if whole or gone.speaks_of(path.replace("-", " "), said):
                        wipe(str(file))
                        del state.files[path]
                        wiped += 1
                if not whole:
                    save_state(root, state)
            for path in OURS if whole else ():
                wipe(str(root / path))
        return wiped

    # ------------------------------------------------------------ around a consolidation

    def before_run(self, kind: RunKind) -> None:
        """Sync every folder and commit it, so that there is a point to go back to."""
        self._commit_all(lambda day: f"pre-{kind.value} {day}", "")

    def after_run(self, report: Report) -> None:
        """Write the report, sync, and commit what the run changed."""
        section = views.report_page(report)
        for root in self._there():
            with suppress(EngramError, OSError):
                setup = load_setup(root)
                if LEDGER in setup.layouts:
                    day = self._tools.here().date().isoformat()
                    views.append_report(root, f"{layout.REPORTS}/{day}.md", section, day)
        counts = ", ".join(f"{tally.rule} {tally.count}" for tally in report.tallies) or "nothing to do"
        self._commit_all(
            lambda day: f"{report.run.kind.value} {day}", f"{counts}\n\nEngram-Run: {report.run.id}"
        )

    def _commit_all(self, subject: Callable[[str], str], body: str) -> None:
        for root in self._there():
            try:
                self.sync(root)
                if git.is_repository(root):
                    setup = load_setup(root)
                    day = self._tools.here().date().isoformat()
                    git.commit(root, tops(setup.layouts), subject(day), body)
            except (EngramError, OSError) as error:
                # A folder that cannot be written must not keep memories from being maintained.
                log.warning("The workspace %s could not be brought in step: %s", root, error)

    def _there(self) -> list[Path]:
        return [Path(one) for one in self.folders() if Path(one, SETUP).exists()]

    def _mark(self, root: Path, setup: Setup) -> str:
        """What tells this memory and another apart in the folder; the folder is known here from now on."""
        scope, key = self._caller.access.scope, setup.id or str(root)
        known = self._store.upkeep.sketch(scope, SKETCH, key)
        mark = str(known.body.get("mark", "")) if known is not None else ""
        if known is not None and mark and known.body.get("folder") == str(root):
            return mark
        mark = mark or self._tools.new_id()
        body = {"folder": str(root), "mark": mark}
        sketch = Sketch(scope, SKETCH, key, body, self._tools.clock.now())
        self._store.write(lambda unit: unit.upkeep.sketch(sketch), self._caller.actor)
        return mark

    def _opened(self, directory: str | Path) -> tuple[Path, Setup]:
        """A folder that is a workspace, and how it is set up. Raises AccessDenied, WorkspaceError."""
        self._check()
        root = Path(directory).expanduser().resolve()
        return root, load_setup(root)

    def _check(self) -> None:
        self._caller.check_owns_file("keep a folder of this machine in step")
