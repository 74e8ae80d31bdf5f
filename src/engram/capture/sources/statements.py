"""The gate for what is no conversation: an item comes in; the drafts worth keeping come out, or why none is.

A document is cut into passages of whole sentences, word for word, without what tells nothing. A memory of
another tool, a piece of code and a result are worded already.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from engram.model.capture import Draft, Item, ItemKind
from engram.model.memory import Kind, Type
from engram.model.plain import draft
from engram.rules.traits import REFERENCE, TALK
from engram.text.dates import dated
from engram.text.forms import verbatim
from engram.text.junk import cleaned, is_filler, junk_of
from engram.text.kinds import kind_of
from engram.text.sentences import sentences

ALONE_WORDS = 6
"""A statement with fewer words hardly stands alone: the heading above it goes with it."""
LONGEST_WORD = 300
"""No language has longer words: this is data."""
TOGETHER = 500
"""Characters of sentences that are kept together at most."""


def statements(item: Item) -> tuple[list[Draft], str]:
    """What an item becomes, and why it becomes nothing."""
    match item.kind:
        case ItemKind.PASSAGE:
            return _passage(item)
        case ItemKind.CODE:
            return [_code(item)], ""
        case _:
            return [_as_it_is(item)], ""


def _passage(item: Item) -> tuple[list[Draft], str]:
    if any(len(word) > LONGEST_WORD for word in item.text.split()):
        return [], "data, not prose"
    whole = standing_alone(item.text, item)
    junk = junk_of(whole)
    if junk is not None:
        return [], str(junk)
    made = [_draft(text, item) for text in _together(sentences(cleaned(whole)))]
    return made, "" if made else "says nothing that lasts"


def _together(found: Iterable[str]) -> Iterator[str]:
    """Sentences as they stand, those that tell nothing left out, as many together as fit one passage."""
    held = ""
    for sentence in found:
        if is_filler(sentence):
            continue
        if held and len(held) + len(sentence) > TOGETHER:
            yield held
            held = ""
        held = f"{held} {sentence}" if held else sentence
    if held:
        yield held


def _draft(text: str, item: Item) -> Draft:
    fields, details = _fields(item), dict(item.details)
    context = str(details.get("query") or details.get("heading") or item.title)
    if context:
        details["context"] = context  # found by the words above it, too
    if item.at is not None and (meant := dated(text, item.at)):
        details["dates"] = dict(meant)
    if found := verbatim(text):
        details["verbatim"] = list(found)
    fields["details"] = details
    if item.source == TALK:
        return Draft(text, event_time=item.at, **fields)
    # A document tells what it tells: no promise, rule or trait of whoever brought it.
    kind = Kind.PROCEDURAL if kind_of(text) == Kind.PROCEDURAL else Kind.SEMANTIC
    return Draft(text, category=REFERENCE, kind=kind, event_time=item.at, **fields)


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
