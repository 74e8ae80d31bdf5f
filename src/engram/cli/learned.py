"""`engram knowledge …`: what consolidation worked out from memories taken together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from engram.cli.exits import NOT_FOUND
from engram.cli.options import Group, Run, pass_run
from engram.cli.output import bar, counted, day, line, say, say_json, short, table, text
from engram.errors import UnknownEntity

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engram.model.abstraction import Abstraction
    from engram.model.knowledge import Behaviour, Card, Guidelines, KnowledgeMap

NOTHING = "nothing was worked out yet: run `engram consolidate`"
limit_option = click.option(
    "-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many at most."
)


@click.group("knowledge", cls=Group, otherwise="profile")
def knowledge() -> None:
    """Look at what was learned: profile, map, tree, cards, topics, boxes."""


@knowledge.command("profile")
@pass_run
def profile(run: Run) -> None:
    """Tell how somebody is and wants things."""
    with run.open() as memory:
        found = memory.knowledge.profile(scope=run.scope)
    _tell(run, found, _profile(found), [one.text for one in found.traits])


def _profile(found: Behaviour) -> list[RenderableType]:
    said: list[RenderableType] = []
    for section in dict.fromkeys(one.section for one in found.traits):
        said.append(text((section, "bold magenta")))
        said += [text(f"  {line(one.text)}") for one in found.traits if one.section == section]
    for name in ("topics", "languages", "hours"):
        values = getattr(found, name)
        if values:
            said.append(text((f"{name}: ", "dim"), ", ".join(map(str, values))))
    return said


@knowledge.command("identity")
@pass_run
def identity(run: Run) -> None:
    """Tell what somebody says about themselves."""
    with run.open() as memory:
        found = memory.knowledge.identity(scope=run.scope)
    lines = found.text.splitlines()
    rest = f"{counted(found.memories, 'reflection')}{', compacted' if found.compacted else ''}"
    _tell(run, found, [*(text(line(one)) for one in lines), *([text((rest, "dim"))] if lines else [])], lines)


@knowledge.command("core")
@pass_run
def core(run: Run) -> None:
    """Tell what has proved itself, in a few lines."""
    with run.open() as memory:
        found = memory.knowledge.core(scope=run.scope)
    _tell(run, found, [text(line(one)) for one in found.lines], list(found.lines))


@knowledge.command("map")
@pass_run
def confidence_map(run: Run) -> None:
    """Tell how well each domain is known."""
    with run.open() as memory:
        found = memory.knowledge.map(scope=run.scope)
    _tell(run, found, _map(found), [one.label for one in found.domains])


def _map(found: KnowledgeMap) -> list[RenderableType]:
    if not found.domains:
        return []
    rows = [
        (
            text((bar(one.confidence), "blue"), f" {one.confidence:.2f}"),
            f"{one.memories:,}",
            f"{one.depth:.2f}",
            f"{one.freshness:.2f}",
            f"{one.uncertainty:.2f}",
            line(one.label),
        )
        for one in found.domains
    ]
    heads = ("confidence", "memories", "depth", "fresh", "doubt", "domain")
    return [table(heads, rows), text((f"coverage {found.coverage:.2f}", "dim"))]


@knowledge.command("tree")
@click.option("--clusters", is_flag=True, help="Also the clusters of memories below the domains.")
@pass_run
def tree(run: Run, *, clusters: bool) -> None:
    """Tell everything that is kept in one paragraph, and domain by domain."""
    with run.open() as memory:
        found = memory.knowledge.tree(scope=run.scope)
    _tell(run, found, _tree(found, clusters=clusters), [found.paragraph] if found.paragraph else [])


def _tree(found: Abstraction, *, clusters: bool) -> list[RenderableType]:
    said: list[RenderableType] = [text(line(found.paragraph))] if found.paragraph else []
    levels = (("domains", found.domains), *((("clusters", found.clusters),) if clusters else ()))
    for name, gists in levels:
        if gists:
            said.append(text((f"\n{name}", "bold magenta")))
            said += [text((f"{len(one.memories):>5}  ", "dim"), line(one.text)) for one in gists]
    return said


@knowledge.command("topics")
@pass_run
def topics(run: Run) -> None:
    """Count what memories are about."""
    with run.open() as memory:
        found = memory.knowledge.topics(scope=run.scope)
    rows = [(f"{one.memories:,}", day(one.last)[:10], line(one.topic)) for one in found]
    _listed(run, "topics", found, ("memories", "last", "topic"), rows, [one.topic for one in found])


@knowledge.command("cards")
@click.argument("name", required=False, default="")
@limit_option
@pass_run
def cards(run: Run, name: str, limit: int) -> None:
    """List the cards of who and what is often spoken of, or show one."""
    with run.open() as memory:
        if name:
            card = memory.knowledge.card(name)
            if card is None:
                raise UnknownEntity(name)
            _tell(run, card, _card(card), [card.text])
            return
        found = memory.knowledge.cards(limit=limit, scope=run.scope)
    rows = [(f"{one.memories:,}", line(one.type), line(one.name), line(one.text)) for one in found]
    heads = ("memories", "type", "name", "text")
    _listed(run, "cards", found, heads, rows, [one.name for one in found])


def _card(card: Card) -> list[RenderableType]:
    said: list[RenderableType] = [text((line(card.name), "bold"), (f"  {card.type}", "magenta"))]
    if card.aliases:
        said.append(text(("also ", "dim"), ", ".join(map(line, card.aliases))))
    said += [text("  ", line(" ".join(fact))) for fact in card.facts]
    said += [text(("  · ", "dim"), line(one)) for one in card.lines]
    beside = ", ".join(f"{line(name)} ({count})" for name, count in card.beside)
    return [*said, *([text(("with ", "dim"), beside)] if beside else [])]


@knowledge.command("boxes")
@limit_option
@pass_run
def boxes(run: Run, limit: int) -> None:
    """List what was going on together, the latest first."""
    with run.open() as memory:
        found = memory.knowledge.boxes(limit=limit, scope=run.scope)
    rows = [(day(one.started), f"{len(one.memories)}", line(one.title)) for one in found]
    _listed(run, "boxes", found, ("began", "memories", "about"), rows, [one.key for one in found])


@knowledge.command("traces")
@limit_option
@pass_run
def traces(run: Run, limit: int) -> None:
    """List threads of boxes about the same."""
    with run.open() as memory:
        found = memory.knowledge.traces(limit=limit, scope=run.scope)
    rows = [(day(one.last), f"{one.count}", line(one.title)) for one in found]
    _listed(run, "traces", found, ("last", "boxes", "about"), rows, [one.key for one in found])


@knowledge.command("patterns")
@limit_option
@pass_run
def patterns(run: Run, limit: int) -> None:
    """List what similar episodes have in common."""
    with run.open() as memory:
        found = memory.knowledge.patterns(limit=limit, scope=run.scope)
    rows = [(text((short(one.memory), "cyan")), f"{one.episodes}", line(one.template)) for one in found]
    _listed(run, "patterns", found, ("id", "episodes", "pattern"), rows, [one.memory for one in found])


@knowledge.command("guidelines")
@pass_run
def guidelines(run: Run) -> None:
    """Tell what past runs and recalls teach about shortening and letting go."""
    with run.open() as memory:
        found: Guidelines = memory.knowledge.guidelines(scope=run.scope)
    _tell(run, found, [text(line(one)) for one in found.lines], found.lines)


@knowledge.command("knowing")
@click.argument("words", nargs=-1, required=True, metavar="QUESTION")
@pass_run
def knowing(run: Run, words: tuple[str, ...]) -> None:
    """Tell whether little is known of what a question is about; the exit code is 1 when it is."""
    with run.open() as memory:
        found = memory.knowledge.knowing(" ".join(words), scope=run.scope)
    if run.json:
        say_json({"knowing": found})
    elif found is None:
        say(run, text(("nothing says that little is known of it", "bold")))
    else:
        say(run, text(("little is known about ", "yellow"), line(found.topic)))
    if found is not None:
        raise click.exceptions.Exit(NOT_FOUND)


def _tell(run: Run, value: Any, said: Sequence[RenderableType], plain: Sequence[str]) -> None:
    if run.json:
        say_json(value)
    elif run.quiet:
        say(run, *(line(one) for one in plain))
    else:
        say(run, *(said or [text((NOTHING, "bold"))]))


def _listed(
    run: Run,
    name: str,
    found: Sequence[Any],
    heads: Sequence[str],
    rows: Sequence[Sequence[Any]],
    plain: Sequence[str],
) -> None:
    if run.json:
        say_json({name: found})
    else:
        _tell(run, found, [table(heads, rows)] if rows else [], plain)
