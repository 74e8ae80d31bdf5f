"""A question, and what came back for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import field, fields, replace
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from engram.errors import OutOfRange, UnknownValue, WrongType
from engram.lazily import dataclass
from engram.model.memory import Filters, Kind, Memory, Mode
from engram.model.plain import Says, member
from engram.model.scope import Access, Role, Scope


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
class PlanOverrides:
    """What a caller wants otherwise than the plan would have it; None and empty: as planned."""

    intent: Intent | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    """Weights of channels, as the plan shows them."""
    hops: int | None = None
    prefer: frozenset[Kind] | None = None
    freshness: float | None = None


class RecallOptions(TypedDict, total=False):
    """What may be said beside a question. A line here and a field of `Question` are all a new one needs.

    The engine, REST, MCP, the command line and the clients take it from here; one that is not looked at on
    the way (see `recalling.question`) reaches the `Question` under its own name, a number within its range.
    """

    limit: Annotated[int | None, Says("At most so many hits.", 1, 500, flags="-n --limit", for_agents=True)]
    budget: Annotated[
        int | None, Says("At most so many tokens; longer memories come in a shorter form.", 0, 10_000_000)
    ]
    scope: Annotated[Scope | None, Says("The part of the memory to look at.")]
    filters: Annotated[Filters | None, Says("Conditions that all hold.")]
    mode: Annotated[Mode | str, Says("Which types of memory may come.", default=Mode.FULL_CONTEXT)]
    rerank: Annotated[str | None, Says("How the hits are put in order again.")]
    profile: Annotated[str | None, Says("How relevance and standing are weighed.")]
    min_relevance: Annotated[float | None, Says("Leave out what fits worse.", 0, 1)]
    session: Annotated[str, Says("The session this use counts for.", default="", flags="--as-session")]
    dry: Annotated[bool, Says("Leave no trace: nothing counts as used.", default=False)]
    explain: Annotated[
        bool, Says("Show why each hit stands where it stands, and what was left out.", default=False)
    ]
    include_archived: Annotated[
        bool, Says("Look among archived memories too.", default=False, flags="--archived", for_agents=True)
    ]
    as_of: Annotated[
        datetime | str | None, Says("What was believed then, in the words of that time.", for_agents=True)
    ]
    plan: Annotated[
        PlanOverrides | Mapping[str, Any] | None, Says("What to do otherwise than planned.", flags="-")
    ]
    known: Annotated[
        Sequence[str],
        Says("Ids of memories that are known already: they do not come again.", for_agents=True),
    ]
    per_session: Annotated[
        int | None, Says("At most so many hits of one conversation; others come in their place.", 1, 500)
    ]
    expand: Annotated[
        bool | None,
        Says("Let a model word the question in other ways too; by default only when little is found."),
    ]


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
    wish: PlanOverrides = PlanOverrides()
    known: Sequence[str] = ()
    """Memories that the caller has already: they are left out."""
    per_session: int | None = None
    """At most so many of one conversation; None: as many as fit."""

    @property
    def leaves_traces(self) -> bool:
        """Whether the recall is counted, and what it brings counts as used."""
        return not self.dry and self.filters.as_of is None


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


class _ToldLater:
    """A place for what words a hit's trust and evidence when somebody asks for them; most callers do not."""

    __slots__ = ("tell",)


@dataclass(frozen=True, slots=True)
class Hit(_ToldLater):
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

    @classmethod
    def told_later(cls, tell: Callable[[str], Any], **known: Any) -> Hit:
        """A hit with all but its trust and evidence, which `tell` tells by name when first asked for."""
        hit = object.__new__(cls)
        object.__setattr__(hit, "tell", tell)
        for name, value in known.items():
            object.__setattr__(hit, name, value)
        return hit

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """What was not told yet: only a field that has no value comes here."""
            if name not in {"trust", "evidence"}:
                raise AttributeError(name)
            value = self.tell(name)
            object.__setattr__(self, name, value)
            return value

    @property
    def unexplained(self) -> Hit:
        """The same without its evidence, which is not worded for that."""
        names = ("memory", "score", "relevance", "trust", "text", "form", "tokens")
        return Hit(**{name: getattr(self, name) for name in names})

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


USED_ABOVE = 0.5  # only hits at least so relevant count as used


@dataclass(frozen=True, slots=True)
class Traces:
    """What a recall leaves behind: how it went, what it used, and what it showed."""

    at: datetime | None
    intent: str
    quality: Quality
    used: tuple[str, ...]
    namespace: str
    """Of all hits; empty when they come from several."""
    texts: tuple[str, ...]

    @classmethod
    def of(cls, answer: Recall) -> Traces:
        """Those of an answer."""
        hits = answer.hits
        namespaces = {hit.memory.scope.namespace for hit in hits}
        return cls(
            answer.at,
            str(answer.plan.intent or ""),
            answer.quality,
            tuple(hit.memory.id for hit in hits if hit.relevance > USED_ABOVE),
            namespaces.pop() if len(namespaces) == 1 else "",
            tuple({text for hit in hits for text in (hit.text, hit.memory.content)}),
        )


