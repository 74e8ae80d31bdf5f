"""Propositions: a message comes in; what its writer asserts in it comes out, in the writer's own words.

The words as they were said are kept; what they mean stands beside them: the day that "yesterday" was, whom
"she" means, which facts they state, whether they correct something. Sentences told in one breath stay
together, because each explains the others. What is left out says why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Final

from engram.model.facts import Fact
from engram.text import lexicon
from engram.text.assertion import Judged, Stance, judged
from engram.text.dates import dated, dates
from engram.text.facts import facts
from engram.text.junk import cleaned, junk_of
from engram.text.kinds import category_of
from engram.text.marks import is_correction
from engram.text.pronouns import leans, spoken_of, with_person
from engram.text.questions import stated
from engram.text.signals import Level, Signal, signals
from engram.text.unsaid import completions
from engram.text.verbatim import verbatim
from engram.text.when.words import When

EXPLICIT: Final = 0.95
IMPLIED: Final = 0.7
INFERRED: Final = 0.5
SPECULATIVE: Final = 0.35
TOGETHER: Final = 400
"""Characters of sentences told together at most."""
LONGEST: Final = 20_000
"""Of a longer message only the beginning is read: what follows is a document, and has its own way in."""

WHY_NOT: Final[Mapping[Stance, str]] = {
    Stance.SUPPOSED: "supposed, not so",
    Stance.QUOTED: "somebody else's words",
    Stance.MATERIAL: "a text to work on",
    Stance.IRONIC: "not meant as it is said",
    Stance.QUESTION: "a question or a request",
    Stance.REACTION: "a reaction",
    Stance.PASSING: "says nothing that lasts",
}


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
    """What is asserted in one breath, word for word, and what it means."""

    text: str
    category: str
    level: Level
    confidence: float
    stance: Stance = Stance.FACT
    asked: bool = False
    """Whether the speaker asked to have it remembered."""
    when: When | None = None
    """The time it speaks of."""
    corrects: bool = False
    """Whether it says that something else was said or was so before."""
    about: str = ""
    """Whom its first pronoun means, where only one can be meant."""
    verbatim: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    """What it states of somebody whom its own words do not name."""
    dates: tuple[tuple[str, str], ...] = ()
    """Expressions that only mean something on the day they were said, each with the date it meant."""


@dataclass(frozen=True, slots=True)
class Left:
    """A sentence that was left out, and why."""

    text: str
    why: str
    stance: Stance = Stance.REACTION


Refuse = Callable[[Proposition], str]


def propositions(message: str, said: Said, least: Level = Level.NONE) -> list[Proposition]:
    """What is asserted in a message.

    >>> noon = datetime(2023, 5, 8, 12)
    >>> [(p.text, p.dates) for p in propositions("Hi! I moved to Rome yesterday.", Said(noon, "Anna"))]
    [('I moved to Rome yesterday.', (('yesterday', '7 May 2023'),))]
    """
    return [one for one in examine(message, said, least) if isinstance(one, Proposition)]


def examine(
    message: str, said: Said, least: Level = Level.NONE, refuse: Refuse | None = None
) -> list[Proposition | Left]:
    """Every sentence of a message: what is kept of it, or why it is not.

    `refuse` is asked about each statement before it goes with others: why it is not to be kept, or nothing.
    """
    junk = junk_of(message)
    if junk is not None:
        return [Left(message[:200], str(junk))]
    found: list[Proposition | Left] = []
    for sentence in judged(cleaned(message[:LONGEST])):
        one = _read(sentence, said, least)
        if isinstance(one, Proposition) and refuse is not None and (why := refuse(one)):
            one = Left(one.text, why, one.stance)
        said = replace(
            said, person=spoken_of(sentence.text, said.person, frozenset({said.speaker, said.listener}))
        )
        _add(one, found)
    return found


def _read(sentence: Judged, said: Said, least: Level) -> Proposition | Left:
    bare, asked = without_lead_in(stated(sentence.text) or sentence.text)
    if not (sentence.believed or asked):
        return Left(sentence.text, WHY_NOT.get(sentence.stance, "says nothing that lasts"), sentence.stance)
    found = signals(sentence.text)
    level = Level.HIGH if asked else max((one.level for one in found), default=Level.LOW)
    if level < least:
        return Left(sentence.text, "says nothing that lasts", Stance.PASSING)
    named = with_person(bare, said.person)
    return Proposition(
        text=sentence.text,
        category=_category(bare, found),
        level=level,
        confidence=EXPLICIT if asked else _confidence(bare),
        stance=sentence.stance if sentence.believed else Stance.FACT,
        asked=asked,
        when=_when(bare, said.at),
        corrects=sentence.stance is Stance.CORRECTION or is_correction(sentence.text),
        about=said.person if named != bare else "",
        verbatim=verbatim(sentence.text),
        facts=_beyond(sentence.text, named, said.speaker),
        dates=_dates(sentence.text, said.at),
    )


def _beyond(text: str, named: str, speaker: str) -> tuple[Fact, ...]:
    """The facts that can be read only without the lead-in, or with the pronoun's name."""
    if named == text:
        return ()
    known = set(facts(text, speaker or None))
    return tuple(fact for fact in facts(named, speaker or None) if fact not in known)


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
            return rest.strip(), asked and len(rest.strip(" .!。！").split()) + len(rest) // 6 > 1
        rest = shorter.strip()


@lru_cache(maxsize=2)
def _lead_ins(part: str) -> re.Pattern[str]:
    rows = lexicon.parts("lead_ins")[part]
    return re.compile("^(?:" + "|".join(f"(?:{row})" for row in rows) + ")", re.IGNORECASE)


_VOCATIVE = re.compile(r"^[A-Z][a-z]+[,!] (?=[A-Z\"“])")

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


def _dates(text: str, at: datetime) -> tuple[tuple[str, str], ...]:
    """What its words of time meant when they were said; a longer expression speaks for the shorter in it."""
    found = dated(text, at)
    more = (pair for pair in completions(text, at) if not any(pair[0] in said for said, _ in found))
    return (*found, *more)


# ---------------------------------------------------------------- what is told together


def _add(one: Proposition | Left, found: list[Proposition | Left]) -> None:
    """A statement goes with the one before it in the same breath, also past a question between them."""
    last = next((other for other in reversed(found) if isinstance(other, Proposition)), None)
    if not (isinstance(one, Proposition) and last is not None and _goes_with(one, last)):
        found.append(one)
        return
    place = max(at for at, other in enumerate(found) if other is last)
    found[place] = replace(
        last,
        text=f"{last.text} {one.text}",
        category=max(last, one, key=lambda each: each.level).category,
        level=max(last.level, one.level),
        confidence=max(last.confidence, one.confidence),
        when=last.when or one.when,
        corrects=last.corrects or one.corrects,
        verbatim=tuple(dict.fromkeys((*last.verbatim, *one.verbatim))),
        facts=tuple(dict.fromkeys((*last.facts, *one.facts))),
        dates=tuple(dict.fromkeys((*last.dates, *one.dates))),
    )


def _goes_with(one: Proposition, last: Proposition) -> bool:
    if len(last.text) + len(one.text) > TOGETHER:
        return False
    return leans(one.text) or not (one.asked or last.asked)
