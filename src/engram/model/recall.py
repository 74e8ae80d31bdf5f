"""A question, and what came back for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from engram.model.axes import Kind
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Role


class Intent(StrEnum):
    """What a question is after."""

    LOOKUP = "lookup"
    """One thing: a name, a number, a place."""
    EXPLORATORY = "exploratory"
    """All there is about something."""
    COMPARATIVE = "comparative"
    TEMPORAL = "temporal"
    """When something was, or what was at a time."""
    PROCEDURAL = "procedural"
    """How something is done."""
    CAUSAL = "causal"
    """Why something is so."""
    ENTITY = "entity"
    """Somebody or something that is known by name."""


CHANNELS = ("text", "vector", "graph", "time")
"""The channels that have a weight."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a caller wants otherwise than the plan would have it; None and empty: as planned."""

    intent: Intent | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of channels, as the plan shows them."""
    hops: int | None = None
    prefer: frozenset[Kind] | None = None
    freshness: float | None = None


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, by whom, and how much may come back."""

    text: str
    access: Access = Access()
    limit: int = 10
    budget: int | None = None
    """At most so many tokens in all."""
    filters: Filters = Filters()
    profile: str = "default"
    rerank: str = "mmr"
    trial: str = ""
    """A reranking that is tried beside that one; empty: none."""
    trial_for: frozenset[str] = frozenset()
    """The intents for which the tried one counts."""
    min_relevance: float | None = None
    """The relevance floor; None takes the configured one."""
    dry: bool = False
    """Look without leaving a trace: nothing counts as used."""
    session: str = ""
    explain: bool = False
    expand: bool | None = None
    """Whether a model may word it in other ways: always, never, or (None) when the first try is weak."""
    wish: Wish = Wish()


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason why a hit stands where it stands."""

    step: str
    """Which step added it: text, vector, neighbours, fuse, judge, rerank …"""
    name: str
    value: float
    note: str = ""


@dataclass(frozen=True, slots=True)
class Trust:
    """The four parts a person can check."""

    relevance: float
    accuracy: float
    freshness: float
    utility: float


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that answers, how well, and why."""

    memory: Memory
    score: float
    """What the list is ordered by."""
    relevance: float
    """How well it fits the question alone, 0 to 1."""
    trust: Trust
    text: str
    """The form that fits the budget: the content, or a shorter one."""
    form: str = "content"
    tokens: int = 0
    evidence: tuple[Evidence, ...] = ()

    @property
    def content(self) -> str:
        """What a person reads of it: the words as they were said, with the dates they meant."""
        return self.memory.shown


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time that a question asks about, from `first` to before `last`; None where it is open."""

    words: str
    first: datetime | None
    last: datetime | None
    hard: bool = True
    """Whether the words are exact: "in May 2023" is, "around Easter" is not."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a question is going to be answered; `explain` prints it, a caller may override it."""

    terms: tuple[str, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weight of each channel."""
    intent: Intent | None = None
    """None: no clear one."""
    confidence: float = 0.0
    """How sure the intent is, 0 to 1."""
    language: str = ""
    spans: tuple[Span, ...] = ()
    """The times it asks about."""
    entities: tuple[str, ...] = ()
    """Known names that it names, as they are shown."""
    aliases: tuple[str, ...] = ()
    """Terms of their other names, which are searched too and count less."""
    hops: int = 2
    """How far the graph is walked."""
    prefer: tuple[Kind, ...] = ()
    """Kinds that count a little more."""
    freshness: float = 0.0
    """How much more what happened lately counts: 0.5 is half as much again for something of today."""
    phrases: tuple[str, ...] = ()
    """Other wordings of the question that were searched too."""
    space: str = ""
    """The embedding space searched; empty when only words are."""
    speakers: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    """What the plan decided in words, e.g. why a channel is off."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that was taken out, and by which rule."""

    memory: str
    label: str
    why: str
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class Quality:
    """How good a recall thinks it was."""

    top_relevance: float = 0.0
    mean_relevance: float = 0.0
    ndcg: float = 0.0
    """The order shown against the order by relevance alone."""
    candidates: int = 0
    returned: int = 0
    tokens: int = 0
    ms: float = 0.0
    rerank: str = ""
    """How the hits were put in order in the end."""
    rerank_gain: float | None = None
    """What a tried reranking is worth in NDCG against the plain order; None when none was tried."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer: hits in order, with plan, quality and, on request, the X-ray."""

    question: Question
    plan: Plan
    hits: tuple[Hit, ...]
    quality: Quality = Quality()
    dropped: tuple[Dropped, ...] = ()
    timings: Mapping[str, float] = field(default_factory=dict)
    """Milliseconds a step, in order."""
    at: datetime | None = None

    @property
    def sessions(self) -> tuple[tuple[str, float], ...]:
        """The sessions the hits come from with their scores, best first."""
        scores: dict[str, list[float]] = {}
        for hit in self.hits:
            if hit.memory.session:
                scores.setdefault(hit.memory.session, []).append(hit.score)
        rolled = ((session, roll_up(found)) for session, found in scores.items())
        return tuple(sorted(rolled, key=lambda one: -one[1]))

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]


BUCKETS = ((0.85, "high"), (0.60, "medium"), (0.40, "low"))
"""How relevance is told to agents: the least that each word stands for; below all of them it is minimal."""


def public_score(hit: Hit, access: Access) -> float | str:
    """What a caller is told about how well a hit fits: the owner the score, everybody else a word.

    An exact figure lets whoever asks often enough feel out what a memory says.
    """
    if access.role is Role.OWNER:
        return hit.score
    return next((word for least, word in BUCKETS if hit.relevance > least), "minimal")


def roll_up(scores: Iterable[float]) -> float:
    """How well a session answers: by its three best turns, each counting half as much as the one before.

    >>> roll_up([0.2, 1.0, 0.5, 0.5])
    1.375
    """
    best = sorted(scores, reverse=True)[:3]
    return sum(score * 0.5**place for place, score in enumerate(best))
