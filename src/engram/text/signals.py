"""Signals: a message comes in, what in it says that it is worth keeping comes out.

A high signal calls for extraction now, a medium one can wait for the next batch, a low one is a statement
like any other. Questions and small talk give none. A secret value is masked before anything else looks, so
no signal ever shows it. The patterns, with examples, stand in `data/signals_english.txt` and
`data/signals_chinese.txt`, what gives a secret away in `data/credentials.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache, lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.junk import is_filler
from engram.text.questions import stated
from engram.text.scripts import HAN
from engram.text.sentences import sentences


class Level(IntEnum):
    """How much a message asks to be kept."""

    NONE = 0
    LOW = 1
    MEDIUM = 2
    HIGH = 3


@dataclass(frozen=True, slots=True)
class Signal:
    """One reason to keep a message: level, category, the name of the pattern, the words that matched."""

    level: Level
    category: str
    name: str
    text: str


MASK: Final = "***"


def signals(text: str) -> list[Signal]:
    """Every signal of a message, strongest first.

    >>> [(s.level.name, s.category, s.text) for s in signals("Anna hates tea. I no longer live in Rome")]
    [('HIGH', 'correction', 'no longer'), ('MEDIUM', 'preference', 'Anna hates tea')]
    >>> signals("my password is hunter22")[0].text
    'password is ***'
    """
    plain, secrets = masked(text)
    found = [Signal(Level.HIGH, "fact", "credential", secret) for secret in secrets]
    for level in (Level.HIGH, Level.MEDIUM):
        found += _found(plain, level)
    return found or list(_found(plain, Level.LOW))


def level_of(text: str) -> Level:
    """The level of the strongest signal.

    >>> level_of("Remember that I'm vegan"), level_of("I like tea"), level_of("It rained"), level_of("Hi!")
    (<Level.HIGH: 3>, <Level.MEDIUM: 2>, <Level.LOW: 1>, <Level.NONE: 0>)
    """
    plain, secrets = masked(text)
    if secrets:
        return Level.HIGH
    levels = (Level.HIGH, Level.MEDIUM, Level.LOW)
    return next((level for level in levels if any(True for _ in _found(plain, level))), Level.NONE)


def masked(text: str) -> tuple[str, list[str]]:
    """The text with every secret value masked, and the words that gave each away.

    >>> masked("The PIN is 4711, I like tea")
    ('The PIN is ***, I like tea', ['PIN is ***'])
    """
    plain = text.replace("’", "'")
    lower = plain.lower()
    if not any(hint in lower for hint in _HINTS) and not _TOKEN.search(plain):
        return plain, []
    found: list[str] = []
    for heading in ("tokens", "named"):
        for form in _forms(heading):
            plain = form.sub(lambda match: _mask(match, found), plain)
    return plain, found


# Nearly every text is harmless: without one of these no secret can be found.
_HINTS: Final = (
    "pass", "pwd", "pin", "key", "secret", "token", "code", "cvv", "combination", "://", "bearer", "-----",
    "akia", "asia", "aiza", "eyj", "ya29", "码", "口令", "密钥", "令牌",
)  # fmt: skip
_TOKEN = re.compile(r"[-_][A-Za-z0-9_-]{10}")


@cache
def _forms(heading: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(row) for row in lexicon.parts("credentials")[heading])


def _mask(match: re.Match[str], found: list[str]) -> str:
    if match["value"] == MASK:
        return match.group()
    start, end = match.start("value") - match.start(), match.end("value") - match.start()
    shown = match.group()[:start] + MASK + match.group()[end:]
    found.append(shown)
    return shown


@dataclass(frozen=True, slots=True)
class _Rule:
    category: str
    name: str
    form: re.Pattern[str]


FILES: Final = ("signals_english", "signals_chinese")
_HAN_CHAR = re.compile(f"[{HAN}]")
_LETTER = re.compile(r"[A-Za-z]{2}")


def _found(text: str, level: Level) -> Iterator[Signal]:
    """The signals of one level, file by file and statement by statement."""
    for name in _files(text):
        rules, calls = _rules(name, level)
        for statement in _statements(text):
            for at in calls.of(statement.lower()):
                rule = rules[at]
                for match in rule.form.finditer(statement):
                    yield Signal(level, rule.category, rule.name, match.group().strip())


def _files(text: str) -> list[str]:
    """The pattern files for the scripts of a text."""
    if text.isascii():
        return ["signals_english"]
    return [name for name, script in zip(FILES, (_LETTER, _HAN_CHAR), strict=True) if script.search(text)]


@lru_cache(maxsize=1 << 4)
def _statements(text: str) -> tuple[str, ...]:
    """The parts of a text that state something; kept for a moment, because every level reads them."""
    told = (stated(sentence) for sentence in sentences(text))
    return tuple(part[:_LONGEST] for part in told if part and not is_filler(part))


_LONGEST: Final = 600  # what comes after this in one sentence is no prose


@cache
def _rules(name: str, level: Level) -> tuple[tuple[_Rule, ...], lexicon.Calls]:
    """The rules of one file and level, and what calls for each; a heading says level, category and name."""
    found = []
    calls = []
    for heading in lexicon.headings(name):
        strength, _, rest = heading.partition(" ")
        category, _, title = rest.partition(" ")
        if strength.upper() == level.name:
            for pieces, row in lexicon.rules(name, heading):
                found.append(_Rule(category, title, re.compile(row, re.IGNORECASE)))
                calls.append(pieces)
    return tuple(found), lexicon.Calls(calls)
