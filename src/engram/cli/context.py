"""`engram context`: a message in, the prompt for a model out; with --explain the table of its sections."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

import click

from engram.cli.options import CommandRun, Group, command, pass_run, text_or_stdin
from engram.cli.output import age, console, counted, line, say, say_json, shown, table, text
from engram.model.session import SessionInfo

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engram.model.context import Context


@command("context")
@click.argument("message", nargs=-1)
@click.option("-m", "--model", default="", metavar="NAME", help="The model the prompt is for.")
@click.option("--system", default="", metavar="TEXT", help="The system prompt it begins with.")
@click.option("--budget", type=int, metavar="TOKENS", help="At most so many for all of it.")
@click.option("--session", default="", metavar="NAME", help="Whose log is the conversation so far.")
@click.option("--explain", is_flag=True, help="Show what each section may cost and did cost.")
@pass_run
def context(
    run: CommandRun,
    message: tuple[str, ...],
    *,
    model: str,
    system: str,
    budget: int | None,
    session: str,
    explain: bool,
) -> None:
    """Make the prompt for a message, within a model's budget.

    Prints the system prompt with what is remembered, and what was said before. It counts as no use.
    """
    asked = text_or_stdin(message, "message")
    with run.open() as memory:
        made = memory.context(
            asked, model=model, system=system, budget=budget, session=session, scope=run.scope, dry=True
        )
    if run.json:
        say_json(made)
    elif explain:
        say(run, *_table(made))
    else:
        say(run, *_prompt(made))


def _prompt(made: Context) -> Iterator[RenderableType]:
    """The prompt as a model gets it, message by message."""
    if made.system_prompt:
        yield text((made.system_prompt, ""))
    for one in made.conversation:
        yield text((f"{one.role}: ", "dim"), one.content)


def _table(made: Context) -> Iterator[RenderableType]:
    model = made.model
    known = f"{model.name or 'no model named'} · {model.provider or 'unknown, so taken for a small one'}"
    yield text((known, "bold"), (f" · window {model.window:,} · output {model.output:,}", "dim"))
    rows = [
        [one.name, f"{one.allotted:,}", f"{one.wanted:,}", f"{one.used:,}", f"{one.shown}/{one.of}", one.note]
        for one in made.sections
    ]
    yield table(("section", "allotted", "wanted", "used", "shown", ""), rows)
    way = "counted" if made.exact else "estimated"
    kept = f"{made.reserve:,} kept for the reply · {counted(len(made.memories), 'memory', 'memories')}"
    yield text(
        (f"{made.tokens:,} of {made.budget:,} tokens, {way} as {model.tokenizer}", "bold"),
        (f" · {kept}", "dim"),
    )
    for note in made.notes:
        yield text(("note ", "dim"), note)


# ---------------------------------------------------------------- briefing
# What a session starts with: `engram resume` and `engram pack`.


workspace_option = click.option(
    "--workspace", default="", metavar="NAME", help="Leave out what belongs to another workspace."
)
parts_option = click.option("--parts", is_flag=True, help="Show what each section takes instead of the text.")


@command("resume")
@click.option("--budget", type=int, metavar="N", help="Characters at most; by default as memory has grown.")
@click.option("--compact", is_flag=True, help="Key facts only, in a quarter of the room.")
@workspace_option
@parts_option
@pass_run
def resume(run: CommandRun, *, budget: int | None, compact: bool, workspace: str, parts: bool) -> None:
    """Tell a session that starts cold where things stand.

    It counts as no use of any memory.
    """
    with run.open() as memory:
        found = memory.resume(
            budget, form="compact" if compact else "full", scope=run.scope, workspace=workspace
        )
    if run.json:
        say_json(found)
    elif parts:
        rows = [
            (one.name, str(len(one.ids)), str(one.left_out), str(one.size), one.how) for one in found.sections
        ]
        console(run).print(table(("section", "told", "left out", "characters", "how"), rows))
    else:
        click.echo(shown(found.text))


@command("pack")
@click.argument("message", nargs=-1)
@click.option("--task", "tasks", multiple=True, metavar="TEXT", help="What is to be done today; repeatable.")
@workspace_option
@parts_option
@pass_run
def pack(
    run: CommandRun, *, message: tuple[str, ...], tasks: tuple[str, ...], workspace: str, parts: bool
) -> None:
    """Write the recall pack: rules, open loops, today, context, procedures.

    The same memories give the same bytes all day. Words of MESSAGE may load more pages: see engram triggers.
    """
    with run.open() as memory:
        found = memory.recall_pack(" ".join(message), tasks=tasks, scope=run.scope, workspace=workspace)
    if run.json:
        say_json(found)
    elif parts:
        rows = [
            (one.name, str(len(one.ids)), str(one.left_out), f"{one.size}/{one.limit}", one.how)
            for one in found.sections
        ]
        console(run).print(table(("section", "told", "left out", "words", "how"), rows))
        console(run).print(text((f"{found.words} of {found.limit} words", "dim")))
    else:
        click.echo(shown(found.text), nl=False)


# ---------------------------------------------------------------- session
# `engram session …`: conversations that sleep, what came of flows and projects; a turn at a time by hand.


@click.group("session", cls=Group, otherwise="list")
def session() -> None:
    """Look at sessions, wake them and send them to sleep."""


@session.command("list")
@pass_run
def list_sessions(run: CommandRun) -> None:
    """List sessions, the last used first."""
    with run.open() as memory:
        found = memory.sessions.list()
    if run.json:
        say_json({"sessions": found})
    elif run.quiet:
        say(run, *(one.id for one in found))
    elif found:
        now = run.clock.now()
        say(run, table(("id", "agent", "used", "turns", "state", "place"), [_row(one, now) for one in found]))
    else:
        say(run, text(("there is none. ", "bold"), ("start one: engram session turn ID WORDS", "dim")))


@session.command("show")
@click.argument("session_id", metavar="ID")
@pass_run
def show(run: CommandRun, *, session_id: str) -> None:
    """Show what is on a session's mind. It wakes for that, and sleeps again."""
    with run.open() as memory:
        told = memory.sessions.resume(session_id)
    if run.json:
        say_json(told)
        return
    say(run, text((line(told.id), "bold"), f" {told.restored}, {counted(told.turns, 'turn')}"))
    say(run, *(text((f"{slot.activation:.2f} ", "cyan"), line(slot.content)) for slot in told.slots))


