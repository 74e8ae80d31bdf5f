"""Triggers over tables."""

from __future__ import annotations

from collections.abc import Callable

from engram.model.scope import Access
from engram.model.trigger import Trigger
from engram.testing.memory_store.tables import Tables

Commit = Callable[[Callable[[Tables], None]], None]


class MemoryTriggers:
    """`Triggers` over tables."""

    def __init__(self, tables: Callable[[], Tables], commit: Commit) -> None:
        self._tables = tables
        self._commit = commit

    def put(self, trigger: Trigger) -> None:
        """Keep a trigger, in place of the one with its id."""

        def put(tables: Tables) -> None:
            tables.triggers[trigger.id] = trigger

        self._commit(put)

    def known(self, access: Access) -> list[Trigger]:
        """Those of the places that the caller sees, oldest first."""
        kept = [one for one in self._tables().triggers.values() if access.may_read(one.scope)]
        return sorted(kept, key=lambda one: (one.created_at, one.id))

    def remove(self, trigger_id: str) -> bool:
        """Drop a trigger; whether there was one."""

        def remove(tables: Tables) -> None:
            del tables.triggers[trigger_id]

        known = trigger_id in self._tables().triggers
        if known:
            self._commit(remove)
        return known
