"""Verbs that change one memory: `forget`, `restore`, `erase`, `pin`, `confirm`, and their like."""

from __future__ import annotations

import sys

import click

from engram.cli.exits import NOT_FOUND
from engram.cli.options import Run, command, pass_run
from engram.cli.output import line, say, say_json, short, shown, text
from engram.cli.values import one_of
from engram.errors import NotFound
from engram.model.axes import Status
from engram.model.memory import Memory
from engram.model.relations import EdgeType

because_option = click.option(
    "--because", default="", metavar="WHY", help="The reason; it is kept in the history."
)
id_argument = click.argument("memory_id", metavar="ID")
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")

ERASING = """\
Erasing removes the content, its words, vectors and relations from the file; nothing brings it back.
The ledger keeps only the bare fact that it was erased. `engram forget` hides it and can be undone."""


@command("forget")
@id_argument
@because_option
@pass_run
def forget(run: Run, memory_id: str, because: str) -> None:
    """Archive a memory: it is found no more, and can be restored."""
    with run.open() as memory:
        changed = memory.forget(memory_id, because)
    say_changed(run, "forgotten", changed, hint=f"engram restore {short(changed.id)} brings it back")


@command("restore")
@id_argument
@because_option
@pass_run
def restore(run: Run, memory_id: str, because: str) -> None:
    """Bring an archived memory back."""
    with run.open() as memory:
        changed = memory.restore(memory_id, because)
    say_changed(run, "restored", changed)


@command("erase")
@id_argument
@because_option
@yes_option
@pass_run
def erase(run: Run, memory_id: str, because: str, yes: bool) -> None:
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


def ask_before_erasing(run: Run, told: str, question: str) -> None:
    """Say what is about to go, and leave unless a person agrees."""
    if run.json or not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here: --yes erases without asking.")
    click.echo(told, err=True)
    if not click.confirm(question, err=True):
        click.echo("Nothing was erased.", err=True)
        raise click.exceptions.Exit(NOT_FOUND)


@command("pin")
@id_argument
@click.option("--off", is_flag=True, help="Let it go again.")
@pass_run
def pin(run: Run, memory_id: str, off: bool) -> None:
    """Keep a memory from ever being forgotten."""
    with run.open() as memory:
        changed = memory.pin(memory_id, pinned=not off)
    say_changed(run, "unpinned" if off else "pinned", changed)


@command("confirm")
@id_argument
@because_option
@pass_run
def confirm(run: Run, memory_id: str, because: str) -> None:
    """Vouch for a memory: it is still true."""
    with run.open() as memory:
        changed = memory.confirm(memory_id, because)
    say_changed(run, "confirmed", changed)


@command("status")
@id_argument
@click.argument("new", metavar="STATUS", type=one_of(Status))
@because_option
@pass_run
def status(run: Run, memory_id: str, new: str, because: str) -> None:
    """Set whether a memory still holds.

    STATUS is active, challenged, invalidated, merged, superseded or archived. A change that makes no sense is
    refused.
    """
    with run.open() as memory:
        changed = memory.set_status(memory_id, new, because)
    say_changed(run, str(changed.status), changed)


@command("feedback")
@id_argument
@click.option("--helpful/--not-helpful", required=True, help="Did it help?")
@click.option(
    "--query", default="", metavar="QUESTION", help="The question it came for; like ones will leave it out."
)
@because_option
@pass_run
def feedback(run: Run, memory_id: str, helpful: bool, query: str, because: str) -> None:
    """Say whether a memory helped with a question."""
    with run.open() as memory:
        changed = memory.feedback(memory_id, helpful=helpful, query=query, because=because)
    hint = (
        f"like questions leave it out for {run.config.recall.suppress_days} days"
        if query and not helpful
        else ""
    )
    say_changed(run, "helpful" if helpful else "not helpful", changed, hint=hint)


@command("relate")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option(
    "--type",
    "edge_type",
    type=one_of(EdgeType),
    default="related_to",
    show_default=True,
    help="What FROM is to TO.",
)
@click.option(
    "--weight", type=float, default=1.0, show_default=True, metavar="0..1", help="How close they are."
)
@click.option(
    "--confidence", type=float, default=1.0, show_default=True, metavar="0..1", help="How sure that is."
)
@pass_run
def relate(run: Run, source: str, target: str, edge_type: str, weight: float, confidence: float) -> None:
    """Connect two memories.

    Read it as a sentence: FROM supports TO.
    """
    with run.open() as memory:
        edge = memory.relate(source, target, edge_type, weight=weight, confidence=confidence)
    if run.json:
        say_json(edge)
    elif not run.quiet:
        say(
            run,
            text(
                (short(edge.source), "cyan"), (f" {edge.type} → ", "bold green"), (short(edge.target), "cyan")
            ),
        )


@command("unrelate")
@click.argument("source", metavar="FROM")
@click.argument("target", metavar="TO")
@click.option(
    "--type",
    "edge_type",
    type=one_of(EdgeType),
    default="related_to",
    show_default=True,
    help="Which connection.",
)
@pass_run
def unrelate(run: Run, source: str, target: str, edge_type: str) -> None:
    """Take a connection away."""
    with run.open() as memory:
        removed = memory.unrelate(source, target, edge_type)
    if run.json:
        say_json({"removed": removed})
    elif not run.quiet:
        say(
            run,
            text(("removed", "bold yellow")) if removed else text(("there was no such connection", "bold")),
        )
    if not removed:
        raise click.exceptions.Exit(NOT_FOUND)


def say_changed(run: Run, verb: str, changed: Memory, *, hint: str = "") -> None:
    """A memory after a change, in one line."""
    if run.json:
        say_json(changed)
    elif run.quiet:
        say(run, changed.id)
    else:
        say(
            run,
            text(
                (verb, "bold green"),
                " ",
                (short(changed.id), "bold cyan"),
                (f" · {line(changed.content)}", ""),
            ),
        )
        if hint:
            say(run, text((f"  {hint}", "dim")))
