"""`engram demo`: a short story on a file of its own, told with nothing but the public verbs."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from engram.cli.browse import event_lines
from engram.cli.options import CommandRun, command, pass_run
from engram.cli.output import say, say_json, short, text
from engram.cli.recall import hit_table, xray
from engram.cli.remember import receipt_line
from engram.lazily import dataclass
from engram.model.recall import Recall

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engram.engine import Engram

STATEMENTS = (
    "My editor is vim",
    "I prefer tabs over spaces in Go, and spaces everywhere else",
    "We decided to keep invoices in PostgreSQL because the accountants need SQL",
    "To deploy: run the tests, tag the release, then push the tag",
    "The staging server is called heron and listens on port 8443",
)
CONVERSATION = (
    ("Maya", "I am taking the night train to Vienna on Friday."),
    ("Ben", "Nice! What takes you there?"),
    ("Maya", "My sister Ines opens her bakery on Saturday."),
)
CORRECTION = "Actually, my editor is Helix now"
NEXT_STEPS = (
    ('engram remember "…"', "keep something of your own"),
    ("engram recall … --explain", "ask for it, and see why it came"),
    ("engram list", "what is there"),
    ("engram --help", "everything else"),
)


@dataclass
class Story:
    """Tells each step, or collects it when a program listens."""

    run: CommandRun
    steps: list[dict[str, Any]] = field(default_factory=list)

    def chapter(self, title: str) -> None:
        """A new part begins; a person may read on at their own pace."""
        if self.run.json:
            return
        if self.steps and sys.stdin.isatty() and sys.stdout.isatty():
            click.prompt(
                click.style("\n↵ to go on", dim=True), default="", show_default=False, prompt_suffix=""
            )
        say(self.run, text((f"\n{title}", "bold magenta")))

    def step(self, typed: str, result: Any, *told: RenderableType) -> None:
        """What was typed and what came of it."""
        self.steps.append({"command": f"engram {typed}", "result": result})
        if not self.run.json:
            say(self.run, text(("$ ", "dim"), (f"engram {typed}", "bold")), *told)


@command("demo")
@pass_run
def demo(run: CommandRun) -> None:
    """Tour a memory in a minute, on a file of its own.

    It remembers, recalls and explains, corrects, forgets and restores. Your own memory is not touched; name
    a file with --file to keep what the tour leaves behind.
    """
    story = Story(run)
    with _place(run) as place, place.open(makes=True) as memory:
        _remembers(story, memory)
        _recalls(story, memory)
        _corrects(story, memory)
        _forgets(story, memory)
    if run.json:
        say_json({"steps": story.steps})
    else:
        _says_goodbye(run, kept=run.file if run.file_typed else None)


@contextmanager
def _place(run: CommandRun) -> Iterator[CommandRun]:
    """The file that was named on the command line, or one that goes away."""
    if run.file_typed:
        yield run
        return
    with tempfile.TemporaryDirectory(prefix="engram-demo-", ignore_cleanup_errors=True) as folder:
        yield replace(run, file=str(Path(folder) / "demo.engram"))


def _remembers(story: Story, memory: Engram) -> None:
    story.chapter("1 · It keeps what you tell it, and says what became of it")
    for statement in STATEMENTS:
        receipt = memory.remember(statement)
        story.step(f'remember "{statement}"', receipt, receipt_line(receipt))
    story.chapter("2 · A conversation keeps its speakers and its order")
    for speaker, said in CONVERSATION:
        receipt = memory.remember(said, speaker=speaker, session="friday-chat")
        story.step(
            f'remember --session friday-chat --speaker {speaker} "{said}"', receipt, receipt_line(receipt)
        )


def _recalls(story: Story, memory: Engram) -> None:
    story.chapter("3 · It finds the answer, and can say why")
    _asks(story, memory, "why did we choose the database for invoices?")
    question = "where is Maya going?"
    answer = memory.recall(question, limit=2, explain=True)
    story.step(f"recall {question} -n 2 --explain", answer, *xray(answer, _now(story, answer)))


def _corrects(story: Story, memory: Engram) -> None:
    story.chapter("4 · A correction takes the place of what it corrects")
    _asks(story, memory, "which editor do I use?")
    receipt = memory.remember(CORRECTION)
    story.step(f'remember "{CORRECTION}"', receipt, receipt_line(receipt))
    _asks(story, memory, "which editor do I use?")
    old = receipt.other or receipt.memory.id
    events = memory.events(old)[::-1]
    told = [line for event in events for line in event_lines(event, with_memory=False)]
    story.step(f"history {short(old)}", events, *told)


def _forgets(story: Story, memory: Engram) -> None:
    story.chapter("5 · Forgetting can be undone")
    question = "what is the staging server called?"
    found = memory.recall(question, limit=1)
    one = found[0].memory if found.hits else memory.remember(STATEMENTS[-1]).memory
    story.step(
        f"forget {short(one.id)}",
        memory.forget(one.id, "the demo asked for it"),
        f"forgotten {short(one.id)}",
    )
    _asks(story, memory, question)
    story.step(f"restore {short(one.id)}", memory.restore(one.id), f"restored {short(one.id)}")
    _asks(story, memory, question)


def _asks(story: Story, memory: Engram, question: str) -> None:
    answer = memory.recall(question, limit=1)
    told = hit_table(answer, _now(story, answer)) if answer.hits else text(("nothing fits.", "bold"))
    story.step(f"recall {question} -n 1", answer, told)


def _now(story: Story, answer: Recall) -> Any:
    return answer.at or story.run.clock.now()


def _says_goodbye(run: CommandRun, *, kept: str | None) -> None:
    where = (
        f"The tour is kept in {kept}." if kept else "The tour ran on a file of its own, which is gone now."
    )
    say(run, text(("\nNow yours. ", "bold magenta"), (where, "dim")))
    for typed, what in NEXT_STEPS:
        say(run, text((f"  {typed:<28}", "bold"), (what, "dim")))
