"""`engram remember`: a statement, or one a line from stdin, goes in; a receipt comes out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from engram.cli.options import (
    CommandRun,
    MomentOption,
    command,
    field_options,
    given,
    one_of,
    pass_run,
    read_stdin,
    text_or_stdin,
)
from engram.cli.output import BAD_INPUT, counted, day, line, say, say_json, short, text
from engram.errors import WrongType
from engram.model.capture import Observation, Outcome, Receipt, Refusal
from engram.model.memory import Layer

if TYPE_CHECKING:
    from rich.text import Text

    from engram.engine import Engram


OUTCOME_STYLES = {
    Outcome.STORED: "bold green",
    Outcome.REINFORCED: "bold blue",
    Outcome.MERGED: "bold blue",
    Outcome.SUPERSEDED: "bold magenta",
    Outcome.CHALLENGED: "bold yellow",
}


@command("remember")
@click.argument("content", nargs=-1)
@click.option("--lines", is_flag=True, help="Each line of stdin is a memory of its own.")
@field_options
@click.option("--layer", type=one_of(Layer), help="Where it begins.")
@click.option("--pin", "pinned", is_flag=True, help="Never forget it.")
@click.option("--apart", is_flag=True, help="A memory of its own, even when the same is known.")
@click.option("--session", metavar="NAME", help="The conversation it belongs to.")
@click.option("--speaker", metavar="NAME", help="Who said it.")
@click.option("--source", metavar="NAME", help="Where it comes from: human, agent, import …")
@pass_run
def remember(run: CommandRun, content: tuple[str, ...], lines: bool, **fields: Any) -> None:
    """Keep a statement.

    The receipt says what became of it: stored, reinforced (it was known), merged, or superseded (it corrects
    an older memory, which gives way). With `-`, or when something is piped in, stdin is read.
    """
    named = given(fields) | {"scope": run.scope}
    if lines:
        if content not in ((), ("-",)):
            raise click.UsageError("--lines reads stdin: give no content beside it.")
        _remember_lines(run, read_stdin("content"), named)
        return
    said = text_or_stdin(content, "content")
    with run.open(makes=True) as memory:
        receipt = memory.remember(said, **named)
    say_receipt(run, receipt)


def _remember_lines(run: CommandRun, piped: str, named: dict[str, Any]) -> None:
    numbered = [(number, said) for number, said in enumerate(piped.splitlines(), 1) if said.strip()]
    with run.open(makes=True) as memory:
        answers = memory.remember_many([named | {"content": said} for _, said in numbered], partial=True)
    numbers = [number for number, _ in numbered]
    report = batch_report(answers, numbers)
    if run.json:
        kept = [answer for answer in answers if isinstance(answer, Receipt)]
        say_json(report | {"receipts": kept})
    else:
        _say_lines(run, answers, numbers)
    if report["refused"]:
        raise click.exceptions.Exit(BAD_INPUT)


def batch_report(answers: Sequence[Receipt | Refusal], numbers: Sequence[int]) -> dict[str, Any]:
    """How many of each outcome, and which lines were refused."""
    counts = Counter(answer.outcome for answer in answers if isinstance(answer, Receipt))
    refused = [
        {"line": number, "code": answer.error.code, "message": answer.error.message}
        for number, answer in zip(numbers, answers, strict=True)
        if isinstance(answer, Refusal)
    ]
    return {str(outcome): counts[outcome] for outcome in Outcome} | {"refused": refused}


def _say_lines(run: CommandRun, answers: Sequence[Receipt | Refusal], numbers: Sequence[int]) -> None:
    for number, answer in zip(numbers, answers, strict=True):
        if isinstance(answer, Receipt):
            say(run, answer.memory.id if run.quiet else receipt_line(answer))
        else:
            click.echo(f"line {number}: error {answer.error.code}: {answer.error.message}", err=True)


def say_receipt(run: CommandRun, receipt: Receipt) -> None:
    """One receipt, for whoever asked."""
    if run.json:
        say_json(receipt)
    elif run.quiet:
        say(run, receipt.memory.id)
    else:
        say(run, receipt_line(receipt), *_reasons(receipt))


def receipt_line(receipt: Receipt) -> Text:
    """What happened, in one line.

    A correction is stored and the older one gives way, or both stay in doubt: the line names both.
    """
    memory = receipt.memory
    doubt = receipt.outcome is Outcome.CHALLENGED
    older = (
        [(f" · {'contradicts' if doubt else 'in place of'} {short(receipt.other)}", "dim")]
        if receipt.other
        else []
    )
    verb = "stored" if doubt or receipt.outcome is Outcome.SUPERSEDED else str(receipt.outcome)
    return text(
        (verb, OUTCOME_STYLES[receipt.outcome]), " ", (short(memory.id), "bold cyan"),
        (f" · {line(memory.category)} · {memory.kind}", ""), *older,
    )  # fmt: skip


def _reasons(receipt: Receipt) -> list[Text]:
    reasons = [text((f"  {line(receipt.because)}", "dim"))] if receipt.because else []
    if not receipt.embedded:
        reasons.append(text(("  its vector is still to come; its words find it meanwhile", "yellow")))
    return reasons


# ---------------------------------------------------------------- observe
# `engram observe` and `engram turns`: what was said goes in, what was learned comes out.


LEFT_OUT_SHOWN = 12


@command("observe")
@click.argument("said", nargs=-1)
@click.option("--as", "part", type=click.Choice(["user", "assistant"]), default="user", help="Whose words.")
@click.option("--messages", is_flag=True, help="Read chat messages from stdin: a JSON list, or JSON Lines.")
@click.option("--session", metavar="NAME", default="", help="The conversation it belongs to.")
@click.option("--speaker", metavar="NAME", default="", help="The user's name.")
@click.option("--time", "at", type=MomentOption(), help="When it was said.")
@click.option("--message-id", metavar="ID", default="", help="Saying it again under this id changes nothing.")
@pass_run
def observe(run: CommandRun, said: tuple[str, ...], messages: bool, **given: Any) -> None:
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
    memory: Engram, run: CommandRun, said: tuple[str, ...], given: dict[str, Any], *, messages: bool
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
def turns(run: CommandRun, session: str, limit: int) -> None:
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
