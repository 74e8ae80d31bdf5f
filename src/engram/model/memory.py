"""The memory: one record for everything the engine keeps."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from types import MappingProxyType
from typing import Any

from engram.model.axes import Kind, Layer, Lifecycle, Policy, Priority, Status, Tier, Type, Verification
from engram.model.scope import Scope

CONTENT_LIMIT = 8_192
TAG_LIMIT = 20
TAG_LENGTH_LIMIT = 32
SOURCE_LENGTH_LIMIT = 64
NAME_LENGTH_LIMIT = 128
"""Longest name of a scope's part, a session or a speaker."""

SOURCE_TRUST: Mapping[str, float] = MappingProxyType(
    {"human": 1.0, "agent": 0.7, "session": 0.7, "task": 0.7, "skill": 0.7, "proxy": 0.7}
)
"""How far a source is trusted; every other source, being some kind of ingest, at `INGEST_TRUST`."""
INGEST_TRUST = 0.5
UTC_OFFSET = "utc_offset"
"""In the metadata: how many minutes the clocks of whoever told it were ahead of UTC; left out for none."""
_DAY_MINUTES = 24 * 60


@dataclass(frozen=True, slots=True)
class Affect:
    """How it felt."""

    valence: float = 0.0
    intensity: float = 0.0
    arousal: float = 0.0


@dataclass(frozen=True, slots=True)
class Usage:
    """How a memory has been used."""

    accessed: int = 0
    repeated: int = 0
    confirmed: int = 0
    sessions: int = 0
    helpful: int = 0
    unhelpful: int = 0


@dataclass(frozen=True, slots=True)
class Forms:
    """The content in shorter words, and what each form costs in tokens."""

    summary: str = ""
    key_fact: str = ""
    label: str = ""
    content_tokens: int = 0
    summary_tokens: int = 0
    key_fact_tokens: int = 0
    label_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing remembered, with all its axes."""

    id: str
    content: str
    content_hash: str
    created_at: datetime
    modified_at: datetime
    scope: Scope = Scope()
    session: str = ""
    speaker: str = ""
    """Who said it, when it came out of a conversation."""

    kind: Kind = Kind.EPISODIC
    category: str = "general"
    type: Type = Type.NARRATIVE
    tags: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    """Names found in the content, as they are filtered on."""
    details: Mapping[str, Any] = field(default_factory=dict)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """What its words speak of: people, technologies, days, topics …; worked out from the content."""

    layer: Layer = Layer.BUFFER
    lifecycle: Lifecycle = Lifecycle.CANDIDATE
    status: Status = Status.ACTIVE
    verification: Verification = Verification.UNVERIFIED
    policy: Policy = Policy.DURABLE
    priority: Priority = Priority.P2
    pinned: bool = False

    importance: float = 0.5
    confidence: float = 0.7
    strength: float = 1.0
    surprise: float = 0.0
    heat: float = 0.0
    affect: Affect = Affect()
    usage: Usage = Usage()

    last_accessed: datetime | None = None
    event_time: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    verified_at: datetime | None = None
    expires_at: datetime | None = None

    source: str = "human"
    trust: float = 1.0
    version: int = 1
    tier: Tier = Tier.CLEAR
    forms: Forms = Forms()

    @property
    def happened_at(self) -> datetime:
        """When it happened, or when it was stored if nobody said; on the clocks of whoever told it."""
        return self.local(self.event_time or self.created_at)

    def local(self, moment: datetime) -> datetime:
        """A moment on the clocks of whoever told this."""
        minutes = self.metadata.get(UTC_OFFSET)
        if not isinstance(minutes, int) or abs(minutes) >= _DAY_MINUTES:
            return moment
        return moment.astimezone(timezone(timedelta(minutes=minutes)))

    def is_over(self, now: datetime) -> bool:
        """Whether it has come to an end: it was to go by now, or what it says held until before now."""
        return any(end is not None and end <= now for end in (self.expires_at, self.valid_to))

    @property
    def heard_at(self) -> datetime:
        """When it was said: what "yesterday" in its words counts from."""
        told = self.details.get("heard_at")
        if isinstance(told, str):
            with suppress(ValueError):
                heard = datetime.fromisoformat(told)
                return heard if heard.tzinfo else self.happened_at
        return self.happened_at

    @property
    def told_by(self) -> str:
        """Who said it, when that is known by name."""
        return self.speaker or str(self.details.get("said_by") or "")

    @property
    def after(self) -> str:
        """What it corrects without naming it: the statement that was made before it."""
        return str(self.details.get("after") or "")

    @property
    def shown(self) -> str:
        """What a person reads: the words as they were said, and in brackets what they meant and what is over.

        "I moved to Rome yesterday" said on 8 May is shown as "I moved to Rome yesterday [7 May 2023]".
        """
        text = self.content
        dates = self.details.get("dates")
        for said, meant in dates.items() if isinstance(dates, Mapping) else ():
            text = text.replace(str(said), f"{said} [{meant}]", 1)
        if teller := self.details.get("said_by"):
            text = f"{teller}: {text}"
        if self.after:
            text = f"{text} [after: {self.after}]"
        over = self.details.get("no_longer")
        told = (
            [str(one.get("fact", "")) for one in over if isinstance(one, Mapping)]
            if isinstance(over, list)
            else []
        )
        return f"{text} [no longer: {'; '.join(filter(None, told))}]" if any(told) else text


def trust_of(source: str) -> float:
    """How far a source is trusted.

    >>> trust_of("human"), trust_of("task:nightly-build"), trust_of("import")
    (1.0, 0.7, 0.5)
    """
    return SOURCE_TRUST.get(source.partition(":")[0], INGEST_TRUST)
