"""Sameness: a new statement and its neighbours come in, one of five verdicts comes out.

Similarity alone never drops anything: "likes red apples" and "likes green apples" are close in every model
and still two facts. A statement repeats another only if it adds no word of meaning, its words stand in the
same order, and numbers, negation, names and times agree. A false drop is worse than a kept duplicate.

A statement that cannot be true beside another replaces it when it says so, or when there is one object at a
time. When nothing says which of the two holds, both stay, and the pair waits to be looked at.

What somebody said in a conversation (it has a speaker) is kept as it was said: only the very same words,
found by their hash before this rule is asked, count as a repetition of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cache, cached_property
from math import log1p
from typing import TYPE_CHECKING, NamedTuple

from engram.lazily import dataclass, replace
from engram.model.clock import written_moment
from engram.model.memory import Memory, Verification
from engram.text import facts, lexicon, re, words
from engram.text.assertion import ASSERTED, Stance, change_told, judged, model_change
from engram.text.cues import are_of_others, people, slots_told
from engram.text.facts import given
from engram.text.marks import (
    Marks,
    differences,
    has_opposite,
    is_correction,
    is_negated,
    marks,
    meaning,
    opposed,
)
from engram.text.reading import read_once
from engram.text.slots import names_its_subject
from engram.text.statement import USER
from engram.text.words import is_wide

if TYPE_CHECKING:
    from engram.model.facts import Fact

JACCARD_SAME = 0.50  # shared words, beside a near vector, that make a repetition
JACCARD_ALONE = 0.85  # shared words that make a repetition without vectors

_SPARE, _SPARE_WIDE = 3, 5
"""So many words (characters) beside its facts make no further statement: "moved", "finally"."""
STATES_OF_LIFE = frozenset(
    {"live in", "work at", "job", "married to", "engaged to", "located in", "report to"}
)
"""What a plan does not change before it comes true: "I'm moving to Rome in 2029"."""
UNSURE = 0.6
"""A statement believed less than this does not replace one that is believed more."""


@dataclass(frozen=True, slots=True)
class SamenessLimits:
    """How near is near; the cosines depend on the embedding space."""

    duplicate: float
    strong: float
    related: float
    jaccard: float
    jaccard_alone: float
    paraphrases: bool = False
    """Whether other words for the same count as a repetition, as in *layers*."""


class NewStatement:
    """What is compared: words, facts, and when it was said. Each is worked out when it is first asked for."""

    def __init__(self, memory: Memory, content: str = "") -> None:
        self.memory = memory
        self.content = content or memory.content
        """Its words, or what stands for them where they are sealed."""
        self.speaker = memory.speaker
        self.details = memory.details

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What it states."""
        return facts.stated(self.content, self.details, self.speaker)

    @cached_property
    def corrects(self) -> bool:
        """Whether it says that something else was said or was so before."""
        return bool(self.details.get("corrects")) or is_correction(self.content)

    def holds_now(self, fact: Fact) -> bool:
        """Whether it asserts the fact of now: not of a plan, a supposition, or somebody else's words."""
        if fact.valid_from is not None and fact.valid_from > self.said_at:
            return False
        told = given(self.details.get("facts"), self.speaker or USER)
        stances = ASSERTED - {Stance.PLAN} if fact.predicate in STATES_OF_LIFE else ASSERTED
        return fact in told or fact in facts.facts(self._meant(stances), self.teller or None)

    def _meant(self, stances: frozenset[Stance]) -> str:
        """Its sentences that are meant in one of these ways."""
        return " ".join(one.text for one in judged(self.content) if one.believed and one.stance in stances)

    @property
    def teller(self) -> str:
        """Who says it, when that is known by name."""
        return self.memory.told_by

    @cached_property
    def said_at(self) -> datetime:
        """When it was said: a move told of today counts from today, whenever it happened."""
        return written_moment(self.details.get("said_at")) or self.memory.happened_at

    def says_more_than(self, over: Sequence[Fact], new: NewStatement) -> bool:
        """Whether more is left of it, when these facts are over, than the new statement says as well."""
        gone = {_triple(fact) for fact in (*over, *new.facts)}
        if any(_triple(fact) not in gone and fact.valid_to is None for fact in self.facts):
            return True
        named = {word for fact in over for part in _triple(fact) for word in part.split()}
        if self.marks.names - named - new.marks.words:
            return True  # somebody or something else is spoken of
        told = {term for fact in over for part in _triple(fact) for term in meaning(part)}
        stop = lexicon.words("stop_words")
        left = {term for term in self.line if term not in told and term not in stop and term not in new.line}
        return len(left) > (_SPARE_WIDE if is_wide(self.content) else _SPARE)

    @cached_property
    def ended(self) -> tuple[Fact, ...]:
        """What it says is true no longer."""
        told = given(self.details.get("ended"), self.teller or USER)
        return (*told, *facts.ended(self.content, speaker=self.teller or None))

    @cached_property
    def line(self) -> tuple[str, ...]:
        """The words of meaning in order."""
        return meaning(self.content)

    @cached_property
    def opposable(self) -> bool:
        """Whether one of its words has an opposite."""
        return has_opposite(self.line)

    @cached_property
    def negated(self) -> bool:
        """Whether it denies something."""
        return is_negated(words.compatible(self.content))

    @cached_property
    def marks(self) -> Marks:
        """Numbers, negation, names, times."""
        return marks(self.content)


