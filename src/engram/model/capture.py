"""What goes in and what came of it: drafts, receipts, turns, observations, items of a source."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from engram.errors import EngramError
from engram.lazily import dataclass, hashlib
from engram.model.memory import UNSEALED, Kind, Layer, Memory, Policy, Priority, SealedWords, Tier, Type
from engram.model.scope import HERE, Scope

# ---------------------------------------------------------------- draft
# What a caller asks to have remembered, before the engine has looked at it.


@dataclass(frozen=True, slots=True)
class Draft:
    """One statement to remember. What is None is worked out from the content."""

    content: str
    category: str | None = None
    kind: Kind | None = None
    type: Type | None = None
    tags: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    importance: float | None = None
    confidence: float | None = None
    priority: Priority | None = None
    policy: Policy | None = None
    tier: Tier | None = None
    layer: Layer | None = None
    pinned: bool = False
    scope: Scope = HERE
    session: str = ""
    speaker: str = ""
    source: str = "human"
    event_time: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    believed: bool = True
    """Whether it is believed; what is only said is found as it is, and nothing follows from it."""
    apart: bool = False
    """Whether it becomes a memory of its own even when the same is known."""


# ---------------------------------------------------------------- receipt
# What came of a write.


class Ending(StrEnum):
    """How a task, a flow or a step of one ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL = "partial"


class Outcome(StrEnum):
    """What became of a statement."""

    STORED = "stored"
    REINFORCED = "reinforced"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    """It was stored and an older memory gave way to it."""
    CHALLENGED = "challenged"
    """It was stored; it and an older memory cannot both be true, and one of them is marked as in doubt."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """The memory as it is now, what happened, and why."""

    memory: Memory
    outcome: Outcome
    because: str
    other: str = ""
    """The id of the older memory that was superseded or challenged."""
    embedded: bool = True
    """False when its vector is still to come; it is found by its words meanwhile."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """One statement of a batch that could not be taken, and why."""

    index: int
    error: EngramError


# ---------------------------------------------------------------- turn
# A turn: what was said, word for word, before anything is made of it.


class Part(StrEnum):
    """Whose part in the conversation it was."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation."""

    id: str
    """The caller's message id, or one made from the words: the same message is kept once in its session."""
    session: str
    content: str
    at: datetime
    """When it was said, on the clocks of whoever said it."""
    part: Part = Part.USER
    speaker: str = ""
    """A person's name, when it is known."""
    scope: Scope = Scope()
    key: int = 0
    """Its number in the log, once it is there."""
    captured_at: datetime | None = None
    """When memories were made of it; None while it waits."""
    sealed: SealedWords = field(default=UNSEALED, repr=False)
    """Its words, where they are sealed: `content` is then what is left of them. Shown as yes or no."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits to be captured in one scope."""

    turns: int = 0
    since: datetime | None = None
    """When the oldest of them was said."""


# ---------------------------------------------------------------- observation
# What came of listening: which turns were kept, what memories were made of them, and what was left out.


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Words of a turn that became no memory, and why."""

    turn: str
    """The turn's id."""
    text: str
    why: str


@dataclass(frozen=True, slots=True)
class Observation:
    """The answer to `observe`, and to a flush."""

    logged: int = 0
    """Turns that are new in the log."""
    known: int = 0
    """Turns that were there already."""
    signal: str = "none"
    """The strongest signal among the new ones: none, low, medium, high."""
    captured: tuple[Turn, ...] = ()
    """Turns that were read now."""
    receipts: tuple[Receipt, ...] = ()
    """What was made of them."""
    left_out: tuple[LeftOut, ...] = ()
    waiting: int = 0
    """Turns that still wait in this scope."""
    because: str = ""
    """Why they were read now, or why they wait."""
    by: str = "rules"
    """Who found the statements: rules, or a model."""
    trouble: str = ""
    """Why it was not the model, where one is configured and fails."""


# ---------------------------------------------------------------- ingest
# What comes in from elsewhere: items a source is read into, and what became of each.


DIGEST_BYTES = 16


