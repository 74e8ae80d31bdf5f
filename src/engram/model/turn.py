"""A turn: what was said, word for word, before anything is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from engram.model.scope import Scope


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


@dataclass(frozen=True, slots=True)
class Waiting:
    """What waits to be captured in one scope."""

    turns: int = 0
    since: datetime | None = None
    """When the oldest of them was said."""