class Neighbour(NamedTuple):
    """A memory that may say the same, and how near its vector lies; None when vectors cannot be compared."""

    memory: Memory
    statement: NewStatement
    cosine: float | None


@dataclass(frozen=True, slots=True)
class New:
    """Nothing known says this."""

    because: str = "nothing known says this"


@dataclass(frozen=True, slots=True)
class Reinforce:
    """It is known already."""

    memory: Memory
    because: str


@dataclass(frozen=True, slots=True)
class Merge:
    """It says what is known, and more: the known memory takes the new words."""

    memory: Memory
    because: str


@dataclass(frozen=True, slots=True)
class Supersede:
    """It replaces what was known: a fact, and the memory that stated it when nothing else is left of that."""

    memory: Memory
    because: str
    over: tuple[Fact, ...] = ()
    """The facts of the memory that hold no longer."""
    whole: bool = True
    """Whether nothing of the memory holds any longer; else it stays with what still does."""
    also: tuple[Supersede, ...] = ()
    """Others that say what no longer holds: a fact may have been said in many words."""


@dataclass(frozen=True, slots=True)
class Challenge:
    """It cannot be true beside what was known, and nothing says which of the two holds."""

    memory: Memory
    because: str
    new_doubtful: bool = False
    """Whether the new statement is the one in doubt: what was known has been vouched for."""


Verdict = New | Reinforce | Merge | Supersede | Challenge


def decide(new: NewStatement, neighbours: Sequence[Neighbour], limits: SamenessLimits) -> Verdict:
    """The one decision about repetition. The neighbours come nearest first."""
    # What is replaced is what holds now, not what was told of an earlier time.
    latest: Sequence[Neighbour] = ()
    if new.facts or new.ended or new.corrects:
        happened = [one.memory.event_time or one.memory.created_at for one in neighbours]
        order = sorted(range(len(neighbours)), key=happened.__getitem__, reverse=True)
        latest = [neighbours[place] for place in order]
    # "I live in Rome" of two people are two statements.
    alike = [one for one in neighbours if one.statement.teller == new.teller]
    for rule in (_repeats, _replaces, _extends, _opposes):
        for neighbour in latest if rule is _replaces else alike:
            verdict = rule(new, neighbour, limits)
            if isinstance(verdict, Supersede):
                return replace(verdict, also=_gone_as_well(new, latest, verdict.memory, limits))
            if verdict is not None:
                return verdict
    return New()


def _gone_as_well(
    new: NewStatement, neighbours: Sequence[Neighbour], first: Memory, limits: SamenessLimits
) -> tuple[Supersede, ...]:
    others = (one for one in neighbours if one.memory.id != first.id)
    verdicts = (_replaces(new, one, limits) for one in others)
    return tuple(one for one in verdicts if isinstance(one, Supersede))


