"""A context: what stands in a prompt, what each section may and did cost, and which memories are in it."""

from __future__ import annotations

from dataclasses import dataclass, field

from engram.model.language_model import LanguageModel
from engram.model.session import Slot
from engram.model.turn import Part

SECTIONS = (
    "working",
    "identity",
    "recalled",
    "history",
    "schemas",
    "skills",
    "today",
    "roster",
    "guidelines",
)
"""The parts of a prompt beside the system prompt and the message. The last is trimmed first."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a prompt, or of the conversation before it."""

    role: Part
    content: str


@dataclass(frozen=True, slots=True)
class Sections:
    """What a caller brings along for a prompt, text by text, the most important first."""

    working: tuple[Slot, ...] = ()
    """What is on the mind; when there is too little room, what is on it most strongly stays."""
    identity: tuple[str, ...] = ()
    schemas: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    today: tuple[str, ...] = ()
    roster: tuple[str, ...] = ()
    guidelines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Knowing:
    """How well a topic is known, as far as somebody keeps a map of that."""

    topic: str
    unknown: bool = False
    gaps: tuple[str, ...] = ()
    """What is not known of it."""


@dataclass(frozen=True, slots=True)
class Section:
    """One line of the table: what a section may cost, what it would need and what it did cost."""

    name: str
    allotted: int
    """Tokens it was given: its share, and what others left."""
    wanted: int
    """Tokens that all of it would take."""
    used: int
    shown: int = 0
    """How many of its parts are in the prompt."""
    of: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Shown:
    """A memory in a prompt."""

    id: str
    form: str
    """How much of it: content, summary, key_fact, label."""
    tokens: int
    relevance: float = 0.0


@dataclass(frozen=True, slots=True)
class Context:
    """A prompt within its budget."""

    system_prompt: str
    conversation: tuple[Message, ...]
    """What was said before, shortened, and the message itself; without the system prompt."""
    model: LanguageModel
    budget: int
    """Tokens that the prompt may have."""
    tokens: int
    """Tokens that it has, by the model's own way of counting."""
    memories: tuple[Shown, ...] = ()
    recalled: str = ""
    """The part of the system prompt that holds what is remembered; empty: nothing."""
    sections: tuple[Section, ...] = ()
    exact: bool = False
    """Whether tokens were counted, not estimated."""
    reserve: int = 0
    """Tokens left free for the reply."""
    notes: tuple[str, ...] = field(default=())
    """What was left out and why."""

    @property
    def messages(self) -> list[dict[str, str]]:
        """All of it in the shape that chat services take, the system prompt first."""
        start = [{"role": "system", "content": self.system_prompt}] if self.system_prompt else []
        return start + [{"role": str(one.role), "content": one.content} for one in self.conversation]

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories in the prompt."""
        return tuple(one.id for one in self.memories)
