"""One memory after the other: `list`, `show`, `history`, `edit`, `erase`, `feedback` and the trash."""

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
    ask_first,
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
    tell,
    text,
)
from engram.config import Config
from engram.engine import Engram
from engram.model.event import Event, Page, Verb
from engram.model.facts import Edge
from engram.model.memory import UTC_OFFSET, Filters, Memory, Status
from engram.model.plain import Says, plain
from engram.model.scope import Scope
from engram.operations.calls import every_memory, get
from engram.rules.importance import heat
from engram.rules.retention import retention, strength

if TYPE_CHECKING:
    from rich.console import RenderableType
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
    for title, facts in _groups(memory, now, config).items():
        lines = [text((f"  {name:<{LABEL_WIDTH}}", "dim"), value) for name, value in facts.items() if value]
        yield from [_title(title), *lines] if lines else ()
    if edges:
        yield _title("relations")
        yield from (_edge(edge, memory.id, labels) for edge in edges)
    if events:
        yield _title("last events")
        for event in events:
            yield from event_lines(event, with_memory=False)


def _groups(memory: Memory, now: datetime, config: Config) -> dict[str, dict[str, str]]:
    usage, affect = memory.usage, memory.affect
    keeping = f"{memory.policy} · {memory.priority} · {memory.tier}"
    again = f" in {counted(usage.sessions, 'session')}" if usage.sessions else ""
    feels = f"valence {affect.valence:+.2f} · intensity {affect.intensity:.2f} · arousal {affect.arousal:.2f}"
    ends = {"from": memory.valid_from, "until": memory.valid_to}
    changed = memory.modified_at if memory.modified_at != memory.created_at else None
    return {
        "what it is": {
            "category": line(memory.category),
            "kind": f"{memory.kind} · {memory.type}",
            "tags": line(", ".join(memory.tags)),
            "names": line(", ".join(memory.entities)),
            "about": line(_topics_line(memory)),
            "details": _value(memory.details) if memory.details else "",
        },
        "where it belongs": {
            "scope": line(str(memory.scope)),
            "session": line(memory.session),
            "speaker": line(memory.speaker),
            "source": f"{line(memory.source)} · trusted {memory.trust:.2f}",
        },
        "how it stands": {
            "status": f"{memory.status} · {memory.verification}",
            "layer": f"{memory.layer.name.lower()} · {memory.lifecycle}",
            "keeping": f"{keeping} · pinned" if memory.pinned else keeping,
            "version": str(memory.version),
        },
        "how much it weighs": {
            "importance": _share(memory.importance),
            "confidence": _share(memory.confidence),
            "strength": f"{strength(memory, now, config):.2f} · held {memory.strength:.1f} times",
            "left": f"{retention(memory, now, config):.0%}",
            "surprise": _share(memory.surprise) if memory.surprise else "",
            "heat": f"{heat(memory, now):.2f}",
            "affect": feels if affect.intensity or affect.valence else "",
            "used": f"{usage.accessed}×{again} · said again {usage.repeated}×",
            "judged": f"confirmed {usage.confirmed}× · helped {usage.helpful}× · did not {usage.unhelpful}×",
        },
        "when": {
            "happened": _moment(memory.event_time, now),
            "stored": _moment(memory.created_at, now),
            "changed": _moment(changed, now),
            "used last": _moment(memory.last_accessed, now),
            "verified": _moment(memory.verified_at, now),
            "holds": " ".join(f"{name} {day(end)}" for name, end in ends.items() if end),
            "expires": day(memory.expires_at),
        },
        "shorter forms": {
            name.replace("_", " "): f"{line(words)} ({counted(tokens, 'token')})"
            for name in ("summary", "key_fact", "label")
            if (words := getattr(memory.forms, name)) and words != memory.content
            for tokens in [getattr(memory.forms, f"{name}_tokens")]
        },
    }


def _topics_line(memory: Memory) -> str:
    """What its words speak of; its names have a line of their own."""
    values = (value for name, value in memory.metadata.items() if name not in NAMED | {UTC_OFFSET})
    return " · ".join(value if isinstance(value, str) else ", ".join(value) for value in values)


