"""`engram commitments …` and `engram triggers …`: open loops, and words that load pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from engram.api.bus import REGIONS
from engram.cli.change import because_option
from engram.cli.maintain import lines
from engram.cli.options import CommandRun, Group, command, pass_run, text_or_stdin
from engram.cli.output import NOT_FOUND, counted, line, say, say_json, short, table, text

if TYPE_CHECKING:
    from rich.text import Text

    from engram.model.maintenance import DriftReport
    from engram.model.session import Commitment, Gap, Trigger


STATES = ("open", "waiting", "done", "dropped")
id_argument = click.argument("commitment_id", metavar="ID")


@click.group("commitments", cls=Group, otherwise="list")
def commitments() -> None:
    """Open, wait for and close what was promised."""


@commitments.command("list")
@click.option("--state", type=click.Choice(STATES), help="Only in this state; else all that are not closed.")
@click.option("-n", "--limit", type=int, default=100, show_default=True, metavar="N", help="So many at most.")
@pass_run
def list_loops(run: CommandRun, state: str | None, limit: int) -> None:
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
    from engram.rules.commitments import last_day

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
def open_loop(run: CommandRun, words: tuple[str, ...], due: str | None, waiting_on: str) -> None:
    """Open a loop: something promised or owed."""
    said = text_or_stdin(words, "commitment")
    with run.open(makes=True) as memory:
        _say(run, "opened", memory.commitments.open(said, due=due, waiting_on=waiting_on, scope=run.scope))


@commitments.command("show")
@id_argument
@pass_run
def show(run: CommandRun, commitment_id: str) -> None:
    """Show one commitment."""
    with run.open() as memory:
        _say(run, "", memory.commitments.get(commitment_id))


@commitments.command("close")
@id_argument
@click.option("--dropped", is_flag=True, help="It will not be done; otherwise it is done.")
@because_option
@pass_run
def close(run: CommandRun, commitment_id: str, dropped: bool, because: str) -> None:
    """Say that it is done, or dropped."""
    with run.open() as memory:
        outcome = "dropped" if dropped else "done"
        _say(run, outcome, memory.commitments.close(commitment_id, outcome, because=because))


@commitments.command("wait")
@id_argument
@click.argument("on", metavar="WHOM")
@pass_run
def wait(run: CommandRun, commitment_id: str, on: str) -> None:
    """Say for whom or what it waits."""
    with run.open() as memory:
        _say(run, "waiting", memory.commitments.wait(commitment_id, on))


@commitments.command("reopen")
@id_argument
@click.option("--due", metavar="WHEN", help="The new day: 2026-12-31, or 'by Friday'.")
@because_option
@pass_run
def reopen(run: CommandRun, commitment_id: str, due: str | None, because: str) -> None:
    """Open it again."""
    with run.open() as memory:
        _say(run, "reopened", memory.commitments.reopen(commitment_id, due=due, because=because))


@commitments.command("review")
@click.option("--dry", is_flag=True, help="Only tell what would be closed.")
@click.option("-n", "--limit", type=int, default=100, show_default=True, metavar="N", help="Look at so many.")
@pass_run
def review(run: CommandRun, dry: bool, limit: int) -> None:
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


def _say(run: CommandRun, verb: str, one: Commitment) -> None:
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
def list_triggers(run: CommandRun) -> None:
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
def add_trigger(run: CommandRun, words: tuple[str, ...], pages: tuple[str, ...]) -> None:
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
def edit_trigger(run: CommandRun, trigger_id: str, words: tuple[str, ...], pages: tuple[str, ...]) -> None:
    """Change a trigger."""
    with run.open() as memory:
        changed = memory.triggers.update(trigger_id, words=words or None, pages=pages or None)
        _say_trigger(run, "changed", changed)


@triggers.command("remove")
@click.argument("trigger_id", metavar="ID")
@pass_run
def remove_trigger(run: CommandRun, trigger_id: str) -> None:
    """Take a trigger away."""
    with run.open() as memory:
        _say_trigger(run, "removed", memory.triggers.remove(trigger_id))


@triggers.command("match")
@click.argument("message", nargs=-1, required=True)
@pass_run
def match(run: CommandRun, message: tuple[str, ...]) -> None:
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


def _say_trigger(run: CommandRun, verb: str, one: Trigger) -> None:
    if run.json:
        say_json(one)
    elif run.quiet:
        say(run, one.id)
    else:
        told = f"{line(', '.join(one.words))} loads {line(' '.join(one.pages))}"
        say(run, text((f"{verb} ", "bold green"), (one.id, "cyan"), f" · {told}"))


# ---------------------------------------------------------------- doubt
# `engram gaps …` and `engram drift`: what is not known, and what is claimed and no longer so.


key_argument = click.argument("gap_id", metavar="KEY")


@click.group("gaps", cls=Group, otherwise="list")
def gaps() -> None:
    """Look at what is not known, ask about it and answer."""


@gaps.command("list")
@click.option("-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many at most.")
@pass_run
def list_gaps(run: CommandRun, limit: int) -> None:
    """List what is not known, the weightiest first."""
    with run.open() as memory:
        _say_doubt(run, memory.gaps.list(limit=limit, scope=run.scope))


@gaps.command("ask")
@click.option("--session", default="", metavar="NAME", help="At most two questions in one session.")
@click.option("--about", multiple=True, metavar="NAME", help="Those about this first; repeatable.")
@pass_run
def ask(run: CommandRun, session: str, about: tuple[str, ...]) -> None:
    """Give out the questions to ask now; each comes once a week."""
    with run.open() as memory:
        _say_doubt(run, memory.gaps.ask(session, about=about, scope=run.scope))


@gaps.command("answer")
@key_argument
@click.argument("words", nargs=-1, metavar="TEXT")
@pass_run
def answer(run: CommandRun, gap_id: str, words: tuple[str, ...]) -> None:
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
def dismiss(run: CommandRun, gap_id: str) -> None:
    """Close a question without an answer: it is not asked again."""
    with run.open() as memory:
        gap = memory.gaps.dismiss(gap_id)
    if run.json:
        say_json(gap)
    else:
        say(run, text(("dismissed ", "bold green"), line(gap.question)))


def _say_doubt(run: CommandRun, found: list[Gap]) -> None:
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
def drift(run: CommandRun, *, directory: str, apply: bool, limit: int) -> None:
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


def _tell(run: CommandRun, found: DriftReport) -> None:
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


# ---------------------------------------------------------------- bus
# Between agents: `bus publish`, `subscribe`, `list`, `withdraw`, `unsubscribe`, `deliver`.


@click.group("bus", cls=Group, otherwise="list")
def bus() -> None:
    """Let agents tell each other what they learned."""


@bus.command("publish")
@click.argument("memory_id")
@click.option("--to", type=click.Choice(REGIONS), default="project", show_default=True)
@click.option("--only", "agents", multiple=True, help="Only this agent; may be given several times.")
@click.option("--topic", "topics", multiple=True, help="What it is about; else its tags and topics.")
@pass_run
def publish(
    run: CommandRun, *, memory_id: str, to: str, agents: tuple[str, ...], topics: tuple[str, ...]
) -> None:
    """Offer a memory to other agents."""
    with run.open() as memory:
        offer = memory.bus.publish(memory_id, to=to, agents=agents, topics=topics)
    if run.json:
        say_json(offer)
    else:
        say(run, text(("offered", "bold green"), f" {short(offer.memory)} as {offer.id}"))


@bus.command("withdraw")
@click.argument("publication_id")
@pass_run
def withdraw(run: CommandRun, *, publication_id: str) -> None:
    """Take an offer back; copies stay."""
    with run.open() as memory:
        _done(run, memory.bus.withdraw(publication_id), "withdrawn")


@bus.command("subscribe")
@click.option("--topic", "topics", multiple=True, help="One of these; none: all.")
@click.option("--from", "agents", multiple=True, help="Only from this agent; may be given several times.")
@click.option("--min-importance", default=0.0, show_default=True, type=click.FloatRange(0, 1))
@click.option("--rate", default=10, show_default=True, help="Copies that one delivery may bring.")
@click.option("--earlier", is_flag=True, help="Also what was offered before.")
@pass_run
def subscribe(
    run: CommandRun,
    *,
    topics: tuple[str, ...],
    agents: tuple[str, ...],
    min_importance: float,
    rate: int,
    earlier: bool,
) -> None:
    """Ask for what others offer; copies come to where you stand (--agent, --project …)."""
    with run.open(makes=True) as memory:
        wish = memory.bus.subscribe(
            topics=topics, agents=agents, min_importance=min_importance, rate=rate, earlier=earlier
        )
    if run.json:
        say_json(wish)
    else:
        say(run, text(("subscribed", "bold green"), f" {line(wish.agent)} as {wish.id}"))


@bus.command("unsubscribe")
@click.argument("subscription_id")
@pass_run
def unsubscribe(run: CommandRun, *, subscription_id: str) -> None:
    """End a subscription; what was delivered stays."""
    with run.open() as memory:
        _done(run, memory.bus.unsubscribe(subscription_id), "ended")


@bus.command("list")
@pass_run
def show_bus(run: CommandRun) -> None:
    """List what is offered and who wants what."""
    with run.open(whole_file=True) as memory:
        offers, wishes = memory.bus.publications(), memory.bus.subscriptions()
    if run.json:
        say_json({"publications": offers, "subscriptions": wishes})
        return
    if not offers and not wishes:
        say(run, text(("nothing is offered and nobody subscribed", "dim")))
    if offers:
        rows = [
            (one.id, line(one.agent), short(one.memory), line(", ".join(one.topics)), f"{one.importance:.2f}")
            for one in offers
        ]
        say(run, table(("offer", "agent", "memory", "topics", "importance"), rows))
    if wishes:
        rows = [
            (
                one.id,
                line(one.agent),
                line(", ".join(one.topics) or "all"),
                f"{one.min_importance:.2f}",
                str(one.rate),
            )
            for one in wishes
        ]
        say(run, table(("wish", "agent", "topics", "from importance", "at a time"), rows))


@bus.command("deliver")
@pass_run
def deliver(run: CommandRun) -> None:
    """Deliver now what waits; maintenance does it by itself."""
    with run.open(whole_file=True) as memory:
        report = memory.bus.deliver()
    say_json(report) if run.json else say(run, *lines(report))


def _done(run: CommandRun, was: bool, word: str) -> None:
    if run.json:
        say_json({word: was})
    elif was:
        say(run, text((word, "bold green")))
    else:
        say(run, text(("there is none of that id", "yellow")))
    if not was:
        raise click.exceptions.Exit(NOT_FOUND)
