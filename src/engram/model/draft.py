"""What a caller asks to have remembered, before the engine has looked at it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engram.model.axes import Kind, Layer, Policy, Priority, Tier, Type
from engram.model.scope import HERE, Scope


@dataclass(frozen=True, slots=True)
class Draft:
    """One statement to remember. What is None is worked out from the content."""

    content: str
    category: str | None = None
    kind: Kind | None = None
    type: Type | None = None
    tags: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)
    importance: float | None = None
    confidence: float | None = None
    priority: Priority | None = None
    policy: Policy | None = None
    tier: Tier | None = None
    layer: Layer | None = None
    pinned: bool = False
    scope: Scope = HERE
    session: str = ""
    speaker: str = ""
    source: str = "human"
    event_time: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    believed: bool = True
    """Whether it is believed; what is only said is found as it is, and nothing follows from it."""
    apart: bool = False
    """Whether it becomes a memory of its own even when the same is known."""
