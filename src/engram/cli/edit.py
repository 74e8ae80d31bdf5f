"""`engram edit`: the fields of a memory change; without any, its content opens in the editor."""

from __future__ import annotations

import sys
from typing import Any

import click

from engram.cli.change import because_option, id_argument, say_changed
from engram.cli.fields import field_options, given
from engram.cli.options import Run, command, pass_run
from engram.cli.output import say, text
from engram.cli.values import read_stdin
from engram.errors import NotFound


@command("edit")
@id_argument
@click.option("--content", metavar="TEXT", help="New words; `-` reads them from stdin.")
@field_options
@because_option
@pass_run
def edit(run: Run, memory_id: str, because: str, **fields: Any) -> None:
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


def _in_editor(run: Run, content: str) -> str | None:
    if run.json or not sys.stdin.isatty():
        raise click.UsageError(
            "Say what to change (--content, --category, --tag …): no editor can open here."
        )
    written = click.edit(content + "\n", extension=".txt")
    return None if written is None else written.rstrip("\r\n")
