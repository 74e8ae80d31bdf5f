"""What an event says about a change: two versions of a memory come in, the fields that differ come out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields, is_dataclass
from datetime import datetime
from enum import Enum
from typing import Any

from engram.model.memory import Memory

Change = tuple[Mapping[str, Any], Mapping[str, Any]]
NO_CHANGE: Change = ({}, {})


def differences(old: Memory, new: Memory) -> Change:
    """Before and after, as a ledger file could hold them."""
    names = [f.name for f in fields(Memory) if getattr(old, f.name) != getattr(new, f.name)]
    return {name: _plain(getattr(old, name)) for name in names}, {
        name: _plain(getattr(new, name)) for name in names
    }


def _plain(value: object) -> object:
    """The value in words and numbers."""
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Enum):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return list(value) if isinstance(value, tuple) else value
