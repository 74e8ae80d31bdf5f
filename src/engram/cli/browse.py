"""Looking without changing: `list`, `show` and `history`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import click

from engram.api.browsing import Lying
from engram.cli import views
from engram.cli.made import Spelling, presented, variant
from engram.cli.options import CommandRun, read_stdin
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
from engram.engine import Engram
from engram.model.event import Event, Page, Verb
from engram.model.facts import Edge
from engram.model.memory import UTC_OFFSET, Filters, Memory, Status, Usage
from engram.model.plain import Says, plain
from engram.model.scope import Scope
from engram.operations.calls import get
from engram.rules.importance import heat
from engram.rules.retention import retention, strength

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table
    from rich.text import Text


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


def _listed(
    memory: Engram,
    *,
    limit: Annotated[int, Says("So many on this page.", flags="-n --limit")] = 50,
    cursor: Annotated[str | None, Says("Go on where the last page ended.")] = None,
    count: Annotated[bool, Says("Only how many there are.")] = False,
    everything: Annotated[
        bool, Says("Every page, in every status; JSON comes as lines.", flags="--all")
    ] = False,
    filters: Filters = Filters(),
    scope: Scope | None = None,
) -> int | Page | Iterator[Memory]:
    """Memories: how many, a page, or all."""
    if everything and not click.get_current_context().params["statuses"]:
        filters = replace(filters, statuses=frozenset(Status))
    if count:
        return memory.count(filters=filters, scope=scope)
    if everything:
        return _pages(memory, filters, scope)
    return memory.list(filters=filters, limit=limit, cursor=cursor, scope=scope)


def _pages(memory: Engram, filters: Filters, scope: Scope | None) -> Iterator[Memory]:
    cursor: str | None = None
    while True:
        page = memory.list(filters=filters, limit=PAGE, cursor=cursor, scope=scope)
        yield from page
        if not (cursor := page.cursor):
            return


@presented("list", Spelling(variant("list", _listed)), with_json=True)
def list_memories(run: CommandRun, found: int | Page | Iterator[Memory]) -> None:
    """List memories, newest first.

    Archived and superseded ones are listed with --all or when --status asks for them.
    """
    if isinstance(found, int):
        say_json({"count": found}) if run.json else say(run, str(found))
    elif isinstance(found, Page):
        if run.json:
            say_json(found)
            return
        _say_memories(run, list(found))
        if found.cursor and not run.quiet:
            say(run, text((f"more: engram list --cursor {found.cursor}", "dim")))
    elif run.json:
        for one in found:
            say_json(one)
    else:
        _say_memories(run, list(found))


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


def _shown(memory: Engram, memory_id: str) -> dict[str, Any]:
    """A memory with its relations, its last events and the turns it came from."""
    one = get(memory, memory_id)
    events = memory.events(one.id, limit=EVENTS_SHOWN)
    return {
        "memory": one,
        "relations": memory.relations(one.id),
        "events": events,
        "said": memory.said(one.id),
    }


@presented("show", Spelling(variant("get", _shown)))
def show(run: CommandRun, found: dict[str, Any]) -> None:
    """Show everything about one memory.

    An id may be shortened as long as it fits one memory only.
    """
    one, edges, memory = found["memory"], found["relations"], run.opened
    if run.quiet:
        say(run, one.content)
        return
    others = {edge.target if edge.source == one.id else edge.source for edge in edges}
    labels = {other: _label(memory.get(other)) for other in others}
    say(run, *card(one, edges, labels, found["events"], run.clock.now(), memory.config))
    for turn in found["said"]:
        who = turn.speaker or str(turn.part)
        say(run, text((f"said {day(turn.at)} by {line(who)}  ", "dim"), line(turn.content)))


def _label(memory: Memory | None) -> str:
    return (memory.forms.label or memory.content) if memory else ""


def _events(
    memory: Engram,
    memory_id: str | None = None,
    *,
    limit: Annotated[int, Says("The last so many events.", flags="-n --limit")] = 100,
    before: Annotated[str | None, Says("Only events before this one (EVT-…).")] = None,
) -> list[Event]:
    """What happened, newest first. An erased memory is gone; its full id still finds the bare facts."""
    one = memory.get(memory_id) if memory_id else None
    return memory.events(one.id if one else memory_id, limit=limit, before=before)


@presented("history", Spelling(variant("history.events", _events), "memory_id?"), with_json=True)
def history(run: CommandRun, events: list[Event]) -> None:
    """Tell what happened to a memory, or to all.

    Each line of the ledger: when, who, what, why, and each field before → after. The newest comes last.
    """
    about = run.said.get("memory_id")
    if run.json:
        say_json({"events": events})
    elif events:
        _say_events(run, events[::-1], whole_ledger=not about)
    else:
        say(run, text(("nothing happened yet", "bold")))
    if about and not events:
        raise click.exceptions.Exit(NOT_FOUND)


def _say_events(run: CommandRun, events: list[Event], *, whole_ledger: bool) -> None:
    for event in events:
        say(run, *([event.id] if run.quiet else event_lines(event, with_memory=whole_ledger)))


Yes = Annotated[bool, Says("Do not ask.", flags="-y --yes")]

ERASING = """\
Erasing removes the content, its words, vectors and relations from the file; nothing brings it back.
The ledger keeps only the bare fact that it was erased. `engram forget` hides it and can be undone."""


def _erased(memory: Engram, memory_id: str, because: str = "", *, yes: Yes = False) -> str:
    """Erase a memory, if whoever is asked agrees; its full id."""
    one = get(memory, memory_id)
    if not yes:
        ask_before_erasing(f"{shown(one.content)}\n\n{ERASING}", "Erase it?")
    memory.erase(one.id, because)
    return one.id


@presented("erase", Spelling(variant("erase", _erased)))
def erase(run: CommandRun, memory_id: str) -> None:
    """Remove a memory for good.

    The content, its words, vectors and relations leave the file; nothing brings them back. The ledger keeps
    the bare fact. `engram forget` hides a memory and can be undone.
    """
    say(run, memory_id if run.quiet else text(("erased", "bold red"), " ", (short(memory_id), "bold cyan")))


def ask_before_erasing(told: str, question: str) -> None:
    """Say what is about to go, and leave unless a person agrees."""
    if click.get_current_context().ensure_object(CommandRun).json or not sys.stdin.isatty():
        raise click.UsageError("Nobody can be asked here: --yes erases without asking.")
    click.echo(told, err=True)
    if not click.confirm(question, err=True):
        click.echo("Nothing was erased.", err=True)
        raise click.exceptions.Exit(NOT_FOUND)


@presented(
    "feedback", Spelling("feedback", "memory_id", flags={"helpful": "--helpful/--not-helpful|Did it help?"})
)
def feedback(run: CommandRun, changed: Memory) -> None:
    """Say whether a memory helped with a question."""
    helpful = run.said["helpful"]
    say_changed(run, "helpful" if helpful else "not helpful", changed)
    if run.said.get("query") and not helpful and not run.quiet:
        say(run, text((f"  like questions leave it out for {run.config.recall.suppress_days} days", "dim")))


def say_changed(run: CommandRun, verb: str, changed: Memory) -> None:
    """A memory after a change, in one line."""
    say(run, *([changed.id] if run.quiet else views.changed(verb, changed)))


# ---------------------------------------------------------------- edit
# `engram edit`: the fields of a memory change; without any, its content opens in the editor.


def _edited(memory: Engram, memory_id: str, *, because: str = "", **changes: Any) -> Memory | None:
    """Change the fields that were named, else the content in an editor; None: nothing changed."""
    one = get(memory, memory_id)
    if changes.get("content") == "-":
        changes["content"] = read_stdin("content")
    if not changes:
        written = _in_editor(one.content)
        if written in (None, one.content):
            return None
        changes = {"content": written}
    return memory.update(one.id, because=because, **changes)


@presented("edit", Spelling(variant("update", _edited), fields=True), with_json=True)
def edit(run: CommandRun, changed: Memory | None) -> None:
    """Change a memory; the old words stay in its history.

    Tags and details that are given replace the old ones. With no field at all, the content opens in $EDITOR.
    """
    if changed is None:
        say(run, text(("nothing changed", "bold")))
    elif run.json:
        say_json(changed)
    else:
        say_changed(run, f"version {changed.version} of", changed)


def _in_editor(content: str) -> str | None:
    if click.get_current_context().ensure_object(CommandRun).json or not sys.stdin.isatty():
        raise click.UsageError(
            "Say what to change (--content, --category, --tag …): no editor can open here."
        )
    written = click.edit(content + "\n", extension=".txt")
    return None if written is None else written.rstrip("\r\n")


# ---------------------------------------------------------------- trash


EMPTYING = "what you forgot and what maintenance archived. Nothing brings it back afterwards."


def _trashed(
    memory: Engram,
    *,
    limit: Annotated[int, Says("So many.", flags="-n --limit")] = 50,
    empty: Annotated[bool, Says("Remove what lies there for good.")] = False,
    because: str = "",
    yes: Yes = False,
) -> Lying | int:
    """What lies in the trash; how many went, if it is to be emptied and whoever is asked agrees."""
    if not empty:
        return memory.trash.list(limit=limit)
    lying = memory.trash.list(limit=1)
    if lying.total and not yes:
        many = counted(lying.total, "memory lies", "memories lie")
        ask_before_erasing(f"{many} in the trash; {EMPTYING}", "Remove them for good?")
    return memory.trash.purge(because)


@presented("trash", Spelling(variant("trash.list", _trashed)), with_json=True)
def trash(run: CommandRun, found: Lying | int) -> None:
    """Look at what was forgotten; empty it.

    `engram restore ID` brings one back. What maintenance has archived lies here too.
    """
    if isinstance(found, int):
        told = f"{counted(found, 'memory', 'memories')} gone"
        say_json({"purged": found}) if run.json else say(run, told)
    elif run.json:
        say_json(found)
    elif found.items:
        total = counted(found.total, "memory", "memories")
        say(
            run,
            memory_table(run, [one.memory for one in found.items]),
            text((f"{total} in the trash", "dim")),
        )
    else:
        say(run, text(("the trash is empty", "dim")))
