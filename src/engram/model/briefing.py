"""What a session starts with: a resume or a recall pack, section by section."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class BriefSection:
    """One part of such a document."""

    name: str
    text: str
    """Its heading and its lines."""
    ids: tuple[str, ...]
    """The memories that are told in it, in order."""
    size: int
    """Characters of a resume's section, words of a pack's."""
    limit: int
    """What it might have taken."""
    left_out: int = 0
    """Memories that belong here and found no room."""
    how: str = "whole"
    """whole; cut: shorter forms of each; model: a summary by a model; cached: such a summary, made before."""


@dataclass(frozen=True, slots=True)
class Resume:
    """Where a session goes on that starts cold."""

    text: str
    sections: tuple[BriefSection, ...]
    budget: int
    """Characters it might have."""
    form: str
    at: datetime

    @property
    def characters(self) -> int:
        """Characters it has."""
        return len(self.text)

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories in it, in order."""
        return tuple(dict.fromkeys(one for section in self.sections for one in section.ids))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class RecallPack:
    """A document for the start of a session: the same memories and day always give the same bytes."""

    text: str
    sections: tuple[BriefSection, ...]
    words: int
    limit: int
    day: str
    """The day it was made for, YYYY-MM-DD."""
    triggered: tuple[str, ...] = ()
    """The ids of the triggers that loaded pages."""

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories in it, in order."""
        return tuple(dict.fromkeys(one for section in self.sections for one in section.ids))

    def __str__(self) -> str:
        return self.text
