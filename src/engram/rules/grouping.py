"""Sequences: what was done, occasion by occasion, comes in; what was done again in that order comes out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, Generic, TypeVar

from engram.lazily import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# ---------------------------------------------------------------- clusters
# Clusters: pairs that belong together, or vectors, come in; groups come out.
#
# `joined` follows pairs: whatever hangs together is one group. `grouped` puts vectors around centres, a
# given number of them; the same vectors always give the same groups.


if TYPE_CHECKING:
    Floats = NDArray[np.float32]
    Places = NDArray[np.int64]

Thing = TypeVar("Thing", bound=Hashable)
SAMPLE: Final = 4_096
"""Vectors that centres are looked for among; more would hardly move them."""
ROUNDS: Final = 8
BLOCK: Final = 8_192


def joined(pairs: Iterable[tuple[Thing, Thing]]) -> list[list[Thing]]:
    """Groups of everything that hangs together, in the order in which they were met.

    >>> joined([(1, 2), (4, 5), (2, 3)])
    [[1, 2, 3], [4, 5]]
    """
    heads: dict[Thing, Thing] = {}
    for one, other in pairs:
        a, b = _head(heads, one), _head(heads, other)
        if a != b:
            heads[b] = a
    groups: dict[Thing, list[Thing]] = {}
    for thing in heads:
        groups.setdefault(_head(heads, thing), []).append(thing)
    return list(groups.values())


def _head(heads: dict[Thing, Thing], thing: Thing) -> Thing:
    heads.setdefault(thing, thing)
    while heads[thing] != thing:
        heads[thing] = heads[heads[thing]]
        thing = heads[thing]
    return thing


def centres(vectors: Floats, count: int) -> Floats:
    """So many centres among unit vectors, or as many as there are vectors.

    They begin with vectors evenly spread over the given order; a few rounds then move each centre to the
    middle of what is nearest to it.
    """
    import numpy as np

    sample = vectors[:: max(1, len(vectors) // SAMPLE)][:SAMPLE]
    count = min(count, len(sample))
    middles = sample[np.linspace(0, len(sample) - 1, count).astype(np.int64)]
    for _ in range(ROUNDS):
        places = nearest(sample, middles)[0]
        moved = np.zeros_like(middles)
        np.add.at(moved, places, sample)
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        middles = np.where(lengths > 0, moved / np.where(lengths > 0, lengths, 1), middles)
    found: Floats = middles.astype(np.float32)
    return found


def nearest(vectors: Floats, middles: Floats) -> tuple[Places, Floats]:
    """For each vector the place of the nearest centre, and the cosine with it."""
    import numpy as np

    from engram.rules.vectors import product

    places = np.zeros(len(vectors), dtype=np.int64)
    cosines = np.zeros(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), BLOCK):
        block = product(vectors[start : start + BLOCK], middles.T)
        places[start : start + BLOCK] = block.argmax(axis=1)
        cosines[start : start + BLOCK] = block.max(axis=1)
    return places, cosines


# ---------------------------------------------------------------- boxes
# Boxes: memories come in as they came; groups of what was going on together come out, and threads of boxes.
#
# A box is sealed when the talk turns to something else, when it has been quiet for a while, or when it is
# full. A trace is the thread of boxes that are about the same, over any time.


MAIN: Final = 3
"""So many topics say what a box or a trace is about."""


@dataclass(frozen=True, slots=True)
class BoxItem:
    """A memory as boxes see it."""

    id: str
    key: int
    at: datetime
    about: frozenset[str] = frozenset()
    """What it speaks of: topics and names, without case."""


@dataclass(frozen=True, slots=True)
class BoxLimits:
    """When a box is sealed."""

    overlap: float = 0.35
    idle: timedelta = timedelta(minutes=30)
    memories: int = 50


USUAL = BoxLimits()
Box = list[BoxItem]


def boxed(items: Iterable[BoxItem], now: datetime, limits: BoxLimits = USUAL) -> tuple[list[Box], Box]:
    """The sealed boxes in order, and the one that is still open.

    >>> day = datetime(2026, 3, 1, 9)
    >>> at = [BoxItem(name, 0, day + timedelta(minutes=m)) for name, m in (("a", 0), ("b", 5), ("c", 90))]
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


