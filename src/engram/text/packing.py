"""Packing: things that can be told at several lengths come in; which to tell at which length comes out.

A knapsack by value per token. Each thing climbs from its shortest form to its full one; the step that gives
most for its tokens is taken first. Three things come before that:

* what must be there is there at least in its shortest form, and alone when not even all of that fits;
* then the best thing gets the fullest form that fits, so more room never shows less of it;
* the rest competes.

The same input always gives the same choice, and the costs together never exceed the room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log2
from typing import Final


@dataclass(frozen=True, slots=True)
class Parcel:
    """One thing to tell: what it is worth in full, and what each of its forms costs, the fullest first."""

    value: float
    costs: tuple[int, ...]
    needed: bool = False
    """Whether it must be there."""


def value(rank: int, relevance: float) -> float:
    """What a memory is worth that was found at a place, counted from 0: by its fit, less further down.

    >>> value(0, 1.0), value(2, 1.0), value(0, 0.0)
    (1.0, 0.5, 0.25)
    """
    return (0.25 + 0.75 * relevance) / log2(2 + rank)


WORTH: Final = (1.0, 0.8, 0.6, 0.25)
"""What the forms are worth of the whole: full, summary, key fact, label."""


def pack(parcels: Sequence[Parcel], room: int, most: int | None = None) -> list[int | None]:
    """For each parcel the place of its form, or None when it is left out. The best parcel stands first.

    >>> parcels = [Parcel(1.0, (50, 20, 10, 4)), Parcel(0.9, (50, 20, 10, 4)), Parcel(0.1, (9, 9, 9, 3))]
    >>> pack(parcels, 200), pack(parcels, 75), pack(parcels, 56)
    ([0, 0, 0], [0, 1, 3], [0, 3, None])
    >>> pack([Parcel(1.0, (50, 20)), Parcel(0.0, (40, 10), needed=True)], 35)
    [1, 1]
    """
    load = _Load(parcels, room, len(parcels) if most is None else most)
    if load.takes_what_must() and parcels:
        load.raise_to_best(0)
        for at, form in _steps(parcels):
            load.raise_to(at, form)
        # A step that was too big may be smaller: what is left goes to whatever still fits, the best first.
        for at in range(len(parcels)):
            load.raise_to_best(at)
    return load.chosen


class _Load:
    """What has been chosen so far, and the room that is left. Lives for one packing."""

    def __init__(self, parcels: Sequence[Parcel], room: int, most: int) -> None:
        self.chosen: list[int | None] = [None] * len(parcels)
        self._parcels = parcels
        self._left = room
        self._free = most

    def takes_what_must(self) -> bool:
        """Take what must be there as short as may be, in order; whether all of it fits."""
        needed = [at for at, one in enumerate(self._parcels) if one.needed]
        self._free = max(self._free, len(needed))
        raised = [self.raise_to(at, _cheapest(self._parcels[at].costs)) for at in needed]
        return all(raised)

    def raise_to(self, at: int, form: int) -> bool:
        """Tell one parcel at least so fully; whether that fits."""
        now, costs = self.chosen[at], self._parcels[at].costs
        if now is not None and now <= form:
            return True
        more = costs[form] - (0 if now is None else costs[now])
        if more > self._left or (now is None and not self._free):
            return False
        self._free -= now is None
        self._left -= more
        self.chosen[at] = form
        return True

    def raise_to_best(self, at: int) -> None:
        """Tell one parcel as fully as fits."""
        any(self.raise_to(at, form) for form in range(len(self._parcels[at].costs)))


def _cheapest(costs: tuple[int, ...]) -> int:
    """The fullest among the cheapest forms."""
    return min(range(len(costs)), key=lambda form: (costs[form], form))


def _steps(parcels: Sequence[Parcel]) -> list[tuple[int, int]]:
    """Every step of every parcel, the one that gives most for its tokens first."""
    ranked = sorted((-gain, at, -form) for at, one in enumerate(parcels) for gain, form in _climb(one))
    return [(at, -form) for _, at, form in ranked]


def _climb(one: Parcel) -> Iterator[tuple[float, int]]:
    """The forms worth stopping at from the shortest up, each with its gain in value per token.

    A form is passed over when going on to a fuller one gives more for each token: so gains only fall.
    """
    spent, worth, form = 0, 0.0, len(one.costs)
    while form > 0:
        best: tuple[float, int] | None = None
        for fuller in range(form - 1, -1, -1):
            share = WORTH[min(fuller, len(WORTH) - 1)]
            gain = (one.value * share - worth) / max(1, one.costs[fuller] - spent)
            if best is None or gain >= best[0]:
                best = (gain, fuller)
        if best is None:
            return
        yield best
        form = best[1]
        spent, worth = one.costs[form], one.value * WORTH[min(form, len(WORTH) - 1)]
