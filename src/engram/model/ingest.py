"""What comes in from elsewhere: items a source is read into, and what became of each."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from engram.model.turn import Part

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
    user: str = ""
    """Whose it is, when a source holds what several people said."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Fields of a draft that the source knows itself: category, importance, scope …"""

    @property
    def digest(self) -> str:
        """A mark of everything that would show in a memory: the same mark, the same memory."""
        shown = [
            self.text, self.at.isoformat() if self.at else "", self.speaker, self.title, self.source,
            list(self.tags), self.details, self.given, *([self.user] if self.user else []),
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
        return IngestReport((*self.items, *other.items), self.dry or other.dry, ", ".join(formats))
