"""Which memories a question may find at all. Applied inside every channel, before ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime

from engram.model.axes import Kind, Layer, Mode, Priority, Status, Tier, Type, Verification


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions that all hold; an empty one is not asked."""

    kinds: frozenset[Kind] = frozenset()
    categories: frozenset[str] = frozenset()
    types: frozenset[Type] = frozenset()
    layers: frozenset[Layer] = frozenset()
    statuses: frozenset[Status] = frozenset({Status.ACTIVE, Status.CHALLENGED})
    """Which statuses are found; challenged ones are shown with a mark."""
    as_of: datetime | None = None
    """What was believed then: stored by that time, and in one of the statuses at that time."""
    holds_at: datetime | None = None
    """In force then: neither expired nor over by that time."""
    ids: frozenset[str] = frozenset()
    verifications: frozenset[Verification] = frozenset()
    tiers: frozenset[Tier] = frozenset()
    priorities: frozenset[Priority] = frozenset()
    tags_any: frozenset[str] = frozenset()
    tags_all: frozenset[str] = frozenset()
    not_tags: frozenset[str] = frozenset()
    """None of these."""
    entities: frozenset[str] = frozenset()
    """At least one of these names is mentioned (compared without case)."""
    speakers: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    session: str = ""
    origin_prefix: str = ""
    """Imported from an origin that begins so."""
    people: frozenset[str] = frozenset()
    """At least one of these is spoken of, by the whole name or a word of it; the next ones likewise."""
    technologies: frozenset[str] = frozenset()
    paths: frozenset[str] = frozenset()
    """One that begins so, or has a folder or file that does."""
    urls: frozenset[str] = frozenset()
    """One that begins so, or is of that host or one below it."""
    topics: frozenset[str] = frozenset()
    languages: frozenset[str] = frozenset()
    """ISO 639-1 codes."""
    code_languages: frozenset[str] = frozenset()
    sentiments: frozenset[str] = frozenset()
    """positive, negative, mixed, neutral."""
    about_since: datetime | None = None
    """Speaks of a day that is not before this one."""
    about_until: datetime | None = None
    details: Mapping[str, str | float | bool | None] = field(default_factory=dict, hash=False)
    """Each of these stands in the details; a text also fits the whole number or truth value it spells."""
    created_since: datetime | None = None
    created_until: datetime | None = None
    happened_since: datetime | None = None
    happened_until: datetime | None = None
    accessed_since: datetime | None = None
    accessed_until: datetime | None = None
    modified_since: datetime | None = None
    modified_until: datetime | None = None
    min_importance: float = 0.0
    max_importance: float = 1.0
    min_confidence: float = 0.0
    min_trust: float = 0.0
    min_arousal: float = 0.0
    pinned: bool | None = None

    @property
    def present_statuses(self) -> frozenset[Status]:
        """What the present status can be sorted by beforehand; empty when it tells nothing."""
        return self.statuses if self.as_of is None else frozenset()

    @property
    def only_status(self) -> bool:
        """Whether nothing but the status is asked: the common case, which an index answers by itself."""
        plain = Filters(statuses=self.statuses)
        return all(getattr(self, f.name) == getattr(plain, f.name) for f in fields(self))


def in_force(filters: Filters, now: datetime) -> Filters:
    """The filters, without what is over by now; who asks for other statuses asks for the past, too."""
    in_use = bool(filters.statuses) and filters.statuses <= Filters().statuses
    if not in_use or filters.as_of is not None or filters.holds_at is not None:
        return filters
    return replace(filters, holds_at=now)


ANY_STATUS = Filters(statuses=frozenset(Status))
"""Finds memories in every status."""


def types_for(mode: Mode) -> frozenset[Type]:
    """The type filter of a recall mode; empty when every type may come."""
    return frozenset() if mode is Mode.FULL_CONTEXT else mode.types
