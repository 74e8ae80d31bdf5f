# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Bus`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import Sequence

from engram.aio.threads import Threads
from engram.model.bus import Publication, Subscription
from engram.model.scope import Scope
from engram.model.upkeep import Report
from engram.nouns.bus import Bus, Offers, Wishes


class AsyncBus:
    """`Bus` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Bus, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def publish(
        self, memory_id: str, *, to: str = "project", agents: Sequence[str] = (), topics: Sequence[str] = ()
    ) -> Publication:
        """Offer a memory of one's own to a squad, a project or everyone of the namespace.

        Who subscribed receives a copy at the next delivery. Offered again after a change, copies follow.
        """
        return await self._threads.run(self._inner.publish, memory_id, to=to, agents=agents, topics=topics)

    async def withdraw(self, publication_id: str) -> bool:
        """Take an offer back; copies that were delivered stay. Whether there was one."""
        return await self._threads.run(self._inner.withdraw, publication_id)

    async def subscribe(
        self,
        *,
        topics: Sequence[str] = (),
        agents: Sequence[str] = (),
        min_importance: float = 0.0,
        rate: int = 10,
        scope: Scope | None = None,
        earlier: bool = False,
    ) -> Subscription:
        """Ask for what others offer; copies are put where the caller stands.

        With `earlier` also what was offered before. `rate` is how many copies one delivery may bring; the
        rest waits for the next.
        """
        return await self._threads.run(
            self._inner.subscribe,
            topics=topics,
            agents=agents,
            min_importance=min_importance,
            rate=rate,
            scope=scope,
            earlier=earlier,
        )

    async def unsubscribe(self, subscription_id: str) -> bool:
        """End a subscription; what was delivered stays. Whether there was one."""
        return await self._threads.run(self._inner.unsubscribe, subscription_id)

    async def publications(self, *, limit: int = 100, after: int = 0) -> Offers:
        """What is offered, by number, as far as the caller may see the memories."""
        return await self._threads.run(self._inner.publications, limit=limit, after=after)

    async def subscriptions(self) -> Wishes:
        """Who wants what, as far as the caller may see the places."""
        return await self._threads.run(self._inner.subscriptions)

    async def deliver(self) -> Report:
        """Deliver now what waits; maintenance does it by itself. Only an owner may."""
        return await self._threads.run(self._inner.deliver)
