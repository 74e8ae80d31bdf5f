"""The gate for what is no conversation: an item comes in; the drafts worth keeping come out, or why none is.

A document is read as a message is: without junk, statement by statement, each in words that stand alone. A
memory of another tool, a piece of code and a result are worded already.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from engram.model.axes import Kind, Type
from engram.model.draft import Draft
from engram.model.ingest import Item, ItemKind
from engram.model.plain import draft
from engram.text.junk import junk_of

ALONE_WORDS = 6
"""A statement with fewer words hardly stands alone: the heading above it goes with it."""
LONGEST_WORD = 300
"""No language has longer words: this is data."""


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
    junk = junk_of(item.text)
    if junk is not None:
        return [], str(junk)
    made = [
        Draft(standing_alone(words, item), event_time=at, **_fields(item)) for words, at in _said(item, now)
    ]
    return made, "" if made else "says nothing that lasts"


def _said(item: Item, now: datetime) -> Iterator[tuple[str, datetime | None]]:
    """The statements of a passage, each with its time."""
    del now
    yield item.text, item.at


def standing_alone(words: str, item: Item) -> str:
    """A short statement with the heading or title it stands under; a longer one as it is.

    >>> standing_alone("port 8443", Item("a", "", details={"heading": "Servers › heron"}))
    'heron: port 8443'
    """
    above = str(item.details.get("heading") or item.title).rpartition(" › ")[2]
    short = len(words.split()) < ALONE_WORDS and words.isascii()
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
