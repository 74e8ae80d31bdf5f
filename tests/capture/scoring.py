"""How good statements are: a message and what is expected of it come in, what was missed and is false out.

A produced text tells an expected statement when both mean the same by their words: the stemmed content words
(character pairs in Chinese) agree by F1 of at least 0.6, every name and number of the expected one is there,
and both deny or neither does. A text that tells several expected statements is held against all of them
together, and counts for each.
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
from engram.text.persons import UNNAMED, UNNAMED_CHINESE
from engram.text.propositions import Said, propositions
from engram.text.words import SINGLE, terms

MESSAGES: Final = Path(__file__).parent / "data" / "messages.jsonl"
ENOUGH: Final = 0.6
"""F1 of the words from which two statements mean the same."""


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
    >>> (
    ...     told("Anna doesn't live in Rome", ["Anna lives in Rome"]),
    ...     told("She lives there", ["Anna lives in Rome"]),
    ... )
    ([], [])
    """
    words = _words(produced)
    near = [one for one in expected if _may_tell(produced, words, one, message)]
    if near and _agree(set().union(*map(_words, near)), words) and _same_sense(produced, near):
        return near
    return [one for one in near if _agree(_words(one), words) and _same_sense(produced, [one])]


def _outcome(row: dict[str, Any]) -> Outcome:
    said = Said(datetime.fromisoformat(row["at"]), row["speaker"], row["listener"])
    message, expected = row["message"], tuple(row["expected"])
    produced = tuple(one.text for one in propositions(message, said))
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


def _may_tell(produced: str, words: set[str], expected: str, message: str) -> bool:
    wanted = _words(expected)
    return (
        len(wanted & words) >= ENOUGH * len(wanted)
        and _pinned(expected, message) <= set(_TOKEN.findall(produced.lower()))
        and (is_negated(produced) or not is_negated(expected))
    )


def _agree(wanted: set[str], words: set[str]) -> bool:
    return 2 * len(wanted & words) >= ENOUGH * (len(wanted) + len(words))


def _same_sense(produced: str, expected: list[str]) -> bool:
    return is_negated(produced) == any(is_negated(one) for one in expected)


_TOKEN = re.compile(r"\d+|[^\W\d_]+")
_NUMBER = re.compile(r"\d+")
_CAPITAL = re.compile(r"(?<![\w])[A-Z][^\W\d_]*")
_UNNAMED = re.compile(rf"\b{UNNAMED}\b(?:'s)?|{UNNAMED_CHINESE}的?")
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
