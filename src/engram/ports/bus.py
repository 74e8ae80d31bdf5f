"""The bus in the store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from engram.model.bus import Delivery, Publication, Subscription
    from engram.model.scope import Access, Scope


class Bus(Protocol):
    """Who offers what, who wants what, what was delivered."""

    def publications(self, after: int, limit: int, access: Access | None = None) -> list[Publication]:
        """In the order of publishing, beginning after a number; of scopes a caller may see, if one asks."""
        ...

    def publication(self, publication_id: str) -> Publication | None:
        """One offer by its id."""
        ...

    def subscriptions(self, access: Access | None = None) -> list[Subscription]:
        """All, oldest first; of scopes a caller may see, if one asks."""
        ...

    def newest(self) -> int:
        """The number of the last publication."""
        ...

    def delivered(self, origins: list[str], scope: Scope) -> dict[str, Delivery]:
        """Of each of these memories that was delivered to a place: its copy there."""
        ...


class BusWork(Protocol):
    """What is written, inside a unit of work."""

    def publish(self, publication: Publication) -> None:
        """Offer a memory; a former offer of the same memory is withdrawn."""
        ...

    def withdraw(self, publication_id: str) -> bool:
        """Take an offer back; copies stay. Whether there was one."""
        ...

    def subscribe(self, subscription: Subscription) -> None:
        """Keep a subscription, or what has changed of it."""
        ...

    def unsubscribe(self, subscription_id: str) -> bool:
        """Drop a subscription; whether there was one."""
        ...

    def deliver(self, delivery: Delivery) -> None:
        """Say that a copy was delivered; erasing the original erases it too."""
        ...