@session.command("turn")
@click.argument("session_id", metavar="ID")
@click.argument("message", nargs=-1, required=True)
@click.option("--reply", default="", help="What was answered; the exchange is listened to.")
@click.option("--model", default="", help="The language model whose budget the prompt keeps.")
@click.option("--system", default="", help="The agent's own prompt.")
@click.option("--budget", type=click.IntRange(1), help="Tokens the prompt may have.")
@click.option("--timezone", default="", help="Where the user is: Europe/Oslo, or +02:00.")
@pass_run
def turn(
    run: CommandRun,
    *,
    session_id: str,
    message: tuple[str, ...],
    reply: str,
    model: str,
    system: str,
    budget: int | None,
    timezone: str,
) -> None:
    """Say something in a session and show the prompt for it. The session is started if there is none."""
    with run.open(makes=True) as memory:
        memory.sessions.start(id=session_id, model=model, scope=run.scope, timezone=timezone)
        begun = memory.sessions.turn(session_id, " ".join(message), system=system, budget=budget)
        memory.sessions.reply(session_id, reply)
    if run.json:
        say_json(begun)
        return
    if not run.quiet:
        asked = " ".join(gap.question for gap in begun.questions)
        say(run, text((f"topic: {begun.topic} ", "dim"), (line(asked), "yellow")))
    say(run, *(text((f"{one['role']}: ", "dim"), shown(one["content"])) for one in begun.messages))


@session.command("hold")
@click.argument("session_id", metavar="ID")
@click.argument("words", nargs=-1, required=True)
@pass_run
def hold(run: CommandRun, *, session_id: str, words: tuple[str, ...]) -> None:
    """Put something on a session's mind."""
    with run.open(makes=True) as memory:
        told = memory.sessions.hold(session_id, " ".join(words))
    _done(run, told, "held")


@session.command("suspend")
@click.argument("session_id", metavar="ID")
@pass_run
def suspend(run: CommandRun, *, session_id: str) -> None:
    """Send a session to sleep, sealed."""
    with run.open() as memory:
        told = memory.sessions.suspend(session_id)
    _done(run, told, "asleep")


@session.command("end")
@click.argument("session_id", metavar="ID")
@pass_run
def end(run: CommandRun, *, session_id: str) -> None:
    """Read what waits of a session and forget the rest."""
    with run.open() as memory:
        heard = memory.sessions.end(session_id)
    if run.json:
        say_json({"observation": heard})
    else:
        learned = len(heard.receipts) if heard else 0
        told = f"{line(session_id)}, {counted(learned, 'memory', 'memories')} of it"
        say(run, text(("ended ", "bold yellow"), told))


@session.command("learn")
@click.argument("name")
@click.argument("steps", nargs=-1)
@click.option(
    "--outcome",
    type=click.Choice(["success", "failure", "partial"]),
    default="success",
    show_default=True,
    help="How the run ended.",
)
@click.option("--result", default="", help="What came of it, or what went wrong.")
@pass_run
def learn(run: CommandRun, *, name: str, steps: tuple[str, ...], outcome: str, result: str) -> None:
    """Keep how a flow ran, as a procedure that counts its runs.

    NAME is the flow, STEPS what it did, in order.
    """
    with run.open(makes=True) as memory:
        learned = memory.sessions.learn(name, steps, outcome=outcome, result=result, scope=run.scope)
    if run.json:
        say_json(learned)
    else:
        say(run, text(("learned ", "bold green"), shown(learned.memory.shown)))


@session.command("complete")
@click.argument("name", metavar="PROJECT")
@click.option("--summary", default="", help="What it came to.")
@click.option("--lesson", "lessons", multiple=True, help="What it taught; may be given several times.")
@pass_run
def complete(run: CommandRun, *, name: str, summary: str, lessons: tuple[str, ...]) -> None:
    """End a project; what proved itself in it is for everybody."""
    with run.open(makes=True) as memory:
        done = memory.sessions.complete(name, summary, lessons=lessons)
    if run.json:
        say_json(done)
    else:
        told = f"{line(name)}, {counted(len(done.promoted), 'memory', 'memories')} for everybody"
        say(run, text(("complete ", "bold green"), told))


def _row(one: SessionInfo, now: datetime) -> tuple[str, ...]:
    used = age(one.used_at, now)
    return line(one.id), line(one.agent), used, str(one.turns), one.state, line(str(one.scope))


def _done(run: CommandRun, told: SessionInfo, word: str) -> None:
    if run.json:
        say_json(told)
    else:
        say(run, text((f"{word} ", "bold green"), line(told.id)))
