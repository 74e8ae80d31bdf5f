"""The bus: `memory.bus` lets agents tell each other what they learned, each keeping its own memory."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

from engram.api.caller import LAST_NUMBER, Noun, whole
from engram.api.maintenance import Maintenance
from engram.errors import NotPublishable, UnknownValue
from engram.model.event import Publication, Subscription
from engram.model.maintenance import Report
from engram.model.memory import Memory, Status, Tier
from engram.model.scope import Scope
from engram.rules import screen

ID_BYTES = 4
REGIONS = ("squad", "project", "everyone")
PAGE = 1_000

Offers = list[Publication]
Wishes = list[Subscription]


class Bus(Noun):
    """What agents tell each other. Hangs on the facade; safe to use from many threads."""

    def publish(
        self, memory_id: str, *, to: str = "project", agents: Sequence[str] = (), topics: Sequence[str] = ()
    ) -> Publication:
        """Offer a memory of one's own to a squad, a project or everyone of the namespace.

        Who subscribed receives a copy at the next delivery. Offered again after a change, copies follow.
        Raises NotFound, AmbiguousId, AccessDenied.
        """
        memory = self._own(memory_id)
        found = topics or (*memory.tags, *memory.metadata.get("topics", ()))
        offer = Publication(
            id=secrets.token_hex(ID_BYTES),
            memory=memory.id,
            agent=self._agent,
            scope=memory.scope,
            region=_region(to, memory.scope),
            published_at=self._tools.clock.now(),
            agents=_names("agents", agents),
            topics=_names("topics", found),
            importance=memory.importance,
            clock={self._agent: memory.version},
        )
        self._store.write(lambda unit: unit.bus.publish(offer), self._caller.actor)
        return offer

    def withdraw(self, publication_id: str) -> bool:
        """Take an offer back; delivered copies stay. Returns whether there was one. Raises AccessDenied."""
        offer = self._store.bus.publication(publication_id)
        if offer is None or not self._caller.access.may_read(offer.scope):
            return False
        self._caller.check_write(offer.scope)
        return self._store.write(lambda unit: unit.bus.withdraw(publication_id), self._caller.actor)

    def subscribe(
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
        rest waits for the next. Raises AccessDenied, InvalidInput.
        """
        screen.share("min_importance", min_importance)
        place = scope or self._caller.access.scope
        self._caller.check_write(place)
        wish = Subscription(
            id=secrets.token_hex(ID_BYTES),
            agent=place.agent or self._agent,
            scope=place,
            made_at=self._tools.clock.now(),
            topics=_names("topics", topics),
            agents=_names("agents", agents),
            min_importance=min_importance,
            rate=whole("rate", rate, 1, 1_000),
            place=0 if earlier else self._store.bus.newest(),
        )
        self._store.write(lambda unit: unit.bus.subscribe(wish), self._caller.actor)
        return wish

    def unsubscribe(self, subscription_id: str) -> bool:
        """End a subscription; delivered copies stay. Returns whether there was one. Raises AccessDenied."""
        mine = [subscription for subscription in self.subscriptions() if subscription.id == subscription_id]
        if not mine:
            return False
        self._caller.check_write(mine[0].scope)
        return self._store.write(lambda unit: unit.bus.unsubscribe(subscription_id), self._caller.actor)

    def publications(self, *, limit: int = 100, after: int = 0) -> Offers:
        """What is offered, by number, as far as the caller may see the memories. Raises InvalidInput."""
        most = whole("limit", limit, 1, PAGE)
        return self._store.bus.publications(whole("after", after, 0, LAST_NUMBER), most, self._caller.access)

    def subscriptions(self) -> Wishes:
        """Who wants what, as far as the caller may see the places."""
        return self._store.bus.subscriptions(self._caller.access)

    def deliver(self) -> Report:
        """Deliver now what waits; maintenance does it by itself. Only an owner may.

        Raises AccessDenied, UpkeepBusy.
        """
        return Maintenance(self._caller).consolidate(stages=("publish",))

    @property
    def _agent(self) -> str:
        return self._caller.access.scope.agent or self._caller.actor

    def _own(self, memory_id: str) -> Memory:
        memory = self._caller.owned(memory_id)
        if memory.tier is not Tier.CLEAR:
            raise NotPublishable(memory.id, "it holds something secret")
        if memory.status is not Status.ACTIVE:
            raise NotPublishable(memory.id, f"it is {memory.status.value}")
        return memory


def _region(to: str, scope: Scope) -> Scope:
    """The place whose subscribers may receive it; what the memory's own place does not name is everywhere."""
    if to not in REGIONS:
        raise UnknownValue("to", to, REGIONS)
    region = Scope(namespace=scope.namespace)
    if to == "everyone":
        return region
    region = replace(region, project=scope.project)
    return replace(region, squad=scope.squad) if to == "squad" else region


def _names(field: str, given: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(screen.readable(field, one).strip().lower() for one in given))
