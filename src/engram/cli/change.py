"""Verbs that change one memory: `forget`, `restore`, `erase`, `pin`, `confirm`, and their like."""

from __future__ import annotations

import sys
from typing import Any

import click

from engram.cli import views
from engram.cli.browse import memory_table
from engram.cli.options import CommandRun, command, field_options, given, pass_run, read_stdin
from engram.cli.output import NOT_FOUND, counted, say, say_json, short, shown, text
from engram.errors import NotFound
from engram.model.memory import Memory

because_option = click.option(
    "--because", default="", metavar="WHY", help="The reason; it is kept in the history."
)
id_argument = click.argument("memory_id", metavar="ID")
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")

ERASING = """\
Erasing removes the content, its words, vectors and relations from the file; nothing brings it back.
The ledger keeps only the bare fact that it was erased. `engram forget` hides it and can be undone."""


@command("erase")
@id_argument
@because_option
@yes_option
@pass_run
def erase(run: CommandRun, memory_id: str, because: str, yes: bool) -> None:
    """Remove a memory for good.

    The content, its words, vectors and relations leave the file; nothing brings them back. The ledger keeps
    the bare fact. `engram forget` hides a memory and can be undone.
    """
    with run.open() as memory:
        one = memory.get(memory_id)
        if one is None:
            raise NotFound(memory_id)
        if not yes:
            ask_before_erasing(run, f"{shown(one.content)}\n\n{ERASING}", "Erase it?")
        memory.erase(one.id, because)
    if run.json:
        say_json({"erased": one.id})
    else:
        say(run, one.id if run.quiet else text(("erased", "bold red"), " ", (short(one.id), "bold cyan")))


def ask_before_erasing(run: CommandRun, told: str, question: str) -> None:
    """Say what is about to go, and leave unless a person agrees."""
    if run.json or not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here: --yes erases without asking.")
    click.echo(told, err=True)
    if not click.confirm(question, err=True):
        click.echo("Nothing was erased.", err=True)
        raise click.exceptions.Exit(NOT_FOUND)


@command("feedback")
@id_argument
@click.option("--helpful/--not-helpful", required=True, help="Did it help?")
@click.option(
    "--query", default="", metavar="QUESTION", help="The question it came for; like ones will leave it out."
)
@because_option
@pass_run
def feedback(run: CommandRun, memory_id: str, helpful: bool, query: str, because: str) -> None:
    """Say whether a memory helped with a question."""
    with run.open() as memory:
        changed = memory.feedback(memory_id, helpful=helpful, query=query, because=because)
    hint = (
        f"like questions leave it out for {run.config.recall.suppress_days} days"
        if query and not helpful
        else ""
    )
    say_changed(run, "helpful" if helpful else "not helpful", changed, hint=hint)


def say_changed(run: CommandRun, verb: str, changed: Memory, *, hint: str = "") -> None:
    """A memory after a change, in one line."""
    if run.json:
        say_json(changed)
    elif run.quiet:
        say(run, changed.id)
    else:
        say(run, *views.changed(verb, changed))
        if hint:
            say(run, text((f"  {hint}", "dim")))


# ---------------------------------------------------------------- edit
# `engram edit`: the fields of a memory change; without any, its content opens in the editor.


@command("edit")
@id_argument
@click.option("--content", metavar="TEXT", help="New words; `-` reads them from stdin.")
@field_options
@because_option
@pass_run
def edit(run: CommandRun, memory_id: str, because: str, **fields: Any) -> None:
    """Change a memory; the old words stay in its history.

    Tags and details that are given replace the old ones. With no field at all, the content opens in $EDITOR.
    """
    content = read_stdin("content") if fields["content"] == "-" else fields["content"]
    # An empty content is a mistake that the engine names, not "nothing given".
    changes = given(fields) | ({"content": content} if content is not None else {})
    with run.open() as memory:
        one = memory.get(memory_id)
        if one is None:
            raise NotFound(memory_id)
        if not changes:
            written = _in_editor(run, one.content)
            if written in (None, one.content):
                say(run, text(("nothing changed", "bold")))
                return
            changes = {"content": written}
        changed = memory.update(one.id, because=because, **changes)
    say_changed(run, f"version {changed.version} of", changed)


def _in_editor(run: CommandRun, content: str) -> str | None:
    if run.json or not sys.stdin.isatty():
        raise click.UsageError(
            "Say what to change (--content, --category, --tag …): no editor can open here."
        )
    written = click.edit(content + "\n", extension=".txt")
    return None if written is None else written.rstrip("\r\n")


# ---------------------------------------------------------------- standing
# Where a memory stands: `promote`, `demote`, and the `trash`.


EMPTYING = "what you forgot and what maintenance archived. Nothing brings it back afterwards."


@command("trash")
@click.option("-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many.")
@click.option("--empty", is_flag=True, help="Remove what lies there for good.")
@because_option
@yes_option
@pass_run
def trash(run: CommandRun, limit: int, empty: bool, because: str, yes: bool) -> None:
    """Look at what was forgotten; empty it.

    `engram restore ID` brings one back. What maintenance has archived lies here too.
    """
    with run.open() as memory:
        if empty:
            lying = memory.trash.list(limit=1)
            if lying.total and not yes:
                many = counted(lying.total, "memory lies", "memories lie")
                ask_before_erasing(run, f"{many} in the trash; {EMPTYING}", "Remove them for good?")
            purged = memory.trash.purge(because)
            told = f"{counted(purged, 'memory', 'memories')} gone"
            say_json({"purged": purged}) if run.json else say(run, told)
            return
        lying = memory.trash.list(limit=limit)
    if run.json:
        say_json(lying)
    elif lying.items:
        found = [one.memory for one in lying.items]
        total = counted(lying.total, "memory", "memories")
        say(run, memory_table(run, found), text((f"{total} in the trash", "dim")))
    else:
        say(run, text(("the trash is empty", "dim")))
