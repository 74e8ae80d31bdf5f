"""`engram reason` and `engram timeline`: a question thought through, and how something changed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import click

from engram.cli.exits import NOT_FOUND
from engram.cli.options import Run, command, pass_run
from engram.cli.output import counted, cut, line, say, say_json, short, table, text
from engram.cli.rows import step_row
from engram.cli.values import When, text_or_stdin
from engram.model.reasoning import Branch, Reasoning

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import RenderableType
    from rich.text import Text
    from rich.tree import Tree

HITS_SHOWN = 3
"""Hits of each smaller question that are shown; --json has all."""


@command("reason")
@click.argument("question", nargs=-1)
@click.option("--depth", type=int, metavar="1..5", help="How often questions are taken apart again.")
@click.option("--budget", type=int, metavar="TOKENS", help="Tokens of memories the answer may rest on.")
@pass_run
def reason(run: Run, question: tuple[str, ...], depth: int | None, budget: int | None) -> None:
    """Think a question through, part by part.

    Prints what was found for each smaller question and what is missing; with a model also an answer that
    says which memories it rests on. The exit code is 1 when nothing was found at all.
    """
    asked = text_or_stdin(question, "question")
    with run.open() as memory:
        found = memory.reason(asked, depth=depth, budget=budget, scope=run.scope)
    if run.json:
        say_json(found)
    elif run.quiet:
        say(run, *([line(one.claim) for one in found.answer] or found.memories))
    else:
        say(run, *_reasoning(found))
    if found.tree.is_gap:
        raise click.exceptions.Exit(NOT_FOUND)


@command("timeline")
@click.argument("about", nargs=-1)
@click.option("-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many at most.")
@click.option("--since", type=When(), metavar="TIME", help="Only steps since then: 2026-03-01, or 30d ago.")
@click.option("--until", type=When(), metavar="TIME", help="Only steps before then.")
@pass_run
def timeline(
    run: Run, about: tuple[str, ...], limit: int, since: datetime | None, until: datetime | None
) -> None:
    """Tell how something changed, oldest step first.

    ABOUT is a name, a thing like `my editor`, a question, or any words.
    """
    asked = text_or_stdin(about, "question")
    with run.open() as memory:
        found = memory.timeline(asked, limit=limit, since=since, until=until, scope=run.scope)
    if run.json:
        say_json(found)
    elif run.quiet:
        say(run, *(line(step.what) for step in found))
    elif found.steps:
        say(run, table(("when", "step", "id", "what"), [step_row(step) for step in found]))
        say(run, text((f"{counted(len(found), 'step')} · {line(found.about)}, by {found.found_by}", "dim")))
    else:
        say(run, text((f"nothing is known of {line(asked)}", "bold")))
    if not found.steps:
        raise click.exceptions.Exit(NOT_FOUND)


def _reasoning(found: Reasoning) -> Iterator[RenderableType]:
    for one in found.answer:
        cited = ", ".join(short(memory) for memory in one.memories)
        yield text((line(one.claim), "bold"), (f"  {cited}", "cyan"))
    yield _tree(found.tree, text(("? ", "bold magenta"), (line(found.tree.question), "bold")))
    for gap in found.gaps:
        yield text(("missing ", "yellow"), line(gap))
    for note in found.notes:
        yield text(("note ", "dim"), line(note))
    counts = f"{counted(len(found.memories), 'memory', 'memories')} · {counted(found.tokens, 'token')}"
    yield text((f"{counts} · {counted(found.calls, 'call')} to a model", "dim"))


def _tree(branch: Branch, label: Text) -> Tree:
    from rich.tree import Tree

    tree = Tree(label, guide_style="dim")
    _grow(tree, branch)
    return tree


def _grow(tree: Tree, branch: Branch) -> None:
    for hit in branch.hits[:HITS_SHOWN]:
        row = text((short(hit.memory.id), "cyan"), (f" {hit.relevance:.2f} ", "green"), line(hit.text))
        tree.add(cut(row))
    if not branch.hits:
        tree.add(text(("nothing found", "yellow")))
    for below in branch.branches:
        label = text(("? ", "magenta"), line(below.question), (f"  {line(below.why)}", "dim"))
        _grow(tree.add(label), below)
