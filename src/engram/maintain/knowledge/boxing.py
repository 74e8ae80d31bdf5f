"""Boxing: memories as they came go in; what was going on together is put into a box, and boxes into traces.

What stands in no box yet is looked at in the order of coming. A sealed box stays as it is, but for a memory
of it that was erased: then it is packed again from what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final

from engram.graph.boxes import Box, Item, Limits, boxed, counted, main_topics, trace_of
from engram.lifecycle.traits import DRAWN
from engram.maintain.decisions import Batch, Decision, Effect
from engram.maintain.room import Room
from engram.maintain.since import EVERYTHING, noted, places, since
from engram.maintain.sketching import keep
from engram.model.axes import Tier
from engram.model.filters import Filters
from engram.model.memory import Memory
from engram.model.scope import Access, Role, Scope

NAME: Final = "boxes"
BOX, SHELF, TRACE = "box", "shelf", "trace"
CLEAR = Filters(tiers=frozenset({Tier.CLEAR}), not_tags=DRAWN)
LEAST: Final = 2
"""A single memory is no box."""
TOGETHER: Final = 2_000
"""Memories that are packed in one batch."""
MOST_TRACES: Final = 2_000
LISTED: Final = 500
"""Boxes of a trace that are kept, the latest."""
NAMED: Final = 8
Shelved = tuple[str, int, int]
"""A box on the shelf: its key, and the first and last key of its memories."""


@dataclass(slots=True)
class Shelf:
    """The boxes of one place."""

    scope: Scope
    upto: int = 0
    boxes: list[Shelved] = field(default_factory=list)
    traces: dict[str, dict[str, Any]] = field(default_factory=dict)
    touched: dict[str, None] = field(default_factory=dict)


def look(room: Room, _cursor: str) -> Iterator[Batch]:
    """New boxes of each place, then boxes that lost a memory."""
    news = since(room, NAME)
    waiting = _waiting(room) if not news.any else ()
    if not news.any and not waiting:
        return
    where = places(room, news, CLEAR) | set(waiting)
    if news.gone:
        where |= {one.scope for one in room.tools.store.upkeep.sketches(SHELF, EVERYTHING, MOST_TRACES)}
    shelves = {scope: _shelf(room, scope) for scope in sorted(where, key=lambda one: one.parts)}
    if news.gone:
        for shelf in shelves.values():
            yield from _repacked(room, shelf)
    yield from _packed(room, shelves)
    yield from noted(room, NAME, news)


def _waiting(room: Room) -> tuple[Scope, ...]:
    """Places whose last box was open and has been quiet since."""
    idle = timedelta(minutes=room.tools.config.knowledge.box_idle_minutes)
    found = room.tools.store.upkeep.sketches(SHELF, EVERYTHING, MOST_TRACES)
    latest = (room.now - idle).timestamp()
    return tuple(one.scope for one in found if one.body["open_since"] and one.body["open_since"] <= latest)


def _shelf(room: Room, scope: Scope) -> Shelf:
    store = room.tools.store.upkeep
    kept = store.sketch(scope, SHELF, "")
    shelf = Shelf(scope)
    if kept is None:
        return shelf
    shelf.upto = kept.body["upto"]
    shelf.boxes = [(key, first, last) for key, first, last in kept.body["boxes"]]
    access = Access(scope, Role.AGENT)
    for one in store.sketches(TRACE, access, MOST_TRACES):
        if one.scope == scope:
            shelf.traces[one.key] = dict(one.body)
    return shelf


def _packed(room: Room, shelves: dict[Scope, Shelf]) -> Iterator[Batch]:
    """Boxes of everything that came since, place by place; what is open stays for the next time."""
    open_: dict[Scope, list[Item]] = {scope: [] for scope in shelves}
    start = min((shelf.upto for shelf in shelves.values()), default=0)
    limits = _limits(room)
    for part in room.memories(CLEAR, start) if shelves else ():
        for key, one in part:
            if one.scope in shelves and key > shelves[one.scope].upto:
                open_[one.scope].append(_item(key, one))
        for scope, items in open_.items():
            if len(items) >= TOGETHER:
                sealed, rest = boxed(items, items[-1].at, limits)
                open_[scope] = rest
                yield from _sealed(room, shelves[scope], sealed, rest)
    for scope, items in open_.items():
        sealed, rest = boxed(items, room.now, limits)
        yield from _sealed(room, shelves[scope], sealed, rest)


def _sealed(room: Room, shelf: Shelf, sealed: Sequence[Box], rest: Sequence[Item]) -> Iterator[Batch]:
    effects: list[Effect] = []
    full = [box for box in sealed if len(box) >= LEAST]
    for box in full:
        key = f"{box[0].at:%Y%m%dT%H%M%S}-{box[0].id[:8]}"
        shelf.boxes.append((key, box[0].key, box[-1].key))
        effects += _box(room, shelf, key, box)
    if sealed:
        shelf.upto = sealed[-1][-1].key
    effects += _traces(room, shelf)
    body = {
        "upto": shelf.upto,
        "boxes": shelf.boxes,
        "open_since": rest[-1].at.timestamp() if rest else None,
    }
    if sealed or rest:
        effects += keep(room, shelf.scope, SHELF, "", body)
    if effects:
        why = f"{len(full)} boxes with {sum(map(len, full))} memories"
        yield Batch((Decision("box.sealed", why, tuple(effects), quiet=not full),))


def _repacked(room: Room, shelf: Shelf) -> Iterator[Batch]:
    """Boxes that went with an erased memory, packed again from what is left."""
    store = room.tools.store.upkeep
    lost = [one for one in shelf.boxes if store.sketch(shelf.scope, BOX, one[0]) is None]
    effects: list[Effect] = []
    for key, first, last in lost:
        items = [_item(at, one) for at, one in _between(room, shelf.scope, first, last)]
        if len(items) >= LEAST:
            effects += _box(room, shelf, key, items, woven=True)
        else:
            shelf.boxes.remove((key, first, last))
    if effects or lost:
        body = {"upto": shelf.upto, "boxes": shelf.boxes, "open_since": None}
        effects += keep(room, shelf.scope, SHELF, "", body)
        yield Batch((Decision("box.repacked", f"{len(lost)} boxes", tuple(effects)),))


def _between(room: Room, scope: Scope, first: int, last: int) -> Iterator[tuple[int, Memory]]:
    for part in room.memories(CLEAR, first - 1):
        for key, one in part:
            if key > last:
                return
            if one.scope == scope:
                yield key, one


def _box(room: Room, shelf: Shelf, key: str, box: Sequence[Item], *, woven: bool = False) -> Sequence[Effect]:
    about = counted(item.about for item in box)
    topics = {topic: count for topic, count in about.items() if topic in _topics()}
    names = [name for name in about if name not in topics][:NAMED]
    trace = _weave(room, shelf, key, box, topics) if not woven else ""
    body = {
        "from": box[0].at.isoformat(),
        "to": box[-1].at.isoformat(),
        "memories": [item.id for item in box],
        "topics": topics,
        "names": names,
        "trace": trace,
    }
    title = ", ".join([*sorted(main_topics(topics)), *names[:3]])
    return keep(room, shelf.scope, BOX, key, body, title=title, sources=[item.id for item in box])


def _weave(room: Room, shelf: Shelf, key: str, box: Sequence[Item], topics: dict[str, int]) -> str:
    """The trace that a box goes on with, or the one that it begins; a box about nothing has none."""
    if not topics:
        return ""
    counts = {trace: body["topics"] for trace, body in shelf.traces.items()}
    overlap = room.tools.config.knowledge.box_overlap
    trace = trace_of(main_topics(topics), counts, overlap) or key
    old = shelf.traces.get(trace, {"topics": {}, "boxes": [], "first": box[0].at.isoformat(), "count": 0})
    both = counted([topic] * count for some in (old["topics"], topics) for topic, count in some.items())
    shelf.traces[trace] = {
        "topics": both,
        "boxes": [*old["boxes"], key][-LISTED:],
        "first": old["first"],
        "last": box[-1].at.isoformat(),
        "count": old["count"] + 1,
    }
    shelf.touched[trace] = None
    return trace


def _traces(room: Room, shelf: Shelf) -> list[Effect]:
    effects: list[Effect] = []
    for key in shelf.touched:
        body = shelf.traces[key]
        title = ", ".join(sorted(main_topics(body["topics"])))
        effects += keep(room, shelf.scope, TRACE, key, body, title=title)
    shelf.touched.clear()
    return effects


def _item(key: int, memory: Memory) -> Item:
    told = memory.metadata
    names = (*told.get("technologies", ()), *told.get("paths", ()))
    about = frozenset((*told.get("topics", ()), *(name.casefold() for name in names)))
    return Item(memory.id, key, memory.happened_at, about)


def _limits(room: Room) -> Limits:
    settings = room.tools.config.knowledge
    idle = timedelta(minutes=settings.box_idle_minutes)
    return Limits(settings.box_overlap, idle, settings.box_memories)


def _topics() -> frozenset[str]:
    from engram.text import lexicon

    return frozenset(lexicon.headings("topics"))
