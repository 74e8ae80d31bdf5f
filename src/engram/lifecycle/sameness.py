"""Sameness: a new statement and its neighbours come in, one of four verdicts comes out.

Similarity alone never drops anything: "likes red apples" and "likes green apples" are close in every model
and still two facts. A statement repeats another only if it adds no word of meaning, its words stand in the
same order, and numbers, negation, names and times agree. A false drop is worse than a kept duplicate.

What somebody said in a conversation (it has a speaker) is kept as it was said: only the very same words,
found by their hash before this rule is asked, count as a repetition of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache

from engram.model.facts import Fact
from engram.model.memory import Memory
from engram.text import facts, words
from engram.text.marks import Marks, differences, marks

FILLERS = frozenset(
    "a an the really very just so please oh well also too actually now currently".split()  # noqa: SIM905 - a sentence
)
"""Words that can come or go without changing what is said."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How near is near; the cosines depend on the embedding space."""

    duplicate: float
    strong: float
    related: float
    jaccard: float
    jaccard_alone: float


@dataclass(frozen=True)
class Statement:
    """What is compared: words, facts, and when it held. Each is worked out when it is first asked for."""

    content: str
    speaker: str
    happened_at: datetime

    @classmethod
    def of(cls, memory: Memory) -> Statement:
        """A memory as it is compared."""
        return cls(memory.content, memory.speaker, memory.happened_at)

    @cached_property
    def facts(self) -> tuple[Fact, ...]:
        """What it states."""
        return tuple(facts.facts(self.content, speaker=self.speaker or None))

    @cached_property
    def ended(self) -> tuple[Fact, ...]:
        """What it says is true no longer."""
        return tuple(facts.ended(self.content, speaker=self.speaker or None))

    @cached_property
    def line(self) -> tuple[str, ...]:
        """The words of meaning in order."""
        return tuple(
            term
            for word in words.normalized(self.content).split()
            if word not in FILLERS
            for term in _stem(word)
        )

    @cached_property
    def marks(self) -> Marks:
        """Numbers, negation, names, times."""
        return marks(self.content)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A memory that may say the same, and how near its vector lies; None when vectors cannot be compared."""

    memory: Memory
    statement: Statement
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
    """It replaces what was known."""

    memory: Memory
    because: str


Verdict = New | Reinforce | Merge | Supersede


def decide(new: Statement, neighbours: Sequence[Neighbour], limits: Limits) -> Verdict:
    """The one decision about repetition. The neighbours come nearest first."""
    for rule in (_repeats, _replaces, _extends):
        for neighbour in neighbours:
            verdict = rule(new, neighbour, limits)
            if verdict is not None:
                return verdict
    return New()


def _repeats(new: Statement, old: Neighbour, limits: Limits) -> Verdict | None:
    if old.cosine is not None and old.cosine <= limits.duplicate and not new.facts:
        return None
    if not _stands_in(new.line, old.statement.line) or differences(new.marks, old.statement.marks):
        return None
    share = _shared(new, old.statement)
    if old.cosine is None:
        return (
            Reinforce(old.memory, f"same words ({share:.2f} shared)")
            if share > limits.jaccard_alone
            else None
        )
    if old.cosine > limits.duplicate and share > limits.jaccard:
        return Reinforce(
            old.memory, f"same statement (cosine {old.cosine:.2f}, {share:.2f} of the words shared)"
        )
    if old.cosine >= limits.related and _same_facts(new, old.statement):
        return Reinforce(old.memory, f"same fact: {_told(new.facts[0])}")
    return None


def _replaces(new: Statement, old: Neighbour, limits: Limits) -> Verdict | None:
    """What is said to be over gives way, and a functional fact holds one object at a time.

    What is told about an earlier time replaces nothing.
    """
    del limits
    if not (new.facts or new.ended) or new.happened_at < old.statement.happened_at:
        return None
    for mine, theirs in _pairs(new.ended, old.statement.facts):
        if mine.object == theirs.object:
            return Supersede(old.memory, f"says that this is over: {_told(theirs)}")
    for mine, theirs in _pairs(new.facts, old.statement.facts):
        if mine.functional and theirs.functional and _differ(mine.object, theirs.object):
            return Supersede(
                old.memory, f"{mine.subject} {mine.predicate}: was {theirs.object!r}, now {mine.object!r}"
            )
    return None


def _extends(new: Statement, old: Neighbour, limits: Limits) -> Verdict | None:
    if old.cosine is None or old.cosine <= limits.strong or not _stands_in(old.statement.line, new.line):
        return None
    if _shared(new, old.statement) <= limits.jaccard or new.marks.negated != old.statement.marks.negated:
        return None
    added = " ".join(term for term in dict.fromkeys(new.line) if term not in old.statement.line)
    if not added:
        return Reinforce(old.memory, "same words but for fillers")
    return Merge(old.memory, f"says the same and adds: {added}")


def _stands_in(part: Sequence[str], whole: Sequence[str]) -> bool:
    """Whether all of `part` is found in `whole`, in the same order.

    >>> _stands_in(["anna", "love", "bob"], ["bob", "love", "anna"])
    False
    """
    rest = iter(whole)
    return bool(part) and all(word in rest for word in part)


def _shared(one: Statement, other: Statement) -> float:
    mine, theirs = set(one.line), set(other.line)
    return len(mine & theirs) / max(1, len(mine | theirs))


def _same_facts(one: Statement, other: Statement) -> bool:
    return bool(one.facts) and {(f.subject, f.predicate, f.object) for f in one.facts} == {
        (f.subject, f.predicate, f.object) for f in other.facts
    }


def _pairs(mine: Sequence[Fact], theirs: Sequence[Fact]) -> Iterator[tuple[Fact, Fact]]:
    return ((a, b) for a in mine for b in theirs if (a.subject, a.predicate) == (b.subject, b.predicate))


def _differ(one: str, other: str) -> bool:
    """Whether two objects are really different, not one a longer name of the other."""
    mine, theirs = set(one.split()), set(other.split())
    return not (mine <= theirs or theirs <= mine or one in other or other in one)


def _told(fact: Fact) -> str:
    return f"{fact.subject} {fact.predicate} {fact.object}"


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> tuple[str, ...]:
    return tuple(words.terms(word)) or (word,)
