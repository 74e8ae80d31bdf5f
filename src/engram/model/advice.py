"""What a model may be asked for, and what it answers: values, never prompts."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from engram.model.facts import Fact


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
