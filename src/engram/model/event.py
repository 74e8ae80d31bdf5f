"""The ledger: each change of a memory is an event, written in the same transaction as the change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from datetime import datetime
from enum import StrEnum
from typing import Any

from engram.lazily import dataclass
from engram.model.memory import Memory
from engram.model.scope import Access, Scope


class Verb(StrEnum):
    """What happened to a memory."""

    STORED = "stored"
    REINFORCED = "reinforced"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    UPDATED = "updated"
    ARCHIVED = "archived"
    RESTORED = "restored"
    ERASED = "erased"
    PINNED = "pinned"
    UNPINNED = "unpinned"
    CONFIRMED = "confirmed"
    STATUS_CHANGED = "status_changed"
    RELATED = "related"
    UNRELATED = "unrelated"
    FEEDBACK = "feedback"
    EMBEDDED = "embedded"


@dataclass(frozen=True, slots=True)
class Event:
    """One line of the ledger. `before` and `after` name the fields that changed."""

    id: str
    """`EVT-YYYYMMDD-NNN`, counted within the day."""
    at: datetime
    actor: str
    verb: Verb
    memory: str
    because: str = ""
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)
    related: str = ""
    """The other memory, where two are concerned."""
    run: str = ""
    """The run of upkeep that did it, if one did."""
    rule: str = ""
    """The rule that decided it, if it was not somebody's wish."""


# ---------------------------------------------------------------- audit
# Who looked, and who was not let: what the ledger of changes does not tell.


class Audited(StrEnum):
    """What somebody did, or tried to do."""

    OPENED = "opened"
    """Words that are sealed were shown."""
    READ = "read"
    """A recall of a file under a key, with how much of each tier it brought; `opened` says what was shown."""
    UNLOCKED = "unlocked"
    """A file under a key was opened for writing."""
    DENIED = "denied"
    LIMITED = "limited"
    """Somebody asked too often."""
    REFUSED = "refused"
    """A secret that lets nobody in."""
    TOKEN_USED = "token_used"  # noqa: S105 (a word, no secret)
    EXPORTED = "exported"
    CONFIGURED = "configured"
    """A setting was changed while the memory was open; `subject` is its name and value."""
    PURGED = "purged"
    TRIMMED = "trimmed"
    """Older lines were dropped; `subject` is the number of the last of them."""


@dataclass(frozen=True, slots=True)
class AuditEntry:
    """One line: who did what, when. Ids, digests and counts, never words."""

    at: datetime
    actor: str
    what: Audited
    subject: str = ""
    """The id of a memory or a token, or a digest of what was asked."""
    counts: Mapping[str, int] = field(default_factory=dict)
    number: int = 0
    """Its place; lines have no gap between them."""


# ---------------------------------------------------------------- pages
# Answers that come in pages, and counts.


@dataclass(frozen=True, slots=True)
class Page:
    """Some memories, and where the next page begins."""

    memories: tuple[Memory, ...]
    cursor: str | None = None
    """Give this to get the next page; None on the last one."""

    def __iter__(self) -> Iterator[Memory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)


@dataclass(frozen=True, slots=True)
class News:
    """Some events, oldest first, and where to go on."""

    events: tuple[Event, ...]
    place: str
    """Ask for what came after this the next time. It may be an event that the caller does not see."""


@dataclass(frozen=True, slots=True)
class Stats:
    """How much is kept, of what."""

    memories: int
    by_status: Mapping[str, int] = field(default_factory=dict)
    by_kind: Mapping[str, int] = field(default_factory=dict)
    by_category: Mapping[str, int] = field(default_factory=dict)
    by_layer: Mapping[str, int] = field(default_factory=dict)
    by_namespace: Mapping[str, int] = field(default_factory=dict)
    in_use_by_kind: Mapping[str, int] = field(default_factory=dict)
    """Of those that are active or challenged, as is the next."""
    in_use_by_layer: Mapping[str, int] = field(default_factory=dict)
    edges: int = 0
    events: int = 0
    vectors: Mapping[str, int] = field(default_factory=dict)
    """How many vectors each space holds."""
    pending: int = 0
    """Memories whose vector in the present space is still to come."""
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the doctor looked at."""

    name: str
    ok: bool
    detail: str
    advice: str = ""
    mended: int = 0
    """How much was wrong and has been put right."""


# ---------------------------------------------------------------- answer
# An answer that was given to a write with a key, kept so that the same write can be answered again.


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What was answered, sealed: only whoever sends the very same request again can read it."""

    caller: str
    key: str
    mark: str
    """A digest of the request."""
    status: int
    sealed: bytes
    at: datetime