def event_lines(event: Event, *, with_memory: bool) -> Iterator[Text]:
    """When, what, who and why; then each field that changed."""
    subject = [(f" {short(event.memory)}", "cyan")] if with_memory else []
    other = [(" ↔ ", "dim"), (short(event.related), "cyan")] if event.related else []
    yield text(
        (f"  {day(event.at)} ", "dim"), (f"{event.verb}", _VERB_STYLES.get(event.verb, "bold")), *subject,
        *other, (f" by {line(event.actor)}", "dim"), (f" · {event.id}", "dim"),
    )  # fmt: skip
    if event.because:
        yield text((f"    {line(event.because)}", "italic"))
    before, after = _fields_told(event.before), _fields_told(event.after)
    for name in dict.fromkeys((*before, *after)):
        if name.split()[0] in UNTOLD or (name in before and name in after and before[name] == after[name]):
            continue
        old = [(_value(before[name]), "dim"), (" → ", "bold")] if name in before else []
        yield text((f"    {line(name)}: ", "dim"), *old, _value(after.get(name)))


def _fields_told(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an event; what has parts is told part by part."""
    told: dict[str, Any] = {}
    for name, value in fields.items():
        parts = {f"{name} {key}": part for key, part in value.items()} if isinstance(value, Mapping) else {}
        told |= parts or {name: value}
    return told


def _title(words: str) -> Text:
    return text((f"\n{words}", "bold magenta"))


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


def _moment(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return ""
    since = age(moment, now)
    return f"{day(moment)} · {since if since == 'now' or since.startswith('in ') else f'{since} ago'}"


def _value(value: Any) -> str:
    """A field of an event on one line: words as they are, the rest as JSON."""
    if value is None or value == "":
        return "∅"
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return day(datetime.fromisoformat(value))
    return _cut(line(value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)))


def _cut(words: str) -> str:
    return words if len(words) <= VALUE_WIDTH else words[: VALUE_WIDTH - 1] + "…"


EVENTS_SHOWN = 5


def _list_or_count(
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
    if everything and not click.get_current_context().params["asked_only_statuses"]:
        filters = replace(filters, statuses=frozenset(Status))
    if count:
        return memory.count(filters=filters, scope=scope)
    if everything:
        return every_memory(memory, filters, scope=scope)
    return memory.list(filters=filters, limit=limit, cursor=cursor, scope=scope)


@presented("list", Spelling(variant("list", _list_or_count)), with_json=True)
def list_memories(run: CommandRun, listed: int | Page | Iterator[Memory]) -> None:
    """List memories, newest first.

    Archived and superseded ones are listed with --all or when --status asks for them.
    """
    if isinstance(listed, int):
        tell(run, {"count": listed}, str(listed))
    elif run.json:
        for memory in [listed] if isinstance(listed, Page) else listed:
            say_json(memory)
    elif memories := list(listed):
        views.say_many(run, memories)
        if isinstance(listed, Page) and listed.cursor and not run.quiet:
            say(run, text((f"more: engram list --cursor {listed.cursor}", "dim")))
    elif not run.quiet:
        if run.arguments.get("filters", Filters()) != Filters():
            say(run, text(("no memory is like that", "bold")))
        else:
            say(run, text(("nothing here yet. ", "bold"), ('begin with: engram remember "…"', "dim")))


def _everything_about(memory: Engram, memory_id: str) -> dict[str, Any]:
    record = get(memory, memory_id)
    events, said = memory.events(record.id, limit=EVENTS_SHOWN), memory.said(record.id)
    return {"memory": record, "relations": memory.relations(record.id), "events": events, "said": said}


@presented("show", Spelling(variant("get", _everything_about)))
def show(run: CommandRun, parts: dict[str, Any]) -> None:
    """Show everything about one memory.

    An id may be shortened as long as it fits one memory only.
    """
    record, edges, memory = parts["memory"], parts["relations"], run.opened
    if run.quiet:
        say(run, record.content)
        return
    other_ids = {edge.target if edge.source == record.id else edge.source for edge in edges}
    neighbours = {other: neighbour for other in other_ids if (neighbour := memory.get(other))}
    labels = {other: neighbour.forms.label or neighbour.content for other, neighbour in neighbours.items()}
    say(run, *card(record, edges, labels, parts["events"], run.clock.now(), memory.config))
    for turn in parts["said"]:
        who = turn.speaker or str(turn.part)
        say(run, text((f"said {day(turn.at)} by {line(who)}  ", "dim"), line(turn.content)))


def _events(
    memory: Engram,
    memory_id: str | None = None,
    *,
    limit: Annotated[int, Says("The last so many events.", flags="-n --limit")] = 100,
    before: Annotated[str | None, Says("Only events before this one (EVT-…).")] = None,
) -> list[Event]:
    """What happened, newest first. An erased memory is gone; its full id still finds the bare facts."""
    record = memory.get(memory_id) if memory_id else None
    return memory.events(record.id if record else memory_id, limit=limit, before=before)


@presented("history", Spelling(variant("history.events", _events), "memory_id?"), with_json=True)
def history(run: CommandRun, events: list[Event]) -> None:
    """Tell what happened to a memory, or to all.

    Each line of the ledger: when, who, what, why, and each field before → after. The newest comes last.
    """
    memory_id = run.arguments.get("memory_id")
    lines = (row for event in events[::-1] for row in event_lines(event, with_memory=not memory_id))
    none = text(("nothing happened yet", "bold"))
    tell(run, {"events": events}, *(lines if events else [none]), quiet=[event.id for event in events[::-1]])
    if memory_id and not events:
        raise click.exceptions.Exit(NOT_FOUND)


Yes = Annotated[bool, Says("Do not ask.", flags="-y --yes")]

ERASING = """\
Erasing removes the content, its words, vectors and relations from the file; nothing brings it back.
The ledger keeps only the bare fact that it was erased. `engram forget` hides it and can be undone."""


def _erase_if_agreed(memory: Engram, memory_id: str, because: str = "", *, yes: Yes = False) -> str:
    """Erase a memory, if whoever is asked agrees; its full id."""
    record = get(memory, memory_id)
    if not yes:
        ask_first(f"{shown(record.content)}\n\n{ERASING}", "Erase it?")
    memory.erase(record.id, because)
    return record.id


@presented("erase", Spelling(variant("erase", _erase_if_agreed)))
def erase(run: CommandRun, memory_id: str) -> None:
    """Remove a memory for good.

    The content, its words, vectors and relations leave the file; nothing brings them back. The ledger keeps
    the bare fact. `engram forget` hides a memory and can be undone.
    """
    message = text(("erased", "bold red"), " ", (short(memory_id), "bold cyan"))
    tell(run, memory_id, message, quiet=[memory_id])


@presented(
    "feedback", Spelling("feedback", "memory_id", flags={"helpful": "--helpful/--not-helpful|Did it help?"})
)
def feedback(run: CommandRun, changed: Memory) -> None:
    """Say whether a memory helped with a question."""
    helpful = run.arguments["helpful"]
    views.say_one(run, "helpful" if helpful else "not helpful", changed)
    if run.arguments.get("query") and not helpful and not run.quiet:
        say(run, text((f"  like questions leave it out for {run.config.recall.suppress_days} days", "dim")))


# ---------------------------------------------------------------- edit
# `engram edit`: the fields of a memory change; without any, its content opens in the editor.


def _edit_fields(memory: Engram, memory_id: str, *, because: str = "", **changes: Any) -> Memory | None:
    """Change the fields that were named, else the content in an editor; None: nothing changed."""
    record = get(memory, memory_id)
    if changes.get("content") == "-":
        changes["content"] = read_stdin("content")
    if not changes:
        written = _in_editor(record.content)
        if written in (None, record.content):
            return None
        changes = {"content": written}
    return memory.update(record.id, because=because, **changes)


@presented("edit", Spelling(variant("update", _edit_fields), fields=True), with_json=True)
def edit(run: CommandRun, changed: Memory | None) -> None:
    """Change a memory; the old words stay in its history.

    Tags and details that are given replace the old ones. With no field at all, the content opens in $EDITOR.
    """
    if changed is None:
        say(run, text(("nothing changed", "bold")))
    elif run.json:
        say_json(changed)
    else:
        views.say_one(run, f"version {changed.version} of", changed)


def _in_editor(content: str) -> str | None:
    if click.get_current_context().ensure_object(CommandRun).json or not sys.stdin.isatty():
        raise click.UsageError(
            "Say what to change (--content, --category, --tag …): no editor can open here."
        )
    written = click.edit(content + "\n", extension=".txt")
    return None if written is None else written.rstrip("\r\n")


# ---------------------------------------------------------------- trash

EMPTYING = "what you forgot and what maintenance archived. Nothing brings it back afterwards."


def _list_or_purge(
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
        ask_first(f"{many} in the trash; {EMPTYING}", "Remove them for good?")
    return memory.trash.purge(because)


@presented("trash", Spelling(variant("trash.list", _list_or_purge)), with_json=True)
def trash(run: CommandRun, trashed: Lying | int) -> None:
    """Look at what was forgotten; empty it.

    `engram restore ID` brings one back. What maintenance has archived lies here too.
    """
    if isinstance(trashed, int):
        tell(run, {"purged": trashed}, f"{counted(trashed, 'memory', 'memories')} gone")
    elif trashed.items and not run.json:
        now, total = run.clock.now(), counted(trashed.total, "memory", "memories")
        rows = [views.memory_row(item.memory, now) for item in trashed.items]
        say(run, table(views.TABLES[Memory].heads, rows), text((f"{total} in the trash", "dim")))
    else:
        tell(run, trashed, text(("the trash is empty", "dim")))
