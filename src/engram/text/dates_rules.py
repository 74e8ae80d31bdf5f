"""The machine that reads dates: tokens and a table of rules come in, fewer and larger tokens come out.

A token has a category. A rule is a pattern over categories, written in words (`shift number? unit`), and a
builder that makes one new token of the tokens it matched, or refuses. The rules are applied in the order of
their table, each to the whole row of tokens, so small things (a number, a month) grow into larger ones (a
day, a range). Inside, each category is one character and a row of tokens one string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engram.text.partials import Partial, settled
from engram.text.when import Prefer, Span


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of the text with its category and what it means."""

    category: str
    start: int
    end: int
    value: Any = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What a builder may know besides its tokens."""

    text: str
    now: datetime
    prefer: Prefer

    def span(self, value: Partial | Span) -> Span:
        """The span a date means; ValueError when there is none, such as on 30 February."""
        found = settled(value, self.now, self.prefer) if isinstance(value, Partial) else value
        if found is None:
            raise ValueError("no such date")
        return found


class Match:
    """The tokens a rule matched, to be asked by category."""

    __slots__ = ("_tokens", "scene")

    def __init__(self, tokens: list[Token], scene: Scene) -> None:
        self._tokens = tokens
        self.scene = scene

    def all(self, *categories: str) -> list[Any]:
        """The values of the tokens of these categories, in order."""
        return [token.value for token in self._tokens if token.category in categories]

    def one(self, *categories: str) -> Any:
        """The first such value; None when there is no such token."""
        return next((token.value for token in self._tokens if token.category in categories), None)

    def has(self, category: str) -> bool:
        """Whether a token of this category was matched."""
        return any(token.category == category for token in self._tokens)

    @property
    def rest(self) -> str:
        """The text after the match."""
        return self.scene.text[self._tokens[-1].end :]

    @property
    def before(self) -> str:
        """The text before the match."""
        return self.scene.text[: self._tokens[0].start]

    @property
    def words(self) -> str:
        """The matched text in lower case."""
        return self.scene.text[self._tokens[0].start : self._tokens[-1].end].lower()


Built = tuple[str, Any] | None
Builder = Callable[[Match], Built]
Rule = tuple[re.Pattern[str], Builder]

_CHARACTERS: dict[str, str] = {}
GAP = "gap"


def character(category: str) -> str:
    """The one character that stands for a category."""
    return _CHARACTERS.setdefault(category, chr(0xE000 + len(_CHARACTERS)))


def table(rules: Iterable[tuple[str, Builder]]) -> tuple[Rule, ...]:
    """The rules ready for use."""
    return tuple((_compiled(pattern), builder) for pattern, builder in rules)


def _compiled(pattern: str) -> re.Pattern[str]:
    # A category inside brackets, [month day], is one of several.
    written = re.sub(r"[a-z]+", lambda match: character(match.group()), pattern)
    return re.compile(written.replace(" ", ""))


def reduced(tokens: list[Token], rules: Iterable[Rule], scene: Scene) -> list[Token]:
    """The tokens after all rules were applied in order."""
    row = "".join([character(token.category) for token in tokens])
    for expression, builder in rules:
        found = expression.search(row)
        while found:
            token = _built(tokens[found.start() : found.end()], builder, scene)
            if token is None:
                found = expression.search(row, found.start() + 1)
                continue
            tokens = [*tokens[: found.start()], token, *tokens[found.end() :]]
            row = row[: found.start()] + character(token.category) + row[found.end() :]
            found = expression.search(row, found.start() + 1)
    return tokens


def _built(tokens: list[Token], builder: Builder, scene: Scene) -> Token | None:
    try:
        built = builder(Match(tokens, scene))
    except (ValueError, OverflowError):  # a day no calendar has: the words mean something else
        return None
    return None if built is None else Token(built[0], tokens[0].start, tokens[-1].end, built[1])
