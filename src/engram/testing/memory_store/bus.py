"""The bus over tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engram.model.bus import Delivery, Publication, Subscription
from engram.model.scope import Access, Scope
from engram.testing.memory_store.tables import Tables


class MemoryBus:
    """`Bus` over tables."""

    def __init__(self, tables: Callable[[], Tables]) -> None:
        self._tables = tables

    def publications(self, after: int, limit: int, access: Access | None = None) -> list[Publication]:
        """In the order of publishing."""
        kept = sorted(self._tables().publications.values(), key=lambda one: one.number)
        found = (one for one in kept if one.number > after)
        return [one for one in found if access is None or access.may_read(one.scope)][:limit]

    def publication(self, publication_id: str) -> Publication | None:
        """One offer by its id."""
        return self._tables().publications.get(publication_id)

    def subscriptions(self, access: Access | None = None) -> list[Subscription]:
        """All, oldest first."""
        kept = sorted(self._tables().subscriptions.values(), key=lambda one: (one.made_at, one.id))
        return [one for one in kept if access is None or access.may_read(one.scope)]

    def newest(self) -> int:
        """The number of the last publication."""
        return max((one.number for one in self._tables().publications.values()), default=0)

    def delivered(self, origins: list[str], scope: Scope) -> dict[str, Delivery]:
        """The copies at a place."""
        tables = self._tables()
        return {
            one.origin: one
            for one in tables.deliveries.values()
            if one.origin in origins and tables.records[tables.keys[one.memory]].scope == scope
        }


class MemoryBusWork:
    """`BusWork` over a copy of the tables."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables

    def publish(self, publication: Publication) -> None:
        """Offer a memory."""
        self._tables.publications = {
            key: one for key, one in self._tables.publications.items() if one.memory != publication.memory
        }
        numbered = replace(publication, number=self._tables.next_number("publication"))
        self._tables.publications[publication.id] = numbered

    def withdraw(self, publication_id: str) -> bool:
        """Take an offer back."""
        return self._tables.publications.pop(publication_id, None) is not None

    def subscribe(self, subscription: Subscription) -> None:
        """Keep a subscription."""
        self._tables.number_scope(subscription.scope)
        self._tables.subscriptions[subscription.id] = subscription

    def unsubscribe(self, subscription_id: str) -> bool:
        """Drop a subscription."""
        return self._tables.subscriptions.pop(subscription_id, None) is not None

    def deliver(self, delivery: Delivery) -> None:
        """Keep a delivery."""
        self._tables.deliveries[delivery.memory] = delivery
