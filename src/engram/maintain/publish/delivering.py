"""Delivering: offers and wishes come in; each subscriber gets copies of what it wants, as many as it takes.

A copy belongs to its receiver, is believed a little less than the original, and says where it comes from. A
later version of the original changes the copy. A copy that its receiver has changed as well stays beside it,
the surer or later of the two in force, and the pair is shown among the conflicts: nothing is lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from engram.lifecycle.sharing import Order, inherited, joined, order, prevails, seen, wants
from engram.maintain.decisions import Add, Batch, Change, Decision, Deliver, Draw, Effect, Place
from engram.maintain.room import Room, becomes
from engram.model.axes import Layer, Status, Tier
from engram.model.bus import Delivery, Publication, Subscription
from engram.model.draft import Draft
from engram.model.event import Verb
from engram.model.memory import Memory
from engram.model.relations import Edge, EdgeType
from engram.model.scope import Access

LOOKED_AT: Final = 1_000
"""Publications that one subscriber is shown in one delivery."""
EVERYTHING: Final = Access.everything()


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Serve each subscription, in the order in which they were made."""
    for one in room.tools.store.bus.subscriptions():
        if f"{one.made_at.isoformat()} {one.id}" > cursor:
            decisions = tuple(_serve(room, one))
            if decisions:
                yield Batch(decisions, f"{one.made_at.isoformat()} {one.id}")


def _serve(room: Room, wish: Subscription) -> Iterator[Decision]:
    found = room.tools.store.bus.publications(wish.place, LOOKED_AT)
    wanted = [one for one in found if wants(wish, one)]
    taken = wanted[: wish.rate]
    copies = room.tools.store.bus.delivered([one.memory for one in taken], wish.scope)
    for one in taken:
        original = room.tools.store.memories.get(one.memory, EVERYTHING)
        if original is not None and original.status is Status.ACTIVE and original.tier is Tier.CLEAR:
            yield from _deliver(room, wish, one, original, copies.get(one.memory))
    upto = taken[-1].number if len(wanted) > wish.rate else (found[-1].number if found else wish.place)
    if upto != wish.place:
        yield Decision("bus.place", "", (Place(replace(wish, place=upto)),), quiet=True)


def _deliver(
    room: Room, wish: Subscription, offer: Publication, original: Memory, known: Delivery | None
) -> Iterator[Decision]:
    copy = room.tools.store.memories.get(known.memory, EVERYTHING) if known is not None else None
    if known is None or copy is None:
        yield _first(room, wish, offer, original)
        return
    mine = seen(known, copy, wish.agent)
    match order(offer.clock, mine):
        case Order.NEWER:
            yield _later(wish, offer, original, (known, copy))
        case Order.CONCURRENT:
            yield _beside(room, wish, offer, original, copy)
        case _:
            return


def _first(room: Room, wish: Subscription, offer: Publication, original: Memory) -> Decision:
    add, note = _copied(room, wish, offer, original)
    why = f"importance {original.importance:.2f}"
    return Decision("bus.deliver", why, (add, note), add.memory.id, original.id)


def _copied(room: Room, wish: Subscription, offer: Publication, original: Memory) -> tuple[Add, Deliver]:
    """A memory of the receiver's own, and the note of what it is a copy of."""
    draft = Draft(
        original.content,
        scope=wish.scope,
        category=original.category,
        kind=original.kind,
        type=original.type,
        tags=original.tags,
        importance=original.importance,
        layer=Layer.BUFFER,
        event_time=original.event_time,
        source=f"bus:{offer.agent}",
    )
    add = room.new(draft, "bus.deliver", offer.id, wish.id)
    trust, confidence = inherited(original.trust, original.confidence)
    memory = replace(add.memory, trust=trust, confidence=confidence)
    delivery = Delivery(memory.id, original.id, offer.id, wish.id, dict(offer.clock), memory.version)
    return replace(add, memory=memory), Deliver(delivery)


def _later(
    wish: Subscription, offer: Publication, original: Memory, held: tuple[Delivery, Memory]
) -> Decision:
    """The original was changed, the copy was not: the copy follows; its former words stay in its history."""
    known, copy = held
    change = becomes(copy, Verb.UPDATED, content=original.content, tags=original.tags)
    delivery = Delivery(
        copy.id, original.id, offer.id, wish.id, joined(known.clock, offer.clock), copy.version + 1
    )
    return Decision("bus.update", "a later version came", (change, Deliver(delivery)), copy.id, original.id)


def _beside(room: Room, wish: Subscription, offer: Publication, original: Memory, copy: Memory) -> Decision:
    """Both were changed: both stay, one of them in doubt."""
    add, note = _copied(room, wish, offer, original)
    theirs = add.memory
    stands = prevails(copy, theirs)
    doubted: tuple[Effect, ...]
    if stands:
        doubted = (replace(add, memory=replace(theirs, status=Status.CHALLENGED)),)
    else:
        doubted = (add, Change(copy, replace(copy, status=Status.CHALLENGED), Verb.STATUS_CHANGED))
    source, target = (copy.id, theirs.id) if stands else (theirs.id, copy.id)
    edge = Draw(Edge(source, target, EdgeType.CONTRADICTS))
    why = f"both were changed; the {'own' if stands else 'received'} one stands"
    return Decision("bus.conflict", why, (*doubted, edge, note), theirs.id, copy.id)
