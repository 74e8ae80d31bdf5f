"""Boxes: memories come in as they came; groups of what was going on together come out, and threads of boxes.

A box is sealed when the talk turns to something else, when it has been quiet for a while, or when it is full.
A trace is the thread of boxes that are about the same, over any time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

MAIN: Final = 3
"""So many topics say what a box or a trace is about."""


@dataclass(frozen=True, slots=True)
class Item:
    """A memory as boxes see it."""

    id: str
    key: int
    at: datetime
    about: frozenset[str] = frozenset()
    """What it speaks of: topics and names, without case."""


@dataclass(frozen=True, slots=True)
class Limits:
    """When a box is sealed."""

    overlap: float = 0.35
    idle: timedelta = timedelta(minutes=30)
    memories: int = 50


USUAL = Limits()
Box = list[Item]


def boxed(items: Iterable[Item], now: datetime, limits: Limits = USUAL) -> tuple[list[Box], Box]:
    """The sealed boxes in order, and the one that is still open.

    >>> day = datetime(2026, 3, 1, 9)
    >>> at = [Item(name, 0, day + timedelta(minutes=m)) for name, m in (("a", 0), ("b", 5), ("c", 90))]
    >>> sealed, still_open = boxed(at, day + timedelta(minutes=91))
    >>> [[item.id for item in box] for box in sealed], [item.id for item in still_open]
    ([['a', 'b']], ['c'])
    """
    sealed: list[Box] = []
    box: Box = []
    about: set[str] = set()
    turn = 0
    """Where the talk may have turned: the place of the last item that shared too little; 0: it has not."""
    for item in items:
        if box and _ends(box, item, limits):
            sealed.append(box)
            box, about, turn = [], set(), 0
        elif box and _turns(about, item, limits):
            if len(item.about) < PLAIN and not turn:
                turn = len(box)
            else:
                at = turn or len(box)
                sealed.append(box[:at])
                box, turn = box[at:], 0
                about = set().union(*(one.about for one in box))
        elif item.about:
            turn = 0
        box.append(item)
        if not turn:
            about |= item.about
    if box and (abs(now - box[-1].at) >= limits.idle or len(box) >= limits.memories):
        sealed.append(box)
        box = []
    return sealed, box


PLAIN: Final = 3
"""An item with so many topics says by itself that the talk has turned; of others it takes two in a row."""


def _ends(box: Sequence[Item], item: Item, limits: Limits) -> bool:
    return len(box) >= limits.memories or abs(item.at - box[-1].at) >= limits.idle


def _turns(about: set[str], item: Item, limits: Limits) -> bool:
    """Whether an item shares too little with a box. What speaks of nothing in particular goes on with it."""
    return bool(item.about and about) and len(item.about & about) / len(item.about) < limits.overlap


def main_topics(counts: Mapping[str, int]) -> frozenset[str]:
    """The topics that say what it is about: the commonest few.

    >>> sorted(main_topics({"food": 3, "travel": 2, "music": 1, "sport": 1}))
    ['food', 'music', 'travel']
    """
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return frozenset(topic for topic, _ in ordered[:MAIN])


def trace_of(topics: frozenset[str], traces: Mapping[str, Mapping[str, int]], least: float) -> str | None:
    """The trace that a box with these topics goes on with: that which shares most; None when none does.

    >>> trace_of(frozenset({"food"}), {"a": {"food": 2, "family": 1}, "b": {"music": 4}}, 0.35)
    'a'
    """
    best: tuple[float, str] | None = None
    for key, counts in traces.items():
        main = main_topics(counts)
        share = len(topics & main) / len(topics | main) if topics else 0.0
        if share >= least and (best is None or (share, key) > best):
            best = (share, key)
    return None if best is None else best[1]


def counted(items: Iterable[Iterable[str]]) -> dict[str, int]:
    """How often each topic occurs, the commonest first."""
    counts = Counter(topic for some in items for topic in some)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
