"""The ledger: each change of a memory is an event, written in the same transaction as the change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


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
