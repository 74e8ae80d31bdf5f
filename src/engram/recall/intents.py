"""Intents: a question comes in; what it is after comes out, and how sure that is.

Pure rules. A cue says an intent, a hint only points at it; what else is known of the question counts too: the
times it speaks of and the one name it asks about. Two intents that are as likely make none of them sure.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from engram.lazily import dataclass, replace
from engram.model.memory import USUAL, Kind, Status
from engram.model.recall import Intent, Question
from engram.text import lexicon, re
from engram.text.questions import is_question
from engram.text.reading import read_once
from engram.text.sentences import sentences
from engram.text.subquestions import topic_of_change
from engram.text.words import normalized, query_terms

CUE: Final = 1.0
HINT: Final = 0.4
DOUBT: Final = 0.45
"""What stands against every intent: a hint alone is never clear."""
TIMED: Final = 0.8
"""A time in the question nearly says that it is after what was then."""
CLEAR: Final = 0.5
"""An intent at least so sure decides the plan."""
LONGEST: Final = 600
"""Characters of a question that are looked at: what it asks stands at its beginning or at its end."""
FEW_WORDS: Final = 3
LEAST_TOLD: Final = 12
"""What is shorter is one sentence."""
LONGEST_READ: Final = 2_000

# Of two cues as strong, the one that comes first here is meant: "why did it happen last week?" asks why.
_ORDER: Final = (
    Intent.CAUSAL, Intent.COMPARATIVE, Intent.TEMPORAL, Intent.PROCEDURAL,
    Intent.ENTITY, Intent.EXPLORATORY, Intent.LOOKUP,
)  # fmt: skip
_EDGE: Final = 0.01
"""By so much the order tells two intents apart."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What a question is after, with a confidence from 0 to 1; None when nothing tells."""

    intent: Intent | None
    confidence: float

    @property
    def clear(self) -> Intent | None:
        """The intent, when it is sure enough to plan by."""
        return self.intent if self.confidence >= CLEAR else None


def guess(question: str, *, timed: bool = False, named: int = 0, others: int = 0) -> Guess:
    """What `question` is after.

    `timed`: it speaks of a time. `named`: so many known entities it names; `others`: so many words beside.

    >>> guess("Why did the build fail?").intent, guess("怎么重置密码？").intent
    (<Intent.CAUSAL: 'causal'>, <Intent.PROCEDURAL: 'procedural'>)
    >>> guess("Who is Anna?", named=1).intent, guess("Who is on call?").intent
    (<Intent.ENTITY: 'entity'>, <Intent.LOOKUP: 'lookup'>)
    """
    plain = _plain(question)
    said = cues(question)
    scores = {intent: _said(said, intent) for intent in _ORDER}
    if timed:
        scores[Intent.TEMPORAL] = max(scores[Intent.TEMPORAL], TIMED)
    if named == 1:
        scores[Intent.ENTITY] = _about_one(said, others)
    if not any(scores.values()) and 0 < len(normalized(plain).split()) <= FEW_WORDS:
        scores[Intent.LOOKUP] = HINT  # a few words without a question look something up
    return _decided(scores)


@read_once
def asking(question: str) -> str:
    """The sentence of a question that asks; all of it when none does.

    People tell before they ask, and what they tell is seldom what they are after.

    >>> asking("What a day. I slept badly yesterday. Where does Anna live?"), asking("Anna's address")
    ('Where does Anna live?', "Anna's address")
    """
    is_one = question.isascii() and not _STOPS.search(question, 0, len(question) - 1)
    if is_one or len(question) <= LEAST_TOLD:
        return question
    told = sentences(question[:LONGEST_READ])
    return next((one for one in reversed(told) if is_question(one)), question)


_STOPS: Final = re.compile(r"[.!?\n]")


@read_once
def unframed(question: str) -> str:
    """A question without the words that only say that something is asked; as it is when nothing is left.

    >>> unframed("What do you know about Bob?"), unframed("Can you remind me of the name of the inn?")
    ('Bob?', 'the name of the inn?')
    >>> unframed("你还记得我对什么过敏吗"), unframed("What do you know?")
    ('我对什么过敏吗', 'What do you know?')
    """
    if len(question) > LONGEST_READ:
        return question
    rest = _frame().sub(" ", question.replace("’", "'")).strip()
    if not rest:
        return question
    left = query_terms(rest)
    return rest if left.terms and not left.weak else question


@cache
def _frame() -> re.Pattern[str]:
    return re.compile(lexicon.pattern("intents", "frame").pattern, re.IGNORECASE)


def is_fresh(question: str) -> bool:
    """Whether a question asks for what is new.

    >>> is_fresh("What have I been reading lately?"), is_fresh("我目前住在哪里"), is_fresh("Where is it?")
    (True, True, False)
    """
    return "fresh" in cues(question)


