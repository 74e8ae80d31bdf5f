"""A token: what lets a caller in from outside, and as whom."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engram.model.scope import Access, Role, Scope


@dataclass(frozen=True, slots=True)
class Token:
    """Who comes with it and what they may do. The secret itself is kept nowhere, only a digest of it."""

    id: str
    name: str
    """Who uses it: the actor in every event it causes."""
    role: Role
    scope: Scope
    created_at: datetime
    expires_at: datetime | None = None
    """From when it is no longer valid; None: it stays valid until it is revoked."""
    revoked_at: datetime | None = None
    last_used: datetime | None = None
    """Roughly: it is written down once a minute at most."""
    timezone: str = ""
    """Where its bearer is; empty: as the settings say."""

    @property
    def access(self) -> Access:
        """What its bearer may see and change."""
        return Access(self.scope, self.role, timezone=self.timezone)

    def is_valid(self, now: datetime) -> bool:
        """Whether it lets its bearer in at this time."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)
