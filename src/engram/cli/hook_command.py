"""`engram hook` as a command with the options of all others; `engram.cli.hooks` does the work."""

from __future__ import annotations

import sys

import click

from engram.cli.hooks import EVENTS, HookPlace, run
from engram.cli.options import CommandRun, command, pass_run


@command("hook")
@click.argument("event", type=click.Choice([*EVENTS]))
@pass_run
def hook(told: CommandRun, event: str) -> None:
    """Tell a coding agent what is remembered, and capture what it says.

    Reads the agent's hook message from stdin. `session-start` and `prompt-submit` print a short brief as
    additional context; `stop` and `pre-compact` capture what the transcript says. Never fails: what goes
    wrong is a line on stderr.
    """
    run(event, sys.stdin.buffer.read(), lambda: HookPlace(told.file, told.scope, told.config))
