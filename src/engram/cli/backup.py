"""`engram backup` makes, lists and puts back copies of the file, and saves a damaged one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from engram.cli.maintain import say_salvaged, size
from engram.cli.options import CommandRun, Group, command, pass_run
from engram.cli.output import counted, say, say_json, steps, table, text
from engram.model.plain import plain

if TYPE_CHECKING:
    from engram.model.event import ArchiveReport, Backup


@click.group("backup", cls=Group, otherwise="make")
def backup() -> None:
    """Copy the whole memory, put a copy back, save a damaged one."""


@backup.command("make")
@click.option("--to", type=click.Path(dir_okay=False), help="A file to make; else one joins those beside it.")
@pass_run
def make(run: CommandRun, to: str | None) -> None:
    """Copy everything as it is now and check the copy; the memory may be in use meanwhile."""
    with run.open(whole_file=True) as memory:
        made = memory.backups.make(to)
    _say(run, [made], "backed up to")


@backup.command("list")
@pass_run
def list_backups(run: CommandRun) -> None:
    """The copies beside the memory, oldest first."""
    with run.open(whole_file=True) as memory:
        kept = memory.backups.list()
    _say(run, kept, "")


@backup.command("restore")
@click.argument("copy", type=click.Path(dir_okay=False))
@pass_run
def restore_backup(run: CommandRun, copy: str) -> None:
    """Put a copy in the place of the memory, which nobody may have open; the present one is kept."""
    from engram.opening import restore_backup as put_back

    kept = put_back(run.file, copy, run.config)
    if run.json:
        say_json({"restored": copy, "kept": kept})
    else:
        say(
            run,
            text(("restored", "bold green"), f" {copy}"),
            *([f"  the former file is {kept}"] if kept else []),
        )


@backup.command("archive")
@click.argument("target", type=click.Path(dir_okay=False))
@click.option("--encrypt", is_flag=True, help="Ask for a passphrase and encrypt the archive under it.")
@pass_run
def archive(run: CommandRun, target: str, encrypt: bool) -> None:
    """Write everything the memory knows into one archive, from which an equal memory can be made.

    Memories, relations, facts, entities, turns, history, knowledge and the rest as lines of JSON in a zip,
    with hashes. Tokens of the server stay behind.
    """
    from engram.cli.vault import ask_passphrase

    passphrase = ask_passphrase("Passphrase of the archive", twice=True) if encrypt else ""
    with run.open(whole_file=True) as memory:
        report = memory.backups.archive(target, passphrase)
    _say_archive(run, report, "archived", target)


@backup.command("unpack")
@click.argument("source", type=click.Path(exists=True, dir_okay=False))
@pass_run
def unpack(run: CommandRun, source: str) -> None:
    """Make a new memory of an archive: name one that is not there by --file."""
    from engram.cli.vault import ask_passphrase
    from engram.opening import restore_archive
    from engram.store.sqlite.archive import is_sealed

    passphrase = ask_passphrase("Passphrase of the archive") if is_sealed(Path(source)) else ""
    report = restore_archive(run.file, source, run.config, passphrase)
    _say_archive(run, report, "unpacked", source)


@command("migrate")
@click.argument("source")
@click.argument("target")
@pass_run
def migrate(run: CommandRun, source: str, target: str) -> None:
    """Move the whole memory: SOURCE and TARGET are a file or postgresql://… each.

    Every row is brought over and compared by count and hash. The target must be new or empty; a move that was
    cut off goes on when the same command is given again. The source stays as it is.
    """
    from engram.opening import migrate as move
    from engram.opening import shown

    with steps(run, "moving") as moved:
        report = move(source, target, run.config, lambda _, rows: moved.add(rows))
    _say_archive(run, report, "moved", shown(target))


def _say_archive(run: CommandRun, report: ArchiveReport, what: str, file: str) -> None:
    if run.json:
        say_json({**plain(report), "file": file})
    elif not run.quiet:
        counts = f" {counted(report.memories, 'memory', 'memories')}, {report.rows:,} rows in all"
        say(run, text((what, "bold green"), f"{counts}: {file}"))


@backup.command("salvage")
@click.option("--backup", "chosen", type=click.Path(dir_okay=False), help="A copy to fill the gaps from.")
@pass_run
def salvage_command(run: CommandRun, chosen: str | None) -> None:
    """Save what can be read of a damaged file.

    Rows are read page by page; what lay on damaged pages comes from the newest sound backup. The damaged file
    is kept beside the new one, and the memories that could not be saved are named.
    """
    from engram.opening import salvage

    report = salvage(run.file, run.config, chosen)
    if run.json:
        say_json(report)
    else:
        say_salvaged(run, report)


def _say(run: CommandRun, kept: list[Backup], what: str) -> None:
    if run.json:
        say_json({"backups": kept})
    elif run.quiet:
        say(run, *(one.file for one in kept))
    elif what:
        say(run, text((what, "bold green"), f" {kept[0].file}, {size(kept[0].size_bytes)}"))
    elif not kept:
        say(run, "There is no backup yet: one is made by itself when the memory is a day old.")
    else:
        rows = [(one.made_at.strftime("%Y-%m-%d %H:%M"), size(one.size_bytes), one.file) for one in kept]
        say(run, table(("made", "size", "file"), rows))
