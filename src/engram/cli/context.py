"""`engram context`: a message in, the prompt for a model out; with --explain the table of its sections."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from engram.cli.options import CommandRun, command, pass_run, text_or_stdin
from engram.cli.output import console, counted, say, say_json, shown, table, text

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
    run: CommandRun,
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


# ---------------------------------------------------------------- briefing
# What a session starts with: `engram resume` and `engram pack`.


workspace_option = click.option(
    "--workspace", default="", metavar="NAME", help="Leave out what belongs to another workspace."
)
parts_option = click.option("--parts", is_flag=True, help="Show what each section takes instead of the text.")


@command("resume")
@click.option("--budget", type=int, metavar="N", help="Characters at most; by default as memory has grown.")
@click.option("--compact", is_flag=True, help="Key facts only, in a quarter of the room.")
@workspace_option
@parts_option
@pass_run
def resume(run: CommandRun, *, budget: int | None, compact: bool, workspace: str, parts: bool) -> None:
    """Tell a session that starts cold where things stand.

    It counts as no use of any memory.
    """
    with run.open() as memory:
        found = memory.resume(
            budget, form="compact" if compact else "full", scope=run.scope, workspace=workspace
        )
    if run.json:
        say_json(found)
    elif parts:
        rows = [
            (one.name, str(len(one.ids)), str(one.left_out), str(one.size), one.how) for one in found.sections
        ]
        console(run).print(table(("section", "told", "left out", "characters", "how"), rows))
    else:
        click.echo(shown(found.text))


@command("pack")
@click.argument("message", nargs=-1)
@click.option("--task", "tasks", multiple=True, metavar="TEXT", help="What is to be done today; repeatable.")
@workspace_option
@parts_option
@pass_run
def pack(
    run: CommandRun, *, message: tuple[str, ...], tasks: tuple[str, ...], workspace: str, parts: bool
) -> None:
    """Write the recall pack: rules, open loops, today, context, procedures.

    The same memories give the same bytes all day. Words of MESSAGE may load more pages: see engram triggers.
    """
    with run.open() as memory:
        found = memory.recall_pack(" ".join(message), tasks=tasks, scope=run.scope, workspace=workspace)
    if run.json:
        say_json(found)
    elif parts:
        rows = [
            (one.name, str(len(one.ids)), str(one.left_out), f"{one.size}/{one.limit}", one.how)
            for one in found.sections
        ]
        console(run).print(table(("section", "told", "left out", "words", "how"), rows))
        console(run).print(text((f"{found.words} of {found.limit} words", "dim")))
    else:
        click.echo(shown(found.text), nl=False)
