"""A session as others see it: slots, topic, snapshots, and what is told of one that lives or sleeps."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

from engram.lazily import dataclass
from engram.model.scope import Scope


class Origin(StrEnum):
    """How something came to stand in working memory."""

    SPOKEN = "spoken"
    """Said a while ago and not yet let go."""
    RECALLED = "recalled"
    """Found in long-term memory for a message."""
    SCHEMA = "schema"
    """A general pattern that fits what is going on."""
    USER = "user"
    """The user asked to keep it in mind."""
    AGENT = "agent"
    """The agent found it important."""
    MORNING = "morning"
    """Brought back at the start, after a long time away."""


@dataclass(frozen=True, slots=True)
class Slot:
    """One thing that is on the mind."""

    id: str
    content: str
    origin: Origin = Origin.SPOKEN
    activation: float = 1.0
    """How strongly it is on the mind, 0 to 1: it fades, and use brings it back."""
    used_at: datetime | None = None
    tokens: int = 0
    memory: str = ""
    """The id of the memory it stands for; empty when it is none yet."""


class TopicChange(StrEnum):
    """What a message does to the topic."""

    CONTINUATION = "continuation"
    DRIFT = "drift"
    """It moves on: what was on the mind fades faster."""
    SWITCH = "switch"
    """Something else: what was on the mind is put away."""


class Speech(StrEnum):
    """What somebody does by a message."""

    QUESTION = "question"
    INSTRUCTION = "instruction"
    STATEMENT = "statement"
    CONTINUATION = "continuation"
    """Only a word that goes on from what was said: "yes", "ok, go ahead"."""


class Restored(StrEnum):
    """How much of a session came back."""

    NEW = "new"
    """There was nothing to bring back."""
    LIVE = "live"
    """It had never gone."""
    WHOLE = "whole"
    DECAYED = "decayed"
    """What was on the mind came back weaker."""
    FRESH = "fresh"
    """Too long ago: it begins anew, from long-term memory."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A session that sleeps. The body is sealed; only counts and names stand beside it in clear."""

    session: str
    agent: str
    model: str
    scope: Scope
    saved_at: datetime
    turns: int = 0
    slots: int = 0
    memories: tuple[str, ...] = ()
    """Ids of memories it has words of: erasing one takes the snapshot with it."""
    body: bytes = b""
    awake: bool = False
    """Whether an engine that shares the store has it in mind."""


def snapshot_about(session: str, scope: Scope) -> str:
    """What a snapshot is of: one of another place or session does not open as this one's."""
    return f"session {session} at {scope}"


@dataclass(frozen=True, slots=True)
class Anticipated:
    """How often the next recall was prepared rightly."""

    asked: int = 0
    hits: int = 0

    @property
    def rate(self) -> float:
        """Hits of all that were asked for; 0 before the first."""
        return self.hits / self.asked if self.asked else 0.0


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """What is told of a session."""

    id: str
    agent: str
    model: str
    scope: Scope
    state: str
    """live, running (a turn is under way) or suspended."""
    used_at: datetime
    turns: int = 0
    slots: tuple[Slot, ...] = ()
    """Empty while it sleeps: what it holds is sealed."""
    topic: TopicChange = TopicChange.CONTINUATION
    confidence: float = 0.0
    """How steady the conversation is, 0 to 1."""
    anticipated: Anticipated = Anticipated()
    restored: Restored = Restored.NEW


@dataclass(frozen=True, slots=True)
class Gap:
    """Something that is not known and would be good to know."""

    key: str
    """What tells one gap from another; the same gap is asked about once a week."""
    question: str
    about: str = ""
    """Whom or what it is about, to be asked when that comes up."""
    weight: float = 0.5
    kind: str = ""
    """What sort of gap: unknown, missing, conflict, due, stale or asked."""
    expects: str = ""
    """What is missing: relation, deadline …"""
    memories: tuple[str, ...] = ()
    """Ids of memories it comes from."""
    scope: Scope = Scope()


# ---------------------------------------------------------------- commitment
# A commitment: something promised or owed, open until somebody says that it is done or dropped.


class LoopState(StrEnum):
    """Where a commitment stands."""

    OPEN = "open"
    WAITING = "waiting"
    DONE = "done"
    DROPPED = "dropped"

    @property
    def is_open(self) -> bool:
        """Whether something is still to be done, by us or by whom we wait for."""
        return self in {LoopState.OPEN, LoopState.WAITING}


@dataclass(frozen=True, slots=True)
class Commitment:
    """An open loop as a caller sees it; it is kept as a memory of category `commitment` with the same id."""

    id: str
    text: str
    state: LoopState
    opened_at: datetime
    age_days: int
    """Whole days by the calendar since it was opened; of a closed one until it was closed."""
    due: datetime | None = None
    """The moment by which it is to be done: the end of a day, where a day was named."""
    is_overdue: bool = False
    waiting_on: str = ""
    closed_at: datetime | None = None
    because: str = ""
    """Why it was closed, if somebody said."""


# ---------------------------------------------------------------- trigger
# A trigger: words in a message that load extra knowledge pages into the recall pack.


PAGE_KINDS = ("entity", "tag", "category", "memory", "origin")
"""What a page may be: what is known of a name, under a tag, of a category, one memory, or a document."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """When one of the words is said, the pages are loaded."""

    id: str
    words: tuple[str, ...]
    pages: tuple[str, ...]
    """Each as kind and name: `entity:Anna`, `tag:billing`, `category:procedure`, `memory:7f3a91c2`,
    `origin:file:/notes/house.md`."""
    scope: Scope
    created_at: datetime
