"""What a category means for a memory that says nothing else: importance, priority, policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from engram.model.axes import Policy, Priority


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a memory of some category starts."""

    importance: float
    priority: Priority
    policy: Policy = Policy.DURABLE


STANDINGS: Mapping[str, Standing] = MappingProxyType(
    {
        "identity": Standing(0.9, Priority.P0),
        "constraint": Standing(0.9, Priority.P0),
        "instruction": Standing(0.85, Priority.P1),
        "principle": Standing(0.8, Priority.P1),
        "correction": Standing(0.8, Priority.P1),
        "commitment": Standing(0.8, Priority.P1),
        "decision": Standing(0.75, Priority.P1),
        "preference": Standing(0.7, Priority.P1),
        "procedure": Standing(0.7, Priority.P1),
        "relationship": Standing(0.65, Priority.P1),
        "person": Standing(0.65, Priority.P1),
        "skill": Standing(0.65, Priority.P2),
        "insight": Standing(0.65, Priority.P2),
        "entity": Standing(0.6, Priority.P2),
        "project": Standing(0.6, Priority.P2),
        "technical": Standing(0.6, Priority.P2),
        "fact": Standing(0.6, Priority.P2),
        "context": Standing(0.5, Priority.P2),
        "general": Standing(0.5, Priority.P2),
        "question": Standing(0.4, Priority.P3, Policy.EPHEMERAL),
        "moment": Standing(0.4, Priority.P3),
    }
)
GENERAL = STANDINGS["general"]

SOURCE_CONFIDENCE: Mapping[str, float] = MappingProxyType({"human": 0.95, "agent": 0.8})
EXTRACTED_CONFIDENCE = 0.7
"""What rules took out of a conversation, or an import brought, is believed so far."""


def standing_of(category: str) -> Standing:
    """Where a memory of this category starts; a custom category like a general one."""
    return STANDINGS.get(category, GENERAL)


def confidence_of(source: str) -> float:
    """How far a statement of this source is believed at first."""
    return SOURCE_CONFIDENCE.get(source.partition(":")[0], EXTRACTED_CONFIDENCE)
