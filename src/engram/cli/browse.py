"""Looking without changing: `list`, `show` and `history`."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from engram.cli.exits import NOT_FOUND
from engram.cli.fields import filter_options, filters_from
from engram.cli.options import Run, command, pass_run
from engram.cli.output import age, counted, day, line, marks, say, say_json, short, table, text
from engram.errors import NotFound
from engram.model.axes import Status
from engram.model.event import Event
from engram.model.filters import Filters
from engram.model.memory import Memory

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from engram.engine import Engram

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
    run: Run, limit: int, cursor: str | None, everything: bool, only_count: bool, **options: Any
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


def _list_all(run: Run, memory: Engram, filters: Filters) -> None:
    if run.json:
        for one in _pages(run, memory, filters):
            say_json(one)
    else:
        _say_memories(run, list(_pages(run, memory, filters)))


def _pages(run: Run, memory: Engram, filters: Filters) -> Iterator[Memory]:
    cursor: str | None = None
    while True:
        page = memory.list(filters=filters, limit=PAGE, cursor=cursor, scope=run.scope)
        yield from page
        if not (cursor := page.cursor):
            return


def _say_memories(run: Run, memories: list[Memory]) -> None:
    if run.quiet:
        say(run, *(one.id for one in memories))
    elif memories:
        say(run, memory_table(run, memories), text((counted(len(memories), "memory", "memories"), "dim")))
    else:
        say(run, text(("nothing here yet. ", "bold"), ('begin with: engram remember "…"', "dim")))


def memory_table(run: Run, memories: list[Memory]) -> Table:
    """Id, age, category and content of each."""
    now = run.clock.now()
    return table(("id", "age", "category", "memory"), [_row(one, now) for one in memories])


def _row(one: Memory, now: datetime) -> tuple[Text, ...]:
    speaker = [(f"{line(one.speaker)}: ", "dim")] if one.speaker else []
    return (
        text((short(one.id), "cyan")),
        text((age(one.happened_at, now), "dim")),
        text((line(one.category), "magenta")),
        text(*marks(one), *speaker, line(one.shown)),
    )


@command("show")
@click.argument("memory_id", metavar="ID")
@pass_run
def show(run: Run, memory_id: str) -> None:
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
        from engram.cli.card import card

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
def history(run: Run, memory_id: str | None, limit: int, before: str | None) -> None:
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


def _say_events(run: Run, events: list[Event], *, whole_ledger: bool) -> None:
    from engram.cli.card import event_lines

    for event in events:
        say(run, *([event.id] if run.quiet else event_lines(event, with_memory=whole_ledger)))
