"""What consolidation worked out from memories taken together, as readers see it.

All of it can be worked out anew; a part goes when a memory is erased whose words it holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType

from engram.lazily import dataclass
from engram.model.facts import Fact


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


@dataclass(frozen=True, slots=True)
class Extracted:
    """One statement that a model took out of a conversation, in the speaker's words."""

    content: str
    category: str
    confidence: float
    turns: tuple[int, ...] = ()
    """The keys of the turns it came from."""
    event_time: datetime | None = None
    facts: tuple[Fact, ...] = ()
    entities: tuple[str, ...] = ()
    corrects: bool = False
    """Whether it says that something said before is no longer so, or never was."""
    believed: bool = True
    """Whether the speaker means it: not supposed, asked, quoted, joked, played, or a text to work on."""
    about: str = ""
    """Whom or what it speaks of, where its words say only "she" or "it"."""
    ended: tuple[Fact, ...] = ()
    """What it says is true no longer."""


class Comparison(StrEnum):
    """What a new statement is to an old one."""

    SAME = "same"
    ADDS = "adds"
    REPLACES = "replaces"
    CONTRADICTS = "contradicts"
    """Both cannot be true, and nothing says which one is."""
    DIFFERENT = "different"


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an auditor proposes to do with memories. It is checked before anything is done."""

    verb: str
    """promote, demote, adjust or merge; anything else is refused."""
    places: tuple[int, ...]
    """Places, from 0, in the list of what the model was given; -1 for one that was not there."""
    importance: float | None = None
    content: str = ""
    layer: int | None = None


class Chosen(StrEnum):
    """What a model says of a memory that asks to rise; NO is false."""

    NO = ""
    YES = "yes"
    PROCEDURE = "yes, it tells how something is done"


class Reconciled(StrEnum):
    """What becomes of an older memory beside a newer one about the same thing."""

    UPDATE = "update"
    """The newer one tells how it is now."""
    ABSORB = "absorb"
    """The newer one says everything that the older one says."""
    KEEP_BOTH = "keep_both"


@dataclass(frozen=True, slots=True)
class Cited:
    """One claim of an answer, and what it rests on."""

    claim: str
    places: tuple[int, ...]
    """Places, from 0, in the list of what the model was given; never empty."""


class CallOutcome(StrEnum):
    """How a call to a model ended."""

    ANSWERED = "answered"
    REPAIRED = "repaired"
    """The first answer did not fit its schema, the second did."""
    UNUSABLE = "unusable"
    REFUSED = "refused"
    FAILED = "failed"
    """No answer: unreachable, too slow, broken off."""


@dataclass(frozen=True, slots=True)
class ModelCall:
    """One call to a model, as it is accounted for."""

    at: datetime
    component: str
    model: str
    prompt_tokens: int
    answer_tokens: int
    ms: int
    cost: float
    """Estimated, in US dollars; 0 where the price is not known."""
    outcome: CallOutcome
    reason: str = ""
    """Why it brought nothing, in our words: never those of a prompt, an answer or a key."""


@dataclass(frozen=True, slots=True)
class Spent:
    """Calls of one component to one model, added up."""

    component: str
    model: str
    calls: int
    failed: int
    prompt_tokens: int
    answer_tokens: int
    ms: int
    cost: float
    day: str = ""
    """The day they were made on, where days are told apart."""