class ItemKind(StrEnum):
    """What sort of thing an item is, and so which way it goes in."""

    STATEMENT = "statement"
    """A memory as another tool kept it: remembered as it is."""
    PASSAGE = "passage"
    """A paragraph or list item of a document: through the gate, statement by statement."""
    TURN = "turn"
    """A message of a conversation: observed."""
    CODE = "code"
    """A file or a symbol of a source tree."""
    RESULT = "result"
    """What a task, a flow, a session or a search came to."""


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of a source, before anything is made of it."""

    origin: str
    """Where it stands, as a key: reading the source again gives the same one."""
    text: str
    kind: ItemKind = ItemKind.PASSAGE
    at: datetime | None = None
    """When it was said or happened, if the source knows."""
    speaker: str = ""
    part: Part = Part.USER
    session: str = ""
    title: str = ""
    tags: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    source: str = "import"
    given: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a draft that the source knows itself: category, importance, scope …"""

    @property
    def digest(self) -> str:
        """A mark of everything that would show in a memory: the same mark, the same memory."""
        shown = [
            self.text, self.at.isoformat() if self.at else "", self.speaker, self.title, self.source,
            list(self.tags), self.details, self.given,
        ]  # fmt: skip
        told = json.dumps(shown, sort_keys=True, ensure_ascii=True, default=str)
        return hashlib.blake2b(told.encode(), digest_size=DIGEST_BYTES).hexdigest()


class Fate(StrEnum):
    """What became of an item."""

    STORED = "stored"
    REINFORCED = "reinforced"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    """Stored, and an older memory gave way."""
    CHALLENGED = "challenged"
    """Stored, and it cannot be true beside an older memory."""
    UNCHANGED = "unchanged"
    """As it was the last time: nothing was done."""
    UPDATED = "updated"
    """Its memory says now what the source says now."""
    REMOVED = "removed"
    """It is no longer in its source: its memory was archived."""
    OBSERVED = "observed"
    """A message that is in the log now; what is worth keeping of it becomes memories."""
    DROPPED = "dropped"
    """Nothing in it was worth keeping."""
    REFUSED = "refused"
    """It could not be taken."""


@dataclass(frozen=True, slots=True)
class ItemReport:
    """What became of one item, and why."""

    origin: str
    outcome: Fate
    memories: tuple[str, ...] = ()
    """The ids; those of memories that a dry run would store are not known."""
    reason: str = ""
    code: str = ""
    """The stable code of the error, where it was refused."""
    text: str = ""
    """The beginning of its words, for a person to recognise it by."""


Found = Item | ItemReport
"""What a reader gives: an item, or a report of something it could not read."""


@dataclass(frozen=True, slots=True)
class IngestReport:
    """What became of everything in a source."""

    items: tuple[ItemReport, ...] = ()
    dry: bool = False
    """Whether nothing was changed: the report says what would be."""
    format: str = ""
    """How the source was read."""
    run: str = ""
    """The run to take back if it was a mistake; empty when it is none, or nothing is new."""
    related: int = 0
    """Relations that came along."""

    @property
    def counts(self) -> dict[str, int]:
        """How many items met each fate, in the order of `Fate`."""
        counted = Counter(item.outcome for item in self.items)
        return {str(fate): counted[fate] for fate in Fate if counted[fate]}

    @property
    def refused(self) -> tuple[ItemReport, ...]:
        """What could not be taken."""
        return tuple(item for item in self.items if item.outcome is Fate.REFUSED)

    def __add__(self, other: IngestReport) -> IngestReport:
        formats = dict.fromkeys(name for name in (self.format, other.format) if name)
        return IngestReport(
            (*self.items, *other.items),
            self.dry or other.dry,
            ", ".join(formats),
            self.run or other.run,
            self.related + other.related,
        )


@dataclass(frozen=True, slots=True)
class ImportedRecords:
    """What became of the records: ids that are new here, ids that were here already, and refusals."""

    taken: tuple[str, ...] = ()
    known: tuple[str, ...] = ()
    refused: tuple[Refusal, ...] = ()
    ids: tuple[str, ...] = ()
    """The id of each record in the order given; empty for one that was refused, or would be new."""
    related: int = 0
    """Relations that were drawn."""
    run: str = ""
    """The run to take back if it was a mistake; empty when nothing is new."""
