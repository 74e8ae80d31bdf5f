"""A context: what stands in a prompt, what each section may and did cost, and which memories are in it."""

from __future__ import annotations

from dataclasses import field
from datetime import datetime

from engram.lazily import dataclass
from engram.model.capture import Part
from engram.model.session import Slot

# ---------------------------------------------------------------- language model
# A language model as far as a prompt must know it: how much it reads and writes, and how it counts.


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """What a model can take and do."""

    name: str
    """As the caller gave it; empty: nobody said."""
    window: int = 32_000
    """Tokens of prompt and reply together."""
    output: int = 4_000
    """Tokens of one reply at most."""
    tools: bool = True
    vision: bool = False
    thinking: bool = False
    tokenizer: str = "o200k"
    """Which family counts its tokens; see `engram.text.tokens`."""
    caution: float = 1.0
    """How many times higher its tokens are taken, where its counting cannot be checked."""
    provider: str = ""
    family: str = ""
    """The entry of the registry that decided; empty: unknown, and the figures are the cautious ones."""


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
        return tuple(memory.id for memory in self.memories)


# ---------------------------------------------------------------- briefing
# What a session starts with: a resume or a recall pack, section by section.


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


class _OfSections:
    __slots__ = ()
    text: str
    sections: tuple[BriefSection, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories in it, in order."""
        return tuple(dict.fromkeys(one for section in self.sections for one in section.ids))

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Resume(_OfSections):
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


@dataclass(frozen=True, slots=True)
class RecallPack(_OfSections):
    """A document for the start of a session: the same memories and day always give the same bytes."""

    text: str
    sections: tuple[BriefSection, ...]
    words: int
    limit: int
    day: str
    """The day it was made for, YYYY-MM-DD."""
    triggered: tuple[str, ...] = ()
    """The ids of the triggers that loaded pages."""
