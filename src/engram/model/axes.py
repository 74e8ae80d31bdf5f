"""The axes of a memory. No axis implies another."""

from __future__ import annotations

from enum import IntEnum, StrEnum


class Layer(IntEnum):
    """How far a memory has proved itself."""

    BUFFER = 1
    WORKING = 2
    CORE = 3


class Kind(StrEnum):
    """Which cognitive store a memory belongs to."""

    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"
    CODEBASE = "codebase"


class Type(StrEnum):
    """What sort of statement it is; the recall mode filters on it."""

    FACT = "fact"
    PROCEDURE = "procedure"
    NARRATIVE = "narrative"


class Status(StrEnum):
    """Whether it is still true and in use."""

    ACTIVE = "active"
    CHALLENGED = "challenged"
    INVALIDATED = "invalidated"
    MERGED = "merged"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"
    SAID = "said"
    """Said, and not believed: found as it is, never counted as known."""


class Verification(StrEnum):
    """Who vouches for it."""

    UNVERIFIED = "unverified"
    USER_CONFIRMED = "user_confirmed"
    SYSTEM_INFERRED = "system_inferred"
    DISPUTED = "disputed"


class Lifecycle(StrEnum):
    """The policy's view of it, computed in maintenance."""

    CANDIDATE = "candidate"
    VALIDATED = "validated"
    ACTIVE = "active"
    STALE = "stale"


class Policy(StrEnum):
    """What forgetting may do with it."""

    EPHEMERAL = "ephemeral"
    DURABLE = "durable"
    PROTECTED = "protected"


class Priority(StrEnum):
    """How long it keeps its place in the recall pack."""

    P0 = "P0"
    P1 = "P1"
    P2 = "P2"
    P3 = "P3"


class Tier(StrEnum):
    """How secret it is."""

    CLEAR = "clear"
    SENSITIVE = "sensitive"
    CONFIDENTIAL = "confidential"


class Temperature(StrEnum):
    """How precisely its vector is kept."""

    HOT = "hot"
    WARM = "warm"
    COLD = "cold"
    FROZEN = "frozen"


class Mode(StrEnum):
    """Which types of memory a recall may bring."""

    FACTS_ONLY = "facts_only"
    FACTS_PLUS_RULES = "facts_plus_rules"
    FULL_CONTEXT = "full_context"

    @property
    def types(self) -> frozenset[Type]:
        """The types this mode lets through."""
        match self:
            case Mode.FACTS_ONLY:
                return frozenset({Type.FACT})
            case Mode.FACTS_PLUS_RULES:
                return frozenset({Type.FACT, Type.PROCEDURE})
            case Mode.FULL_CONTEXT:
                return frozenset(Type)


CATEGORIES: tuple[str, ...] = (
    "fact", "preference", "correction", "entity", "decision", "relationship", "principle",
    "commitment", "moment", "skill", "constraint", "procedure", "instruction", "identity",
    "project", "person", "technical", "context", "insight", "question", "general",
)  # fmt: skip
"""The categories with a meaning of their own; any other slug is a custom one."""
