"""`engram remember`: a statement, or one a line from stdin, goes in; a receipt comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from engram.cli.exits import BAD_INPUT
from engram.cli.fields import field_options, given
from engram.cli.options import Run, command, pass_run
from engram.cli.output import line, say, say_json, short, text
from engram.cli.values import one_of, read_stdin, text_or_stdin
from engram.model.axes import Layer
from engram.model.receipt import Outcome, Receipt, Refusal

if TYPE_CHECKING:
    from rich.text import Text

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
def remember(run: Run, content: tuple[str, ...], lines: bool, **fields: Any) -> None:
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


def _remember_lines(run: Run, piped: str, named: dict[str, Any]) -> None:
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


def _say_lines(run: Run, answers: Sequence[Receipt | Refusal], numbers: Sequence[int]) -> None:
    for number, answer in zip(numbers, answers, strict=True):
        if isinstance(answer, Receipt):
            say(run, answer.memory.id if run.quiet else receipt_line(answer))
        else:
            click.echo(f"line {number}: error {answer.error.code}: {answer.error.message}", err=True)


def say_receipt(run: Run, receipt: Receipt) -> None:
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
