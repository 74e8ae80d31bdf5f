"""The gate for what is no conversation: an item comes in; the drafts worth keeping come out, or why none is.

A document is read as a message is: without junk, statement by statement, each in words that stand alone. A
memory of another tool, a piece of code and a result are worded already.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from engram.model.axes import Kind, Type
from engram.model.draft import Draft
from engram.model.ingest import Item, ItemKind
from engram.model.plain import draft
from engram.text.persons import third_person
from engram.text.propositions import Left, Proposition, Said, examine
from engram.text.signals import Level

ALONE_WORDS = 6
"""A statement with fewer words hardly stands alone: the heading above it goes with it."""
LONGEST_WORD = 300
"""No language has longer words: this is data."""
TOGETHER = 500
"""Characters of sentences that are kept together at most."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """One or several sentences that belong together."""

    text: str
    category: str
    confidence: float
    at: datetime | None
    verbatim: tuple[str, ...] = ()


def statements(item: Item, now: datetime) -> tuple[list[Draft], str]:
    """What an item becomes, and why it becomes nothing."""
    match item.kind:
        case ItemKind.PASSAGE:
            return _passage(item, now)
        case ItemKind.CODE:
            return [_code(item)], ""
        case _:
            return [_as_it_is(item)], ""


def _passage(item: Item, now: datetime) -> tuple[list[Draft], str]:
    if any(len(word) > LONGEST_WORD for word in item.text.split()):
        return [], "data, not prose"
    # Whoever brings a document wants what is in it: no signal is needed, only a statement.
    found = examine(standing_alone(item.text, item), Said(item.at or now, item.speaker), Level.NONE)
    left = next((one.why for one in found if isinstance(one, Left)), "nothing")
    made = [_draft(one, item) for one in _together(found, item)]
    return made, "" if made else left


def _together(found: list[Proposition | Left], item: Item) -> Iterator[_Statement]:
    """A sentence without a signal of its own goes with the one before it: it only goes on."""
    held: _Statement | None = None
    for one in found:
        if isinstance(one, Left):
            continue
        this = _statement(one, item)
        goes_on = held is not None and one.level < Level.MEDIUM
        if held is not None and goes_on and len(held.text) + len(this.text) < TOGETHER:
            text = f"{held.text.rstrip()} {this.text}"
            held = replace(held, text=text, verbatim=held.verbatim + this.verbatim)
            continue
        if held is not None:
            yield held
        held = this
    if held is not None:
        yield held


def _statement(one: Proposition, item: Item) -> _Statement:
    """In a document that does not say when it was written, "yesterday" stays "yesterday"."""
    undated = third_person(one.original, item.speaker)
    undated = undated[:1].upper() + undated[1:]
    is_dated = item.at is not None or undated == one.text
    first = one.when.first if one.when is not None and is_dated else None
    at = first.replace(tzinfo=UTC) if first is not None and first.tzinfo is None else first
    return _Statement(
        one.text if is_dated else undated, one.category, one.confidence, at or item.at, one.verbatim
    )


def _draft(one: _Statement, item: Item) -> Draft:
    fields = _fields(item)
    if one.verbatim:
        fields["details"] = {**item.details, "verbatim": list(one.verbatim)}
    return Draft(one.text, category=one.category, confidence=one.confidence, event_time=one.at, **fields)


def standing_alone(words: str, item: Item) -> str:
    """A short statement with the heading or title it stands under; a longer one as it is.

    >>> standing_alone("port 8443", Item("a", "", details={"heading": "Servers › heron"}))
    'heron: port 8443'
    """
    above = str(item.details.get("heading") or item.title).rpartition(" › ")[2]
    short = len(words.split()) < ALONE_WORDS and words.isascii()  # Chinese needs no spaces to say much
    return f"{above}: {words}" if short and above and above.lower() not in words.lower() else words


def _code(item: Item) -> Draft:
    fields = _fields(item)
    return Draft(item.text, category="technical", kind=Kind.CODEBASE, type=Type.FACT, **fields)


def _as_it_is(item: Item) -> Draft:
    fields = {"source": item.source, "tags": item.tags, "details": item.details, "event_time": item.at}
    if item.speaker:
        fields["speaker"] = item.speaker
    if item.session:
        fields["session"] = item.session
    return draft(content=item.text, **(fields | dict(item.given)))


def _fields(item: Item) -> dict[str, Any]:
    return {"tags": item.tags, "details": item.details, "source": item.source, "session": item.session}
