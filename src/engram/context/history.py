"""History: a conversation and a room come in; as much of it comes out as fits, the last words whole.

The last exchanges stand word for word, the ones before as "asked → did" lines, all earlier ones as one
paragraph of what must not be lost. When the room is too small, an exchange is told more shortly before it is
left out, the oldest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engram.context.blocks import frame
from engram.context.exchanges import Exchange, exchanges, kept, line
from engram.context.ruler import Ruler
from engram.context.telling import one_line
from engram.model.context import Message
from engram.text import forms

Summarize = Callable[[Sequence[str], int], str | None]
"""Asks a model for one paragraph of so many words about exchanges; None: it may not or could not."""
PARAGRAPH_WORDS: Final = 220
"""The paragraph about all that was said long ago has about so many words."""
TOPICS: Final = 12
"""Of so many early exchanges the paragraph says what they were about."""


@dataclass(frozen=True, slots=True)
class Told:
    """A conversation, shortened."""

    verbatim: tuple[Message, ...] = ()
    lines: tuple[str, ...] = ()
    """What stands in the system prompt: the paragraph, then a line an exchange."""
    tokens: int = 0
    shown: int = 0
    """Exchanges that are told by themselves."""
    of: int = 0


@dataclass(frozen=True, slots=True)
class Kept:
    """How much of a conversation is kept how."""

    verbatim: int = 3
    told: int = 10


def compress(
    messages: Sequence[Message], room: int, ruler: Ruler, keep: Kept, summarize: Summarize | None = None
) -> Told:
    """As much of the conversation as fits, the newest first."""
    found = exchanges(messages)
    taken = _Taken(ruler, room)
    place = 0
    for place, one in enumerate(reversed(found)):
        if not taken.take(one, whole=place < keep.verbatim, told=place < keep.verbatim + keep.told):
            break
    else:
        place = len(found)
    early = found[: len(found) - place]
    if early:
        taken.paragraph(early, summarize)
    return taken.told(len(found))


def wanted(messages: Sequence[Message], ruler: Ruler, keep: Kept) -> int:
    """What all of the conversation would take, as it is kept."""
    return compress(messages, 1 << 40, ruler, keep).tokens


class _Taken:
    """What has been taken so far, from the newest back. Lives for one compression."""

    def __init__(self, ruler: Ruler, room: int) -> None:
        self._ruler = ruler
        self._room = room
        self._verbatim: list[Message] = []
        self._lines: list[str] = []
        self._tokens = 0
        self._shown = 0

    def take(self, one: Exchange, *, whole: bool, told: bool) -> bool:
        """Take an exchange as fully as it may be and fits; whether it fits at all."""
        if whole and not self._lines:
            messages = [*one.messages]
            if self._pay(sum(self._ruler.message(message.content) for message in messages)):
                self._verbatim[:0] = messages
                self._shown += 1
                return True
        return told and any(self._line(line(one, short=short)) for short in (False, True))

    def paragraph(self, early: Sequence[Exchange], summarize: Summarize | None) -> None:
        """One paragraph for all that is older: by a model, or what must not be lost."""
        by_model = summarize([line(one) for one in early], PARAGRAPH_WORDS) if summarize else None
        if by_model and self._line(one_line(by_model), counts=False):
            return
        said = ""
        for part in _parts(early):
            longer = f"{said} {part}".strip()
            if len(longer.split()) > PARAGRAPH_WORDS or self._cost(longer) > self._room:
                continue
            said = longer
        if said:
            self._line(said, counts=False)

    def told(self, of: int) -> Told:
        """All of it."""
        return Told(tuple(self._verbatim), tuple(self._lines), self._tokens, self._shown, of)

    def _line(self, text: str, *, counts: bool = True) -> bool:
        if not self._pay(self._cost(text)):
            return False
        self._lines.insert(0, text)
        self._shown += counts
        return True

    def _cost(self, text: str) -> int:
        heading = 0 if self._lines else self._ruler.line(frame("history"))
        return heading + self._ruler.line(text)

    def _pay(self, cost: int) -> bool:
        if cost > self._room:
            return False
        self._room -= cost
        self._tokens += cost
        return True


def _parts(early: Sequence[Exchange]) -> Iterator[str]:
    """What a paragraph is made of, what matters most first."""
    texts = [text for one in early for text in (*one.asked, *one.answered)]
    must = kept(texts)
    yield from (f"Decided: {one}." for one in reversed(must.decisions))
    if must.errors:
        yield from (f"Went wrong: {one}." for one in reversed(must.errors))
    if must.files:
        yield f"Files: {', '.join(must.files[-40:])}."
    if must.figures:
        yield f"Figures: {', '.join(must.figures[-40:])}."
    topics = [one_line(forms.label("\n".join(one.asked))) for one in early if one.asked]
    if topics:
        yield f"Earlier topics: {'; '.join(dict.fromkeys(topics[-TOPICS:]))}."
