"""The past of a memory: its record and the fields that have changed since come in; what it was goes out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from engram.model.axes import Kind, Layer, Lifecycle, Policy, Priority, Status, Tier, Type, Verification
from engram.model.memory import Affect, Forms, Memory, Usage
from engram.model.scope import Scope

_MOMENTS = (
    "created_at",
    "modified_at",
    "last_accessed",
    "event_time",
    "valid_from",
    "valid_to",
    "verified_at",
    "expires_at",
)

READ: Mapping[str, Callable[[Any], Any]] = {
    "kind": Kind,
    "type": Type,
    "layer": Layer,
    "lifecycle": Lifecycle,
    "status": Status,
    "verification": Verification,
    "policy": Policy,
    "priority": Priority,
    "tier": Tier,
    "tags": tuple,
    "entities": tuple,
    "scope": lambda parts: Scope(**parts),
    "affect": lambda parts: Affect(**parts),
    "usage": lambda parts: Usage(**parts),
    "forms": lambda parts: Forms(**parts),
    **dict.fromkeys(_MOMENTS, datetime.fromisoformat),
}
"""How the ledger's plain values become those of a memory; the others are plain themselves."""

WORDS = ("content", "content_hash", "forms", "tags", "entities", "details", "metadata", "speaker")
"""Fields whose former values may not have been kept: those of a secret."""


def as_it_was(memory: Memory, before: Mapping[str, Any], at: datetime) -> Memory | None:
    """The memory as it was; None when its words of that time were not kept.

    `before` holds the fields that have changed since, as the ledger tells them.

    >>> from datetime import UTC
    >>> day = datetime(2026, 3, 1, tzinfo=UTC)
    >>> now = Memory("1", "I live in Oslo", "h2", day, day, status=Status.ARCHIVED)
    >>> then = as_it_was(now, {"content": "I live in Rome", "status": "active"}, day)
    >>> then.content, then.status.value, as_it_was(now, {"content": None}, day)
    ('I live in Rome', 'active', None)
    """
    if any(before[name] is None for name in WORDS if name in before):
        return None
    then: dict[str, Any] = {
        name: value if value is None else _read(name, value) for name, value in before.items()
    }
    was = replace(memory, **then)
    used_since = was.last_accessed is not None and was.last_accessed > at
    return replace(was, last_accessed=None) if used_since else was


def _read(name: str, value: Any) -> Any:
    return READ[name](value) if name in READ else value
