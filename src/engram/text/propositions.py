"""Propositions: a message comes in; what its writer asserts in it comes out, in the writer's own words.

The words as they were said are kept; what they mean stands beside them: the day that "yesterday" was, whom
"she" means, which facts they state, whether they correct something. Sentences told in one breath stay
together, because each explains the others. What is left out says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from functools import lru_cache
from typing import Final

from engram.lazily import dataclass, replace
from engram.model.facts import Fact
from engram.text import lexicon, re
from engram.text.assertion import Judged, Stance, judged, tells_something
from engram.text.dates import completions, dated, happening
from engram.text.facts import facts
from engram.text.forms import verbatim
from engram.text.junk import Junk, cleaned, junk_of
from engram.text.kinds import category_of
from engram.text.marks import is_correction
from engram.text.names import entities
from engram.text.questions import stated
from engram.text.relations import named_relations
from engram.text.signals import CHANGE, Level, Signal, Undertaking, names_a_day_to_come, signals, undertaking
from engram.text.slots import has_wrong_word, put_right
from engram.text.when.calendar import TimeExpression
from engram.text.words import is_wide

# ---------------------------------------------------------------- substance
# Substance: a sentence comes in; whether it tells something of its own comes out.
#
# "Family is so important" and "You're doing great!" are sentences like any other, but nobody will ever ask
# for them. What tells something names somebody, a place, a number or a time, or says what the speaker did,
# has or wants in words that do more than judge.


TELLING: Final = 2
"""So many words that do more than judge make a statement about oneself worth keeping."""


def has_substance(sentence: str) -> bool:
    """Whether a sentence tells something.

    >>> has_substance("I roasted marshmallows at the lake"), has_substance("Nature can make us feel small")
    (True, False)
    >>> has_substance("It was in Chicago")
    True
    """
    if is_wide(sentence) or _is_concrete(sentence):
        return True
    if _ABOUT_LISTENER.search(sentence) and not _MINE.search(sentence):
        return False
    telling = _telling(sentence)
    if _RULE.search(sentence) and len(telling) > TELLING:
        return True
    if _SELF.search(sentence) or _UNSAID_I.match(sentence):
        return len(telling) >= TELLING
    return bool(telling) and lexicon.found("past", sentence.lower())


def _is_concrete(sentence: str) -> bool:
    if "[shares" in sentence or _DIGIT.search(sentence):
        return True
    lower = sentence.lower()
    if lexicon.found("times", lower) and not _ABOUT_LISTENER.search(sentence):
        return True
    return bool(entities(sentence))


def _telling(sentence: str) -> list[str]:
    vague, stop = lexicon.words("vague"), lexicon.words("stop_words")
    return [
        word
        for word in _WORD.findall(sentence.lower().replace("’", "'"))
        if len(word) > _SHORT and word not in vague and word not in stop
    ]


_SHORT: Final = 2
# "Been busy at the shelter", "Thinking about a new bike": who, if not the speaker?
_UNSAID_I = re.compile(
    r"(?:been|got|had|just|gonna|[a-z]{3,}ing)\b(?!(?: \w+){0,3} (?:is|are|was|can|takes|makes)\b)",
    re.IGNORECASE,
)
_SELF = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Ww]e|[Oo]ur)\b")
# What holds for a thing, or was found out about it, without anybody in the sentence.
_RULE = re.compile(
    r"\b(?:must|(?:is|are) (?:not )?(?:required|allowed|forbidden)|turned out|caused by|root cause)\b"
)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_ABOUT_LISTENER = re.compile(r"\b(?:you|your|yours|you're|you've|you'll|yourself)\b", re.IGNORECASE)
_MINE = re.compile(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur)\b(?! (?:bet|hope|wish|think|guess|know|can tell|imagine)\b)")


# ---------------------------------------------------------------- pronouns
# Pronouns: whom "she" means, when only one person can be meant; which sentences lean on the one before.


_LEANING = re.compile(
    r"(?:it|it's|that|that's|this|these|those|they|they're|he|he's|she|she's|him|her|his|their|there|then|such|both)\b"
    r"|(?:它|他|她|这|那|他们|她们|它们|其)|\[",
    re.IGNORECASE,
)
_PERSON = re.compile(r"^(?P<subject>(?:[Hh]e|[Ss]he)\b(?P<short>'s)?)|^(?P<own>(?:[Hh]is|[Hh]er)\b(?= \w))")
_CHINESE = re.compile(r"^[他她](?P<own>的)?(?!们)")


def leans(text: str) -> bool:
    """Whether a sentence begins with a word that only what was said before explains.

    >>> leans("It was great"), leans("Her dog is old"), leans("Anna's dog is old")
    (True, True, False)
    """
    return _LEANING.match(text) is not None


def with_person(text: str, person: str) -> str:
    """The sentence with its first pronoun named.

    >>> (
    ...     with_person("She's a nurse", "Clara"),
    ...     with_person("Her dog is old", "Clara"),
    ...     with_person("她的狗", "小林"),
    ... )
    ('Clara is a nurse', "Clara's dog is old", '小林的狗')
    """
    if not person:
        return text
    if is_wide(text):
        return _CHINESE.sub(lambda match: person + (match["own"] or ""), text, count=1)

    def name(match: re.Match[str]) -> str:
        if match["own"]:
            return f"{person}'s"
        return f"{person} is" if match["short"] else person

    return _PERSON.sub(name, text, count=1)


def spoken_of(text: str, before: str, besides: frozenset[str]) -> str:
    """Whom the next pronoun can mean: the one named here, or before if nobody is; empty for several.

    >>> spoken_of("I met Clara in Rome", "", frozenset()), spoken_of("Clara met Anna", "Bob", frozenset())
    ('Clara', '')
    """
    named = [one.name for one in entities(text) if one.type == "person" and one.name not in besides]
    if not named:
        return before
    return named[0] if len(named) == 1 else ""


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
class SaidStatement:
    """Who said something, to whom, when, and whom it was about last."""

    at: datetime
    speaker: str = ""
    listener: str = ""
    person: str = ""
    """The one person spoken of just before; empty when it is nobody or more than one."""
    told: tuple[str, ...] = ()
    """What the speaker told before it."""


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
    when: TimeExpression | None = None
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
    promise: str = ""
    """The sentence of it that says what is to be done, if one does."""


@dataclass(frozen=True, slots=True)
class Left:
    """A sentence that was left out, and why."""

    text: str
    why: str
    stance: Stance = Stance.REACTION


Refuse = Callable[[Proposition], str]


def examine(
    message: str, said: SaidStatement, least: Level = Level.NONE, refuse: Refuse | None = None
) -> list[Proposition | Left]:
    """Every sentence of a message: what is kept of it, or why it is not.

    `refuse` is asked about each statement before it goes with others: why it is not to be kept, or nothing.

    >>> noon = datetime(2023, 5, 8, 12)
    >>> kept = examine("Hi! I moved to Rome yesterday.", SaidStatement(noon, "Anna"))[-1]
    >>> kept.text, kept.dates
    ('I moved to Rome yesterday.', (('yesterday', '7 May 2023'),))
    """
    junk = junk_of(message)
    if junk is not None and not (junk is Junk.QUESTION and undertaking(message, said.at)):
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


def _read(sentence: Judged, said: SaidStatement, least: Level) -> Proposition | Left:
    bare, asked = without_lead_in(stated(sentence.text) or sentence.text)
    undertaken = undertaking(sentence.text, said.at, assistant=said.speaker == ASSISTANT)
    reminds = undertaken is Undertaking.REMINDER and sentence.stance not in NOT_MEANT
    put = put_right(sentence.text)
    mends = put is not None and any(has_wrong_word(put, one) for one in said.told)
    if not (sentence.believed or asked or reminds or mends):
        return Left(sentence.text, WHY_NOT.get(sentence.stance, "says nothing that lasts"), sentence.stance)
    found = signals(sentence.text)
    level = Level.HIGH if asked or reminds else max((one.level for one in found), default=Level.LOW)
    category = _category(bare, found)
    if undertaken and _opens_a_loop(sentence.text, category, said.at, reminds=reminds):
        category, level = COMMITMENT, max(level, Level.MEDIUM)
    elif sentence.stance is Stance.PREFERENCE and category in UNTELLING:
        category = "preference"
    if level < least:
        return Left(sentence.text, "says nothing that lasts", Stance.PASSING)
    named = with_person(bare, said.person)
    return Proposition(
        text=sentence.text,
        category=category,
        promise=sentence.text if category == COMMITMENT and undertaken else "",
        level=level,
        confidence=EXPLICIT if asked else _confidence(bare),
        stance=sentence.stance if sentence.believed else Stance.FACT,
        asked=asked,
        when=happening(bare, said.at),
        corrects=sentence.stance is Stance.CORRECTION or is_correction(sentence.text) or put is not None,
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
            return rest.strip(), asked and tells_something(rest)
        rest = shorter.strip()


@lru_cache(maxsize=2)
def _lead_ins(part: str) -> re.Pattern[str]:
    rows = lexicon.parts("lead_ins")[part]
    return re.compile("^(?:" + "|".join(f"(?:{row})" for row in rows) + ")", re.IGNORECASE)


_VOCATIVE = re.compile(r"^[A-Z][a-z]+[,!] (?=[A-Z\"“])")

# ---------------------------------------------------------------- what it says


COMMITMENT: Final = "commitment"
UNTELLING: Final = frozenset({"general", "fact", "moment", "entity", "technical"})
"""Categories that say less than that somebody wants something so."""
ASSISTANT: Final = "Assistant"
"""What an assistant that has no name is called."""
NOT_MEANT: Final = frozenset({Stance.SUPPOSED, Stance.QUOTED, Stance.MATERIAL, Stance.IRONIC})
STAYS_WHAT_IT_IS: Final = frozenset({"constraint", "identity", "preference", "correction"})
"""A rule is no promise, in whatever words it is told: "I have to avoid gluten"."""
_OWN = re.compile(
    r"\b(?:i|we|my|our|gotta|i'll|i'd|i'm|we'll|we'd)\b|^(?:need|have|got) to\b|[我咱]", re.IGNORECASE
)


def _opens_a_loop(text: str, category: str, at: datetime, *, reminds: bool) -> bool:
    """Whether what is undertaken waits to be done: by somebody who speaks, or by a day that is named."""
    if reminds:
        return True
    if category in STAYS_WHAT_IT_IS:
        return False
    return _OWN.search(text.replace("’", "'")) is not None or names_a_day_to_come(text, at)


def _category(part: str, found: list[Signal]) -> str:
    """By its strongest signal if that says more than the words themselves.

    A change is filed by what it is about.
    """
    strong = [one.category for one in found if one.level >= Level.MEDIUM]
    category = next((one for one in strong if one != CHANGE), "") or category_of(part)
    return "fact" if CHANGE in strong and category in UNTELLING else category


def _confidence(part: str) -> float:
    lower = part.lower().replace("’", "'")
    if lexicon.found("hedges", lower, under="speculative"):
        return SPECULATIVE
    return INFERRED if lexicon.found("hedges", lower, under="inferred") else IMPLIED


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
        category=_common_category(last, one),
        promise=last.promise or one.promise,
        level=max(last.level, one.level),
        confidence=max(last.confidence, one.confidence),
        when=last.when or one.when,
        corrects=last.corrects or one.corrects,
        verbatim=tuple(dict.fromkeys((*last.verbatim, *one.verbatim))),
        facts=tuple(dict.fromkeys((*last.facts, *one.facts))),
        dates=tuple(dict.fromkeys((*last.dates, *one.dates))),
    )


def _common_category(last: Proposition, one: Proposition) -> str:
    """That of the stronger; but what is to be done closes one day, and must take nothing else along."""
    others = [each for each in (last, one) if each.category != COMMITMENT] or [last, one]
    return max(others, key=lambda each: each.level).category


def _goes_with(one: Proposition, last: Proposition) -> bool:
    if len(last.text) + len(one.text) > TOGETHER:
        return False
    if leans(one.text):
        return True
    alone = one.asked or last.asked or any(named_relations(each.text) == (each.text,) for each in (one, last))
    return not alone
