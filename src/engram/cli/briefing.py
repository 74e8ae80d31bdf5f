"""What a session starts with: `engram resume` and `engram pack`."""

from __future__ import annotations

import click

from engram.cli.options import Run, command, pass_run
from engram.cli.output import console, say_json, shown, table, text

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
def resume(run: Run, *, budget: int | None, compact: bool, workspace: str, parts: bool) -> None:
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
def pack(run: Run, *, message: tuple[str, ...], tasks: tuple[str, ...], workspace: str, parts: bool) -> None:
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
