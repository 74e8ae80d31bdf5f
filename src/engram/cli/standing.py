"""Where a memory stands: `promote`, `demote`, and the `trash`."""

from __future__ import annotations

import click

from engram.cli.browse import memory_table
from engram.cli.change import ask_before_erasing, because_option, id_argument, say_changed, yes_option
from engram.cli.options import Run, command, pass_run
from engram.cli.output import counted, say, say_json, text

EMPTYING = "what you forgot and what maintenance archived. Nothing brings it back afterwards."


@command("promote")
@id_argument
@because_option
@pass_run
def promote(run: Run, memory_id: str, because: str) -> None:
    """Move a memory one layer up."""
    with run.open() as memory:
        changed = memory.promote(memory_id, because)
    say_changed(run, f"promoted to {changed.layer.name.lower()}", changed)


@command("demote")
@id_argument
@because_option
@pass_run
def demote(run: Run, memory_id: str, because: str) -> None:
    """Move a memory one layer down."""
    with run.open() as memory:
        changed = memory.demote(memory_id, because)
    say_changed(run, f"demoted to {changed.layer.name.lower()}", changed)


@command("trash")
@click.option("-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many.")
@click.option("--empty", is_flag=True, help="Remove what lies there for good.")
@because_option
@yes_option
@pass_run
def trash(run: Run, limit: int, empty: bool, because: str, yes: bool) -> None:
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
