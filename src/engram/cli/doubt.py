"""`engram gaps …` and `engram drift`: what is not known, and what is claimed and no longer so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from engram.cli.options import Group, Run, command, pass_run
from engram.cli.output import counted, line, say, say_json, short, table, text
from engram.cli.values import text_or_stdin

if TYPE_CHECKING:
    from engram.model.drift import DriftReport
    from engram.model.session import Gap

key_argument = click.argument("gap_id", metavar="KEY")


@click.group("gaps", cls=Group, otherwise="list")
def gaps() -> None:
    """Look at what is not known, ask about it and answer."""


@gaps.command("list")
@click.option("-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many at most.")
@pass_run
def list_gaps(run: Run, limit: int) -> None:
    """List what is not known, the weightiest first."""
    with run.open() as memory:
        _say(run, memory.gaps.list(limit=limit, scope=run.scope))


@gaps.command("ask")
@click.option("--session", default="", metavar="NAME", help="At most two questions in one session.")
@click.option("--about", multiple=True, metavar="NAME", help="Those about this first; repeatable.")
@pass_run
def ask(run: Run, session: str, about: tuple[str, ...]) -> None:
    """Give out the questions to ask now; each comes once a week."""
    with run.open() as memory:
        _say(run, memory.gaps.ask(session, about=about, scope=run.scope))


@gaps.command("answer")
@key_argument
@click.argument("words", nargs=-1, metavar="TEXT")
@pass_run
def answer(run: Run, gap_id: str, words: tuple[str, ...]) -> None:
    """Remember the answer to a question and close it."""
    said = text_or_stdin(words, "answer")
    with run.open() as memory:
        held = memory.gaps.answer(gap_id, said)
    if run.json:
        say_json(held)
    else:
        say(run, text(("remembered ", "bold green"), (short(held.id), "cyan"), f" {line(held.content)}"))


@gaps.command("dismiss")
@key_argument
@pass_run
def dismiss(run: Run, gap_id: str) -> None:
    """Close a question without an answer: it is not asked again."""
    with run.open() as memory:
        gap = memory.gaps.dismiss(gap_id)
    if run.json:
        say_json(gap)
    else:
        say(run, text(("dismissed ", "bold green"), line(gap.question)))


def _say(run: Run, found: list[Gap]) -> None:
    if run.json:
        say_json({"gaps": found})
    elif run.quiet:
        say(run, *(one.key for one in found))
    elif found:
        rows = [
            (text((one.key, "cyan")), text((one.kind, "magenta")), f"{one.weight:.2f}", line(one.question))
            for one in found
        ]
        say(run, table(("key", "kind", "weight", "question"), rows))
    else:
        say(run, text(("there is nothing to ask", "bold")))


@command("drift")
@click.argument("directory", required=False, default="")
@click.option(
    "--apply", is_flag=True, help="Challenge or invalidate those memories; `engram undo` takes it back."
)
@click.option(
    "-n", "--limit", type=int, default=1_000, show_default=True, metavar="N", help="So many dead references."
)
@pass_run
def drift(run: Run, *, directory: str, apply: bool, limit: int) -> None:
    """Check what memories claim about files, symbols and versions.

    Against DIRECTORY, or the one that the setting `doubt.directory` names. Nothing is changed unless --apply.
    """
    with run.open(whole_file=apply) as memory:
        found = memory.drift(directory, apply=apply, limit=limit, scope=run.scope)
    if run.json:
        say_json(found)
    elif run.quiet:
        say(run, *(one.reference for one in found.dead))
    else:
        _tell(run, found)


def _tell(run: Run, found: DriftReport) -> None:
    checked = f"{counted(found.references, 'reference')} of {counted(found.memories, 'memory', 'memories')}"
    say(run, text((checked, "bold"), f" checked against {counted(found.files, 'file')} of {found.directory}"))
    if not found.complete:
        say(run, text(("not every file was looked at: what is named may be in the others", "yellow")))
    if found.dead:
        rows = [
            (text((short(one.memory), "cyan")), str(one.kind), line(one.reference), line(one.detail))
            for one in found.dead
        ]
        say(run, table(("memory", "kind", "dead", "instead"), rows))
    else:
        say(run, text(("nothing is dead", "green")))
    if found.run is not None:
        changed = counted(found.run.changes, "memory is", "memories are")
        say(run, text((found.run.run.id, "bold"), f": {changed} in another state now"))