BUCKETS = ((0.85, "high"), (0.60, "medium"), (0.40, "low"))
"""How relevance is told to agents: the least that each word stands for; below all of them it is minimal."""


def public_score(hit: Hit, access: Access) -> float | str:
    """What a caller is told about how well a hit fits: the owner the score, everybody else a word.

    An exact figure lets whoever asks often enough feel out what a memory says.
    """
    if access.role is Role.OWNER:
        return hit.score
    return next((word for least, word in BUCKETS if hit.relevance > least), "minimal")


UNDER_FLOOR = "relevance "
"""How the reason begins that tells a figure."""
ROUGH = {"high": 0.9, "medium": 0.7, "low": 0.5, "minimal": 0.2}
"""What stands for each word where a number must."""


def without_figures(found: Recall, access: Access, chance: Sequence[float] = ()) -> Recall:
    """An answer as anybody but an owner may see it: no exact score, no share of words or cosine.

    `chance` is added to the relevance of each hit before it becomes a word.
    """
    if access.role is Role.OWNER:
        return found
    if chance:
        noisy = zip(found.hits, chance, strict=True)
        hits = tuple(replace(hit, relevance=min(1.0, max(0.0, hit.relevance + more))) for hit, more in noisy)
        found = replace(found, hits=hits)
    hits = tuple(_rough(hit, ROUGH[str(public_score(hit, access))]) for hit in found.hits)
    fits = [hit.relevance for hit in hits]
    mean = sum(fits) / len(fits) if fits else 0.0
    quality = replace(found.quality, top_relevance=max(fits, default=0.0), mean_relevance=mean)
    dropped = tuple(
        replace(one, why="fits too little" if one.why.startswith(UNDER_FLOOR) else one.why, relevance=0.0)
        for one in found.dropped
    )
    return replace(found, hits=hits, dropped=dropped, quality=quality)


def _rough(hit: Hit, fit: float) -> Hit:
    return replace(hit, score=fit, relevance=fit, trust=replace(hit.trust, relevance=fit), evidence=())


def roll_up(scores: Iterable[float]) -> float:
    """How well a session answers: by its three best turns, each counting half as much as the one before.

    >>> roll_up([0.2, 1.0, 0.5, 0.5])
    1.375
    """
    best = sorted(scores, reverse=True)[:3]
    return sum(score * 0.5**place for place, score in enumerate(best))


# ---------------------------------------------------------------- wishes
# What a caller wants of a plan: plain data comes in, a checked `PlanOverrides` comes out.


MOST_WEIGHT = 10.0
MOST_HOPS = 5


def wish(given: PlanOverrides | Mapping[str, Any] | None) -> PlanOverrides:
    """The wish that plain data tells. Raises UnknownValue, WrongType and OutOfRange, naming what is wrong.

    >>> wish({"intent": "temporal", "weights": {"vector": 0.5}}).weights
    {'vector': 0.5}
    """
    if given is None:
        return PlanOverrides()
    if isinstance(given, PlanOverrides):
        given = {f.name: getattr(given, f.name) for f in fields(PlanOverrides)}
    if not isinstance(given, Mapping):
        raise WrongType("plan", given, "an object")
    known = tuple(f.name for f in fields(PlanOverrides))
    for name in given:
        if name not in known:
            raise UnknownValue("part of a plan", name, known)
    told = {name: value for name, value in given.items() if value is not None}
    return PlanOverrides(
        intent=member("intent", Intent, told["intent"]) if "intent" in told else None,
        weights=_weights(told.get("weights", {})),
        hops=_hops(told["hops"]) if "hops" in told else None,
        prefer=_kinds(told["prefer"]) if "prefer" in told else None,
        freshness=_weight("freshness", told["freshness"]) if "freshness" in told else None,
    )


def _weights(given: Any) -> dict[str, float]:
    if not isinstance(given, Mapping):
        raise WrongType("weights", given, f"an object with {', '.join(CHANNELS)}")
    for name in given:
        if name not in CHANNELS:
            raise UnknownValue("channel", name, CHANNELS)
    return {name: _weight(f"weight of {name}", value) for name, value in given.items()}