def _repeats(new: NewStatement, old: Neighbour, limits: SamenessLimits) -> Verdict | None:
    least = limits.strong if limits.paraphrases else limits.duplicate
    near = old.cosine is None or old.cosine > least or new.facts
    if not near:
        return None
    # The words are looked at first: that is quick, and seldom enough.
    in_order = stands_in(new.line, old.statement.line)
    if not (in_order or limits.paraphrases) or differences(new.marks, old.statement.marks):
        return None
    because = _same_statement(new, old, limits) if in_order else _said_otherwise(new, old, limits)
    return Reinforce(old.memory, because) if because else None


def _same_statement(new: NewStatement, old: Neighbour, limits: SamenessLimits) -> str:
    share = shared(new.line, old.statement.line)
    if old.cosine is None:
        return f"same words ({share:.2f} shared)" if share > limits.jaccard_alone else ""
    if old.cosine > limits.duplicate and share > limits.jaccard:
        return f"same statement (cosine {old.cosine:.2f}, {share:.2f} of the words shared)"
    known = old.cosine >= limits.related and _same_facts(new, old.statement)
    return f"same fact: {_told(new.facts[0])}" if known else ""


def _said_otherwise(new: NewStatement, old: Neighbour, limits: SamenessLimits) -> str:
    """Other words for the same, where these count as a repetition."""
    if old.cosine is None or old.cosine <= limits.strong:
        return ""
    told = _pairs(new.facts, old.statement.facts)
    if opposed(new.line, old.statement.line) or any(_differ(one.object, two.object) for one, two in told):
        return ""
    return f"the same in other words (cosine {old.cosine:.2f})"


def _replaces(new: NewStatement, old: Neighbour, limits: SamenessLimits) -> Verdict | None:
    """What is said to be over gives way, and a functional fact holds one object at a time.

    What is told about an earlier time replaces nothing.
    """
    if new.said_at < old.statement.said_at:
        return None
    over, because = _over(new, old.statement)
    if over:
        return _replacement(new, old, because, over)
    if new.corrects and _says_otherwise(new, old, limits):
        return _replacement(new, old, "corrects what was said in nearly the same words")
    return None


def _over(new: NewStatement, old: NewStatement) -> tuple[tuple[Fact, ...], str]:
    """The facts of an older statement that hold no longer, and why the first of them does not."""
    found: dict[Fact, str] = {}
    current = [fact for fact in old.facts if fact.valid_to is None]
    for mine, theirs in _pairs(new.ended, current):
        if not _differ(mine.object, theirs.object):
            found.setdefault(theirs, f"says that this is over: {_told(theirs)}")
    for mine, theirs in _pairs(new.facts, current):
        # Who says that something changed means the one there was, also where there might be several.
        one_at_a_time = mine.functional and (theirs.functional or new.corrects)
        if one_at_a_time and _differ(mine.object, theirs.object) and new.holds_now(mine):
            found.setdefault(
                theirs, f"{mine.subject} {mine.predicate}: was {theirs.object!r}, now {mine.object!r}"
            )
    return tuple(found), next(iter(found.values()), "")


def _replacement(new: NewStatement, old: Neighbour, because: str, over: tuple[Fact, ...] = ()) -> Verdict:
    """A guess does not replace what is better known, nor does a stranger what somebody vouched for."""
    memory = old.memory
    vouched = memory.pinned or memory.verification is Verification.USER_CONFIRMED
    if vouched and new.memory.trust < memory.trust:
        return Challenge(memory, f"{because}; but a person vouched for it", new_doubtful=True)
    if new.memory.confidence < UNSURE <= memory.confidence and not new.corrects:
        return Challenge(memory, f"{because}; but it is only a guess", new_doubtful=True)
    whole = not over or not old.statement.says_more_than(over, new)
    return Supersede(memory, because if whole else f"{because}; the rest of it stays", over, whole)


def _says_otherwise(new: NewStatement, old: Neighbour, limits: SamenessLimits) -> bool:
    """Whether it says the same of the same things but for a number, a name, a time or a word."""
    if old.cosine is None or old.cosine <= limits.strong or new.line == old.statement.line:
        return False
    return (
        new.teller == old.statement.teller
        and shared(new.line, old.statement.line) > limits.jaccard
        and not _same_facts(new, old.statement)
    )


