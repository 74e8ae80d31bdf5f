"""How good statements are: a message and what is expected of it come in, what was missed and is false out.

What is kept are the speaker's own words, with what they mean beside them. They tell an expected statement
when three fifths of its stemmed content words (character pairs in Chinese) are among them, every name and
number of it is there or is who speaks, and it denies nothing that they do not deny. A text that tells none of
what is expected is false.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from engram.text import lexicon
from engram.text.marks import is_negated
from engram.text.propositions import Proposition, SaidStatement, examine
from engram.text.words import SINGLE, terms

MESSAGES: Final = Path(__file__).parent / "data" / "messages.jsonl"
ENOUGH: Final = 0.6
"""The share of its words from which on a statement is told."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one message."""

    language: str
    message: str
    expected: tuple[str, ...]
    produced: tuple[str, ...]
    missed: tuple[str, ...]
    false: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Figures:
    """Precision and recall over some messages."""

    messages: int
    expected: int
    found: int
    produced: int
    true: int

    @property
    def precision(self) -> float:
        """How many of the produced statements were expected."""
        return self.true / self.produced if self.produced else 1.0

    @property
    def recall(self) -> float:
        """How many of the expected statements were produced."""
        return self.found / self.expected if self.expected else 1.0


def outcomes(path: Path = MESSAGES) -> list[Outcome]:
    """What the rules make of every message of the set."""
    return [_outcome(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def figures(some: Iterable[Outcome]) -> Figures:
    """Precision and recall of some outcomes."""
    listed = list(some)
    expected = sum(len(one.expected) for one in listed)
    produced = sum(len(one.produced) for one in listed)
    return Figures(
        messages=len(listed),
        expected=expected,
        found=expected - sum(len(one.missed) for one in listed),
        produced=produced,
        true=produced - sum(len(one.false) for one in listed),
    )


def told(produced: str, expected: Sequence[str], message: str = "") -> list[str]:
    """The expected statements that a produced text tells.

    >>> told("Anna lives in Rome and has a cat", ["Anna lives in Rome", "Anna has a cat"])
    ['Anna lives in Rome', 'Anna has a cat']
    >>> told("She lives there", ["Anna lives in Rome"])
    []
    """
    words = _words(produced)
    return [one for one in expected if _tells(produced, words, one, message)]


def _outcome(row: dict[str, Any]) -> Outcome:
    said = SaidStatement(datetime.fromisoformat(row["at"]), row["speaker"], row["listener"])
    message, expected = row["message"], tuple(row["expected"])
    produced = tuple(_shown(one, said) for one in examine(message, said) if isinstance(one, Proposition))
    tells = [told(text, expected, message) for text in produced]
    found = {one for several in tells for one in several}
    return Outcome(
        language=_language(message),
        message=message,
        expected=expected,
        produced=produced,
        missed=tuple(one for one in expected if one not in found),
        false=tuple(text for text, several in zip(produced, tells, strict=True) if not several),
    )


def _shown(one: Proposition, said: SaidStatement) -> str:
    meant = " ".join(f"[{date}]" for _, date in one.dates)
    return " ".join(filter(None, (said.speaker, one.about, one.text, meant)))


def _tells(produced: str, words: set[str], expected: str, message: str) -> bool:
    wanted = _words(expected)
    return (
        len(wanted & words) >= ENOUGH * len(wanted)
        and _pinned(expected, message) <= set(_TOKEN.findall(produced.lower()))
        and (is_negated(produced) or not is_negated(expected))
    )


_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_CAPITAL = re.compile(r"(?<![\w])[A-Z][^\W\d_]*")
_UNNAMED = re.compile(r"\bUser\b(?:'s)?|用户的?")
_HAN = re.compile(r"[一-鿿]")
_LATIN = re.compile(r"[A-Za-z]{2}")


def _words(text: str) -> set[str]:
    """What a statement is compared by; who is not named says nothing."""
    return {term for term in terms(_UNNAMED.sub(" ", text)) if not term.startswith(SINGLE)}


def _pinned(expected: str, message: str) -> set[str]:
    """The names and numbers that must be there, in lower case; a word the message has in small is no name."""
    small = set(re.findall(r"[a-z]+", message))
    names = {word.lower() for word in _CAPITAL.findall(_UNNAMED.sub(" ", expected))}
    return (names - small - lexicon.words("stop_words")) | set(_NUMBER.findall(expected))


def _language(message: str) -> str:
    if not _HAN.search(message):
        return "English"
    return "mixed" if _LATIN.search(message) else "Chinese"
