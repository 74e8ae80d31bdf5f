"""The bus: agents offer what they learned, others receive copies; two versions never cost one of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram import Engram, Scope
from engram.errors import AccessDenied, NotPublishable, UnknownValue
from engram.model.memory import Memory
from engram.model.scope import Access, Role
from engram.rules.maintenance import DeliveryOrder, joined, order
from engram.testing import FakeClock, HashEmbedder
from tests.tables import every

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
REX = Scope(project="apollo", squad="red", agent="rex")
ADA = Scope(project="apollo", squad="red", agent="ada")
BOB = Scope(project="apollo", squad="blue", agent="bob")
EVE = Scope(project="zeus", agent="eve")


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(START)


@pytest.fixture
def owner(clock: FakeClock) -> Iterator[Engram]:
    with Engram.open(":memory:", clock=clock, embedder=HashEmbedder()) as one:
        yield one


def agent(owner: Engram, scope: Scope) -> Engram:
    return owner.seen_by(Access(scope, Role.AGENT), scope.agent)


def held(one: Engram) -> list[Memory]:
    """What an agent has received."""
    return [memory for memory in one.list() if memory.source.startswith("bus:")]


def learned(one: Engram, words: str = "The staging deploy needs the VPN", **given: object) -> str:
    return one.remember(words, source="agent", **{"tags": ("deploy",), "importance": 0.8, **given}).memory.id


def test_who_subscribed_receives_a_copy_that_is_believed_a_little_less(owner: Engram) -> None:
    rex, ada = agent(owner, REX), agent(owner, ADA)
    ada.bus.subscribe(topics=["deploy"])
    known = learned(rex)
    rex.bus.publish(known)
    assert held(ada) == []
    owner.bus.deliver()
    (copy,) = held(ada)
    original = rex.get(known)
    assert original is not None
    assert (copy.content, copy.source, copy.scope) == (original.content, "bus:rex", ADA)
    assert copy.trust < original.trust
    assert copy.confidence < original.confidence
    owner.bus.deliver()
    assert len(held(ada)) == 1, "delivered once"


@every(
    ("to", "receivers"),
    [("squad", {"ada"}), ("project", {"ada", "bob"}), ("everyone", {"ada", "bob", "eve"})],
)
def test_an_offer_reaches_its_region_and_no_further(owner: Engram, to: str, receivers: set[str]) -> None:
    others = {scope.agent: agent(owner, scope) for scope in (ADA, BOB, EVE)}
    for one in others.values():
        one.bus.subscribe()
    rex = agent(owner, REX)
    rex.bus.publish(learned(rex), to=to)
    owner.bus.deliver()
    assert {name for name, one in others.items() if held(one)} == receivers


def test_filters_by_agent_importance_and_topic(owner: Engram) -> None:
    rex, ada, bob = agent(owner, REX), agent(owner, ADA), agent(owner, BOB)
    ada.bus.subscribe(agents=["rex"], min_importance=0.8)
    bob.bus.subscribe(topics=["cooking"])
    rex.bus.publish(learned(rex, importance=0.79))
    rex.bus.publish(learned(rex, "The cache is cleared at night", importance=0.8))
    owner.bus.deliver()
    assert [one.content for one in held(ada)] == ["The cache is cleared at night"]
    assert held(bob) == []


def test_the_rate_spreads_a_flood_over_several_deliveries(owner: Engram) -> None:
    rex, ada = agent(owner, REX), agent(owner, ADA)
    ada.bus.subscribe(rate=2)
    for number in range(5):
        rex.bus.publish(learned(rex, f"Server number {number} is called node-{number}"))
    counts = []
    for _ in range(4):
        owner.bus.deliver()
        counts.append(len(held(ada)))
    assert counts == [2, 4, 5, 5]


def test_a_copy_follows_the_original_and_keeps_its_former_words(owner: Engram, clock: FakeClock) -> None:
    rex, ada = agent(owner, REX), agent(owner, ADA)
    ada.bus.subscribe()
    known = learned(rex)
    rex.bus.publish(known)
    owner.bus.deliver()
    clock.advance(hours=1)
    rex.update(known, content="The staging deploy no longer needs the VPN")
    rex.bus.publish(known)
    owner.bus.deliver()
    (copy,) = held(ada)
    assert copy.content == "The staging deploy no longer needs the VPN"
    assert any(
        event.before.get("content") == "The staging deploy needs the VPN" for event in ada.events(copy.id)
    )


def test_when_both_changed_it_both_stay_and_the_pair_is_a_conflict(owner: Engram, clock: FakeClock) -> None:
    rex, ada = agent(owner, REX), agent(owner, ADA)
    ada.bus.subscribe()
    known = learned(rex)
    rex.bus.publish(known)
    owner.bus.deliver()
    clock.advance(hours=1)
    ada.update(held(ada)[0].id, content="The staging deploy needs the VPN and a key")
    rex.update(known, content="The staging deploy needs two keys")
    rex.bus.publish(known)
    clock.advance(hours=1)
    owner.bus.deliver()
    told = {one.content: one.status.value for one in held(ada)}
    assert told.keys() == {"The staging deploy needs the VPN and a key", "The staging deploy needs two keys"}
    assert sorted(told.values()) == ["active", "challenged"]
    assert len(ada.conflicts.list()) == 1
    owner.bus.deliver()
    assert len(held(ada)) == 2


def test_erasing_the_original_erases_every_copy(owner: Engram) -> None:
    rex, ada = agent(owner, REX), agent(owner, ADA)
    ada.bus.subscribe()
    known = learned(rex)
    rex.bus.publish(known)
    owner.bus.deliver()
    rex.erase(known)
    assert held(ada) == []


def test_what_cannot_be_offered_is_refused_with_a_reason(owner: Engram) -> None:
    rex, ada = agent(owner, REX), agent(owner, ADA)
    gone, fine = learned(rex), learned(rex, "The cache is cleared at night")
    rex.forget(gone)
    with pytest.raises(NotPublishable):
        rex.bus.publish(gone)
    with pytest.raises(NotPublishable):
        rex.bus.publish(learned(rex, "The password of the router is hunter2 secret", tier="confidential"))
    with pytest.raises(UnknownValue):
        rex.bus.publish(fine, to="moon")
    with pytest.raises(AccessDenied):
        ada.bus.subscribe(scope=REX)
    with pytest.raises(AccessDenied):
        ada.bus.deliver()


def test_offers_and_wishes_are_listed_and_ended_by_their_owner(owner: Engram) -> None:
    rex, ada = agent(owner, REX), agent(owner, ADA)
    wish, offer = ada.bus.subscribe(), rex.bus.publish(learned(rex))
    assert [one.id for one in owner.bus.subscriptions()] == [wish.id]
    assert [one.id for one in owner.bus.publications()] == [offer.id]
    assert (rex.bus.unsubscribe(wish.id), rex.bus.withdraw("nonsense")) == (False, False)
    assert (ada.bus.unsubscribe(wish.id), rex.bus.withdraw(offer.id)) == (True, True)
    owner.bus.deliver()
    assert held(ada) == []


def test_an_offer_behind_pages_of_others_is_seen_and_withdrawn_by_its_owner(owner: Engram) -> None:
    rex, ada = agent(owner, REX), agent(owner, ADA)
    for number in range(12):
        rex.bus.publish(learned(rex, f"Server number {number} is called node-{number}"))
    last = ada.bus.publish(learned(ada, "The cache is cleared at night"))
    assert [one.id for one in ada.bus.publications(limit=5)] == [last.id]
    assert rex.bus.withdraw(last.id) is False
    assert ada.bus.withdraw(last.id) is True


CLOCKS = st.dictionaries(st.sampled_from(["rex", "ada", "bob"]), st.integers(1, 3))


@given(CLOCKS, CLOCKS)
def test_versions_are_ordered_one_way_and_a_joined_one_has_seen_both(
    one: dict[str, int], other: dict[str, int]
) -> None:
    opposite = {DeliveryOrder.NEWER: DeliveryOrder.OLDER, DeliveryOrder.OLDER: DeliveryOrder.NEWER}
    assert order(other, one) is opposite.get(order(one, other), order(one, other))
    assert order(joined(one, other), one) in {DeliveryOrder.NEWER, DeliveryOrder.SAME}
    assert order(joined(one, other), other) in {DeliveryOrder.NEWER, DeliveryOrder.SAME}
