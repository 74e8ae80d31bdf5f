"""`engram remember` keeps statements, `engram observe` listens to a talk, `engram turns` tells it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import click

from engram.cli.made import Spelling, presented, variant
from engram.cli.options import CommandRun, read_stdin, text_or_stdin
from engram.cli.output import BAD_INPUT, counted, day, line, say, say_json, short, text
from engram.engine import Engram
from engram.errors import EmptyContent, WrongType
from engram.lazily import dataclass
from engram.model.capture import Observation, Outcome, Receipt, Refusal, Turn
from engram.model.clock import SystemClock
from engram.model.plain import Says
from engram.model.scope import Scope

if TYPE_CHECKING:
    from rich.text import Text


OUTCOME_STYLES = {
    Outcome.STORED: "bold green",
    Outcome.REINFORCED: "bold blue",
    Outcome.MERGED: "bold blue",
    Outcome.SUPERSEDED: "bold magenta",
    Outcome.CHALLENGED: "bold yellow",
}


@dataclass(frozen=True, slots=True)
class KeptLines:
    """What became of each line that was to be remembered, and its number."""

    answers: Sequence[Receipt | Refusal]
    numbers: Sequence[int]


def _remember_lines(
    memory: Engram,
    content: Sequence[str] = (),
    lines: Annotated[bool, Says("Each line of stdin is a memory of its own.")] = False,
    **fields: Any,
) -> Receipt | KeptLines:
    if not lines:
        return memory.remember(content[0], **fields)
    numbered = [(number, statement) for number, statement in enumerate(content, 1) if statement.strip()]
    drafts = [fields | {"content": statement} for _, statement in numbered]
    return KeptLines(memory.remember_many(drafts, partial=True), [number for number, _ in numbered])


def _some(field: str, words: str) -> str:
    """The words, unless there are none: then no memory is made either. Raises EmptyContent."""
    if not words.strip():
        raise EmptyContent(field)
    return words


def _content_or_stdin(_: CommandRun, arguments: dict[str, Any]) -> dict[str, Any]:
    words, expires = arguments.get("content", ()), arguments.get("expires_at")
    if expires is not None and expires <= SystemClock().now():
        raise click.UsageError("--expires is a time that is over: nothing would be kept.")
    if not arguments.get("lines"):
        return arguments | {"content": (_some("content", text_or_stdin(words, "content")),)}
    if words not in ((), ("-",)):
        raise click.UsageError("--lines reads stdin: give no content beside it.")
    return arguments | {"content": _some("content", read_stdin("content")).splitlines()}


@presented(
    "remember",
    Spelling(variant("remember", _remember_lines), "content*", fields=True, without=("believed",)),
    with_json=True,
    prepare=_content_or_stdin,
)
def remember(run: CommandRun, result: Receipt | KeptLines) -> None:
    """Keep a statement.

    The receipt says what became of it: stored, reinforced (it was known), merged, or superseded (it corrects
    an older memory, which gives way). With `-`, or when something is piped in, stdin is read.
    """
    if isinstance(result, Receipt):
        if run.json:
            say_json(result)
        else:
            say(run, *([result.memory.id] if run.quiet else [receipt_line(result), *_reasons(result)]))
        return
    receipts = [answer for answer in result.answers if isinstance(answer, Receipt)]
    counts = Counter(receipt.outcome for receipt in receipts)
    refused = [
        {"line": number, "code": answer.error.code, "message": answer.error.message}
        for number, answer in zip(result.numbers, result.answers, strict=True)
        if isinstance(answer, Refusal)
    ]
    if run.json:
        report = {str(outcome): counts[outcome] for outcome in Outcome}
        say_json(report | {"refused": refused, "receipts": receipts})
    else:
        say(run, *(receipt.memory.id if run.quiet else receipt_line(receipt) for receipt in receipts))
        for refusal in refused:
            click.echo(f"line {refusal['line']}: error {refusal['code']}: {refusal['message']}", err=True)
    if refused:
        raise click.exceptions.Exit(BAD_INPUT)


def receipt_line(receipt: Receipt) -> Text:
    """What happened, in one line.

    A correction is stored and the older one gives way, or both stay in doubt: the line names both.
    """
    memory = receipt.memory
    doubt = receipt.outcome is Outcome.CHALLENGED
    how = "contradicts" if doubt else "in place of"
    older = [(f" · {how} {short(receipt.other)}", "dim")] if receipt.other else []
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


def _observe_now(
    memory: Engram,
    said: Sequence[str] = (),
    *,
    part: Annotated[str, Says("Whose words.", choices=("user", "assistant"), flags="--as")] = "user",
    messages: Annotated[bool, Says("Read chat messages from stdin: a JSON list, or JSON Lines.")] = False,
    session: str = "",
    speaker: Annotated[str, Says("The user's name.")] = "",
    time: datetime | None = None,
    message_id: str = "",
    scope: Scope | None = None,
) -> Observation:
    """Observe and read at once: this process ends, and nobody would be there to read it later."""
    common: dict[str, Any] = {"session": session, "speaker": speaker, "time": time, "scope": scope}
    if messages:
        heard = memory.observe(messages=_messages(said[0]), **common)
    else:
        words: dict[str, Any] = {part: said[0]}
        heard = memory.observe(**words, message_id=message_id, **common)
    rest = memory.flush(scope=scope)
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


def _words_or_messages(_: CommandRun, arguments: dict[str, Any]) -> dict[str, Any]:
    """The words, or the messages on stdin as they are written."""
    words = arguments.get("said", ())
    if not arguments.get("messages"):
        return arguments | {"said": (_some("content", text_or_stdin(words, "what was said")),)}
    if words not in ((), ("-",)):
        raise click.UsageError("--messages reads stdin: give no words beside it.")
    return arguments | {"said": (read_stdin("messages"),)}


@presented("observe", Spelling(variant("observe", _observe_now), "said*"), prepare=_words_or_messages)
def observe(run: CommandRun, heard: Observation) -> None:
    """Listen to what was said and keep what is worth keeping.

    Prints what was learned and, unless --quiet, what was left out and why. With `-`, or when something is
    piped in, stdin is read.
    """
    if run.quiet:
        say(run, *(receipt.memory.id for receipt in heard.receipts))
    else:
        say(run, *_observation_lines(heard))


def _messages(piped: str) -> list[Any]:
    """A JSON list, an object with `messages`, or a message a line."""
    try:
        whole = json.loads(piped)
    except json.JSONDecodeError:
        whole = []
        for number, row in enumerate(piped.splitlines(), 1):
            try:
                whole += [json.loads(row)] if row.strip() else []
            except json.JSONDecodeError as error:
                raise WrongType(f"line {number}", row[:40], "JSON") from error
    if isinstance(whole, dict):
        whole = whole.get("messages", [whole])
    if not isinstance(whole, list):
        raise WrongType("messages", whole, "a list of messages")
    return whole


def _observation_lines(heard: Observation) -> Iterator[Text]:
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


@presented("turns", Spelling("history.turns", "session", without=("after",)), with_json=True)
def turns(run: CommandRun, spoken: Sequence[Turn]) -> None:
    """Show a conversation word for word."""
    if run.json:
        say_json(spoken)
        return
    if not spoken and not run.quiet:
        say(run, text(("nothing was said there", "bold")))
    for turn in spoken:
        who = turn.speaker or str(turn.part)
        waits = "" if turn.captured_at else " · waits to be read"
        words = ((f"{day(turn.at)} ", "dim"), (who, "bold cyan"), (waits, "yellow"))
        say(run, text(*words, f"  {line(turn.content)}"))
