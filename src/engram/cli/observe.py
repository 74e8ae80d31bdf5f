"""`engram observe` and `engram turns`: what was said goes in, what was learned comes out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from engram.cli.options import Run, command, pass_run
from engram.cli.output import counted, day, line, say, say_json, text
from engram.cli.remember import receipt_line
from engram.cli.values import When, read_stdin, text_or_stdin
from engram.errors import WrongType
from engram.model.observation import Observation

if TYPE_CHECKING:
    from rich.text import Text

    from engram.engine import Engram

LEFT_OUT_SHOWN = 12


@command("observe")
@click.argument("said", nargs=-1)
@click.option("--as", "part", type=click.Choice(["user", "assistant"]), default="user", help="Whose words.")
@click.option("--messages", is_flag=True, help="Read chat messages from stdin: a JSON list, or JSON Lines.")
@click.option("--session", metavar="NAME", default="", help="The conversation it belongs to.")
@click.option("--speaker", metavar="NAME", default="", help="The user's name.")
@click.option("--time", "at", type=When(), help="When it was said.")
@click.option("--message-id", metavar="ID", default="", help="Saying it again under this id changes nothing.")
@pass_run
def observe(run: Run, said: tuple[str, ...], messages: bool, **given: Any) -> None:
    """Listen to what was said and keep what is worth keeping.

    Prints what was learned and, unless --quiet, what was left out and why. With `-`, or when something is
    piped in, stdin is read.
    """
    with run.open(makes=True) as memory:
        heard = _hear(memory, run, said, given, messages=messages)
    if run.json:
        say_json(heard)
    elif run.quiet:
        say(run, *(receipt.memory.id for receipt in heard.receipts))
    else:
        say(run, *_told(heard))


def _hear(
    memory: Engram, run: Run, said: tuple[str, ...], given: dict[str, Any], *, messages: bool
) -> Observation:
    """Observe and read at once: this process ends, and nobody would be there to read it later."""
    common: dict[str, Any] = {
        "session": given["session"],
        "speaker": given["speaker"],
        "time": given["at"],
        "scope": run.scope,
    }
    if messages:
        if said not in ((), ("-",)):
            raise click.UsageError("--messages reads stdin: give no words beside it.")
        heard = memory.observe(messages=_messages(read_stdin("messages")), **common)
    else:
        words: dict[str, Any] = {given["part"]: text_or_stdin(said, "what was said")}
        heard = memory.observe(**words, message_id=given["message_id"], **common)
    rest = memory.flush(scope=run.scope)
    return replace(
        heard,
        captured=heard.captured + rest.captured,
        receipts=heard.receipts + rest.receipts,
        left_out=heard.left_out + rest.left_out,
        waiting=rest.waiting,
        because=heard.because if heard.captured else rest.because,
        by=rest.by if rest.receipts else heard.by,
        trouble=rest.trouble or heard.trouble,
    )


def _messages(piped: str) -> list[Any]:
    """A JSON list, an object with `messages`, or a message a line."""
    try:
        whole = json.loads(piped)
    except json.JSONDecodeError:
        whole = [_line(number, row) for number, row in enumerate(piped.splitlines(), 1) if row.strip()]
    if isinstance(whole, dict):
        whole = whole.get("messages", [whole])
    if not isinstance(whole, list):
        raise WrongType("messages", whole, "a list of messages")
    return whole


def _line(number: int, row: str) -> Any:
    try:
        return json.loads(row)
    except json.JSONDecodeError as error:
        raise WrongType(f"line {number}", row[:40], "JSON") from error


def _told(heard: Observation) -> Iterator[Text]:
    turns = counted(len(heard.captured), "turn")
    yield text(
        (f"{turns} read by {heard.by}", "bold"), f" · {counted(len(heard.receipts), 'statement')} kept"
    )
    if heard.trouble:
        yield text((f"no model helped: {heard.trouble}", "yellow"))
    if heard.known:
        yield text((f"{counted(heard.known, 'turn')} known already", "dim"))
    for receipt in heard.receipts:
        yield receipt_line(receipt)
        yield text(("  ", ""), line(receipt.memory.shown))
    for left in heard.left_out[:LEFT_OUT_SHOWN]:
        yield text((f"left out · {left.why}: ", "dim"), (line(left.text), "dim"))
    more = len(heard.left_out) - LEFT_OUT_SHOWN
    if more > 0:
        yield text((f"and {more} more left out", "dim"))


@command("turns")
@click.argument("session")
@click.option("--limit", type=click.IntRange(1, 10_000), default=200, help="How many at most.")
@pass_run
def turns(run: Run, session: str, limit: int) -> None:
    """Show a conversation word for word."""
    with run.open() as memory:
        found = memory.turns(session, limit=limit)
    if run.json:
        say_json(found)
        return
    for turn in found:
        who = turn.speaker or str(turn.part)
        waits = "" if turn.captured_at else " · waits to be read"
        say(
            run,
            text(
                (f"{day(turn.at)} ", "dim"),
                (who, "bold cyan"),
                (waits, "yellow"),
                f"  {line(turn.content)}",
            ),
        )
