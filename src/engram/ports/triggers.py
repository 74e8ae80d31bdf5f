"""Triggers in the store: which words load which pages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engram.model.scope import Access
    from engram.model.trigger import Trigger


class Triggers(Protocol):
    """Words in a message that load pages into the recall pack."""

    def put(self, trigger: Trigger) -> None:
        """Keep a trigger, in place of the one with its id."""
        ...

    def known(self, access: Access) -> list[Trigger]:
        """Those of the places that the caller sees, oldest first."""
        ...

    def remove(self, trigger_id: str) -> bool:
        """Drop a trigger; whether there was one."""
        ...
