"""How long the unit is that an expression speaks of, to tell whole units from parts of them."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

from datetime import timedelta
from typing import Final

from engram.text.when.words import Grain, When

SHORT: Final = frozenset({Grain.SECOND, Grain.MINUTE, Grain.HOUR})
LONGEST: Final = {
    Grain.WEEKEND: timedelta(days=4), Grain.WEEK: timedelta(days=7), Grain.MONTH: timedelta(days=31),
    Grain.QUARTER: timedelta(days=92), Grain.SEASON: timedelta(days=92), Grain.HALF: timedelta(days=184),
    Grain.YEAR: timedelta(days=366), Grain.DECADE: timedelta(days=3653), Grain.CENTURY: timedelta(days=0),
}  # fmt: skip


def is_portion(when: When) -> bool:
    """Whether the span is neither a whole unit nor a day: "later this month", "the last month and a half"."""
    first, last = when.first, when.last
    if first is None or last is None or last - first == timedelta(days=1):
        return False
    whole = {Grain.WEEK: first.weekday() == 0, Grain.WEEKEND: first.weekday() == 5}
    shortest = LONGEST[when.grain] - timedelta(days=3 if when.grain is not Grain.WEEK else 0)
    return not whole.get(when.grain, first.day == 1) or (
        when.grain is not Grain.WEEKEND and last - first < shortest
    )
