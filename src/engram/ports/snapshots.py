"""Snapshots in the store: sessions that sleep, sealed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engram.model.scope import Access, Scope
    from engram.model.session import Snapshot


class Snapshots(Protocol):
    """Sessions that sleep. The store keeps what is sealed and never opens it."""

    def key(self) -> bytes:
        """32 bytes to seal with. They are not in the file: a copy of the file alone opens no snapshot."""
        ...

    def put(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, in place of the one of its session."""
        ...

    def get(self, session: str, scope: Scope) -> Snapshot | None:
        """The snapshot of a session of this very place."""
        ...

    def known(self, access: Access) -> list[Snapshot]:
        """Those of the places where the caller may write, the latest first, without their bodies."""
        ...

    def remove(self, session: str, scope: Scope) -> bool:
        """Drop a snapshot; whether there was one."""
        ...

    def expire(self, before: datetime) -> int:
        """Drop all that were saved before a time; how many."""
        ...
