"""The gate for what is no conversation: an item comes in; the drafts worth keeping come out, or why none is.

A document is read as a message is: without junk, statement by statement, each in words that stand alone. A
memory of another tool, a piece of code and a result are worded already.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

from engram.lifecycle.traits import REFERENCE, TALK
from engram.model.axes import Kind, Type
from engram.model.draft import Draft
from engram.model.ingest import Item, ItemKind
from engram.model.plain import draft
from engram.text.dates import resolved
from engram.text.junk import is_filler, junk_of
from engram.text.kinds import kind_of
from engram.text.persons import third_person
from engram.text.propositions import Left, Proposition, Said, examine
from engram.text.signals import Level

ALONE_WORDS = 6
"""A statement with fewer words hardly stands alone: the heading above it goes with it."""
LONGEST_WORD = 300
"""No language has longer words: this is data."""
_ALONE = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Mm]yself)\b|[我俺](?!们)")
_WE = re.compile(r"\b(?:[Ww]e|[Oo]urs?|[Uu]s)\b|[我咱]们")
TOGETHER = 500
"""Characters of sentences that are kept together at most."""


@dataclass(frozen=True, slots=True)
class _Statement:
    """One or several sentences that belong together."""

    text: str
    category: str | None
    confidence: float | None
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
    whole = standing_alone(item.text, item)
    junk = junk_of(whole)
    if junk is not None:
        return [], str(junk)
    found = examine(whole, Said(item.at or now, item.speaker), Level.NONE)
    made = [_draft(one, item) for one in _together(_kept(one, item, now) for one in found)]
    return made, "" if made else "says nothing that lasts"


def _kept(one: Proposition | Left, item: Item, now: datetime) -> tuple[_Statement, bool] | None:
    """A sentence as a statement, and whether it could stand alone; nothing when it is filler.

    Whoever brings a document wants what is in it: a sentence need not be about somebody to be kept.
    """
    if isinstance(one, Proposition):
        return _statement(one, item, now), one.level >= Level.MEDIUM
    if is_filler(one.text):
        return None
    return _Statement(third_person(one.text, item.speaker), None, None, item.at), False


def _together(found: Iterable[tuple[_Statement, bool] | None]) -> Iterator[_Statement]:
    """A sentence without a signal of its own goes with the one before it: it only goes on."""
    held: _Statement | None = None
    for one in found:
        if one is None:
            continue
        this, stands = one
        if held is not None and not stands and len(held.text) + len(this.text) < TOGETHER:
            text = f"{held.text.rstrip()} {this.text}"
            held = replace(held, text=text, verbatim=held.verbatim + this.verbatim)
            continue
        if held is not None:
            yield held
        held = this
    if held is not None:
        yield held


def _statement(one: Proposition, item: Item, now: datetime) -> _Statement:
    """In a document that does not say when it was written, "yesterday" stays "yesterday"."""
    first = one.when.first if one.when is not None else None
    if item.at is None and resolved(one.original, now) != one.original:
        first = None
    at = first.replace(tzinfo=UTC) if first is not None and first.tzinfo is None else first
    text = _worded(one, item)
    return _Statement(text[:1].upper() + text[1:], one.category, one.confidence, at or item.at, one.verbatim)


def _worded(one: Proposition, item: Item) -> str:
    """The statement in words that stand alone; "we" of a document that nobody signed stays "we"."""
    if item.speaker or _ALONE.search(one.original) or not _WE.search(one.original):
        return one.text if item.at else third_person(one.original, item.speaker)
    return resolved(one.original, item.at) if item.at else one.original


def _draft(one: _Statement, item: Item) -> Draft:
    fields, details = _fields(item), dict(item.details)
    context = str(details.get("query") or details.get("heading") or item.title)
    if context:
        details["context"] = context  # found by the words above it, too
    if one.verbatim:
        details["verbatim"] = list(one.verbatim)
    fields["details"] = details
    if item.source == TALK:
        return Draft(one.text, category=one.category, confidence=one.confidence, event_time=one.at, **fields)
    # A document tells what it tells: no promise, rule or trait of whoever brought it.
    kind = Kind.PROCEDURAL if kind_of(one.text) == Kind.PROCEDURAL else Kind.SEMANTIC
    return Draft(one.text, category=REFERENCE, kind=kind, event_time=one.at, **fields)


def standing_alone(words: str, item: Item) -> str:
    """A short statement with the heading it stands under; a longer one as it is.

    >>> standing_alone("port 8443", Item("a", "", details={"heading": "Servers › heron"}))
    'heron: port 8443'
    """
    above = str(item.details.get("heading", "")).rpartition(" › ")[2]
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
