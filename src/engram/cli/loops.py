"""`engram commitments …` and `engram triggers …`: open loops, and words that load pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from engram.cli.change import because_option
from engram.cli.options import Group, Run, pass_run
from engram.cli.output import counted, line, say, say_json, short, table, text
from engram.cli.values import text_or_stdin

if TYPE_CHECKING:
    from rich.text import Text

    from engram.model.commitment import Commitment
    from engram.model.trigger import Trigger

STATES = ("open", "waiting", "done", "dropped")
id_argument = click.argument("commitment_id", metavar="ID")


@click.group("commitments", cls=Group, otherwise="list")
def commitments() -> None:
    """Open, wait for and close what was promised."""


@commitments.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only in this state; else all that are not closed.")
@click.option("-n", "--limit", type=int, default=100, show_default=True, metavar="N", help="So many at most.")
@pass_run
def list_loops(run: Run, state: str | None, limit: int) -> None:
    """List commitments, oldest first."""
    with run.open() as memory:
        found = memory.commitments.list(state, limit=limit, scope=run.scope)
    if run.json:
        say_json({"commitments": found})
    elif run.quiet:
        say(run, *(one.id for one in found))
    elif found:
        say(run, table(("id", "state", "age", "due", "what"), [_row(one) for one in found]))
        say(run, text((counted(len(found), "commitment"), "dim")))
    else:
        say(run, text(("nothing is open", "bold")))


def _row(one: Commitment) -> tuple[Text | str, ...]:
    from engram.lifecycle.commitments import last_day

    day = f"{last_day(one.due)}" if one.due else ""
    whom = f"  waits for {line(one.waiting_on)}" if one.waiting_on else ""
    return (
        text((short(one.id), "cyan")),
        text((str(one.state), "magenta")),
        f"{one.age_days}d",
        text((day, "bold red" if one.is_overdue else "")),
        text(line(one.text), (whom, "dim")),
    )


@commitments.command("open")
@click.argument("words", nargs=-1, metavar="TEXT")
@click.option("--due", metavar="WHEN", help="A day or words for it: 2026-12-31, or 'by Friday'.")
@click.option("--waiting-on", default="", metavar="WHOM", help="Whom or what it waits for.")
@pass_run
def open_loop(run: Run, words: tuple[str, ...], due: str | None, waiting_on: str) -> None:
    """Open a loop: something promised or owed."""
    said = text_or_stdin(words, "commitment")
    with run.open(makes=True) as memory:
        _say(run, "opened", memory.commitments.open(said, due=due, waiting_on=waiting_on, scope=run.scope))


@commitments.command("show")
@id_argument
@pass_run
def show(run: Run, commitment_id: str) -> None:
    """Show one commitment."""
    with run.open() as memory:
        _say(run, "", memory.commitments.get(commitment_id))


@commitments.command("close")
@id_argument
@click.option("--dropped", is_flag=True, help="It will not be done; otherwise it is done.")
@because_option
@pass_run
def close(run: Run, commitment_id: str, dropped: bool, because: str) -> None:
    """Say that it is done, or dropped."""
    with run.open() as memory:
        outcome = "dropped" if dropped else "done"
        _say(run, outcome, memory.commitments.close(commitment_id, outcome, because=because))


@commitments.command("wait")
@id_argument
@click.argument("on", metavar="WHOM")
@pass_run
def wait(run: Run, commitment_id: str, on: str) -> None:
    """Say for whom or what it waits."""
    with run.open() as memory:
        _say(run, "waiting", memory.commitments.wait(commitment_id, on))


@commitments.command("reopen")
@id_argument
@click.option("--due", metavar="WHEN", help="The new day: 2026-12-31, or 'by Friday'.")
@because_option
@pass_run
def reopen(run: Run, commitment_id: str, due: str | None, because: str) -> None:
    """Open it again."""
    with run.open() as memory:
        _say(run, "reopened", memory.commitments.reopen(commitment_id, due=due, because=because))


@commitments.command("review")
@click.option("--dry", is_flag=True, help="Only tell what would be closed.")
@click.option("-n", "--limit", type=int, default=100, show_default=True, metavar="N", help="Look at so many.")
@pass_run
def review(run: Run, dry: bool, limit: int) -> None:
    """Close what a later statement says was done."""
    with run.open() as memory:
        found = memory.commitments.review(dry=dry, limit=limit)
    if run.json:
        say_json({"closings": found})
        return
    for one in found:
        _say(run, "would close" if dry else "closed", one.commitment)
        say(run, text((f"  {line(one.statement)}", "dim")))
    if not found:
        say(run, text(("no statement says that anything was done", "bold")))


def _say(run: Run, verb: str, one: Commitment) -> None:
    if run.json:
        say_json(one)
    elif run.quiet:
        say(run, one.id)
    else:
        say(run, text((f"{verb} " if verb else "", "bold green"), (line(one.text), "")))
        say(run, table(("id", "state", "age", "due", "what"), [_row(one)]))


# ---------------------------------------------------------------- triggers


@click.group("triggers", cls=Group, otherwise="list")
def triggers() -> None:
    """Let words in a message load pages into the recall pack."""


@triggers.command("list")
@pass_run
def list_triggers(run: Run) -> None:
    """List triggers, oldest first."""
    with run.open() as memory:
        found = memory.triggers.list()
    if run.json:
        say_json({"triggers": found})
    elif run.quiet:
        say(run, *(one.id for one in found))
    elif found:
        rows = [
            (text((one.id, "cyan")), line(", ".join(one.words)), line(" ".join(one.pages))) for one in found
        ]
        say(run, table(("id", "words", "pages"), rows))
    else:
        say(
            run,
            text(("there is none. ", "bold"), ("engram triggers add WORD … --load PAGE makes one", "dim")),
        )


@triggers.command("add")
@click.argument("words", nargs=-1, required=True)
@click.option(
    "--load",
    "pages",
    multiple=True,
    required=True,
    metavar="PAGE",
    help="entity:NAME, tag:TAG, category:NAME, memory:ID or origin:BEGINNING; repeatable.",
)
@pass_run
def add_trigger(run: Run, words: tuple[str, ...], pages: tuple[str, ...]) -> None:
    """Make a trigger. Each of WORDS is a word, or a phrase in quotation marks."""
    with run.open(makes=True) as memory:
        _say_trigger(run, "made", memory.triggers.add(words, pages, scope=run.scope))


@triggers.command("edit")
@click.argument("trigger_id", metavar="ID")
@click.option(
    "--word", "words", multiple=True, metavar="WORD", help="The words it has from now on; repeatable."
)
@click.option(
    "--load", "pages", multiple=True, metavar="PAGE", help="The pages it loads from now on; repeatable."
)
@pass_run
def edit_trigger(run: Run, trigger_id: str, words: tuple[str, ...], pages: tuple[str, ...]) -> None:
    """Change a trigger."""
    with run.open() as memory:
        changed = memory.triggers.update(trigger_id, words=words or None, pages=pages or None)
        _say_trigger(run, "changed", changed)


@triggers.command("remove")
@click.argument("trigger_id", metavar="ID")
@pass_run
def remove_trigger(run: Run, trigger_id: str) -> None:
    """Take a trigger away."""
    with run.open() as memory:
        _say_trigger(run, "removed", memory.triggers.remove(trigger_id))


@triggers.command("match")
@click.argument("message", nargs=-1, required=True)
@pass_run
def match(run: Run, message: tuple[str, ...]) -> None:
    """Tell which triggers a message sets off."""
    with run.open() as memory:
        found = memory.triggers.match(" ".join(message))
    if run.json:
        say_json({"triggers": found})
    else:
        for one in found:
            _say_trigger(run, "sets off", one)
        if not found:
            say(run, text(("it sets off nothing", "bold")))


def _say_trigger(run: Run, verb: str, one: Trigger) -> None:
    if run.json:
        say_json(one)
    elif run.quiet:
        say(run, one.id)
    else:
        told = f"{line(', '.join(one.words))} loads {line(' '.join(one.pages))}"
        say(run, text((f"{verb} ", "bold green"), (one.id, "cyan"), f" · {told}"))