def _opposes(new: NewStatement, old: Neighbour, limits: SamenessLimits) -> Verdict | None:
    """Nearly the same words, and the opposite: which of the two holds is not for a rule to say."""
    if old.cosine is not None and old.cosine <= limits.related:
        return None
    if new.negated != old.statement.negated and _same_but_denied(new, old.statement):
        because = "says the opposite"
    elif new.opposable and opposed(new.line, old.statement.line):
        because = "says the opposite in other words"
    else:
        return None
    if new.corrects and new.said_at >= old.statement.said_at:
        return _replacement(new, old, because)
    return Challenge(old.memory, because)


def opposing(new: NewStatement, old: Neighbour, limits: SamenessLimits) -> str:
    """Why two statements cannot both hold, in words that are not theirs; empty when they can."""
    for mine, theirs in _pairs(new.facts, old.statement.facts):
        if mine.functional and theirs.functional and _differ(mine.object, theirs.object):
            return "two values of what has one"
    verdict = _opposes(new, old, limits)
    return verdict.because if isinstance(verdict, Challenge | Supersede) else ""


def _same_but_denied(one: NewStatement, other: NewStatement) -> bool:
    mine, theirs = _undenied(one), _undenied(other)
    return bool(mine) and mine == theirs and set(differences(one.marks, other.marks)) <= {"negation"}


def _undenied(statement: NewStatement) -> Sequence[str]:
    if is_wide(statement.content):
        return [char for char in words.normalized(statement.content) if char not in "不没别未"]
    denials = lexicon.words("denials")
    return [word for word in statement.line if word not in denials]


def _extends(new: NewStatement, old: Neighbour, limits: SamenessLimits) -> Verdict | None:
    if old.cosine is None or old.cosine <= limits.strong or not stands_in(old.statement.line, new.line):
        return None
    if shared(new.line, old.statement.line) <= limits.jaccard or new.negated != old.statement.negated:
        return None
    added = " ".join(term for term in dict.fromkeys(new.line) if term not in old.statement.line)
    if not added:
        return Reinforce(old.memory, "same words but for fillers")
    return Merge(old.memory, f"says the same and adds: {added}")


