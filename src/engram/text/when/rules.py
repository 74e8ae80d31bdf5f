"""The machine that reads dates: tokens and a table of rules come in, fewer and larger tokens come out.

A token has a category. A rule is a pattern over categories, written in words (`shift number? unit`), and a
builder that makes one new token of the tokens it matched, or refuses. The rules are applied in the order of
their table, each to the whole row of tokens, so small things (a number, a month) grow into larger ones (a
day, a range). Inside, each category is one character and a row of tokens one string.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any

from engram.text.when.partials import Partial, settled
from engram.text.when.tense import tense
from engram.text.when.words import Prefer, Span


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
    place: int = 0
    """Where the words stand whose tense tells what is meant."""

    @property
    def free(self) -> bool:
        """Whether words that choose by themselves, such as "since", may: nobody asked for past or future."""
        return self.prefer in {"told", "near"}

    @property
    def meant(self) -> Prefer:
        """What is preferred: what the caller says, or the tense."""
        return tense(self.text, self.place) if self.prefer == "told" else self.prefer

    def span(self, value: Partial | Span) -> Span:
        """The span a date means; ValueError when there is none, such as on 30 February."""
        if not isinstance(value, Partial):
            return value
        found = settled(value, self.now, self._preferred(value))
        if found is None:
            raise ValueError("no such date")
        return replace(found, certain=value.whole)

    def _preferred(self, value: Partial) -> Prefer:
        """Without a tense the nearest; but "on Friday" and "on the 27th" are still to come."""
        if self.prefer != "told" or value.whole:
            return self.prefer
        named = value.month or value.holiday or value.season
        return "future" if self.meant == "near" and not named else self.meant


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

    def but(self, **values: Any) -> Match:
        """The same match with the tokens of some categories exchanged for other values."""
        kept = [token for token in self._tokens if token.category not in values]
        return Match([*kept, *(Token(name, 0, 0, value) for name, value in values.items())], self.scene)

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


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A pattern over categories with its builder; a row without any of one of its `needs` is not tried."""

    expression: re.Pattern[str]
    builder: Builder
    needs: tuple[frozenset[str], ...]


_CHARACTERS: dict[str, str] = {}
GAP = "gap"
PAIR = "pair"
BUILT = ("date", "moment", "range", "clock", "hours", "part", "length", "set", "shift")  # what rules make


def character(category: str) -> str:
    """The one character that stands for a category."""
    return _CHARACTERS.setdefault(category, chr(0xE000 + len(_CHARACTERS)))


def table(rules: Iterable[tuple[str, Builder]]) -> tuple[Rule, ...]:
    """The rules ready for use."""
    return tuple(Rule(_compiled(pattern), builder, _needs(pattern)) for pattern, builder in rules)


def _compiled(pattern: str) -> re.Pattern[str]:
    # A category inside brackets, [month day], is one of several.
    written = re.sub(r"[a-z]+", lambda match: character(match.group()), pattern)
    return re.compile(written.replace(" ", ""))


def _needs(pattern: str) -> tuple[frozenset[str], ...]:
    """The sets of categories of which each must occur: what is neither optional nor looked around at."""
    plain = re.sub(r"\(\?[^)]*\)", "", pattern)
    found = re.findall(r"(\[[a-z ]+\]|[a-z]+)([?*]?)", plain)
    return tuple(
        frozenset(character(name) for name in re.findall(r"[a-z]+", names))
        for names, times in found
        if not times
    )


@lru_cache(maxsize=1 << 12)
def _candidates(rules: tuple[Rule, ...], here: frozenset[str]) -> tuple[Rule, ...]:
    """The rules that may fit a row of these categories, or of what is built from them."""
    built = here | {character(name) for name in BUILT}
    return tuple(rule for rule in rules if not any(map(built.isdisjoint, rule.needs)))


def reduced(tokens: list[Token], rules: tuple[Rule, ...], scene: Scene) -> list[Token]:
    """The tokens after all rules were applied in order."""
    row = "".join([character(token.category) for token in tokens])
    here = set(row)
    for rule in _candidates(rules, frozenset(row)):
        if any(map(here.isdisjoint, rule.needs)):
            continue
        found = rule.expression.search(row)
        while found:
            start, end = found.span()
            made = _built(tokens[start:end], rule.builder, scene)
            if made:
                tokens = [*tokens[:start], *made, *tokens[end:]]
                row = row[:start] + "".join([character(token.category) for token in made]) + row[end:]
                here = set(row)
            found = rule.expression.search(row, start + 1)
    return tokens


def _built(tokens: list[Token], builder: Builder, scene: Scene) -> list[Token]:
    try:
        built = builder(Match(tokens, scene))
    except (ValueError, OverflowError):  # a day no calendar has: the words mean something else
        return []
    if built is None:
        return []
    if built[0] == PAIR:  # the first and the last token each mean something of their own
        (one, first), (other, last) = built[1]
        return [
            replace(tokens[0], category=one, value=first),
            *tokens[1:-1],
            replace(tokens[-1], category=other, value=last),
        ]
    return [Token(built[0], tokens[0].start, tokens[-1].end, built[1])]
