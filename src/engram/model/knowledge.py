"""What consolidation worked out from memories taken together, as readers see it.

All of it can be worked out anew; a part goes when a memory is erased whose words it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class CoreSummary:
    """What has proved itself, summed up; made anew whenever the core changes."""

    text: str = ""
    lines: tuple[str, ...] = ()
    """The weightiest statements it is made of."""
    memories: int = 0
    """How many memories the core holds that may be told."""


@dataclass(frozen=True, slots=True)
class Card:
    """Somebody or something that is often spoken of, on one card."""

    name: str
    type: str
    text: str
    """The weightiest of it in a few sentences."""
    aliases: tuple[str, ...] = ()
    facts: tuple[tuple[str, str, str], ...] = ()
    lines: tuple[str, ...] = ()
    """The weightiest statements that name it."""
    beside: tuple[tuple[str, int], ...] = ()
    """Other names in the same memories with how often."""
    memories: int = 0
    first: datetime | None = None
    last: datetime | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    """What memories are about, counted."""

    topic: str
    memories: int
    importance: float
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class Box:
    """What was going on together."""

    key: str
    title: str
    started: datetime
    ended: datetime
    memories: tuple[str, ...]
    topics: Mapping[str, int] = field(default_factory=dict)
    trace: str = ""
    """The thread of boxes it belongs to, or empty."""


@dataclass(frozen=True, slots=True)
class Trace:
    """A thread of boxes about the same, over any time."""

    key: str
    title: str
    boxes: tuple[str, ...]
    count: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class Pattern:
    """What similar episodes have in common, and the values that stood in the gaps."""

    memory: str
    """The id of the memory that says it."""
    template: str
    slots: tuple[tuple[str, ...], ...]
    episodes: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True)
class Trait:
    """One line of a behavioural profile."""

    section: str
    """identity, rules, preferences, principles, corrections, people, skills, decisions, commitments."""
    text: str
    memory: str


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How somebody is and wants things."""

    traits: tuple[Trait, ...] = ()
    topics: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    hours: tuple[int, ...] = ()
    """Hours of the day, UTC, at which most happens."""


@dataclass(frozen=True, slots=True)
class Reflections:
    """What somebody says about themselves: all of it, or its gist when it is long."""

    text: str = ""
    memories: int = 0
    bytes: int = 0
    """How long all of it is."""
    compacted: bool = False


@dataclass(frozen=True, slots=True)
class Domain:
    """How well one domain is known; each number from 0 to 1."""

    label: str
    memories: int
    depth: float
    freshness: float
    uncertainty: float
    confidence: float


@dataclass(frozen=True, slots=True)
class KnowledgeMap:
    """How well things are known, domain by domain, the largest first."""

    domains: tuple[Domain, ...] = ()
    coverage: float = 0.0
    """The confidence of all domains together, weighted by their memories."""


@dataclass(frozen=True, slots=True)
class RuleAdvice:
    """What came of a rule's decisions, and whether it should hold back."""

    rule: str
    done: int
    taken_back: int
    used_since: int
    advice: str
    """go_on or hold_back."""


@dataclass(frozen=True, slots=True)
class CategoryAdvice:
    """How much of a category is ever recalled, and in which form it is told when there is little room."""

    category: str
    kept: int
    recalled: int
    advice: str
    """whole, summary or label."""


ADVICE: Mapping[str, str] = MappingProxyType(
    {"whole": "keep it whole", "summary": "its summary is enough", "label": "a few words are enough"}
)


@dataclass(frozen=True, slots=True)
class Guidelines:
    """What past runs and recalls teach about shortening and letting go."""

    rules: tuple[RuleAdvice, ...] = ()
    categories: tuple[CategoryAdvice, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The same in words, as a prompt tells it."""
        kept = (
            f"{one.category}: {one.recalled} of {one.kept} were ever recalled; {ADVICE[one.advice]}."
            for one in self.categories
        )
        back = (
            f"{one.rule}: {one.taken_back + one.used_since} of {one.done} decisions were taken back or rued."
            for one in self.rules
            if one.advice == "hold_back"
        )
        return (*kept, *back)


# ---------------------------------------------------------------- abstraction
# The abstraction tree: many memories in few words, for prompts without room for the memories themselves.
#
# Three levels: clusters of memories that belong together, domains of clusters, and one paragraph for all.
# Upkeep makes it; packing shows the finest level that fits.


@dataclass(frozen=True, slots=True)
class Gist:
    """What several memories come to."""

    text: str
    memories: tuple[str, ...] = ()
    """The ids of those it stands for."""


@dataclass(frozen=True, slots=True)
class Abstraction:
    """Everything that is kept, at three distances."""

    clusters: tuple[Gist, ...] = ()
    domains: tuple[Gist, ...] = ()
    paragraph: str = ""

    @property
    def levels(self) -> tuple[tuple[str, tuple[Gist, ...]], ...]:
        """The levels by name, the finest first; an empty one is left out."""
        whole = (Gist(self.paragraph),) if self.paragraph else ()
        named = (("clusters", self.clusters), ("domains", self.domains), ("paragraph", whole))
        return tuple((name, gists) for name, gists in named if gists)
