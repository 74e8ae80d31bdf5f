"""Between agents: `bus publish`, `subscribe`, `list`, `withdraw`, `unsubscribe`, `deliver`."""

from __future__ import annotations

import click

from engram.cli.exits import NOT_FOUND
from engram.cli.maintain import lines
from engram.cli.options import Group, Run, pass_run
from engram.cli.output import line, say, say_json, short, table, text
from engram.nouns.bus import REGIONS


@click.group("bus", cls=Group, otherwise="list")
def bus() -> None:
    """Let agents tell each other what they learned."""


@bus.command("publish")
@click.argument("memory_id")
@click.option("--to", type=click.Choice(REGIONS), default="project", show_default=True)
@click.option("--only", "agents", multiple=True, help="Only this agent; may be given several times.")
@click.option("--topic", "topics", multiple=True, help="What it is about; else its tags and topics.")
@pass_run
def publish(run: Run, *, memory_id: str, to: str, agents: tuple[str, ...], topics: tuple[str, ...]) -> None:
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
def withdraw(run: Run, *, publication_id: str) -> None:
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
    run: Run,
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
def unsubscribe(run: Run, *, subscription_id: str) -> None:
    """End a subscription; what was delivered stays."""
    with run.open() as memory:
        _done(run, memory.bus.unsubscribe(subscription_id), "ended")


@bus.command("list")
@pass_run
def show(run: Run) -> None:
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
def deliver(run: Run) -> None:
    """Deliver now what waits; maintenance does it by itself."""
    with run.open(whole_file=True) as memory:
        report = memory.bus.deliver()
    say_json(report) if run.json else say(run, *lines(report))


def _done(run: Run, was: bool, word: str) -> None:
    if run.json:
        say_json({word: was})
    elif was:
        say(run, text((word, "bold green")))
    else:
        say(run, text(("there is none of that id", "yellow")))
    if not was:
        raise click.exceptions.Exit(NOT_FOUND)
