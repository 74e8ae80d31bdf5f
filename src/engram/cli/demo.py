"""`engram demo`: a short story on a file of its own, told with nothing but the other commands."""

from __future__ import annotations

import json
import shlex
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import click

from engram.cli.options import CommandRun, command, pass_run
from engram.cli.output import say, say_json, short, text
from engram.model.memory import Filters, Status

EDITOR = 'recall "which editor do I use?" -n 1'
SERVER = "what is the staging server called?"
STORY = (
    (
        "1 · It keeps what you tell it, and says what became of it",
        'remember "My editor is vim"',
        'remember "I prefer tabs over spaces in Go, and spaces everywhere else"',
        'remember "We decided to keep invoices in PostgreSQL because the accountants need SQL"',
        'remember "To deploy: run the tests, tag the release, then push the tag"',
        'remember "The staging server is called heron and listens on port 8443"',
    ),
    (
        "2 · A conversation keeps its speakers and its order",
        'remember --session friday-chat --speaker Maya "I am taking the night train to Vienna on Friday."',
        'remember --session friday-chat --speaker Ben "Nice! What takes you there?"',
        'remember --session friday-chat --speaker Maya "My sister Ines opens her bakery on Saturday."',
    ),
    (
        "3 · It finds the answer, and can say why",
        'recall "why did we choose the database for invoices?" -n 1',
        'recall "where is Maya going?" -n 2 --explain',
    ),
    (
        "4 · A correction takes the place of what it corrects",
        EDITOR,
        'remember "Actually, my editor is Helix now"',
        EDITOR,
        "history {superseded}",
    ),
    (
        "5 · Forgetting can be undone",
        'forget {found} --because "the demo asked for it"',
        f'recall "{SERVER}" -n 1',
        "restore {forgotten}",
        f'recall "{SERVER}" -n 1',
    ),
)
"""Titles, and what is typed under each."""
NEXT_STEPS = (
    ('engram remember "…"', "keep something of your own"),
    ("engram recall … --explain", "ask for it, and see why it came"),
    ("engram list", "what is there"),
    ("engram --help", "everything else"),
)


@command("demo")
@pass_run
def demo(run: CommandRun) -> None:
    """Tour a memory in a minute, on a file of its own.

    It remembers, recalls and explains, corrects, forgets and restores. Your own memory is not touched; name
    a file with --file to keep what the tour leaves behind.
    """
    steps: list[dict[str, Any]] = []
    with _place(run) as place:
        for title, *commands in STORY:
            if not run.json:
                if steps and sys.stdin.isatty() and sys.stdout.isatty():
                    more = click.style("\n↵ to go on", dim=True)
                    click.prompt(more, default="", show_default=False, prompt_suffix="")
                say(run, text((f"\n{title}", "bold magenta")))
            for named in commands:
                typed = named.format(**_ids(place)) if "{" in named else named
                steps.append({"command": f"engram {typed}", "result": _typed(place, typed)})
    if run.json:
        say_json({"steps": steps})
        return
    gone = "The tour ran on a file of its own, which is gone now."
    where = f"The tour is kept in {run.file}." if run.file_typed else gone
    say(run, text(("\nNow yours. ", "bold magenta"), (where, "dim")))
    for words, what in NEXT_STEPS:
        say(run, text((f"  {words:<28}", "bold"), (what, "dim")))


@contextmanager
def _place(run: CommandRun) -> Iterator[CommandRun]:
    """The file that was named on the command line, or one that goes away."""
    if run.file_typed:
        yield run
        return
    with tempfile.TemporaryDirectory(prefix="engram-demo-", ignore_cleanup_errors=True) as folder:
        yield replace(run, file=str(Path(folder) / "demo.engram"))


def _typed(place: CommandRun, typed: str) -> Any:
    """What a command comes to: shown to a person, or as a program gets it."""
    from engram.cli.app import app

    if not place.json:
        say(place, text(("$ ", "dim"), (f"engram {typed}", "bold")))
    arguments = ["--file", str(place.file), *shlex.split(typed)]
    with redirect_stdout(StringIO()) if place.json else redirect_stdout(sys.stdout) as heard:
        click.Group.main(app, arguments, "engram", standalone_mode=False, obj=replace(place))
    return json.loads(heard.getvalue()) if isinstance(heard, StringIO) else None


def _ids(place: CommandRun) -> dict[str, str]:
    """The memories that the story goes on with: the corrected, the forgotten, the one about a server."""
    with place.open(makes=True) as memory:
        memories = [hit.memory for hit in memory.recall(SERVER, limit=1, dry=True)] or [*memory.list(limit=1)]
        last = {"found": memories}
        for name, status in (("superseded", Status.SUPERSEDED), ("forgotten", Status.ARCHIVED)):
            last[name] = [*memory.list(filters=Filters(statuses=frozenset({status})), limit=1)]
    return {name: short(memory.id) for name, memories_of in last.items() for memory in memories_of}