def _ends(box: Sequence[BoxItem], item: BoxItem, limits: BoxLimits) -> bool:
    return len(box) >= limits.memories or abs(item.at - box[-1].at) >= limits.idle


def _turns(about: set[str], item: BoxItem, limits: BoxLimits) -> bool:
    """Whether an item shares too little with a box. What speaks of nothing in particular goes on with it."""
    return bool(item.about and about) and len(item.about & about) / len(item.about) < limits.overlap


def main_topics(counts: Mapping[str, int]) -> frozenset[str]:
    """The topics that say what it is about: the commonest few.

    >>> sorted(main_topics({"food": 3, "travel": 2, "music": 1, "sport": 1}))
    ['food', 'music', 'travel']
    """
    return frozenset(list(by_count(counts))[:MAIN])


def trace_of(topics: frozenset[str], traces: Mapping[str, frozenset[str]], least: float) -> str | None:
    """The trace that a box with these topics goes on with: that which shares most; None when none does.

    Of each trace its main topics are given.

    >>> trace_of(frozenset({"food"}), {"a": frozenset({"food", "family"}), "b": frozenset({"music"})}, 0.35)
    'a'
    """
    best: tuple[float, str] | None = None
    for key, main in traces.items():
        share = len(topics & main) / len(topics | main) if topics else 0.0
        if share >= least and (best is None or (share, key) > best):
            best = (share, key)
    return None if best is None else best[1]


def counted(items: Iterable[Iterable[str]]) -> dict[str, int]:
    """How often each topic occurs, the commonest first."""
    return by_count(Counter(topic for some in items for topic in some))


def by_count(counts: Mapping[str, int]) -> dict[str, int]:
    """Topics with their counts, the commonest first."""
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


Occasion = TypeVar("Occasion", bound=Hashable)
LONGEST: Final = 8
SHORTEST: Final = 2
OCCASIONS: Final = 10_000
"""More occasions of one place are not compared: the latest tell enough."""


@dataclass(frozen=True, slots=True)
class Repeated(Generic[Occasion]):
    """Actions that followed on one another more than once."""

    actions: tuple[str, ...]
    occasions: tuple[Occasion, ...]


def repeated(done: Mapping[Occasion, Sequence[str]], least: int) -> list[Repeated[Occasion]]:
    """Sequences that occur on at least so many occasions; a part of a longer one only if it is commoner.

    >>> days = {1: ["build", "test", "ship"], 2: ["build", "test", "ship"], 3: ["build", "test", "rest"]}
    >>> [(one.actions, one.occasions) for one in repeated(days, 2)]
    [(('build', 'test', 'ship'), (1, 2)), (('build', 'test'), (1, 2, 3))]
    """
    where: dict[tuple[str, ...], dict[Occasion, None]] = {}
    for occasion in list(done)[-OCCASIONS:]:
        for actions in _runs(done[occasion]):
            where.setdefault(actions, {})[occasion] = None
    common = {actions: tuple(found) for actions, found in where.items() if len(found) >= least}
    kept: list[Repeated[Occasion]] = []
    for actions in sorted(common, key=lambda one: (-len(one), one)):
        if not any(_holds(one, actions, len(common[actions])) for one in kept):
            kept.append(Repeated(actions, common[actions]))
    return kept


def _runs(actions: Sequence[str]) -> set[tuple[str, ...]]:
    """Every run of some length; an action that only repeats itself is none."""
    found = set()
    for length in range(SHORTEST, min(LONGEST, len(actions)) + 1):
        for start in range(len(actions) - length + 1):
            run = tuple(actions[start : start + length])
            if len(set(run)) > 1:
                found.add(run)
    return found


def _holds(longer: Repeated[Occasion], actions: tuple[str, ...], occasions: int) -> bool:
    """Whether a run is only a part of a longer one that is as common."""
    whole = longer.actions
    inside = any(whole[at : at + len(actions)] == actions for at in range(len(whole) - len(actions) + 1))
    return inside and len(longer.occasions) >= occasions