# ---------------------------------------------------------------- bus
# The bus: what agents tell each other. A memory is published, whoever subscribed receives a copy.


Clock = Mapping[str, int]
"""A version vector: how many changes of each agent a content has seen."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A memory that an agent offers to others."""

    id: str
    memory: str
    agent: str
    """Who offers it; never delivered back there."""
    scope: Scope
    """Where the memory belongs."""
    region: Scope
    """Subscribers at this place or below may receive it."""
    published_at: datetime
    agents: tuple[str, ...] = ()
    """Only these may; empty: all of the region."""
    topics: tuple[str, ...] = ()
    importance: float = 0.5
    clock: Clock = field(default_factory=dict, hash=False)
    number: int = 0
    """Its place in the order of publishing; given by the store."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """What an agent wants to hear of."""

    id: str
    agent: str
    scope: Scope
    """Where copies are put."""
    made_at: datetime
    topics: tuple[str, ...] = ()
    """At least one of these; empty: all."""
    agents: tuple[str, ...] = ()
    """Only from these; empty: from all."""
    min_importance: float = 0.0
    rate: int = 10
    """Copies in one delivery at most; the rest waits for the next."""
    place: int = 0
    """The publication looked at last."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A copy that was delivered."""

    memory: str
    """The copy."""
    origin: str
    """The memory it is a copy of."""
    publication: str
    subscription: str
    clock: Clock = field(default_factory=dict, hash=False)
    """What the copy had seen when it was delivered."""
    version: int = 1
    """The copy's version then: a higher one says that its new owner has changed it since."""


@dataclass(frozen=True, slots=True)
class SalvagedTable:
    """What became of one table that had damaged pages."""

    name: str
    rows: int
    """How many it has now."""
    from_backup: int
    damaged_pages: int


@dataclass(frozen=True, slots=True)
class SalvageReport:
    """What was saved from a damaged file."""

    file: str
    rows: int
    damaged: tuple[SalvagedTable, ...] = ()
    lost: tuple[str, ...] = ()
    """Ids of memories that the ledger knows and nobody has any more, as far as they are listed."""
    lost_count: int = 0
    kept: str = ""
    """Where the damaged file lies now."""
    backup: str = ""
    """Which backup helped."""


@dataclass(frozen=True, slots=True)
class Backup:
    """A copy of the whole file."""

    file: str
    made_at: datetime
    size_bytes: int


@dataclass(frozen=True, slots=True)
class ArchiveReport:
    """What an archive holds."""

    rows: int
    memories: int


@dataclass(frozen=True, slots=True)
class PurgeOrder:
    """What is to go for good: a person, a place, or a conversation or turns of it at some places."""

    person: str = ""
    scope: Scope | None = None
    session: str = ""
    turns: tuple[int, ...] = ()
    access: Access | None = None
    """Who asks for a conversation to go: only what they may change does."""


@dataclass(frozen=True, slots=True)
class PurgeCertificate:
    """What was removed, when, by whom: counts and digests, no words; signed with a key of the file."""

    at: datetime
    actor: str
    kind: str
    """person, scope or session."""
    subject: str
    """SHA-256 of the name that was given: whoever knows it can tell, nobody else."""
    removed: Mapping[str, int]
    remaining: int
    """In how many places of the file the name was found afterwards: none."""
    public_key: str
    signature: str = ""
    """Ed25519 over all the rest."""
