"""Signals: a message comes in, what in it says that it is worth keeping comes out.

A high signal calls for extraction now, a medium one can wait for the next batch, a low one is a statement
like any other. Questions and small talk give none. A secret value is masked before anything else looks, so
no signal ever shows it. The patterns, with examples, stand in `data/signals_english.txt` and
`data/signals_chinese.txt`, what gives a secret away in `data/credentials.txt`.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import IntEnum
from functools import cache, lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.dates import dates
from engram.text.junk import is_filler
from engram.text.questions import is_question, stated
from engram.text.sentences import sentences
from engram.text.words import HAN, content_words, terms


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


# ---------------------------------------------------------------- promises
# Promises in words: a sentence comes in; what it promises, says was done, or waits for goes out.
#
# Careful rather than clever: what is not plainly one action with one object is no promise and keeps none.


FILE = "promises"
LONGEST = 400
"""A longer text tells a story: no rule is certain about it."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action and what it is done to, as terms; times left out."""

    who: str
    """In lower case; "i" also where nobody is named, and for we."""
    verb: str
    what: frozenset[str]


def promised(text: str, now: datetime) -> Deed | None:
    """What a text says is to be done.

    >>> deed = promised("I'll send the report to Anna by Friday", datetime(2026, 3, 2))
    >>> deed.who, deed.verb, sorted(deed.what)
    ('i', 'send', ['anna', 'report'])
    """
    plain = _plain(text)
    if plain is None:
        return None
    lead = lexicon.pattern(FILE, "leads").match(plain)
    return _deed(lead["who"] if lead else "", plain[lead.end() if lead else 0 :], now)


def done(text: str, now: datetime, among: Container[str] | None = None) -> Deed | None:
    """What a text says was done; None when it does not say so plainly.

    With `among` only deeds with one of these verbs: the others are not read to their end.

    >>> done("I've just sent the report", datetime(2026, 3, 2))
    Deed(who='i', verb='send', what=frozenset({'report'}))
    >>> done("I never sent the report", datetime(2026, 3, 2)) is None
    True
    """
    plain = _plain(text)
    if plain is None or lexicon.found(FILE, plain, under="doubt"):
        return None
    said = lexicon.pattern(FILE, "did").match(plain)
    verb = _base(said["verb"]) if said else ""
    if not said or not verb or (among is not None and not any(term in among for term in terms(verb))):
        return None
    return _deed(said["who"], f"{verb} {said['what']}", now)


def keeps(statement: str, promise: str, now: datetime) -> bool:
    """Whether a statement says that just what was promised has been done.

    >>> keeps("I sent the report", "I'll send the report by Friday", datetime(2026, 3, 2))
    True
    >>> keeps("I sent the report to Bob", "I'll send the report to Anna", datetime(2026, 3, 2))
    False
    """
    did = done(statement, now)
    return did is not None and did == promised(promise, now)


def is_promise(text: str, now: datetime) -> bool:
    """Whether a text plainly owes something: by its words, or by announcing it for a day to come.

    >>> now = datetime(2026, 3, 2)
    >>> is_promise("I'll send the report by Friday", now), is_promise("I'll send the report", now)
    (True, False)
    >>> is_promise("She needs to renew her passport", now), is_promise("I ran a race on Saturday", now)
    (True, False)
    """
    told = [sentence for sentence in sentences(text[:LONGEST]) if not is_question(sentence)]
    return any(_owes(sentence, now) for sentence in told) or bool(waiting_on(text))


def _owes(sentence: str, now: datetime) -> bool:
    lower = sentence.lower().replace("’", "'")
    if lexicon.found(FILE, lower, under="owed"):
        return True
    if not lexicon.found(FILE, lower, under="announced"):
        return False
    ends = (when.last or when.first for when in dates(sentence, now, prefer="future") if not when.recurring)
    return any(end is not None and end > now for end in ends)


def waiting_on(text: str) -> str:
    """Whom or what a text waits for; empty when it does not wait.

    >>> waiting_on("Waiting for Anna to sign the contract"), waiting_on("I'll call Anna")
    ('Anna', '')
    """
    for _, row in lexicon.rules(FILE, "waiting"):
        found = _waiting(row).search(text)
        if found:
            return " ".join(found["whom"].split())
    return ""


@cache
def _waiting(row: str) -> re.Pattern[str]:
    return re.compile(row, re.IGNORECASE)


def _plain(text: str) -> str | None:
    """One plain sentence in lower case; None for several, for a long one, and for a question."""
    if len(text) > LONGEST or is_question(text) or len(sentences(text)) != 1:
        return None
    return " ".join(text.lower().replace("’", "'").split()).rstrip(".!")


def _deed(who: str | None, words: str, now: datetime) -> Deed | None:
    """The first word is the action; the rest, without times, is what it is done to."""
    for when in reversed(dates(words, now)):
        words = words[: when.start] + words[when.end :]
    verb, _, rest = words.strip().partition(" ")
    action = terms(verb)
    what = content_words(rest) - content_words("by before until on at") if rest.strip() else frozenset()
    actor = "i" if who in {None, "", "we"} else str(who)
    return Deed(actor, action[0], frozenset(what)) if len(action) == 1 and what else None


def _base(verb: str) -> str:
    """The verb of a past form; empty when it is none."""
    if verb in _irregular():
        return _irregular()[verb]
    return verb if verb.endswith("ed") else ""


@cache
def _irregular() -> dict[str, str]:
    rows = (row.split() for row in lexicon.lines("irregular_verbs"))
    return {past: base for base, *forms in rows for past in forms}