def is_overview(question: str) -> bool:
    """Whether a question asks for an overview of everything, or of whoever asks.

    >>> (
    ...     is_overview("Give me an overview"),
    ...     is_overview("What do you know about me?"),
    ...     is_overview("介绍一下我"),
    ... )
    (True, True, True)
    >>> is_overview("Give me an overview of the billing service")
    False
    """
    return "overview" in cues(question)


def is_several(question: str) -> bool:
    """Whether a question asks for several things, which may have been told at several times.

    >>> is_several("Which books have I read?"), is_several("我去过哪些城市"), is_several("Where do I live?")
    (True, True, False)
    """
    return "several" in cues(question)


def is_to_do(question: str) -> bool:
    """Whether a question asks for what is still to be done, whatever it is.

    >>> is_to_do("What do I need to do this week?"), is_to_do("我还有什么待办"), is_to_do("Any reminders?")
    (True, True, True)
    >>> is_to_do("What do I need to do to renew my passport?")
    False
    """
    return "to do" in cues(question)


def is_past(question: str) -> bool:
    """Whether a question asks for what was so before.

    >>> is_past("Where did I use to live?"), is_past("我以前住在哪里"), is_past("Where do I live?")
    (True, True, False)
    """
    return "past" in cues(question)


def _plain(question: str) -> str:
    if len(question) > LONGEST:
        question = f"{question[: LONGEST // 2]}\n{question[-LONGEST // 2 :]}"
    return question.strip().lower().replace("’", "'")


@read_once
def cues(question: str) -> frozenset[str]:
    """The parts of `data/intents.txt` of which a question says something.

    >>> sorted(cues("What happened after the first trip?"))
    ['lookup hint', 'temporal', 'temporal hint']
    """
    return frozenset(patterns().of(_plain(question)))


@cache
def patterns() -> lexicon.NamedPatterns:
    """The parts of the list by name."""
    parts = (part for part in lexicon.headings("intents") if part not in {"frame", "idle"})
    return lexicon.NamedPatterns((part, row) for part in parts for row in lexicon.parts("intents")[part])


def _said(said: frozenset[str], intent: Intent) -> float:
    if intent is Intent.ENTITY:
        return 0.0  # no word says it: that a name is known does
    if intent.value in said:
        return CUE if intent is not Intent.LOOKUP else CUE / 2
    return HINT if f"{intent.value} hint" in said else 0.0


def _about_one(said: frozenset[str], others: int) -> float:
    """Whether one name is all that is asked about."""
    if others == 0:
        return 2 * CUE
    return CUE + HINT if "about one" in said and others == 1 else 0.0


def _decided(scores: Mapping[Intent, float]) -> Guess:
    ranked = sorted(_ORDER, key=scores.__getitem__, reverse=True)  # of equals the first of the order
    best, second = scores[ranked[0]], scores[ranked[1]]
    if best <= 0:
        return Guess(None, 0.0)
    if second == best:
        second -= _EDGE
    return Guess(ranked[0], round(best / (best + second / 2 + DOUBT), 2))


@dataclass(frozen=True, slots=True)
class Row:
    """What an intent makes of the plan."""

    graph: float = 1.0
    """What edges and facts count."""
    prefer: tuple[Kind, ...] = ()
    candidates: float = 1.0
    """Factor on how many candidates are fetched."""
    hops: int = 2
    reason: str = ""


NEUTRAL: Final = Row(reason="no clear intent")


# No intent weighs words, meaning or times otherwise: where one did, it lost on the public sets.
ROWS: Final[Mapping[Intent, Row]] = {
    Intent.LOOKUP: Row(reason="one thing is asked for: nothing to add to the configured balance"),
    Intent.EXPLORATORY: Row(candidates=1.5, reason="all there is about something: look further"),
    Intent.COMPARATIVE: Row(candidates=1.5, reason="two things at once: candidates for both must fit in"),
    Intent.TEMPORAL: Row(
        reason="a time asked about is the time channel's; a time asked for stands in the words"
    ),
    Intent.PROCEDURAL: Row(prefer=(Kind.PROCEDURAL,), reason="how something is done is kept as a procedure"),
    Intent.CAUSAL: Row(hops=3, reason="a cause stands behind what is asked about: walk further"),
    Intent.ENTITY: Row(
        candidates=1.5,
        graph=1.5,
        reason="what belongs to a name is found by its edges and facts as much as by words",
    ),
}
"""The row of each intent."""


# ---------------------------------------------------------------- changes
# Questions after change: what gave way belongs to the answer, marked, and a timeline tells more.


FORMER = frozenset({Status.SUPERSEDED, Status.INVALIDATED})


def widen(question: Question) -> tuple[Question, tuple[str, ...]]:
    """The question with what held before among what may be found, and a note; else as it is.

    A caller that chose the statuses gets those.
    """
    topic = topic_of_change(question.text)
    if not topic:
        return question, ()
    note = f"asks how something changed: a timeline of “{topic}” tells it step by step"
    if question.filters.statuses != USUAL.statuses:
        return question, (note,)
    wider = replace(question.filters, statuses=question.filters.statuses | FORMER)
    return replace(question, filters=wider), (note,)