def stands_in(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether all of `part` is found in `whole`, in the same order.

    >>> stands_in(["anna", "love", "bob"], ["bob", "love", "anna"])
    False
    """
    rest = iter(whole)
    return bool(part) and all(word in rest for word in part)


def shared(one: Sequence[str], other: Sequence[str]) -> float:
    """The share of the words of two lines that both have."""
    mine, theirs = set(one), set(other)
    return len(mine & theirs) / max(1, len(mine | theirs))


def _same_facts(one: NewStatement, other: NewStatement) -> bool:
    return bool(one.facts) and {(f.subject, f.predicate, f.object) for f in one.facts} == {
        (f.subject, f.predicate, f.object) for f in other.facts
    }


def _pairs(mine: Sequence[Fact], theirs: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    return ((a, b) for a in mine for b in theirs if (a.subject, a.predicate) == (b.subject, b.predicate))


def _differ(one: str, other: str) -> bool:
    """Whether two objects are really different, not one a longer name of the other."""
    mine, theirs = set(one.split()), set(other.split())
    return not (mine <= theirs or theirs <= mine or one in other or other in one)


def _triple(fact: Fact) -> tuple[str, str, str]:
    return fact.subject, fact.predicate, fact.object


def _told(fact: Fact) -> str:
    return f"{fact.subject} {fact.predicate} {fact.object}"


# ---------------------------------------------------------------- later words
# Later words: a statement that tells of a change comes in with earlier ones; which of them it is about comes
# out. Where no fact can be read of both, the two are related in time: recall shows the later one first.


NEAR, CROWDED, SHARED, CHANGED, SAME_SLOT, LONG, CHANGED_THING = 0.15, -0.89, 0.46, 2.06, 1.31, -0.55, 0.83
"""What speaks for a later word, and what against it: by logistic regression over pairs that are not kept."""
ENOUGH = 1.46
"""From so much on it is one."""
CROWD = 16
"""So many of what is nearest say how crowded it is there; where there are fewer, nothing is near."""
FAR = -1.0
"""What nothing near counts, in deviations from noise."""
MOST_SHARED = 3
SIGN_OF_CHANGE = 0.7
"""What a word that often tells of a change ("now", "new") counts beside what the model says."""


class LaterWord:
    """A statement that may tell of a change: its things, how sure that is, how crowded it is around it."""

    def __init__(self, content: str, deviations: Iterable[float], *, corrects: bool) -> None:
        """`deviations`: how far above noise each of the nearest lies."""
        nearest = sorted((*deviations, *[FAR] * CROWD), reverse=True)[:CROWD]
        self._content = content
        self._corrects = corrects
        self._terms = things(content)
        length = log1p(len(self._terms) / (1 + is_wide(content)))  # pairs of characters overlap
        self._around = CROWDED * sum(nearest) / CROWD + LONG * length

    @cached_property
    def change(self) -> float:
        """How sure it is that something is otherwise than it was."""
        if self._corrects:
            return 1.0
        sure = model_change(self._content)
        return max(sure, SIGN_OF_CHANGE * (change_told(self._content) > sure))

    def weight(self, deviations: float, earlier: str) -> float:
        """How much speaks for it being a later word on an earlier statement that lies so far above noise.

        Nothing does where the two have neither a thing nor a part of a life in common, but for a correction
        that names no thing itself: "no, the other one". Of what cannot be `ENOUGH` no more is worked out.
        """
        shared = min(MOST_SHARED, len(self._terms & things(earlier)))
        told = NEAR * deviations + self._around + SHARED * shared
        most = CHANGED + CHANGED_THING * shared
        if told + SAME_SLOT + most < ENOUGH:
            return 0.0
        slots = set(slots_told(self._content))
        same_slot = (
            bool(slots)
            and not slots.isdisjoint(slots_told(earlier))
            and not are_of_others(people(self._content), people(earlier))
        )
        told += SAME_SLOT * same_slot
        if told + most < ENOUGH:
            return 0.0
        if (
            not shared
            and not same_slot
            and (self._terms or self.change < 1 or names_its_subject(self._content))
        ):
            return 0.0
        return told + most * self.change


@read_once
def things(text: str) -> frozenset[str]:
    """The terms of a text that are about something: no number, day, or word that is said of everything.

    A time or a ratio is one where the thing goes by it: "the 7:40", which is not "at 7:40".

    >>> sorted(things("the piano exam got moved, it's the Monday after now"))
    ['exam', 'move', 'piano']
    >>> sorted(things("they cancelled the 7:40")), sorted(things("the train is at 7:40"))
    (['7:40', 'cancel'], ['train'])
    """
    common = _common()
    named = frozenset(found[1] or found[2] for found in _GOES_BY.finditer(text))
    return named | frozenset(
        term
        for term in words.terms(text)
        if term not in common and not term[0].isdigit() and not term.startswith(words.SINGLE)
    )


_GOES_BY = re.compile(r"(?:^|\b(?:[Tt]he|no more) )(\d{1,2}:\d{2}|\d:\d)\b|(\d{1,2}:\d{2})的")


@cache
def _common() -> frozenset[str]:
    common = lexicon.words("common") | lexicon.words("vague")
    return frozenset(term for word in common for term in words.terms(word))


# ---------------------------------------------------------------- surprise
# Surprise: how near the nearest known memories lie comes in; how little a new one was expected comes out.


def surprise(cosines: Sequence[float], neighbours: int) -> float | None:
    """From 0 (well known) to 1 (like nothing known); None while too little is known to be surprised.

    >>> surprise([0.9, 0.7, 0.2], 2), surprise([0.0, 0.0], 2), surprise([0.9], 2)
    (0.19999999999999996, 1.0, None)
    """
    if len(cosines) < neighbours:
        return None
    return min(1.0, max(0.0, 1.0 - sum(cosines[:neighbours]) / neighbours))


def moved(importance: float, surprise: float, gain: float) -> float:
    """The importance of a memory that surprised so much: up for the novel, down for the well known.

    >>> moved(0.5, 1.0, gain=0.3), moved(0.5, 0.0, gain=0.3), moved(0.9, 1.0, gain=0.3)
    (0.8, 0.2, 1.0)
    """
    return min(1.0, max(0.0, importance + gain * (2 * surprise - 1)))
