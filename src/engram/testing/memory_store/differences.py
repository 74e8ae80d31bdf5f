"""What an event says about a change: two versions of a memory come in, the fields that differ come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from engram.model.axes import Tier
from engram.model.memory import Memory

Change = tuple[Mapping[str, Any], Mapping[str, Any]]
NO_CHANGE: Change = ({}, {})

WORDS = frozenset({"content", "content_hash", "forms", "tags", "entities", "details", "metadata", "speaker"})
"""Fields that tell what a memory says; the ledger holds them only of memories that are no secret."""
SEALED = "(sealed)"


def differences(old: Memory, new: Memory) -> Change:
    """Before and after, as a ledger file could hold them."""
    names = [f.name for f in fields(Memory) if getattr(old, f.name) != getattr(new, f.name)]
    sealed = frozenset[str]() if old.tier is new.tier is Tier.CLEAR else WORDS
    return _told(old, names, sealed), _told(new, names, sealed)


def _told(memory: Memory, names: list[str], sealed: frozenset[str]) -> dict[str, Any]:
    return {name: SEALED if name in sealed else _plain(getattr(memory, name)) for name in names}


def _plain(value: object) -> object:
    """The value in words and numbers."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value
