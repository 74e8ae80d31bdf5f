"""`engram recall`: a question goes in; hits come out, best first, with an X-ray on request."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from engram.cli.exits import NOT_FOUND
from engram.cli.fields import filter_options, filters_from
from engram.cli.options import Run, command, pass_run
from engram.cli.output import age, bar, counted, line, marks, say, say_json, short, shown, table, text
from engram.cli.values import Pair, numeric, one_of, text_or_stdin
from engram.config import settings
from engram.model.axes import Mode
from engram.model.recall import Hit, Intent, Recall

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

_KNOWN = {setting.name: setting.known for setting in settings()}


@command("recall")
@click.argument("query", nargs=-1)
@click.option("-n", "--limit", type=int, metavar="N", help="At most so many hits.")
@click.option(
    "--budget",
    type=int,
    metavar="TOKENS",
    help="At most so many tokens; longer memories come in a shorter form.",
)
@click.option(
    "--explain", is_flag=True, help="Show why each hit stands where it stands, and what was left out."
)
@click.option(
    "--mode", type=one_of(Mode), default=Mode.FULL_CONTEXT.value, help="Which types of memory may come."
)
@click.option(
    "--rerank", type=click.Choice(_KNOWN["recall.rerank"]), help="How the hits are put in order again."
)
@click.option(
    "--profile", type=click.Choice(_KNOWN["recall.profile"]), help="How relevance and standing are weighed."
)
@click.option("--min-relevance", type=float, metavar="0..1", help="Leave out what fits worse.")
@click.option("--archived", "include_archived", is_flag=True, help="Look among archived memories too.")
@click.option("--dry", is_flag=True, help="Leave no trace: nothing counts as used.")
@click.option("--sessions", is_flag=True, help="Rank the sessions the hits come from, not the hits.")
@click.option(
    "--intent", type=one_of(Intent), help="What the question is after, when the plan gets it wrong."
)
@click.option(
    "--weight",
    "weights",
    type=Pair(),
    multiple=True,
    metavar="CHANNEL=NUMBER",
    help="Weight of text, vector, graph or time; may be repeated.",
)
@click.option(
    "--expand/--no-expand",
    default=None,
    help="Let a model word the question in other ways too; by default only when little is found.",
)
@click.option("--as-session", default="", metavar="NAME", help="The session this use counts for.")
@filter_options
@pass_run
def recall(run: Run, query: tuple[str, ...], as_session: str, *, sessions: bool, **options: Any) -> None:
    """Find what answers a question.

    Words need no quotation marks; `-` reads it from stdin. When nothing fits, nothing comes back and
    the exit code is 1.
    """
    question = text_or_stdin(query, "question")
    if not question.strip():
        raise click.UsageError("The question is empty: say what to look for.")
    filters = filters_from(options)
    plan = plan_from(options)
    with run.open() as memory:
        answer = memory.recall(
            question, scope=run.scope, filters=filters, session=as_session, plan=plan, **options
        )
    if sessions:
        say_sessions(run, answer)
    else:
        say_recall(run, answer, explain=options["explain"])
    if not answer.hits:
        raise click.exceptions.Exit(NOT_FOUND)


def plan_from(options: dict[str, Any]) -> dict[str, Any]:
    """What the options want of the plan, taken out of them."""
    weights = {name: numeric(value) for name, value in options.pop("weights")}
    return {"intent": options.pop("intent"), "weights": weights}


def say_recall(run: Run, answer: Recall, *, explain: bool = False) -> None:
    """One answer, for whoever asked."""
    if run.json:
        say_json(answer)
    elif run.quiet:
        say(run, *(shown(_words(hit)) for hit in answer))
    elif explain:
        from engram.cli.xray import xray

        say(run, *xray(answer, answer.at or run.clock.now()))
    elif answer.hits:
        say(run, hit_table(answer, answer.at or run.clock.now()), _footer(answer))
    else:
        say(run, text(("nothing fits. ", "bold"), ("`--explain` says what was left out and why.", "dim")))


def say_sessions(run: Run, answer: Recall) -> None:
    """The sessions that answer, best first."""
    found = answer.sessions
    if run.json:
        say_json({"sessions": [{"session": name, "score": score} for name, score in found]})
    elif run.quiet:
        say(run, *(shown(name) for name, _ in found))
    else:
        best = max((score for _, score in found), default=0.0) or 1.0
        rows = [
            (text((str(place), "dim")), f"{score:.2f}", text((bar(score / best), "green")), line(name))
            for place, (name, score) in enumerate(found, 1)
        ]
        say(run, table(("#", "score", "", "session"), rows))


def hit_table(answer: Recall, now: datetime) -> Table:
    """Rank, score, id, age and content of each hit; the score's bar is measured against the best."""
    best = max((hit.score for hit in answer), default=0.0) or 1.0
    rows = [_row(place, hit, best, now) for place, hit in enumerate(answer, 1)]
    return table(("#", "score", "", "id", "age", "memory"), rows)


def _row(place: int, hit: Hit, best: float, now: datetime) -> tuple[str | Text, ...]:
    return (
        text((str(place), "dim")),
        f"{hit.score:.2f}",
        text((bar(hit.score / best), "green")),
        text((short(hit.memory.id), "cyan")),
        text((age(hit.memory.happened_at, now), "dim")),
        text(*marks(hit.memory), *_speaker(hit.memory.speaker), line(_words(hit))),
    )


def _speaker(name: str) -> list[tuple[str, str]]:
    return [(f"{line(name)}: ", "dim")] if name else []


def _footer(answer: Recall) -> Text:
    quality = answer.quality
    tokens = f" · {counted(quality.tokens, 'token')}" if answer.question.budget else ""
    return text(
        (f"{len(answer)} of {counted(quality.candidates, 'candidate')}{tokens} · {quality.ms:.1f} ms", "dim"),
        (" · --explain says why", "dim"),
    )


def _words(hit: Hit) -> str:
    """What a person reads: the words with the dates they meant, or the shorter form that fitted."""
    return hit.content if hit.form == "content" else hit.text
