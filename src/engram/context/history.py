"""History: a conversation and a room come in; as much of it comes out as fits, the last words whole.

The last exchanges stand word for word, the ones before as "asked → did" lines, all earlier ones as one
paragraph of what must not be lost. When the room is too small, an exchange is told more shortly before it is
left out, the oldest first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final

from engram.context.budget import Ruler, empty_section, one_line
from engram.lazily import dataclass
from engram.model.capture import Part
from engram.model.context import Message
from engram.text import forms, lexicon, re
from engram.text.sentences import sentences

# ---------------------------------------------------------------- exchanges
# Exchanges: messages come in; what was asked and what was done about it comes out, in a line each.
#
# Of a message that is shortened, code of more than a few lines and what tools brought are dropped. What was
# decided, which files, which errors and which figures stay.

CODE_LINES: Final = 5
"""A block of code with more lines is dropped from what is shortened."""
MARKS: Final = 6
"""So many files, errors and figures are kept of one message beside its main clause."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """What somebody said, and what was answered."""

    asked: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()

    @property
    def messages(self) -> Iterator[Message]:
        """The exchange word for word."""
        parts = ((Part.USER, self.asked), (Part.ASSISTANT, self.answered))
        return (Message(part, "\n\n".join(texts)) for part, texts in parts if texts)


@dataclass(frozen=True, slots=True)
class Essentials:
    """What must survive of a text."""

    decisions: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()


def exchanges(messages: Iterable[Message]) -> list[Exchange]:
    """The messages by exchange: one begins with each message of the user. Tools and system are left out."""
    pairs: list[tuple[list[str], list[str]]] = []
    for message in messages:
        text = message.content.strip()
        if not text or message.role not in {Part.USER, Part.ASSISTANT}:
            continue
        if not pairs or (message.role is Part.USER and pairs[-1][1]):
            pairs.append(([], []))
        pairs[-1][message.role is Part.ASSISTANT].append(text)
    return [Exchange(tuple(asked), tuple(answered)) for asked, answered in pairs]


@lru_cache(maxsize=1 << 10)
def exchange_line(exchange: Exchange, *, short: bool = False) -> str:
    """An exchange as "asked → did".

    >>> exchange_line(
    ...     Exchange(("Could you add tests for the login?",), ("Done, I added auth_test.py with 12 cases.",))
    ... )
    '- Could you add tests for the login → I added auth_test.py with 12 cases'
    """
    asked, did = (_gist(texts, marks=0 if short else MARKS) for texts in (exchange.asked, exchange.answered))
    return one_line(f"- {asked or '(nothing)'} → {did}" if did else f"- {asked}")


def essentials(texts: Iterable[str]) -> Essentials:
    """The decisions, errors, files and figures of texts, each once, in order."""
    kept_each = [_essentials(text) for text in texts]
    parts = (
        dict.fromkeys(chain.from_iterable(getattr(kept_text, name) for kept_text in kept_each))
        for name in ("decisions", "errors", "files", "figures")
    )
    return Essentials(*map(tuple, parts))


@lru_cache(maxsize=1 << 11)
def _essentials(text: str) -> Essentials:
    """Kept for a while: a conversation is shortened again with every message."""
    bare = without_long_code(text)
    headed: tuple[list[str], list[str]] = ([], [])
    for sentence in sentences(bare):
        for part, heading in zip(headed, ("decision", "error"), strict=True):
            if lexicon.found("kept", sentence.lower(), under=heading):
                part.append(one_line(forms.key_fact(sentence)))
    figures = (one_line(figure) for figure in _FIGURE.findall(bare))
    return Essentials(tuple(headed[0]), tuple(headed[1]), tuple(_FILE.findall(bare)), tuple(figures))


def without_long_code(text: str) -> str:
    r"""A message without blocks of code of more than a few lines.

    >>> without_long_code("Like this:\n```\n1\n2\n3\n4\n5\n6\n```\nThat is all.")
    'Like this:\n\nThat is all.'
    """
    return _FENCED.sub(lambda block: block[0] if block[0].count("\n") - 1 <= CODE_LINES else "", text)


_FENCED = re.compile(r"^```.*?(?:^```[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_FILE = re.compile(
    r"(?<![\w/.])(?:~?/)?(?:[\w.@-]+/)*[\w@-]+(?:\.[\w-]+)*"
    r"\.(?:py|pyi|js|jsx|ts|tsx|mjs|go|rs|c|h|cc|cpp|hpp|cs|java|kt|swift|rb|php|sh|sql|html|css|scss|vue|svelte"
    r"|md|rst|txt|toml|ya?ml|json|jsonl|xml|ini|cfg|env|lock|csv|tsv|parquet|ipynb|pdf|docx?|xlsx?|pptx?|png|jpe?g"
    r"|svg|gif|mp[34]|zip|tar|gz|db|sqlite|log|tf|proto|gradle|mk)\b(?![\w/])"
)
_FIGURE = re.compile(r"(?:[^\W\d_][\w-]{1,20} )?(?<![\w.,])[$€£¥]?\d[\d.,:/]*\d?\s?(?:%|[^\W\d_]{1,12})?")


def _gist(texts: Sequence[str], *, marks: int) -> str:
    """The clause that says most of what was said, and what must not be lost with the rest."""
    whole = "\n".join(map(without_long_code, texts)).strip()
    if not whole:
        return ""
    gist = _best(whole)
    must = essentials([whole])
    lost = [mark for mark in (*must.decisions, *must.errors, *must.files, *must.figures) if mark not in gist]
    few = [mark for mark in lost if not any(mark != longer and mark in longer for longer in lost)][:marks]
    return f"{gist} [{'; '.join(few)}]" if few else gist


def _best(text: str) -> str:
    """A decision says most; else the clause that the shorter forms would keep."""
    for sentence in sentences(text):
        if lexicon.found("kept", sentence.lower(), under="decision"):
            return forms.key_fact(sentence).rstrip(".?!。？！")
    return forms.key_fact(text).rstrip(".?!。？！")


Summarize = Callable[[Sequence[str], int], str | None]
"""Asks a model for one paragraph of so many words about exchanges; None: it may not or could not."""
PARAGRAPH_WORDS: Final = 220
"""The paragraph about all that was said long ago has about so many words."""
TOPICS: Final = 12
"""Of so many early exchanges the paragraph says what they were about."""


@dataclass(frozen=True, slots=True)
class ShortenedHistory:
    """A conversation, shortened."""

    verbatim: tuple[Message, ...] = ()
    lines: tuple[str, ...] = ()
    """What stands in the system prompt: the paragraph, then a line an exchange."""
    tokens: int = 0
    shown: int = 0
    """Exchanges that are shown whole or as a line of their own."""
    of: int = 0


@dataclass(frozen=True, slots=True)
class HistoryLimits:
    """How many of the last exchanges stand word for word, and how many before as a line each (cortex)."""

    verbatim: int = 3
    as_line: int = 10


def compress(
    messages: Sequence[Message],
    room: int,
    ruler: Ruler,
    keep: HistoryLimits,
    summarize: Summarize | None = None,
) -> ShortenedHistory:
    """As much of the conversation as fits, the newest first."""
    talk = exchanges(messages)
    taken = _HistoryFitter(ruler, room)
    back = 0
    for back, exchange in enumerate(reversed(talk)):
        if not taken.take(exchange, whole=back < keep.verbatim, as_line=back < keep.verbatim + keep.as_line):
            break
    else:
        back = len(talk)
    early = talk[: len(talk) - back]
    if early:
        taken.paragraph(early, summarize)
    return taken.shortened(len(talk))


def tokens_wanted(messages: Sequence[Message], ruler: Ruler, keep: HistoryLimits) -> int:
    """What all of the conversation would take, as it is kept."""
    return compress(messages, 1 << 40, ruler, keep).tokens


class _HistoryFitter:
    """What has been taken so far, from the newest back. Lives for one compression."""

    def __init__(self, ruler: Ruler, room: int) -> None:
        self._ruler = ruler
        self._room = room
        self._verbatim: list[Message] = []
        self._lines: list[str] = []
        self._tokens = 0
        self._shown = 0

    def take(self, exchange: Exchange, *, whole: bool, as_line: bool) -> bool:
        """Take an exchange as fully as it may be and fits; whether it fits at all."""
        if whole and not self._lines:
            messages = [*exchange.messages]
            if self._pay(sum(self._ruler.message(message.content) for message in messages)):
                self._verbatim[:0] = messages
                self._shown += 1
                return True
        return as_line and any(self._line(exchange_line(exchange, short=short)) for short in (False, True))

    def paragraph(self, early: Sequence[Exchange], summarize: Summarize | None) -> None:
        """One paragraph for all that is older: by a model, or what must not be lost."""
        by_model = summarize([*map(exchange_line, early)], PARAGRAPH_WORDS) if summarize else None
        if by_model and self._line(one_line(by_model), counts=False):
            return
        paragraph = ""
        for part in _parts(early):
            longer = f"{paragraph} {part}".strip()
            if len(longer.split()) > PARAGRAPH_WORDS or self._cost(longer) > self._room:
                continue
            paragraph = longer
        if paragraph:
            self._line(paragraph, counts=False)

    def shortened(self, of: int) -> ShortenedHistory:
        """All of it."""
        return ShortenedHistory(tuple(self._verbatim), tuple(self._lines), self._tokens, self._shown, of)

    def _line(self, text: str, *, counts: bool = True) -> bool:
        if not self._pay(self._cost(text)):
            return False
        self._lines.insert(0, text)
        self._shown += counts
        return True

    def _cost(self, text: str) -> int:
        heading = 0 if self._lines else self._ruler.line(empty_section("history"))
        return heading + self._ruler.line(text)

    def _pay(self, cost: int) -> bool:
        if cost > self._room:
            return False
        self._room -= cost
        self._tokens += cost
        return True


def _parts(early: Sequence[Exchange]) -> Iterator[str]:
    """What a paragraph is made of, what matters most first."""
    texts = [text for exchange in early for text in (*exchange.asked, *exchange.answered)]
    must = essentials(texts)
    yield from (f"Decided: {decision}." for decision in reversed(must.decisions))
    if must.errors:
        yield from (f"Went wrong: {error}." for error in reversed(must.errors))
    if must.files:
        yield f"Files: {', '.join(must.files[-40:])}."
    if must.figures:
        yield f"Figures: {', '.join(must.figures[-40:])}."
    topics = [one_line(forms.label("\n".join(exchange.asked))) for exchange in early if exchange.asked]
    if topics:
        yield f"Earlier topics: {'; '.join(dict.fromkeys(topics[-TOPICS:]))}."
