"""What is known about whom: `facts`, `entities` and `conflicts`."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

import click

from engram.cli.browse import (
    conflict_rows,
    either,
    entity_row,
    id_of,
    path_row,
    say_claims,
    say_entity,
    say_profile,
    step_row,
)
from engram.cli.change import because_option, say_changed
from engram.cli.options import CommandRun, Group, MomentOption, pass_run
from engram.cli.output import NOT_FOUND, bar, counted, day, line, say, say_json, short, table, text
from engram.errors import UnknownEntity
from engram.model.facts import ENTITY_TYPES

if TYPE_CHECKING:
    from rich.console import RenderableType

    from engram.model.knowledge import Abstraction, Behaviour, Card, Guidelines, KnowledgeMap


limit_option = click.option(
    "-n", "--limit", type=int, default=50, show_default=True, metavar="N", help="So many at most."
)


# ---------------------------------------------------------------- facts


@click.group("facts", cls=Group, otherwise="list")
def facts() -> None:
    """Ask, add and follow facts: who is what to whom."""


@facts.command("list")
@click.argument("subject", required=False, default="")
@click.argument("predicate", required=False, default="")
@click.option("--object", "whom", default="", metavar="NAME", help="Only facts with this object.")
@click.option("--as-of", type=MomentOption(), metavar="TIME", help="What held then: 2026-03-01, or 30d ago.")
@click.option("--history", is_flag=True, help="Also what holds no longer.")
@limit_option
@pass_run
def list_facts(
    run: CommandRun,
    *,
    subject: str,
    predicate: str,
    whom: str,
    as_of: datetime | None,
    history: bool,
    limit: int,
) -> None:
    """List facts, newest first.

    SUBJECT may be any name of somebody; `pet` finds a dog and `sibling` a sister.
    """
    with run.open() as memory:
        found = memory.facts.query(
            subject, predicate, whom, as_of=as_of, limit=limit, scope=run.scope, history=history
        )
    say_claims(run, found)


@facts.command("add")
@click.argument("subject")
@click.argument("predicate")
@click.argument("object")
@click.option("--one/--many", "functional", default=None, help="Whether there is one object at a time.")
@click.option("--confidence", type=float, metavar="0..1", help="How sure it is.")
@click.option("--from", "valid_from", type=MomentOption(), metavar="TIME", help="Since when it holds.")
@click.option("--to", "valid_to", type=MomentOption(), metavar="TIME", help="Until when it held.")
@because_option
@pass_run
def add_fact(
    run: CommandRun,
    *,
    subject: str,
    predicate: str,
    object: str,  # noqa: A002 - the word for it
    functional: bool | None,
    confidence: float | None,
    valid_from: datetime | None,
    valid_to: datetime | None,
    because: str,
) -> None:
    """State a fact.

    It takes the place of one with another object, if there can be only one.
    """
    with run.open(makes=True) as memory:
        receipt = memory.facts.add(
            subject,
            predicate,
            object,
            functional=functional,
            confidence=confidence,
            valid_from=valid_from,
            valid_to=valid_to,
            because=because,
        )
    if run.json:
        say_json(receipt)
    else:
        say_changed(run, str(receipt.outcome), receipt.memory, hint=receipt.because)


@facts.command("history")
@click.argument("subject")
@click.argument("predicate", required=False, default="")
@limit_option
@pass_run
def fact_history(run: CommandRun, subject: str, predicate: str, limit: int) -> None:
    """Tell what was ever stated about a subject, oldest first."""
    with run.open() as memory:
        found = memory.facts.history(subject, predicate, limit=limit)
    say_claims(run, found)


@facts.command("conflicts")
@limit_option
@pass_run
def fact_conflicts(run: CommandRun, limit: int) -> None:
    """List pairs of facts that cannot both be true."""
    with run.open() as memory:
        pairs = memory.facts.conflicts(limit)
    if run.json:
        say_json({"conflicts": [{"a": one, "b": two} for one, two in pairs]})
    elif pairs:
        rows = [(id_of(one.memory), id_of(two.memory), either(one.fact, two.fact)) for one, two in pairs]
        say(run, table(("a", "b", "fact"), rows))
    else:
        say(run, text(("no two facts contradict each other", "bold")))


@facts.command("chain")
@click.argument("start")
@click.option("--goal", default="", metavar="NAME", help="Only what leads there.")
@click.option("--hops", type=int, default=2, show_default=True, metavar="N", help="So many facts in a row.")
@click.option("-n", "--limit", type=int, default=20, show_default=True, metavar="N", help="So many at most.")
@pass_run
def chain(run: CommandRun, start: str, goal: str, hops: int, limit: int) -> None:
    """Follow facts from a name, the surest first."""
    with run.open() as memory:
        paths = memory.facts.chain(start, hops=hops, goal=goal, limit=limit)
    if run.json:
        say_json({"paths": paths})
    elif paths:
        say(run, table(("sure", "path"), [path_row(path) for path in paths]))
    else:
        say(run, text((f"nothing leads on from {line(start)}", "bold")))
    if not paths:
        raise click.exceptions.Exit(NOT_FOUND)


@facts.command("end")
@click.argument("memory_id", metavar="ID")
@click.argument("triple", nargs=-1, metavar="[SUBJECT PREDICATE OBJECT]")
@click.option("--at", type=MomentOption(), metavar="TIME", help="When it ended; now if not said.")
@because_option
@pass_run
def end_fact(
    run: CommandRun, memory_id: str, triple: tuple[str, ...], at: datetime | None, because: str
) -> None:
    """Say that a fact of a memory holds no longer.

    The three parts are needed only when the memory states several facts.
    """
    from engram.model.facts import Fact
    from engram.text.statement import canonical

    if len(triple) not in {0, 3}:
        raise click.UsageError("Say subject, predicate and object, or none of them.")
    fact = Fact(triple[0].lower(), canonical(triple[1]), triple[2].lower()) if triple else None
    with run.open() as memory:
        changed = memory.facts.end(memory_id, fact, at=at, because=because)
    say_changed(run, "ended", changed)


# ---------------------------------------------------------------- entities


@click.group("entities", cls=Group, otherwise="list")
def entities() -> None:
    """Look at who and what is spoken of, and join their names."""


@entities.command("list")
@click.option("--type", "kind", type=click.Choice(ENTITY_TYPES), default=None, help="Only of this type.")
@click.option("--prefix", default="", metavar="TEXT", help="Only with a name that begins so.")
@limit_option
@pass_run
def list_entities(run: CommandRun, kind: str | None, prefix: str, limit: int) -> None:
    """List entities, last seen first."""
    with run.open() as memory:
        found = memory.entities.list(type=kind or "", prefix=prefix, limit=limit)
    if run.json:
        say_json({"entities": found})
    elif run.quiet:
        say(run, *(line(one.name) for one in found))
    elif found:
        now = run.clock.now()
        rows = [entity_row(one, now) for one in found]
        say(
            run, table(("seen", "type", "memories", "name"), rows), text((counted(len(found), "name"), "dim"))
        )
    else:
        say(run, text(("nobody and nothing is named yet", "bold")))


@entities.command("show")
@click.argument("name")
@pass_run
def show_entity(run: CommandRun, name: str) -> None:
    """Show what is known about somebody or something."""
    with run.open() as memory:
        profile = memory.entities.get(name)
    if profile is None:
        raise UnknownEntity(name)
    if run.json:
        say_json(profile)
    elif run.quiet:
        say(run, line(profile.entity.name))
    else:
        say_profile(run, profile)


@entities.command("alias")
@click.argument("name")
@click.argument("other")
@pass_run
def alias(run: CommandRun, name: str, other: str) -> None:
    """Let an entity go by one more name."""
    with run.open() as memory:
        say_entity(run, "named", memory.entities.alias(name, other))


@entities.command("merge")
@click.argument("keep")
@click.argument("other")
@pass_run
def merge(run: CommandRun, keep: str, other: str) -> None:
    """Say that two entities are one; `engram entities split` takes it back."""
    with run.open() as memory:
        say_entity(run, "merged", memory.entities.merge(keep, other))


@entities.command("split")
@click.argument("name")
@pass_run
def split(run: CommandRun, name: str) -> None:
    """Make a name stand for an entity of its own again."""
    with run.open() as memory:
        entity = memory.entities.split(name)
    if entity is not None:
        say_entity(run, "split off", entity)
    elif run.json:
        say_json(None)
    else:
        say(run, text(("split off", "bold green"), f" {line(name)}, which no memory names"))


@entities.command("timeline")
@click.argument("name")
@limit_option
@pass_run
def timeline(run: CommandRun, name: str, limit: int) -> None:
    """Tell how the knowledge about an entity grew, oldest first."""
    with run.open() as memory:
        steps = memory.entities.timeline(name, limit)
    if run.json:
        say_json({"steps": steps})
    else:
        say(run, table(("when", "step", "id", "what"), [step_row(step) for step in steps]))


# ---------------------------------------------------------------- conflicts


@click.group("conflicts", cls=Group, otherwise="list")
def conflicts() -> None:
    """Look at what contradicts what, and settle it."""


@conflicts.command("list")
@limit_option
@pass_run
def list_conflicts(run: CommandRun, limit: int) -> None:
    """List pairs of memories that cannot both be true."""
    with run.open() as memory:
        found = memory.conflicts.list(limit)
    if run.json:
        say_json({"conflicts": found})
    elif found:
        say(run, table(("id", "", "memory"), [row for one in found for row in conflict_rows(one)]))
        say(run, text(("settle one: engram conflicts resolve A B --keep a|b|both|merge", "dim")))
    else:
        say(run, text(("nothing contradicts anything", "bold")))


@conflicts.command("review")
@click.option("--limit", type=click.IntRange(1, 1_000), default=20, help="How many at most.")
@pass_run
def review(run: CommandRun, limit: int) -> None:
    """Ask the configured model about open conflicts; what it cannot decide stays open."""
    with run.open() as memory:
        settled = memory.conflicts.review(limit)
        left = len(memory.conflicts.list())
    if run.json:
        say_json({"settled": settled, "open": left})
    else:
        say(run, text((f"{len(settled)} settled, {left} open", "bold")))


@conflicts.command("resolve")
@click.argument("id_a", metavar="A")
@click.argument("id_b", metavar="B")
@click.option(
    "--keep",
    type=click.Choice(["a", "b", "both", "merge"]),
    required=True,
    help="Which one stands: the first, the second, both, or both in one.",
)
@because_option
@pass_run
def resolve(run: CommandRun, id_a: str, id_b: str, keep: str, because: str) -> None:
    """Settle a conflict; what gives way can be restored."""
    with run.open() as memory:
        kept = memory.conflicts.resolve(id_a, id_b, keep, because)
    say_changed(run, "kept" if keep != "merge" else "merged", kept)


# ---------------------------------------------------------------- learned
# `engram knowledge …`: what consolidation worked out from memories taken together.


NOTHING = "nothing was worked out yet: run `engram consolidate`"


@click.group("knowledge", cls=Group, otherwise="profile")
def knowledge() -> None:
    """Look at what was learned: profile, map, tree, cards, topics, boxes."""


@knowledge.command("profile")
@pass_run
def profile(run: CommandRun) -> None:
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
def identity(run: CommandRun) -> None:
    """Tell what somebody says about themselves."""
    with run.open() as memory:
        found = memory.knowledge.identity(scope=run.scope)
    lines = found.text.splitlines()
    rest = f"{counted(found.memories, 'reflection')}{', compacted' if found.compacted else ''}"
    _tell(run, found, [*(text(line(one)) for one in lines), *([text((rest, "dim"))] if lines else [])], lines)


@knowledge.command("core")
@pass_run
def core(run: CommandRun) -> None:
    """Tell what has proved itself, in a few lines."""
    with run.open() as memory:
        found = memory.knowledge.core(scope=run.scope)
    _tell(run, found, [text(line(one)) for one in found.lines], list(found.lines))


@knowledge.command("map")
@pass_run
def confidence_map(run: CommandRun) -> None:
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
def tree(run: CommandRun, *, clusters: bool) -> None:
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
def topics(run: CommandRun) -> None:
    """Count what memories are about."""
    with run.open() as memory:
        found = memory.knowledge.topics(scope=run.scope)
    rows = [(f"{one.memories:,}", day(one.last)[:10], line(one.topic)) for one in found]
    _listed(run, "topics", found, ("memories", "last", "topic"), rows, [one.topic for one in found])


@knowledge.command("cards")
@click.argument("name", required=False, default="")
@limit_option
@pass_run
def cards(run: CommandRun, name: str, limit: int) -> None:
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
def boxes(run: CommandRun, limit: int) -> None:
    """List what was going on together, the latest first."""
    with run.open() as memory:
        found = memory.knowledge.boxes(limit=limit, scope=run.scope)
    rows = [(day(one.started), f"{len(one.memories)}", line(one.title)) for one in found]
    _listed(run, "boxes", found, ("began", "memories", "about"), rows, [one.key for one in found])


@knowledge.command("traces")
@limit_option
@pass_run
def traces(run: CommandRun, limit: int) -> None:
    """List threads of boxes about the same."""
    with run.open() as memory:
        found = memory.knowledge.traces(limit=limit, scope=run.scope)
    rows = [(day(one.last), f"{one.count}", line(one.title)) for one in found]
    _listed(run, "traces", found, ("last", "boxes", "about"), rows, [one.key for one in found])


@knowledge.command("patterns")
@limit_option
@pass_run
def patterns(run: CommandRun, limit: int) -> None:
    """List what similar episodes have in common."""
    with run.open() as memory:
        found = memory.knowledge.patterns(limit=limit, scope=run.scope)
    rows = [(text((short(one.memory), "cyan")), f"{one.episodes}", line(one.template)) for one in found]
    _listed(run, "patterns", found, ("id", "episodes", "pattern"), rows, [one.memory for one in found])


@knowledge.command("guidelines")
@pass_run
def guidelines(run: CommandRun) -> None:
    """Tell what past runs and recalls teach about shortening and letting go."""
    with run.open() as memory:
        found: Guidelines = memory.knowledge.guidelines(scope=run.scope)
    _tell(run, found, [text(line(one)) for one in found.lines], found.lines)


@knowledge.command("knowing")
@click.argument("words", nargs=-1, required=True, metavar="QUESTION")
@pass_run
def knowing(run: CommandRun, words: tuple[str, ...]) -> None:
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


def _tell(run: CommandRun, value: Any, said: Sequence[RenderableType], plain: Sequence[str]) -> None:
    if run.json:
        say_json(value)
    elif run.quiet:
        say(run, *(line(one) for one in plain))
    else:
        say(run, *(said or [text((NOTHING, "bold"))]))


def _listed(
    run: CommandRun,
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
