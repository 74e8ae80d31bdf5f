"""`engram workspace …`: a folder of plain files in step with the memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from engram.cli.options import CommandRun, Group, pass_run
from engram.cli.output import BAD_INPUT, counted, say, say_json, table, text
from engram.model.plain import plain
from engram.workspace.layouts import LAYOUTS, LEDGER

if TYPE_CHECKING:
    from engram.api.workspace_reading import SyncConflict, SyncReport

SHOWN = 20
folder = click.argument("directory", metavar="DIR", type=click.Path(file_okay=False, path_type=Path))
here = click.argument(
    "directory", metavar="[DIR]", default=".", type=click.Path(file_okay=False, path_type=Path)
)


@click.group("workspace", cls=Group, otherwise="list")
def workspace() -> None:
    """Keep a folder of plain files in step with the memory.

    People read, search and edit the files; what they change is read back. What changed on both sides is shown
    in the file and by `engram conflicts`, and nothing is guessed.
    """


@workspace.command("init")
@folder
@click.option("--layout", "layouts", type=click.Choice(LAYOUTS), multiple=True, default=(LEDGER,),
              show_default=True, help="Which files: ledger, files, or both.")  # fmt: skip
@click.option("--include", type=click.Choice(("sensitive", "confidential")), multiple=True,
              help="Also write such memories to files.")  # fmt: skip
@pass_run
def init(run: CommandRun, directory: Path, layouts: tuple[str, ...], include: tuple[str, ...]) -> None:
    """Make a folder a workspace, or change its layout; files that are there are read."""
    with run.open(whole_file=True, makes=True) as memory:
        scope = run.scope if run.is_scoped else None
        report = memory.workspace.init(directory, layouts=layouts, include=include, scope=scope)
    _tell(run, report)


@workspace.command("sync")
@here
@click.option("--full", is_flag=True, help="Compare everything, not only what changed.")
@click.option(
    "--dry-run", "dry", is_flag=True, help="Say what would change in the memory, and change nothing."
)
@click.option("--repair", is_flag=True, help="Mend double ids and damaged lines of the ledger.")
@click.option("--accept-deletions", is_flag=True, help="Forget also when most files are missing at once.")
@pass_run
def sync(
    run: CommandRun, directory: Path, full: bool, dry: bool, repair: bool, accept_deletions: bool
) -> None:
    """Bring files and memory in step."""
    with run.open(whole_file=True) as memory:
        report = memory.workspace.sync(
            directory, full=full, dry=dry, repair=repair, accept_deletions=accept_deletions
        )
    _tell(run, report)


@workspace.command("status")
@here
@pass_run
def status(run: CommandRun, directory: Path) -> None:
    """Show what waits on either side, and what is in conflict."""
    with run.open(whole_file=True) as memory:
        found = memory.workspace.status(directory)
    if run.json:
        say_json(plain(found))
        return
    say(run, text((found.folder, "bold"), f" ({', '.join(found.layouts)})"))
    say(run, f"{counted(found.files, 'file')} · {counted(found.memories, 'memory', 'memories')}")
    say(run, f"edited in the folder: {len(found.edited):,} · changed in the memory: {found.behind:,}")
    for path in found.edited[:SHOWN]:
        say(run, f"  {path}")
    _conflicts(run, found.conflicts)
    for point in found.points:
        say(run, f"  {point.id[:10]} {point.at[:16]} {point.subject}")


@workspace.command("watch")
@here
@click.option(
    "--every",
    type=click.FloatRange(0.2, 3_600),
    default=1.0,
    show_default=True,
    help="Seconds between looks.",
)
@pass_run
def watch(run: CommandRun, directory: Path, every: float) -> None:
    """Sync whenever something changes, until it is interrupted."""
    with run.open(whole_file=True) as memory:
        for report in memory.workspace.watch(directory, every=every):
            _tell(run, report, leave=False)


@workspace.command("points")
@here
@pass_run
def points(run: CommandRun, directory: Path) -> None:
    """List the commits that `rollback` takes, newest first."""
    with run.open(whole_file=True) as memory:
        found = memory.workspace.points(directory)
    if run.json:
        say_json(plain(found))
    else:
        say(run, table(("point", "when", "what"), [(one.id[:10], one.at[:16], one.subject) for one in found]))


@workspace.command("rollback")
@click.argument("point")
@here
@pass_run
def rollback(run: CommandRun, point: str, directory: Path) -> None:
    """Put files and memory back as they were at a commit."""
    with run.open(whole_file=True) as memory:
        report = memory.workspace.rollback(directory, point)
    _tell(run, report)


@workspace.command("list")
@pass_run
def list_folders(run: CommandRun) -> None:
    """List the folders that are kept in step with this memory."""
    with run.open(whole_file=True) as memory:
        found = memory.workspace.folders()
    if run.json:
        say_json({"folders": found})
        return
    for one in found or ["no folder is kept in step: `engram workspace init DIR` begins"]:
        say(run, one)


@workspace.command("leave")
@here
@pass_run
def leave(run: CommandRun, directory: Path) -> None:
    """Keep a folder in step no longer; its files stay."""
    with run.open(whole_file=True) as memory:
        was = memory.workspace.leave(directory)
    say_json({"left": was}) if run.json else say(run, "left; its files stay" if was else "it was none")


def _tell(run: CommandRun, report: SyncReport, *, leave: bool = True) -> None:
    if run.json:
        say_json({**plain(report), "changes": report.changes})
    elif not run.quiet:
        parts = [("created", report.created), ("updated", report.updated), ("forgotten", report.forgotten)]
        told = [f"{len(found):,} {name}" for name, found in parts if found]
        told += [f"{counted(len(report.written), 'file')} written"] if report.written else []
        told += [f"{counted(len(report.removed), 'file')} removed"] if report.removed else []
        title = "would change:" if report.dry else "in step:"
        say(run, text((title, "bold green"), f" {' · '.join(told) or 'nothing changed'}"))
        _conflicts(run, report.conflicts)
    for problem in report.problems[:SHOWN]:
        click.echo(problem, err=True)
    if leave and report.problems:
        raise click.exceptions.Exit(BAD_INPUT)


def _conflicts(run: CommandRun, conflicts: Sequence[SyncConflict]) -> None:
    for one in conflicts[:SHOWN]:
        say(run, text(("conflict: ", "yellow"), f"{one.path}: {one.because}"))
    if conflicts:
        say(run, "Choose in the file, or with `engram conflicts`.")
