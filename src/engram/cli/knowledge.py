"""What is known about whom: `facts`, `entities` and `conflicts`."""

from __future__ import annotations

from datetime import datetime

import click

from engram.cli.change import because_option, say_changed
from engram.cli.exits import NOT_FOUND
from engram.cli.options import Group, Run, pass_run
from engram.cli.output import counted, line, say, say_json, table, text
from engram.cli.rows import (
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
from engram.cli.values import When
from engram.errors import UnknownEntity
from engram.model.entity import ENTITY_TYPES

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
@click.option("--as-of", type=When(), metavar="TIME", help="What held then: 2026-03-01, or 30d ago.")
@click.option("--history", is_flag=True, help="Also what holds no longer.")
@limit_option
@pass_run
def list_facts(
    run: Run, *, subject: str, predicate: str, whom: str, as_of: datetime | None, history: bool, limit: int
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
@click.option("--from", "valid_from", type=When(), metavar="TIME", help="Since when it holds.")
@click.option("--to", "valid_to", type=When(), metavar="TIME", help="Until when it held.")
@because_option
@pass_run
def add_fact(
    run: Run,
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
def fact_history(run: Run, subject: str, predicate: str, limit: int) -> None:
    """Tell what was ever stated about a subject, oldest first."""
    with run.open() as memory:
        found = memory.facts.history(subject, predicate, limit=limit)
    say_claims(run, found)


@facts.command("conflicts")
@limit_option
@pass_run
def fact_conflicts(run: Run, limit: int) -> None:
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
def chain(run: Run, start: str, goal: str, hops: int, limit: int) -> None:
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
@click.option("--at", type=When(), metavar="TIME", help="When it ended; now if not said.")
@because_option
@pass_run
def end_fact(run: Run, memory_id: str, triple: tuple[str, ...], at: datetime | None, because: str) -> None:
    """Say that a fact of a memory holds no longer.

    The three parts are needed only when the memory states several facts.
    """
    from engram.model.facts import Fact
    from engram.text.predicates import canonical

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
def list_entities(run: Run, kind: str | None, prefix: str, limit: int) -> None:
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
def show_entity(run: Run, name: str) -> None:
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
def alias(run: Run, name: str, other: str) -> None:
    """Let an entity go by one more name."""
    with run.open() as memory:
        say_entity(run, "named", memory.entities.alias(name, other))


@entities.command("merge")
@click.argument("keep")
@click.argument("other")
@pass_run
def merge(run: Run, keep: str, other: str) -> None:
    """Say that two entities are one; `engram entities split` takes it back."""
    with run.open() as memory:
        say_entity(run, "merged", memory.entities.merge(keep, other))


@entities.command("split")
@click.argument("name")
@pass_run
def split(run: Run, name: str) -> None:
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
def timeline(run: Run, name: str, limit: int) -> None:
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
def list_conflicts(run: Run, limit: int) -> None:
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
def review(run: Run, limit: int) -> None:
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
def resolve(run: Run, id_a: str, id_b: str, keep: str, because: str) -> None:
    """Settle a conflict; what gives way can be restored."""
    with run.open() as memory:
        kept = memory.conflicts.resolve(id_a, id_b, keep, because)
    say_changed(run, "kept" if keep != "merge" else "merged", kept)
