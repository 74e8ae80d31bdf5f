"""`engram context`: a message in, the prompt for a model out; with --explain the table of its sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from engram.cli.options import Run, command, pass_run
from engram.cli.output import counted, say, say_json, table, text
from engram.cli.values import text_or_stdin

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engram.model.context import Context


@command("context")
@click.argument("message", nargs=-1)
@click.option("-m", "--model", default="", metavar="NAME", help="The model the prompt is for.")
@click.option("--system", default="", metavar="TEXT", help="The system prompt it begins with.")
@click.option("--budget", type=int, metavar="TOKENS", help="At most so many for all of it.")
@click.option("--session", default="", metavar="NAME", help="Whose log is the conversation so far.")
@click.option("--explain", is_flag=True, help="Show what each section may cost and did cost.")
@pass_run
def context(
    run: Run,
    message: tuple[str, ...],
    *,
    model: str,
    system: str,
    budget: int | None,
    session: str,
    explain: bool,
) -> None:
    """Make the prompt for a message, within a model's budget.

    Prints the system prompt with what is remembered, and what was said before. It counts as no use.
    """
    asked = text_or_stdin(message, "message")
    with run.open() as memory:
        made = memory.context(
            asked, model=model, system=system, budget=budget, session=session, scope=run.scope, dry=True
        )
    if run.json:
        say_json(made)
    elif explain:
        say(run, *_table(made))
    else:
        say(run, *_prompt(made))


def _prompt(made: Context) -> Iterator[RenderableType]:
    """The prompt as a model gets it, message by message."""
    if made.system_prompt:
        yield text((made.system_prompt, ""))
    for one in made.conversation:
        yield text((f"{one.role}: ", "dim"), one.content)


def _table(made: Context) -> Iterator[RenderableType]:
    model = made.model
    known = f"{model.name or 'no model named'} · {model.provider or 'unknown, so taken for a small one'}"
    yield text((known, "bold"), (f" · window {model.window:,} · output {model.output:,}", "dim"))
    rows = [
        [one.name, f"{one.allotted:,}", f"{one.wanted:,}", f"{one.used:,}", f"{one.shown}/{one.of}", one.note]
        for one in made.sections
    ]
    yield table(("section", "allotted", "wanted", "used", "shown", ""), rows)
    way = "counted" if made.exact else "estimated"
    kept = f"{made.reserve:,} kept for the reply · {counted(len(made.memories), 'memory', 'memories')}"
    yield text(
        (f"{made.tokens:,} of {made.budget:,} tokens, {way} as {model.tokenizer}", "bold"),
        (f" · {kept}", "dim"),
    )
    for note in made.notes:
        yield text(("note ", "dim"), note)
