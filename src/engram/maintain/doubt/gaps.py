"""Gaps: what was said and asked comes in; questions about what is not known come out, and close when it is.

Found are names spoken of often without any fact, facts one expects and that are missing, open conflicts,
commitments without a day, and names that were asked about in vain. A gap that was answered or dismissed does
not come back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from engram.lifecycle.commitments import CATEGORY, loop
from engram.lifecycle.gaps import DUE, GAP, IN_VAIN, STALE, about_entity, asked_about, of_conflict, of_memory
from engram.lifecycle.traits import is_reference
from engram.maintain.carry_out import UNDONE
from engram.maintain.decisions import Batch, Decision, Drop, Keep
from engram.maintain.doubt.disputes import disputes
from engram.maintain.room import Room
from engram.maintain.since import News, memories, seen, since
from engram.model.axes import Status, Tier
from engram.model.commitment import LoopState
from engram.model.entity import Entity
from engram.model.facts import FactQuery
from engram.model.filters import ANY_STATUS, Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Role, Scope
from engram.model.session import Gap
from engram.model.upkeep import Sketch
from engram.ports import View

NAME: Final = "gaps"
DONE: Final = "done"
FOUND: Final = "gap.found"
CLEAR = Filters(tiers=frozenset({Tier.CLEAR}))
SOURCES: Final = 5
"""Memories that a gap about a name is held by: without one of them it goes, and is found anew."""
CLAIMS: Final = 100
EVERY: Final = 100_000
Looked = tuple[Gap, tuple[str, ...], str]
"""A gap, the memories it has words of, and why it is one."""


@dataclass(slots=True)
class Place:
    """What is to be looked at in one place."""

    names: Counter[str] = field(default_factory=Counter)
    loops: set[str] = field(default_factory=set)
    """Ids of commitments."""
    has_news: bool = False
    open: dict[str, Sketch] = field(default_factory=dict)
    """Gaps known so far."""
    asked: dict[str, Sketch] = field(default_factory=dict)


def look(room: Room, cursor: str) -> Iterator[Batch]:
    """Gaps of every place in which something was said, asked or is still open."""
    if cursor == DONE:
        return
    news = since(room, NAME)
    for scope, place in sorted(_places(room, news).items(), key=lambda one: one[0].parts):
        decisions = tuple(_decided(room, scope, place))
        if decisions:
            yield Batch(decisions)
    if mark := seen(room, NAME, news):
        yield Batch(mark, DONE)


def keep(room: Room, gap: Gap, sources: Sequence[str]) -> Keep:
    """The effect that keeps a gap."""
    body = {
        "question": gap.question,
        "about": gap.about,
        "weight": gap.weight,
        "kind": gap.kind,
        "expects": gap.expects,
        "memories": list(gap.memories),
    }
    return Keep(Sketch(gap.scope, GAP, gap.key, body, room.now, "", tuple(dict.fromkeys(sources))))


def closed(room: Room, keys: Iterable[str]) -> frozenset[str]:
    """Those that were answered or dismissed, or that a person has taken back."""
    every, upkeep = list(keys), room.tools.store.upkeep
    undone = upkeep.judged(UNDONE, [Decision(FOUND, "", (), key).key for key in every])
    taken_back = {key for key in every if Decision(FOUND, "", (), key).key in undone}
    return frozenset(upkeep.judged(GAP, every)) | taken_back


# ---------------------------------------------------------------- where to look


def _places(room: Room, news: News) -> dict[Scope, Place]:
    """Where something was said or asked since the last time, or waits for an answer."""
    store = room.tools.store
    found: dict[Scope, Place] = {}
    if news.any:
        everything = News(whole=True) if news.gone else news
        for part in memories(room, everything, CLEAR if everything.whole else ANY_STATUS):
            for _, one in part:
                _note(found.setdefault(one.scope, Place()), one)
    for sketch in store.upkeep.sketches(GAP, Access.everything(), EVERY):
        found.setdefault(sketch.scope, Place()).open[sketch.key] = sketch
    for sketch in store.upkeep.sketches(IN_VAIN, Access.everything(), EVERY):
        found.setdefault(sketch.scope, Place()).asked[sketch.key] = sketch
    return found


def _note(place: Place, memory: Memory) -> None:
    if is_reference(memory):
        return
    place.has_news = True
    place.names.update(name.casefold() for name in memory.entities)
    if memory.category == CATEGORY:
        place.loops.add(memory.id)


# ---------------------------------------------------------------- what is missing


def _decided(room: Room, scope: Scope, place: Place) -> Iterator[Decision]:
    found = {gap.key: (gap, sources, why) for gap, sources, why in _missing(room, scope, place)}
    for key in place.open.keys() - found.keys():
        yield Decision("gap.closed", "it is known, or asked for no more", (Drop(scope, GAP, key),))
    yield from _forgotten(room, place, {gap.about.casefold() for gap, _, _ in found.values()})
    gone = closed(room, found)
    left = room.tools.config.doubt.gaps - len(place.open.keys() & found.keys())
    for gap, sources, why in sorted(found.values(), key=lambda one: (-one[0].weight, one[0].key)):
        known = place.open.get(gap.key)
        if gap.key in gone or (known is not None and known.body["question"] == gap.question):
            continue
        if known is None and left <= 0:
            continue
        left -= known is None
        yield Decision(FOUND, why, (keep(room, gap, sources),), gap.key)


def _missing(room: Room, scope: Scope, place: Place) -> Iterator[Looked]:
    yield from _about_names(room, scope, place)
    yield from _in_vain(room, scope, place)
    loops = place.loops | {one.body["memories"][0] for one in place.open.values() if _kind(one) == DUE}
    for memory in _read(room, loops):
        if _has_no_day(memory, room.now):
            yield of_memory(DUE, memory), (memory.id,), "an open commitment without a day"
    for sketch in place.open.values():
        if _kind(sketch) == STALE:
            yield from _still_stale(room, sketch)
    if place.has_news or any(_kind(one) == "conflict" for one in place.open.values()):
        for one, two in disputes(room, scope, room.tools.config.doubt.gaps):
            yield of_conflict(one, two), (one.id, two.id), "two memories exclude each other"


def _about_names(room: Room, scope: Scope, place: Place) -> Iterator[Looked]:
    """What is not known of those spoken of."""
    settings = room.tools.config.doubt
    names = [name for name, _ in place.names.most_common(settings.names)]
    names += [one.body["about"].casefold() for one in place.open.values() if one.body["about"]]
    found = room.tools.store.entities.among(list(dict.fromkeys(names)), Access(scope, Role.AGENT))
    for entity in sorted(found, key=lambda one: one.name):
        named = _naming(room, scope, entity, settings.mentions)
        if len(named) < settings.mentions:
            continue
        facts = [claim.fact for claim in _claims(room, scope, entity)]
        for gap in about_entity(entity, len(named), facts, scope):
            why = f"named in {len(named)} memories or more, {len(facts)} facts"
            yield gap, tuple(one.id for one in named[-SOURCES:]), why


def _naming(room: Room, scope: Scope, entity: Entity, least: int) -> list[Memory]:
    """Memories of this very place that name it, the latest first; a few more than it takes."""
    view = View(Access(scope, Role.AGENT), CLEAR)
    found = room.tools.store.entities.memories(entity, view, least * 4)
    return [one for _, one in found if one.scope == scope]


def _claims(room: Room, scope: Scope, entity: Entity) -> list[Any]:
    """What is stated about it or names it; also what is seen from above, or is a secret, is known."""
    names = frozenset({entity.name.casefold(), *entity.aliases})
    view = View(Access(scope, Role.AGENT), Filters())
    find = room.tools.store.facts.find
    return [
        *find(FactQuery(subjects=names), view, CLAIMS),
        *find(FactQuery(objects=names), view, CLAIMS),
    ]


def _in_vain(room: Room, scope: Scope, place: Place) -> Iterator[Looked]:
    """Names that were asked about several times, and of which nothing was said since."""
    settings = room.tools.config.doubt
    for sketch in place.asked.values():
        name, times = str(sketch.body["name"]), int(sketch.body["times"])
        if times >= settings.asked and not _is_over(sketch, room) and not _said_since(room, scope, sketch):
            named = [one.id for one in _named_so(room, scope, name)]
            yield asked_about(name, times, scope), tuple(named[-SOURCES:]), f"asked about {times} times"


def _forgotten(room: Room, place: Place, wanted: set[str]) -> Iterator[Decision]:
    """What was asked in vain long ago, or is known by now, counts no more."""
    for sketch in place.asked.values():
        name = str(sketch.body["name"])
        if name.casefold() in wanted:
            continue
        if _is_over(sketch, room) or _said_since(room, sketch.scope, sketch):
            yield Decision("gap.asked", "", (Drop(sketch.scope, IN_VAIN, sketch.key),), quiet=True)


def _is_over(sketch: Sketch, room: Room) -> bool:
    last = datetime.fromisoformat(sketch.body["last"])
    return last <= room.now - timedelta(days=room.tools.config.doubt.asked_days)


def _said_since(room: Room, scope: Scope, sketch: Sketch) -> bool:
    last = datetime.fromisoformat(sketch.body["last"])
    return any(one.created_at > last for one in _named_so(room, scope, str(sketch.body["name"])))


def _named_so(room: Room, scope: Scope, name: str) -> list[Memory]:
    entity = room.tools.store.entities.get(name, Access(scope, Role.AGENT))
    return [] if entity is None else _naming(room, scope, entity, SOURCES)


def _has_no_day(memory: Memory, now: datetime) -> bool:
    if memory.category != CATEGORY or not _stands(memory):
        return False
    found = loop(memory, now)
    return found.state is LoopState.OPEN and found.due is None


def _still_stale(room: Room, sketch: Sketch) -> Iterator[Looked]:
    """The question stands until somebody vouches for the memory or it changes."""
    for memory in _read(room, sketch.body["memories"]):
        gap = of_memory(STALE, memory)
        if gap.key == sketch.key and _stands(memory) and memory.status is Status.ACTIVE:
            yield gap, (memory.id,), "long not confirmed"


def _stands(memory: Memory) -> bool:
    return memory.status in {Status.ACTIVE, Status.CHALLENGED} and memory.tier is Tier.CLEAR


def _read(room: Room, ids: Iterable[str]) -> list[Memory]:
    store = room.tools.store.memories
    return list(store.read(sorted(store.keys(sorted(ids)).values())).values())


def _kind(sketch: Sketch) -> str:
    return str(sketch.body["kind"])
