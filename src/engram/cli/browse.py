"""Looking without changing: `list`, `show` and `history`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from engram.cli import views
from engram.cli.options import (
    CommandRun,
    command,
    field_options,
    filter_options,
    filters_from,
    given,
    pass_run,
    read_stdin,
)
from engram.cli.output import (
    NOT_FOUND,
    age,
    bar,
    counted,
    day,
    line,
    marks,
    say,
    say_json,
    short,
    shown,
    table,
    text,
)
from engram.config import Config
from engram.errors import NotFound
from engram.model.event import Event, Verb
from engram.model.facts import Edge
from engram.model.memory import UTC_OFFSET, Filters, Memory, Status, Usage
from engram.model.plain import plain
from engram.rules.importance import heat
from engram.rules.retention import retention, strength

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text

    from engram.engine import Engram


# ---------------------------------------------------------------- card
# One memory on one screen, and the lines of its ledger.


LABEL_WIDTH = 12
UNTOLD = frozenset({"modified_at"})
"""Fields whose change says nothing that the line above does not."""
NAMED = frozenset({"people", "technologies", "paths", "urls"})
"""What metadata repeats of the names."""
VALUE_WIDTH = 60
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+\+00:00")
_VERB_STYLES = {
    Verb.STORED: "green", Verb.REINFORCED: "blue", Verb.MERGED: "blue", Verb.SUPERSEDED: "magenta",
    Verb.ARCHIVED: "yellow", Verb.ERASED: "red",
}  # fmt: skip


def card(
    memory: Memory,
    edges: Sequence[Edge],
    labels: Mapping[str, str],
    events: Sequence[Event],
    now: datetime,
    config: Config,
) -> Iterator[RenderableType]:
    """The content, every axis in groups, the shorter forms, the edges, the last events."""
    yield text((memory.id, "bold cyan"), "  ", *marks(memory))
    yield text((shown(memory.shown), "bold"))
    for title, facts in _groups(memory, now, config):
        told = [(name, value) for name, value in facts if value]
        if told:
            yield _title(title)
            yield from (_fact(name, value) for name, value in told)
    if edges:
        yield _title("relations")
        yield from (_edge(edge, memory.id, labels) for edge in edges)
    if events:
        yield _title("last events")
        for event in events:
            yield from event_lines(event, with_memory=False)


def _groups(memory: Memory, now: datetime, config: Config) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    usage, forms, affect = memory.usage, memory.forms, memory.affect
    yield (
        "what it is",
        [
            ("category", line(memory.category)),
            ("kind", f"{memory.kind} · {memory.type}"),
            ("tags", line(", ".join(memory.tags))),
            ("names", line(", ".join(memory.entities))),
            ("about", line(_about(memory))),
            ("details", _value(memory.details) if memory.details else ""),
        ],
    )
    yield (
        "where it belongs",
        [
            ("scope", line(str(memory.scope))),
            ("session", line(memory.session)),
            ("speaker", line(memory.speaker)),
            ("source", f"{line(memory.source)} · trusted {memory.trust:.2f}"),
        ],
    )
    yield (
        "how it stands",
        [
            ("status", f"{memory.status} · {memory.verification}"),
            ("layer", f"{memory.layer.name.lower()} · {memory.lifecycle}"),
            (
                "keeping",
                f"{memory.policy} · {memory.priority} · {memory.tier}{' · pinned' if memory.pinned else ''}",
            ),
            ("version", str(memory.version)),
        ],
    )
    yield "how much it weighs", [
        ("importance", _share(memory.importance)),
        ("confidence", _share(memory.confidence)),
        ("strength", f"{strength(memory, now, config):.2f} · held {memory.strength:.1f} times"),
        ("left", f"{retention(memory, now, config):.0%}"),
        ("surprise", _share(memory.surprise) if memory.surprise else ""),
        ("heat", f"{heat(memory, now):.2f}"),
        ("affect", _affect(affect.valence, affect.intensity, affect.arousal)),
        ("used", _used(usage)),
        ("judged", f"confirmed {usage.confirmed}× · helped {usage.helpful}× · did not {usage.unhelpful}×"),
    ]  # fmt: skip
    yield (
        "when",
        [
            ("happened", _moment(memory.event_time, now)),
            ("stored", _moment(memory.created_at, now)),
            ("changed", _moment(memory.modified_at, now) if memory.modified_at != memory.created_at else ""),
            ("used last", _moment(memory.last_accessed, now)),
            ("verified", _moment(memory.verified_at, now)),
            ("holds", _span(memory.valid_from, memory.valid_to)),
            ("expires", day(memory.expires_at)),
        ],
    )
    yield (
        "shorter forms",
        [
            ("summary", _form(forms.summary, forms.summary_tokens, memory.content)),
            ("key fact", _form(forms.key_fact, forms.key_fact_tokens, memory.content)),
            ("label", _form(forms.label, forms.label_tokens, memory.content)),
        ],
    )


def _about(memory: Memory) -> str:
    """What its words speak of; its names have a line of their own."""
    told = (value for name, value in memory.metadata.items() if name not in NAMED | {UTC_OFFSET})
    return " · ".join(value if isinstance(value, str) else ", ".join(value) for value in told)


def event_lines(event: Event, *, with_memory: bool) -> Iterator[Text]:
    """When, what, who and why; then each field that changed."""
    about = [(f" {short(event.memory)}", "cyan")] if with_memory else []
    other = [(" ↔ ", "dim"), (short(event.related), "cyan")] if event.related else []
    yield text(
        (f"  {day(event.at)} ", "dim"), (f"{event.verb}", _VERB_STYLES.get(event.verb, "bold")), *about,
        *other, (f" by {line(event.actor)}", "dim"), (f" · {event.id}", "dim"),
    )  # fmt: skip
    if event.because:
        yield text((f"    {line(event.because)}", "italic"))
    for name in dict.fromkeys((*event.before, *event.after)):
        if name not in UNTOLD:
            yield _change(name, event)


def _change(name: str, event: Event) -> Text:
    old, new = event.before.get(name), event.after.get(name)
    before = [(_value(old), "dim"), (" → ", "bold")] if name in event.before else []
    return text((f"    {line(name)}: ", "dim"), *before, _value(new))


def _used(usage: Usage) -> str:
    sessions = f" in {counted(usage.sessions, 'session')}" if usage.sessions else ""
    return f"{usage.accessed}×{sessions} · said again {usage.repeated}×"


def _title(words: str) -> Text:
    return text((f"\n{words}", "bold magenta"))


def _fact(name: str, value: str) -> Text:
    return text((f"  {name:<{LABEL_WIDTH}}", "dim"), value)


def _edge(edge: Edge, memory_id: str, labels: Mapping[str, str]) -> Text:
    forward = edge.source == memory_id
    other = edge.target if forward else edge.source
    arrow = f"{edge.type} →" if forward else f"← {edge.type}"
    return text(
        (f"  {arrow:<16} ", "dim"), (short(other), "cyan"), f" {_cut(line(labels.get(other, '')))}",
        (f" · weight {edge.weight:.2f} · confidence {edge.confidence:.2f}", "dim"),
    )  # fmt: skip


def _share(value: float) -> str:
    return f"{bar(value, 10)} {value:.2f}"


def _affect(valence: float, intensity: float, arousal: float) -> str:
    return (
        f"valence {valence:+.2f} · intensity {intensity:.2f} · arousal {arousal:.2f}"
        if intensity or valence
        else ""
    )


def _moment(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return ""
    since = age(moment, now)
    return f"{day(moment)} · {since if since == 'now' or since.startswith('in ') else f'{since} ago'}"


def _span(start: datetime | None, end: datetime | None) -> str:
    return " ".join([*(["from", day(start)] if start else []), *(["until", day(end)] if end else [])])


def _form(words: str, tokens: int, content: str) -> str:
    return f"{line(words)} ({counted(tokens, 'token')})" if words and words != content else ""


def _value(value: Any) -> str:
    """A field of an event on one line: words as they are, the rest as JSON."""
    if value is None or value == "":
        return "∅"
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return day(datetime.fromisoformat(value))
    return _cut(line(value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)))


def _cut(words: str) -> str:
    return words if len(words) <= VALUE_WIDTH else words[: VALUE_WIDTH - 1] + "…"


PAGE = 500
EVENTS_SHOWN = 5


@command("list")
@click.option(
    "-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many on this page."
)
@click.option("--cursor", metavar="CURSOR", help="Go on where the last page ended.")
@click.option("--count", "only_count", is_flag=True, help="Only how many there are.")
@click.option("--all", "everything", is_flag=True, help="Every page, in every status; JSON comes as lines.")
@filter_options
@pass_run
def list_memories(
    run: CommandRun, limit: int, cursor: str | None, everything: bool, only_count: bool, **options: Any
) -> None:
    """List memories, newest first.

    Archived and superseded ones are listed with --all or when --status asks for them.
    """
    any_status = everything and not options["statuses"]
    filters = filters_from(options | ({"statuses": tuple(Status)} if any_status else {}))
    with run.open() as memory:
        if only_count:
            number = memory.count(filters=filters, scope=run.scope)
            say_json({"count": number}) if run.json else say(run, str(number))
            return
        if everything:
            _list_all(run, memory, filters)
            return
        page = memory.list(filters=filters, limit=limit, cursor=cursor, scope=run.scope)
    if run.json:
        say_json(page)
        return
    _say_memories(run, list(page))
    if page.cursor and not run.quiet:
        say(run, text((f"more: engram list --cursor {page.cursor}", "dim")))


def _list_all(run: CommandRun, memory: Engram, filters: Filters) -> None:
    if run.json:
        for one in _pages(run, memory, filters):
            say_json(one)
    else:
        _say_memories(run, list(_pages(run, memory, filters)))


def _pages(run: CommandRun, memory: Engram, filters: Filters) -> Iterator[Memory]:
    cursor: str | None = None
    while True:
        page = memory.list(filters=filters, limit=PAGE, cursor=cursor, scope=run.scope)
        yield from page
        if not (cursor := page.cursor):
            return


def _say_memories(run: CommandRun, memories: list[Memory]) -> None:
    if run.quiet:
        say(run, *(one.id for one in memories))
    elif memories:
        say(run, memory_table(run, memories), text((counted(len(memories), "memory", "memories"), "dim")))
    else:
        say(run, text(("nothing here yet. ", "bold"), ('begin with: engram remember "…"', "dim")))


def memory_table(run: CommandRun, memories: list[Memory]) -> Table:
    """Id, age, category and content of each."""
    now = run.clock.now()
    return table(views.TABLES[Memory].heads, [views.memory_row(one, now) for one in memories])


@command("show")
@click.argument("memory_id", metavar="ID")
@pass_run
def show(run: CommandRun, memory_id: str) -> None:
    """Show everything about one memory.

    An id may be shortened as long as it fits one memory only.
    """
    with run.open() as memory:
        one = memory.get(memory_id)
        if one is None:
            raise NotFound(memory_id)
        edges, events = memory.relations(one.id), memory.events(one.id, limit=EVENTS_SHOWN)
        others = {edge.target if edge.source == one.id else edge.source for edge in edges}
        labels = {other: _label(memory.get(other)) for other in others}
        said = memory.said(one.id)
    if run.json:
        say_json({"memory": one, "relations": edges, "events": events, "said": said})
    elif run.quiet:
        say(run, one.content)
    else:
        say(run, *card(one, edges, labels, events, run.clock.now(), memory.config))
        for turn in said:
            who = turn.speaker or str(turn.part)
            say(run, text((f"said {day(turn.at)} by {line(who)}  ", "dim"), line(turn.content)))


def _label(memory: Memory | None) -> str:
    return (memory.forms.label or memory.content) if memory else ""


@command("history")
@click.argument("memory_id", metavar="[ID]", required=False)
@click.option(
    "-n", "--limit", type=int, default=100, show_default=True, metavar="N", help="The last so many events."
)
@click.option("--before", metavar="EVENT", help="Only events before this one (EVT-…).")
@pass_run
def history(run: CommandRun, memory_id: str | None, limit: int, before: str | None) -> None:
    """Tell what happened to a memory, or to all.

    Each line of the ledger: when, who, what, why, and each field before → after. The newest comes last.
    """
    with run.open() as memory:
        full = _resolved(memory, memory_id) if memory_id else None
        events = memory.events(full, limit=limit, before=before)
    if run.json:
        say_json({"events": events})
    elif events:
        _say_events(run, events[::-1], whole_ledger=memory_id is None)
    else:
        say(run, text(("nothing happened yet", "bold")))
    if memory_id and not events:
        raise click.exceptions.Exit(NOT_FOUND)


def _resolved(memory: Engram, memory_id: str) -> str:
    """The full id. An erased memory is gone, but the bare fact stays in the ledger under its full id."""
    one = memory.get(memory_id)
    return one.id if one else memory_id


def _say_events(run: CommandRun, events: list[Event], *, whole_ledger: bool) -> None:

    for event in events:
        say(run, *([event.id] if run.quiet else event_lines(event, with_memory=whole_ledger)))


because_option = click.option(
    "--because", default="", metavar="WHY", help="The reason; it is kept in the history."
)
id_argument = click.argument("memory_id", metavar="ID")
yes_option = click.option("-y", "--yes", is_flag=True, help="Do not ask.")

ERASING = """\
Erasing removes the content, its words, vectors and relations from the file; nothing brings it back.
The ledger keeps only the bare fact that it was erased. `engram forget` hides it and can be undone."""


@command("erase")
@id_argument
@because_option
@yes_option
@pass_run
def erase(run: CommandRun, memory_id: str, because: str, yes: bool) -> None:
    """Remove a memory for good.

    The content, its words, vectors and relations leave the file; nothing brings them back. The ledger keeps
    the bare fact. `engram forget` hides a memory and can be undone.
    """
    with run.open() as memory:
        one = memory.get(memory_id)
        if one is None:
            raise NotFound(memory_id)
        if not yes:
            ask_before_erasing(run, f"{shown(one.content)}\n\n{ERASING}", "Erase it?")
        memory.erase(one.id, because)
    if run.json:
        say_json({"erased": one.id})
    else:
        say(run, one.id if run.quiet else text(("erased", "bold red"), " ", (short(one.id), "bold cyan")))


def ask_before_erasing(run: CommandRun, told: str, question: str) -> None:
    """Say what is about to go, and leave unless a person agrees."""
    if run.json or not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here: --yes erases without asking.")
    click.echo(told, err=True)
    if not click.confirm(question, err=True):
        click.echo("Nothing was erased.", err=True)
        raise click.exceptions.Exit(NOT_FOUND)


@command("feedback")
@id_argument
@click.option("--helpful/--not-helpful", required=True, help="Did it help?")
@click.option(
    "--query", default="", metavar="QUESTION", help="The question it came for; like ones will leave it out."
)
@because_option
@pass_run
def feedback(run: CommandRun, memory_id: str, helpful: bool, query: str, because: str) -> None:
    """Say whether a memory helped with a question."""
    with run.open() as memory:
        changed = memory.feedback(memory_id, helpful=helpful, query=query, because=because)
    hint = (
        f"like questions leave it out for {run.config.recall.suppress_days} days"
        if query and not helpful
        else ""
    )
    say_changed(run, "helpful" if helpful else "not helpful", changed, hint=hint)


def say_changed(run: CommandRun, verb: str, changed: Memory, *, hint: str = "") -> None:
    """A memory after a change, in one line."""
    if run.json:
        say_json(changed)
    elif run.quiet:
        say(run, changed.id)
    else:
        say(run, *views.changed(verb, changed))
        if hint:
            say(run, text((f"  {hint}", "dim")))


# ---------------------------------------------------------------- edit
# `engram edit`: the fields of a memory change; without any, its content opens in the editor.


@command("edit")
@id_argument
@click.option("--content", metavar="TEXT", help="New words; `-` reads them from stdin.")
@field_options
@because_option
@pass_run
def edit(run: CommandRun, memory_id: str, because: str, **fields: Any) -> None:
    """Change a memory; the old words stay in its history.

    Tags and details that are given replace the old ones. With no field at all, the content opens in $EDITOR.
    """
    content = read_stdin("content") if fields["content"] == "-" else fields["content"]
    # An empty content is a mistake that the engine names, not "nothing given".
    changes = given(fields) | ({"content": content} if content is not None else {})
    with run.open() as memory:
        one = memory.get(memory_id)
        if one is None:
            raise NotFound(memory_id)
        if not changes:
            written = _in_editor(run, one.content)
            if written in (None, one.content):
                say(run, text(("nothing changed", "bold")))
                return
            changes = {"content": written}
        changed = memory.update(one.id, because=because, **changes)
    say_changed(run, f"version {changed.version} of", changed)


def _in_editor(run: CommandRun, content: str) -> str | None:
    if run.json or not sys.stdin.isatty():
        raise click.UsageError(
            "Say what to change (--content, --category, --tag …): no editor can open here."
        )
    written = click.edit(content + "\n", extension=".txt")
    return None if written is None else written.rstrip("\r\n")


# ---------------------------------------------------------------- standing
# Where a memory stands: `promote`, `demote`, and the `trash`.


EMPTYING = "what you forgot and what maintenance archived. Nothing brings it back afterwards."


@command("trash")
@click.option("-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many.")
@click.option("--empty", is_flag=True, help="Remove what lies there for good.")
@because_option
@yes_option
@pass_run
def trash(run: CommandRun, limit: int, empty: bool, because: str, yes: bool) -> None:
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
