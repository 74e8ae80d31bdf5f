"""Propositions by rules: a message comes in, the statements in it that are worth keeping come out.

Each stands alone: its speaker is named instead of "I", its dates are dates instead of "yesterday", a pronoun
has become a name where only one can be meant. A sentence that leans on the one before ("It was great") stays
with it. What is left out says why. Nothing is invented: every word of a statement was said, but for names,
dates and the ending of a verb.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from engram.model.facts import Fact
from engram.text import lexicon
from engram.text.clauses import clauses
from engram.text.dates import dates, resolved
from engram.text.facts import facts
from engram.text.junk import cleaned, junk_of
from engram.text.kinds import category_of
from engram.text.marks import is_correction
from engram.text.persons import third_person
from engram.text.pronouns import leans, spoken_of, with_person
from engram.text.questions import stated
from engram.text.sentences import sentences
from engram.text.signals import Level, Signal, level_of, signals
from engram.text.substance import has_substance
from engram.text.unsaid import completed
from engram.text.unwanted import asks_to_confirm, ends, heads, trimmed, why_unwanted
from engram.text.verbatim import verbatim
from engram.text.when.words import When

EXPLICIT: Final = 0.95
IMPLIED: Final = 0.7
INFERRED: Final = 0.5
SPECULATIVE: Final = 0.35
TOGETHER: Final = 600
"""Characters of statements told together at most."""
LONGEST: Final = 20_000
"""Of a longer message only the beginning is read: what follows is a document, and has its own way in."""


@dataclass(frozen=True, slots=True)
class Said:
    """Who said something, to whom, when, and whom it was about last."""

    at: datetime
    speaker: str = ""
    listener: str = ""
    person: str = ""
    """The one person spoken of just before; empty when it is nobody or more than one."""


@dataclass(frozen=True, slots=True)
class Proposition:
    """One statement in words that stand alone."""

    text: str
    original: str
    """The words as they were said."""
    category: str
    level: Level
    confidence: float
    asked: bool = False
    """Whether the speaker asked to have it remembered."""
    when: When | None = None
    """The time it speaks of."""
    corrects: bool = False
    """Whether it says that something else was said or was so before."""
    leans: bool = False
    """Whether it can only be understood with what was said before it."""
    verbatim: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    """What it stated before the speaker was named, and can no longer be read from its text."""


@dataclass(frozen=True, slots=True)
class Left:
    """A sentence that was left out, and why."""

    text: str
    why: str


def propositions(message: str, said: Said, least: Level = Level.LOW) -> list[Proposition]:
    """The statements of a message that are worth keeping.

    >>> noon = datetime(2023, 5, 8, 12)
    >>> [p.text for p in propositions("Hi! I moved to Rome yesterday. How are you?", Said(noon, "Anna"))]
    ['Anna moved to Rome on 7 May 2023.']
    """
    return [one for one in examine(message, said, least) if isinstance(one, Proposition)]


def examine(message: str, said: Said, least: Level = Level.LOW) -> list[Proposition | Left]:
    """Every sentence of a message: what is kept of it, or why it is not."""
    junk = junk_of(message)
    if junk is not None:
        return [Left(message[:200], str(junk))]
    found: list[Proposition | Left] = []
    headed = False
    for sentence in sentences(cleaned(message[:LONGEST])):
        headed = heads(sentence) or (headed and not ends(sentence))
        for one in _read(sentence, said, Level.NONE if headed else least):
            said = _spoken_of(one, said)
            _add(one, found)
    return found


def _read(sentence: str, said: Said, least: Level) -> Iterator[Proposition | Left]:
    bare, asked = without_lead_in("" if asks_to_confirm(sentence) else stated(sentence))
    bare = trimmed(bare)
    why = _unwanted(bare, asked=asked)
    if why:
        yield Left(sentence, why)
        return
    for part in _parts(bare):
        found = signals(part)
        level = Level.HIGH if asked else max((one.level for one in found), default=Level.NONE)
        if level < least:
            yield Left(part, "says nothing that lasts")
        elif level is Level.LOW and not has_substance(part, frozenset({said.speaker, said.listener})):
            yield Left(part, "tells nothing of its own")
        else:
            one = _proposition(part, found, max(level, Level.LOW), said, asked=asked)
            yield replace(one, corrects=is_correction(sentence))


def _proposition(part: str, found: list[Signal], level: Level, said: Said, *, asked: bool) -> Proposition:
    named = with_person(part, said.person)
    dated = completed(resolved(named, said.at), said.at)
    text = third_person(dated, said.speaker, said.listener)
    return Proposition(
        text=text[:1].upper() + text[1:],
        original=part,
        facts=_not_in(text, facts(dated, said.speaker or None)),
        category=_category(part, found),
        level=level,
        confidence=EXPLICIT if asked else _confidence(part),
        asked=asked,
        when=_when(part, said.at),
        leans=leans(named),
        verbatim=verbatim(part),
    )


def _not_in(text: str, stated_before: list[Fact]) -> tuple[Fact, ...]:
    known = set(facts(text)) if stated_before else set()
    return tuple(fact for fact in stated_before if fact not in known)


# ---------------------------------------------------------------- what is no statement


def without_lead_in(sentence: str) -> tuple[str, bool]:
    """The sentence without the words that only lead to it, and whether these ask to remember it.

    >>> without_lead_in("Oh, by the way, please remember that I'm allergic to nuts")
    ("I'm allergic to nuts", True)
    """
    rest, asked = sentence.strip().lstrip("*_#>-• \t"), False
    while True:
        shorter = _lead_ins("asked").sub("", rest, count=1)
        asked = asked or shorter != rest
        shorter = _VOCATIVE.sub("", _lead_ins("talk").sub("", shorter, count=1), count=1)
        if shorter == rest or not shorter.strip():
            return rest.strip(), asked
        rest = shorter.strip()


@lru_cache(maxsize=2)
def _lead_ins(part: str) -> re.Pattern[str]:
    rows = lexicon.parts("lead_ins")[part]
    return re.compile("^(?:" + "|".join(f"(?:{row})" for row in rows) + ")", re.IGNORECASE)


_VOCATIVE = re.compile(r"^[A-Z][a-z]+[,!] (?=[A-Z\"“])")


def _unwanted(bare: str, *, asked: bool) -> str:
    if not bare:
        return "a question"
    return "" if asked else why_unwanted(bare)


def _parts(bare: str) -> list[str]:
    """The clauses of a sentence when each states a fact of its own, else the sentence as it is."""
    if len(facts(bare)) >= _SEVERAL:
        parts = list(clauses(bare))
        if len(parts) >= _SEVERAL and all(facts(part) for part in parts):
            return parts
    parts = _JOINT.split(bare)
    if len(parts) >= _SEVERAL and all(_stands_alone(part) for part in parts):
        return parts
    return [bare]


def _stands_alone(part: str) -> bool:
    """Whether half of a sentence matters by itself: it tells of the speaker, and no mere story."""
    return (
        _SUBJECT.match(part) is not None and level_of(part) >= Level.MEDIUM and category_of(part) != "moment"
    )


_SEVERAL: Final = 2
_JOINT = re.compile(r"\s*;\s+|,?\s+(?:and|but)\s+(?=(?:I|I'm|I've|my|we|our)\b)|[，；](?=我)")
_SUBJECT = re.compile(r"(?:I|I'm|I've|[Mm]y|[Ww]e|[Oo]ur|我)\b|我")

# ---------------------------------------------------------------- what it says


def _category(part: str, found: list[Signal]) -> str:
    """By its strongest signal if that says more than the words themselves."""
    strong = next((one.category for one in found if one.level >= Level.MEDIUM), "")
    return strong or category_of(part)


def _confidence(part: str) -> float:
    lower = part.lower().replace("’", "'")
    if lexicon.found("hedges", lower, under="speculative"):
        return SPECULATIVE
    return INFERRED if lexicon.found("hedges", lower, under="inferred") else IMPLIED


def _when(part: str, at: datetime) -> When | None:
    """The one time a statement speaks of; None when it names none or several."""
    found = [one for one in dates(part, at) if one.first is not None and not one.recurring and one.certain]
    return found[0] if len(found) == 1 else None


# ---------------------------------------------------------------- what it leans on


def _spoken_of(one: Proposition | Left, said: Said) -> Said:
    text = one.original if isinstance(one, Proposition) else one.text
    return replace(said, person=spoken_of(text, said.person, frozenset({said.speaker, said.listener})))


def _add(one: Proposition | Left, found: list[Proposition | Left]) -> None:
    """A statement that leans on the one before it is told with it."""
    last = found[-1] if found else None
    if not (isinstance(one, Proposition) and isinstance(last, Proposition) and _goes_with(one, last)):
        found.append(one)
        return
    found[-1] = replace(
        last,
        text=f"{_closed(last.text)} {one.text}",
        original=f"{_closed(last.original)} {one.original}",
        level=max(last.level, one.level),
        when=last.when or one.when,
        verbatim=tuple(dict.fromkeys((*last.verbatim, *one.verbatim))),
        facts=tuple(dict.fromkeys((*last.facts, *one.facts))),
    )


def _goes_with(one: Proposition, last: Proposition) -> bool:
    """Whether a statement is told with the one before: it leans on it, or both tell one story.

    What matters by itself, or states a fact that may change, stands alone.
    """
    if one.asked or last.asked or len(last.text) + len(one.text) > TOGETHER:
        return False
    return one.leans or (_is_story(one) and _is_story(last))


def _is_story(one: Proposition) -> bool:
    return one.level < Level.HIGH and not facts(one.text)


def _closed(text: str) -> str:
    return text if text.endswith((".", "!", "。", "！", "…", ":", "”", '"')) else f"{text}."