def _weight(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WrongType(name, value, "a number")
    if not isfinite(value) or not 0 <= value <= MOST_WEIGHT:
        raise OutOfRange(name, value, 0, MOST_WEIGHT)
    return float(value)


def _hops(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise WrongType("hops", value, "a whole number")
    if not 0 <= value <= MOST_HOPS:
        raise OutOfRange("hops", value, 0, MOST_HOPS)
    return value


def _kinds(value: Any) -> frozenset[Kind]:
    if isinstance(value, str) or not isinstance(value, Sequence | AbstractSet):
        raise WrongType("prefer", value, "a list of kinds")
    return frozenset(member("kind", Kind, one) for one in value)


# ---------------------------------------------------------------- health
# How recalls have been going.


@dataclass(frozen=True, slots=True)
class Recalled:
    """How one recall went; no word of its question."""

    at: datetime
    intent: str
    """Empty: unclear."""
    relevance: float
    """Of the best hit."""
    ndcg: float
    hits: int
    ms: float
    weak: bool
    """Whether nothing worth showing came though there are memories."""
    gain: float | None = None
    """What a tried reranking was worth in NDCG; None when none was tried."""


@dataclass(frozen=True, slots=True)
class KindHealth:
    """How recalls of one kind have been going."""

    recalls: int = 0
    weak: int = 0
    """Recalls that found nothing worth showing though there are memories."""
    relevance: float = 0.0
    """Mean of the best hit's relevance."""
    ndcg: float = 0.0
    """Mean of the order shown against the order by relevance alone."""
    hits: float = 0.0
    """Mean number of hits."""
    rerank_gain: float | None = None
    """Mean gain in NDCG of the tried reranking; None when none was tried."""


@dataclass(frozen=True, slots=True)
class RecallHealth:
    """How the last recalls have been going; dry ones do not count."""

    overall: KindHealth = KindHealth()
    by_intent: Mapping[str, KindHealth] = field(default_factory=dict)
    """By the intent of the question; `unclear` where it had none."""
    weak_in_a_row: int = 0
    """Weak recalls since the last good one."""
    p50_ms: float = 0.0
    p95_ms: float = 0.0
    reranked: tuple[str, ...] = ()
    """Intents for which the tried reranking is switched on."""
    warnings: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether there is nothing to warn of."""
        return not self.warnings


# ---------------------------------------------------------------- reasoning
# What came of thinking a question through: a tree of smaller questions, an answer that cites memories.


@dataclass(frozen=True, slots=True)
class Branch:
    """A question, what was found for it, and the smaller questions it was taken apart into."""

    question: str
    why: str = ""
    """Why it was asked; empty for the question itself."""
    hits: tuple[Hit, ...] = ()
    branches: tuple[Branch, ...] = ()

    @property
    def is_gap(self) -> bool:
        """Whether nothing was found, here or below."""
        return not self.hits and all(branch.is_gap for branch in self.branches)

    def walk(self) -> Iterator[Branch]:
        """The branch itself and all below, from the top."""
        yield self
        for branch in self.branches:
            yield from branch.walk()


@dataclass(frozen=True, slots=True)
class Conclusion:
    """One claim of an answer, and the memories it rests on."""

    claim: str
    memories: tuple[str, ...]
    """Their ids; never empty."""


@dataclass(frozen=True, slots=True)
class Reasoning:
    """A question thought through. Without a model the tree is the answer."""

    question: str
    tree: Branch
    answer: tuple[Conclusion, ...] = ()
    gaps: tuple[str, ...] = ()
    """Questions for which nothing was found."""
    depth: int = 1
    calls: int = 0
    """Questions put to a model."""
    tokens: int = 0
    """Tokens of the memories that the answer may rest on."""
    notes: tuple[str, ...] = ()

    @property
    def memories(self) -> tuple[str, ...]:
        """The ids of all memories in the tree, each once."""
        return tuple(dict.fromkeys(hit.memory.id for branch in self.tree.walk() for hit in branch.hits))


# ---------------------------------------------------------------- timeline
# How something changed, step by step.


class StepKind(StrEnum):
    """What a step did to what was known."""

    FIRST = "first mention"
    ADDED = "addition"
    CORRECTED = "correction"
    REINFORCED = "reinforcement"
    ENDED = "end"


@dataclass(frozen=True, slots=True)
class TimelineStep:
    """One step of a timeline."""

    at: datetime
    kind: StepKind
    what: str
    """What the memory says, in short."""
    memory: Memory
    change: str = ""
    """What became different, in words."""


@dataclass(frozen=True, slots=True)
class Timeline:
    """How something changed, oldest step first."""

    about: str
    found_by: str
    """`fact`, `entity` or `words`."""
    steps: tuple[TimelineStep, ...] = ()

    def __iter__(self) -> Iterator[TimelineStep]:
        return iter(self.steps)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, place: int) -> TimelineStep:
        return self.steps[place]
