"""Snapshots over tables."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from engram.model.scope import Access, Scope
from engram.model.session import Snapshot
from engram.testing.memory_store.tables import Tables

Commit = Callable[[Callable[[Tables], None]], None]


class MemorySnapshots:
    """`Snapshots` over tables."""

    def __init__(self, tables: Callable[[], Tables], commit: Commit) -> None:
        self._tables = tables
        self._commit = commit
        self._key = secrets.token_bytes(32)

    def key(self) -> bytes:
        """A key for as long as the store lives."""
        return self._key

    def put(self, snapshot: Snapshot) -> None:
        """Keep a snapshot, in place of the one of its session."""

        def put(tables: Tables) -> None:
            tables.snapshots.pop((snapshot.scope, snapshot.session), None)
            tables.snapshots[snapshot.scope, snapshot.session] = snapshot

        self._commit(put)

    def get(self, session: str, scope: Scope) -> Snapshot | None:
        """The snapshot of a session of this very place."""
        return self._tables().snapshots.get((scope, session))

    def known(self, access: Access) -> list[Snapshot]:
        """Those of the places where the caller may write, the latest first, without their bodies."""
        kept = [one for one in self._tables().snapshots.values() if access.may_write(one.scope)]
        return [replace(one, body=b"") for one in sorted(kept, key=lambda one: one.saved_at, reverse=True)]

    def remove(self, session: str, scope: Scope) -> bool:
        """Drop a snapshot; whether there was one."""
        return self._drop(lambda one: (one.session, one.scope) == (session, scope)) > 0

    def expire(self, before: datetime) -> int:
        """Drop all that were saved before a time; how many."""
        return self._drop(lambda one: one.saved_at < before)

    def _drop(self, unwanted: Callable[[Snapshot], bool]) -> int:
        gone = [place for place, one in self._tables().snapshots.items() if unwanted(one)]

        def drop(tables: Tables) -> None:
            for place in gone:
                del tables.snapshots[place]

        self._commit(drop)
        return len(gone)
