"""Facts, entities and conflicts as people read them: rows of tables and short lines."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from engram.cli.output import age, bar, counted, day, line, marks, say, say_json, short, table, text

if TYPE_CHECKING:
    from rich.text import Text

    from engram.cli.options import Run
    from engram.graph.chains import Path
    from engram.model.entity import Entity
    from engram.model.facts import Claim, Fact
    from engram.model.memory import Memory
    from engram.model.timeline import Step
    from engram.nouns.conflicts import Conflict
    from engram.nouns.entities import Profile

ENTITY_HEADS = ("seen", "type", "memories", "name")


def say_claims(run: Run, claims: Sequence[Claim]) -> None:
    """Facts with the memories that state them, one a row."""
    if run.json:
        say_json({"facts": claims})
    elif run.quiet:
        say(run, *(one.memory.id for one in claims))
    elif claims:
        rows = [claim_row(one) for one in claims]
        say(run, table(("id", "subject", "predicate", "since", "until", "object"), rows))
        say(run, text((counted(len(claims), "fact"), "dim")))
    else:
        say(run, text(("no such fact is known", "bold")))


def claim_row(one: Claim) -> tuple[Text, ...]:
    """One fact."""
    fact = one.fact
    return (
        id_of(one.memory),
        text((line(fact.subject), "bold")),
        text((line(fact.predicate), "magenta")),
        text((_date(fact.valid_from), "dim")),
        text((_date(fact.valid_to or one.memory.valid_to), "dim")),
        text(*marks(one.memory), line(fact.object)),
    )


def _date(moment: datetime | None) -> str:
    return day(moment)[:10]


def id_of(memory: Memory) -> Text:
    """A memory by the beginning of its id."""
    return text((short(memory.id), "cyan"))


def either(one: Fact, two: Fact) -> Text:
    """Two facts of which one is wrong."""
    return text(
        f"{line(one.subject)} {line(one.predicate)} {line(one.object)}", (" or ", "dim"), line(two.object)
    )


def path_row(path: Path) -> tuple[Text, Text]:
    """A path of facts, and how sure it is."""
    return text((bar(path.confidence), "green")), text(line(str(path)))


def entity_row(one: Entity, now: datetime) -> tuple[Text, ...]:
    """An entity: when it was last seen, what it is, how often it is named, and its names."""
    seen = age(one.last_seen, now) if one.last_seen else ""
    others = [alias for alias in one.aliases if alias != one.name.lower()]
    return (
        text((seen, "dim")),
        text((one.type, "magenta")),
        text(f"{one.mentions:,}"),
        text((line(one.name), "bold"), (f"  {line(', '.join(others))}" if others else "", "dim")),
    )


def say_entity(run: Run, verb: str, one: Entity) -> None:
    """An entity after a change, in one line."""
    if run.json:
        say_json(one)
    elif run.quiet:
        say(run, line(one.name))
    else:
        others = line(", ".join(one.aliases))
        say(run, text((verb, "bold green"), " ", (line(one.name), "bold"), (f" · {others}", "dim")))


def say_profile(run: Run, profile: Profile) -> None:
    """What is known about one entity."""
    one, now = profile.entity, run.clock.now()
    say(run, table(ENTITY_HEADS, [entity_row(one, now)]))
    if one.first_seen:
        say(run, text((f"first seen {day(one.first_seen)}", "dim")))
    if profile.card is not None and profile.card.text:
        say(run, text(line(profile.card.text)))
    if profile.facts:
        say(run, "", text(("facts", "bold")))
        say_claims(run, profile.facts)
    if profile.memories:
        rows = [(id_of(memory), text(*marks(memory), line(memory.content))) for memory in profile.memories]
        say(run, "", text(("memories", "bold")), table(("", ""), rows))
    if profile.beside:
        names = ", ".join(f"{line(name)} ({count})" for name, count in profile.beside)
        say(run, "", text(("beside it ", "bold"), names))


def step_row(step: Step) -> tuple[Text, ...]:
    """A step of a timeline."""
    return (
        text((day(step.at), "dim")),
        text((step.kind.value, "magenta")),
        id_of(step.memory),
        text(*marks(step.memory), line(step.what), (f"  {line(step.change)}" if step.change else "", "dim")),
    )


def conflict_rows(one: Conflict) -> list[tuple[Text, Text, Text]]:
    """Two memories that cannot both be true, and why."""
    return [
        (id_of(one.a), text(("a", "dim")), text(*marks(one.a), line(one.a.content))),
        (id_of(one.b), text(("b", "dim")), text(*marks(one.b), line(one.b.content))),
        (text(""), text(""), text((line(one.because), "dim"))),
    ]
