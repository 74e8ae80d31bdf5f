"""An answer that was given to a write with a key, kept so that the same write can be answered again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What was answered, sealed: only whoever sends the very same request again can read it."""

    caller: str
    key: str
    mark: str
    """A digest of the request."""
    status: int
    sealed: bytes
    at: datetime
