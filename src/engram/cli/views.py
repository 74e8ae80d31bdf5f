"""The result of an operation, as people read it: a line for one thing, a table for many, ids if quiet."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engram.api.conflicts import Conflict
from engram.api.facts import Profile
from engram.api.session_services import Completed, Learned
from engram.api.sessions import Begun
from engram.cli.options import CommandRun
from engram.cli.output import age, bar, counted, day, line, marks, say, short, shown, spoken_by, table, text
from engram.lazily import dataclass
from engram.model.capture import Observation, Receipt
from engram.model.event import Publication, Subscription
from engram.model.facts import Claim, Edge, Entity
from engram.model.knowledge import (
    Abstraction,
    Behaviour,
    Box,
    Card,
    CoreSummary,
    Guidelines,
    KnowledgeMap,
    Pattern,
    Reflections,
    Topic,
    Trace,
)
from engram.model.maintenance import Carried, Decided, Report, RunState
from engram.model.maintenance import Run as Maintained
from engram.model.memory import Memory
from engram.model.plain import plain
from engram.model.recall import TimelineStep
from engram.model.session import Commitment, Gap, SessionInfo, Trigger
from engram.rules.chains import Path
from engram.rules.commitments import last_day

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

Row = Sequence["str | Text"]
SHOWN = 20
"""Decisions shown on a screen; a report has them all."""


# ---------------------------------------------------------------- many


@dataclass(frozen=True, slots=True)
class ViewColumns:
    """How things of one kind stand in a table."""

    heads: tuple[str, ...]
    rows: Callable[[Any, datetime], Sequence[Row]]
    """The rows of one thing; most have one."""
    name: Callable[[Any], str]
    """What stands for it when quiet."""
    counts: tuple[str, ...] = ()
    """The word for one, and for several: the table ends with how many there are."""


def id_of(memory: Memory) -> Text:
    """A memory by the beginning of its id."""
    return text((short(memory.id), "cyan"))


def claim_row(claim: Claim) -> Row:
    """A fact and the memory that states it."""
    fact = claim.fact
    return (
        id_of(claim.memory),
        text((line(fact.subject), "bold")),
        text((line(fact.predicate), "magenta")),
        text((_date(fact.valid_from), "dim")),
        text((_date(fact.valid_to or claim.memory.valid_to), "dim")),
        text(*marks(claim.memory), line(fact.object)),
    )


def entity_row(entity: Entity, now: datetime) -> Row:
    """An entity: when it was last seen, what it is, how often it is named, and its names."""
    aliases = [alias for alias in entity.aliases if alias != entity.name.lower()]
    return (
        text((age(entity.last_seen, now) if entity.last_seen else "", "dim")),
        text((entity.type, "magenta")),
        text(f"{entity.mentions:,}"),
        text((line(entity.name), "bold"), (f"  {line(', '.join(aliases))}" if aliases else "", "dim")),
    )


def step_row(step: TimelineStep) -> Row:
    """A step of a timeline."""
    return (
        text((day(step.at), "dim")),
        text((step.kind.value, "magenta")),
        id_of(step.memory),
        text(*marks(step.memory), line(step.what), (f"  {line(step.change)}" if step.change else "", "dim")),
    )


def memory_row(memory: Memory, now: datetime) -> Row:
    """Id, age, category and content of a memory."""
    return (
        id_of(memory),
        text((age(memory.happened_at, now), "dim")),
        text((line(memory.category), "magenta")),
        text(*marks(memory), *spoken_by(memory), line(memory.shown)),
    )


def _conflict(conflict: Conflict) -> Sequence[Row]:
    return [
        (id_of(conflict.a), text(("a", "dim")), text(*marks(conflict.a), line(conflict.a.content))),
        (id_of(conflict.b), text(("b", "dim")), text(*marks(conflict.b), line(conflict.b.content))),
        (text(""), text(""), text((line(conflict.because), "dim"))),
    ]


def _loop(commitment: Commitment) -> Row:
    due = f"{last_day(commitment.due)}" if commitment.due else ""
    whom = f"  waits for {line(commitment.waiting_on)}" if commitment.waiting_on else ""
    return (
        text((short(commitment.id), "cyan")),
        text((str(commitment.state), "magenta")),
        f"{commitment.age_days}d",
        text((due, "bold red" if commitment.is_overdue else "")),
        text(line(commitment.text), (whom, "dim")),
    )


def _date(moment: datetime | None) -> str:
    return day(moment)[:10]


_LOOPS = ViewColumns(
    ("id", "state", "age", "due", "what"), lambda o, _: [_loop(o)], lambda o: o.id, ("commitment",)
)

TABLES: Mapping[type, ViewColumns] = {
    Memory: ViewColumns(
        ("id", "age", "category", "memory"), lambda o, now: [memory_row(o, now)], lambda o: o.id,
        ("memory", "memories"),
    ),
    Claim: ViewColumns(
        ("id", "subject", "predicate", "since", "until", "object"), lambda o, _: [claim_row(o)],
        lambda o: o.memory.id, ("fact",),
    ),
    Entity: ViewColumns(
        ("seen", "type", "memories", "name"), lambda o, now: [entity_row(o, now)], lambda o: line(o.name),
        ("name",),
    ),
    Path: ViewColumns(
        ("sure", "path"), lambda o, _: [(text((bar(o.confidence), "green")), text(line(str(o))))],
        lambda o: line(str(o)),
    ),
    Conflict: ViewColumns(("id", "", "memory"), lambda o, _: _conflict(o), lambda o: o.a.id),
    TimelineStep: ViewColumns(
        ("when", "step", "id", "what"), lambda o, _: [step_row(o)], lambda o: line(o.what)
    ),
    Commitment: _LOOPS,
    Trigger: ViewColumns(
        ("id", "words", "pages"),
        lambda o, _: [(text((o.id, "cyan")), line(", ".join(o.words)), line(" ".join(o.pages)))],
        lambda o: o.id,
    ),
    Gap: ViewColumns(
        ("key", "kind", "weight", "question"),
        lambda o, _: [
            (text((o.key, "cyan")), text((o.kind, "magenta")), f"{o.weight:.2f}", line(o.question))
        ],
        lambda o: o.key,
    ),
    SessionInfo: ViewColumns(
        ("id", "agent", "used", "turns", "state", "place"),
        lambda o, now: [
            (line(o.id), line(o.agent), age(o.used_at, now), str(o.turns), o.state, line(str(o.scope)))
        ],
        lambda o: o.id,
    ),
    Publication: ViewColumns(
        ("offer", "agent", "memory", "topics", "importance"),
        lambda o, _: [
            (o.id, line(o.agent), short(o.memory), line(", ".join(o.topics)), f"{o.importance:.2f}")
        ],
        lambda o: o.id,
    ),
    Subscription: ViewColumns(
        ("wish", "agent", "topics", "from importance", "at a time"),
        lambda o, _: [
            (o.id, line(o.agent), line(", ".join(o.topics) or "all"), f"{o.min_importance:.2f}", str(o.rate))
        ],
        lambda o: o.id,
    ),
    Topic: ViewColumns(
        ("memories", "last", "topic"), lambda o, _: [(f"{o.memories:,}", _date(o.last), line(o.topic))],
        lambda o: line(o.topic),
    ),
    Card: ViewColumns(
        ("memories", "type", "name", "text"),
        lambda o, _: [(f"{o.memories:,}", line(o.type), line(o.name), line(o.text))],
        lambda o: line(o.name),
    ),
    Box: ViewColumns(
        ("began", "memories", "about"), lambda o, _: [(day(o.started), f"{len(o.memories)}", line(o.title))],
        lambda o: o.key,
    ),
    Trace: ViewColumns(
        ("last", "boxes", "about"), lambda o, _: [(day(o.last), f"{o.count}", line(o.title))], lambda o: o.key
    ),
    Pattern: ViewColumns(
        ("id", "episodes", "pattern"),
        lambda o, _: [(text((short(o.memory), "cyan")), f"{o.episodes}", line(o.template))],
        lambda o: o.memory,
    ),
    Maintained: ViewColumns(
        ("run", "kind", "began", "state", "by"),
        lambda o, _: [(o.id, o.kind.value, day(o.started_at), o.state.value, line(o.actor))],
        lambda o: o.id,
    ),
}  # fmt: skip


def say_many(run: CommandRun, values: Sequence[Any]) -> None:
    """Things of one kind, one a row."""
    columns = TABLES.get(_kind(values[0])) or _any_columns(values[0])
    if run.quiet:
        say(run, *(columns.name(value) for value in values))
        return
    now = run.clock.now()
    say(run, table(columns.heads, [row for value in values for row in columns.rows(value, now)]))
    if columns.counts:
        say(run, text((counted(len(values), *columns.counts), "dim")))


def _kind(value: Any) -> type:
    """What kind of thing it is: a memory as it was read from its line is a memory."""
    return Memory if isinstance(value, Memory) else type(value)


def _any_columns(value: Any) -> ViewColumns:
    """ViewColumns for a kind that has none of its own: its short fields."""
    if not is_dataclass(value):
        return ViewColumns(("",), lambda o, _: [(line(str(plain(o))),)], lambda o: line(str(plain(o))))
    names = [f.name for f in fields(value) if isinstance(plain(getattr(value, f.name)), str | int | float)]

    def rows(o: Any, _: datetime) -> Sequence[Row]:
        return [[line(str(plain(getattr(o, name)))) for name in names]]

    return ViewColumns(tuple(names), rows, lambda o: line(str(plain(getattr(o, names[0])))))


# ---------------------------------------------------------------- one


def say_one(run: CommandRun, done: str, value: Any) -> None:
    """One thing, after what was `done` with it."""
    kind = _kind(value)
    if run.quiet:
        say(run, _QUIET[kind](value) if kind in _QUIET else line(str(plain(value))))
    elif kind in _ONE:
        say(run, *_ONE[kind](done, value, run))
    elif kind in TABLES:
        say(run, *([text((done, "bold green"))] if done else []))
        say_many(run, [value])
    elif is_dataclass(value):
        fields_held = ((f.name, plain(getattr(value, f.name))) for f in fields(value))
        held = ((name, content) for name, content in fields_held if content not in (None, "", []))
        say(run, *(text((f"{name}: ", "dim"), line(str(content))) for name, content in held))
    else:
        say(run, text((f"{done} " if done else "", "bold green"), line(str(plain(value)))))


def changed_line(done: str, memory: Memory, _: CommandRun | None = None) -> Iterator[RenderableType]:
    """A memory after a change, in one line."""
    yield text((done, "bold green"), " ", (short(memory.id), "bold cyan"), f" · {line(memory.content)}")


def _receipt(_: str, done: Receipt, __: CommandRun) -> Iterator[RenderableType]:
    yield from changed_line(str(done.outcome), done.memory)
    yield text((f"  {line(done.because)}", "dim"))


def _edge(_: str, edge: Edge, __: CommandRun) -> Iterator[RenderableType]:
    yield text((short(edge.source), "cyan"), (f" {edge.type} → ", "bold green"), (short(edge.target), "cyan"))


def _entity(done: str, entity: Entity, _: CommandRun) -> Iterator[RenderableType]:
    yield text(
        (done, "bold green"),
        " ",
        (line(entity.name), "bold"),
        (f" · {line(', '.join(entity.aliases))}", "dim"),
    )


def _profile(_: str, profile: Profile, run: CommandRun) -> Iterator[RenderableType]:
    entity, now = profile.entity, run.clock.now()
    yield table(TABLES[Entity].heads, [entity_row(entity, now)])
    if entity.first_seen:
        yield text((f"first seen {day(entity.first_seen)}", "dim"))
    if profile.card is not None and profile.card.text:
        yield text(line(profile.card.text))
    if profile.facts:
        yield text(("\nfacts", "bold"))
        yield table(TABLES[Claim].heads, [claim_row(claim) for claim in profile.facts])
    if profile.memories:
        rows = [(id_of(memory), text(*marks(memory), line(memory.content))) for memory in profile.memories]
        yield text(("\nmemories", "bold"))
        yield table(("", ""), rows)
    if profile.beside:
        names = ", ".join(f"{line(name)} ({count})" for name, count in profile.beside)
        yield text(("\nbeside it ", "bold"), names)


def _commitment(done: str, commitment: Commitment, _: CommandRun) -> Iterator[RenderableType]:
    yield text((f"{done} " if done else "", "bold green"), line(commitment.text))
    yield table(_LOOPS.heads, [_loop(commitment)])


def _trigger(done: str, trigger: Trigger, _: CommandRun) -> Iterator[RenderableType]:
    words = f"{line(', '.join(trigger.words))} loads {line(' '.join(trigger.pages))}"
    yield text((f"{done} ", "bold green"), (trigger.id, "cyan"), f" · {words}")


def _session(done: str, info: SessionInfo, _: CommandRun) -> Iterator[RenderableType]:
    if done:
        yield text((f"{done} ", "bold green"), line(info.id))
        return
    yield text((line(info.id), "bold"), f" {info.restored}, {counted(info.turns, 'turn')}")
    yield from (text((f"{slot.activation:.2f} ", "cyan"), line(slot.content)) for slot in info.slots)


def _begun(_: str, begun: Begun, __: CommandRun) -> Iterator[RenderableType]:
    asked = " ".join(gap.question for gap in begun.questions)
    yield text((f"topic: {begun.topic} ", "dim"), (line(asked), "yellow"))
    yield from (
        text((f"{message['role']}: ", "dim"), shown(message["content"])) for message in begun.messages
    )


def _profile_of(_: str, profile: Behaviour, __: CommandRun) -> Iterator[RenderableType]:
    for section in dict.fromkeys(trait.section for trait in profile.traits):
        yield text((section, "bold magenta"))
        yield from (text(f"  {line(trait.text)}") for trait in profile.traits if trait.section == section)
    for name in ("topics", "languages", "hours"):
        if values := getattr(profile, name):
            yield text((f"{name}: ", "dim"), ", ".join(map(str, values)))


def _identity(_: str, reflections: Reflections, __: CommandRun) -> Iterator[RenderableType]:
    lines = reflections.text.splitlines()
    yield from (text(line(row)) for row in lines)
    if lines:
        compacted = ", compacted" if reflections.compacted else ""
        yield text((f"{counted(reflections.memories, 'reflection')}{compacted}", "dim"))


def _map(_: str, knowledge_map: KnowledgeMap, __: CommandRun) -> Iterator[RenderableType]:
    if not knowledge_map.domains:
        return
    rows = [
        (
            text((bar(domain.confidence), "blue"), f" {domain.confidence:.2f}"),
            f"{domain.memories:,}",
            f"{domain.depth:.2f}",
            f"{domain.freshness:.2f}",
            f"{domain.uncertainty:.2f}",
            line(domain.label),
        )
        for domain in knowledge_map.domains
    ]
    yield table(("confidence", "memories", "depth", "fresh", "doubt", "domain"), rows)
    yield text((f"coverage {knowledge_map.coverage:.2f}", "dim"))


def _tree(_: str, tree: Abstraction, __: CommandRun) -> Iterator[RenderableType]:
    if tree.paragraph:
        yield text(line(tree.paragraph))
    for name, gists in (("domains", tree.domains), ("clusters", tree.clusters)):
        if gists:
            yield text((f"\n{name}", "bold magenta"))
            yield from (text((f"{len(gist.memories):>5}  ", "dim"), line(gist.text)) for gist in gists)


def _card(_: str, card: Card, __: CommandRun) -> Iterator[RenderableType]:
    yield text((line(card.name), "bold"), (f"  {card.type}", "magenta"))
    if card.aliases:
        yield text(("also ", "dim"), ", ".join(map(line, card.aliases)))
    yield from (text("  ", line(" ".join(fact))) for fact in card.facts)
    yield from (text(("  · ", "dim"), line(row)) for row in card.lines)
    if beside := ", ".join(f"{line(name)} ({count})" for name, count in card.beside):
        yield text(("with ", "dim"), beside)


def report_lines(report: Report, most: int | None = SHOWN) -> Iterator[RenderableType]:
    """A report of maintenance on a screen."""
    run = report.run
    mark = "would change" if report.dry else "changed"
    yield text((run.id, "bold"), f" · {run.kind.value} · {mark} {counted(report.changes, 'thing')}")
    if run.state is RunState.RUNNING:
        yield text((f"paused in {run.step}: it goes on the next time", "yellow"))
    if report.tallies:
        counts = [(line(tally.step), line(tally.rule), f"{tally.count:,}") for tally in report.tallies]
        yield table(("step", "rule", "times"), counts)
    listed = report.decided if most is None else report.decided[:most]
    if listed:
        yield table(("memory", "rule", "why"), [_decided(decision) for decision in listed])
    rest = len(report.decided) - len(listed)
    if rest or report.more:
        many = f"{rest:,}+" if report.more else f"{rest:,}"
        yield text((f"{many} more: `engram runs {run.id}` or --report FILE tells all", "dim"))
    if report.changes and not report.dry and run.state is RunState.DONE:
        yield text((f"`engram undo {run.id}` takes it back", "dim"))


def _decided(decision: Decided) -> tuple[str, str, str]:
    pair = (
        f"{short(decision.memory)} + {short(decision.related)}"
        if decision.related
        else short(decision.memory)
    )
    left = " (left as it was)" if decision.outcome is Carried.LEFT else ""
    return pair, line(decision.rule), line(decision.why) + left


def _memories(values: Sequence[Any]) -> str:
    return counted(len(values), "memory", "memories")


_ONE: Mapping[type, Callable[[str, Any, CommandRun], Iterable[RenderableType]]] = {
    Abstraction: _tree,
    Begun: _begun,
    Behaviour: _profile_of,
    Card: _card,
    Commitment: _commitment,
    Completed: lambda done, completed, _: [
        text((f"{done}, ", "bold green"), f"{_memories(completed.promoted)} for everybody")
    ],
    CoreSummary: lambda _, summary, __: [text(line(row)) for row in summary.lines],
    Edge: _edge,
    Entity: _entity,
    Gap: lambda done, gap, _: [text((f"{done} ", "bold green"), line(gap.question))],
    Guidelines: lambda _, guidelines, __: [text(line(row)) for row in guidelines.lines],
    KnowledgeMap: _map,
    Learned: lambda done, learned, _: [text((f"{done} ", "bold green"), shown(learned.memory.shown))],
    Memory: changed_line,
    Observation: lambda done, observation, _: [
        text((f"{done}, ", "bold yellow"), f"{_memories(observation.receipts)} of it")
    ],
    Profile: _profile,
    Receipt: _receipt,
    Reflections: _identity,
    Report: lambda _, report, __: report_lines(report),
    SessionInfo: _session,
    Trigger: _trigger,
}
_QUIET: Mapping[type, Callable[[Any], str]] = {
    Memory: lambda memory: memory.id,
    Receipt: lambda receipt: receipt.memory.id,
    Entity: lambda entity: line(entity.name),
    Profile: lambda profile: line(profile.entity.name),
    Commitment: lambda commitment: commitment.id,
    Trigger: lambda trigger: trigger.id,
    SessionInfo: lambda session: session.id,
    Gap: lambda gap: gap.key,
    Report: lambda report: str(report.changes),
    Behaviour: lambda behaviour: "\n".join(line(trait.text) for trait in behaviour.traits),
    Reflections: lambda reflections: shown(reflections.text),
    CoreSummary: lambda summary: "\n".join(map(line, summary.lines)),
    Guidelines: lambda guidelines: "\n".join(map(line, guidelines.lines)),
    KnowledgeMap: lambda map_: "\n".join(line(domain.label) for domain in map_.domains),
    Abstraction: lambda tree: line(tree.paragraph),
    Card: lambda card: line(card.text),
    Begun: lambda begun: "\n".join(f"{turn['role']}: {shown(turn['content'])}" for turn in begun.messages),
    Edge: lambda _: "",
}
