"""One memory on one screen, and the lines of its ledger."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from engram.cli.output import age, bar, counted, day, line, marks, short, shown, text
from engram.config import Config
from engram.lifecycle.heat import heat, temperature, tier_move
from engram.lifecycle.retention import retention, strength
from engram.model.axes import Temperature
from engram.model.event import Event, Verb
from engram.model.memory import UTC_OFFSET, Memory, Usage
from engram.model.plain import plain
from engram.model.relations import Edge

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

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
    for title, facts in _groups(memory, now, config):
        told = [(name, value) for name, value in facts if value]
        if told:
            yield _title(title)
            yield from (_fact(name, value) for name, value in told)
    if edges:
        yield _title("relations")
        yield from (_edge(edge, memory.id, labels) for edge in edges)
    if events:
        yield _title("last events")
        for event in events:
            yield from event_lines(event, with_memory=False)


def _groups(memory: Memory, now: datetime, config: Config) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    usage, forms, affect = memory.usage, memory.forms, memory.affect
    yield (
        "what it is",
        [
            ("category", line(memory.category)),
            ("kind", f"{memory.kind} · {memory.type}"),
            ("tags", line(", ".join(memory.tags))),
            ("names", line(", ".join(memory.entities))),
            ("about", line(_about(memory))),
            ("details", _value(memory.details) if memory.details else ""),
        ],
    )
    yield (
        "where it belongs",
        [
            ("scope", line(str(memory.scope))),
            ("session", line(memory.session)),
            ("speaker", line(memory.speaker)),
            ("source", f"{line(memory.source)} · trusted {memory.trust:.2f}"),
        ],
    )
    yield (
        "how it stands",
        [
            ("status", f"{memory.status} · {memory.verification}"),
            ("layer", f"{memory.layer.name.lower()} · {memory.lifecycle}"),
            (
                "keeping",
                f"{memory.policy} · {memory.priority} · {memory.tier}{' · pinned' if memory.pinned else ''}",
            ),
            ("version", str(memory.version)),
        ],
    )
    yield "how much it weighs", [
        ("importance", _share(memory.importance)),
        ("confidence", _share(memory.confidence)),
        ("strength", f"{strength(memory, now, config):.2f} · held {memory.strength:.1f} times"),
        ("left", f"{retention(memory, now, config):.0%} · {temperature(memory, now, config)}"),
        ("surprise", _share(memory.surprise) if memory.surprise else ""),
        ("heat", f"{heat(memory, now, config):.2f} · {_tier(memory, now, config)}"),
        ("affect", _affect(affect.valence, affect.intensity, affect.arousal)),
        ("used", _used(usage)),
        ("judged", f"confirmed {usage.confirmed}× · helped {usage.helpful}× · did not {usage.unhelpful}×"),
    ]  # fmt: skip
    yield (
        "when",
        [
            ("happened", _moment(memory.event_time, now)),
            ("stored", _moment(memory.created_at, now)),
            ("changed", _moment(memory.modified_at, now) if memory.modified_at != memory.created_at else ""),
            ("used last", _moment(memory.last_accessed, now)),
            ("verified", _moment(memory.verified_at, now)),
            ("holds", _span(memory.valid_from, memory.valid_to)),
            ("expires", day(memory.expires_at)),
        ],
    )
    yield (
        "shorter forms",
        [
            ("summary", _form(forms.summary, forms.summary_tokens, memory.content)),
            ("key fact", _form(forms.key_fact, forms.key_fact_tokens, memory.content)),
            ("label", _form(forms.label, forms.label_tokens, memory.content)),
        ],
    )


def _about(memory: Memory) -> str:
    """What its words speak of; its names have a line of their own."""
    told = (value for name, value in memory.metadata.items() if name not in NAMED | {UTC_OFFSET})
    return " · ".join(value if isinstance(value, str) else ", ".join(value) for value in told)


def event_lines(event: Event, *, with_memory: bool) -> Iterator[Text]:
    """When, what, who and why; then each field that changed."""
    about = [(f" {short(event.memory)}", "cyan")] if with_memory else []
    other = [(" ↔ ", "dim"), (short(event.related), "cyan")] if event.related else []
    yield text(
        (f"  {day(event.at)} ", "dim"), (f"{event.verb}", _VERB_STYLES.get(event.verb, "bold")), *about,
        *other, (f" by {line(event.actor)}", "dim"), (f" · {event.id}", "dim"),
    )  # fmt: skip
    if event.because:
        yield text((f"    {line(event.because)}", "italic"))
    for name in dict.fromkeys((*event.before, *event.after)):
        if name not in UNTOLD:
            yield _change(name, event)


def _change(name: str, event: Event) -> Text:
    old, new = event.before.get(name), event.after.get(name)
    before = [(_value(old), "dim"), (" → ", "bold")] if name in event.before else []
    return text((f"    {line(name)}: ", "dim"), *before, _value(new))


def _used(usage: Usage) -> str:
    sessions = f" in {counted(usage.sessions, 'session')}" if usage.sessions else ""
    return f"{usage.accessed}×{sessions} · said again {usage.repeated}×"


def _title(words: str) -> Text:
    return text((f"\n{words}", "bold magenta"))


def _fact(name: str, value: str) -> Text:
    return text((f"  {name:<{LABEL_WIDTH}}", "dim"), value)


def _edge(edge: Edge, memory_id: str, labels: Mapping[str, str]) -> Text:
    forward = edge.source == memory_id
    other = edge.target if forward else edge.source
    arrow = f"{edge.type} →" if forward else f"← {edge.type}"
    return text(
        (f"  {arrow:<16} ", "dim"), (short(other), "cyan"), f" {_cut(line(labels.get(other, '')))}",
        (f" · weight {edge.weight:.2f} · confidence {edge.confidence:.2f}", "dim"),
    )  # fmt: skip


def _tier(memory: Memory, now: datetime, config: Config) -> str:
    """By its worth to those who search: kept hot, or cold."""
    leaves = tier_move(memory, Temperature.HOT, now, config)
    return f"{'cold' if leaves else 'hot'} by worth: {leaves.why}"


def _share(value: float) -> str:
    return f"{bar(value, 10)} {value:.2f}"


def _affect(valence: float, intensity: float, arousal: float) -> str:
    return (
        f"valence {valence:+.2f} · intensity {intensity:.2f} · arousal {arousal:.2f}"
        if intensity or valence
        else ""
    )


def _moment(moment: datetime | None, now: datetime) -> str:
    if moment is None:
        return ""
    since = age(moment, now)
    return f"{day(moment)} · {since if since == 'now' or since.startswith('in ') else f'{since} ago'}"


def _span(start: datetime | None, end: datetime | None) -> str:
    return " ".join([*(["from", day(start)] if start else []), *(["until", day(end)] if end else [])])


def _form(words: str, tokens: int, content: str) -> str:
    return f"{line(words)} ({counted(tokens, 'token')})" if words and words != content else ""


def _value(value: Any) -> str:
    """A field of an event on one line: words as they are, the rest as JSON."""
    if value is None or value == "":
        return "∅"
    if isinstance(value, str) and _MOMENT.fullmatch(value):
        return day(datetime.fromisoformat(value))
    return _cut(line(value if isinstance(value, str) else json.dumps(plain(value), ensure_ascii=False)))


def _cut(words: str) -> str:
    return words if len(words) <= VALUE_WIDTH else words[: VALUE_WIDTH - 1] + "…"
