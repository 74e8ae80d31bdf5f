"""The words of time: grains, spans, lengths, and what was found in a text."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

Prefer = Literal["past", "future", "near", "told"]
"""Which one of many is meant where a year is left unsaid; "told": as the tense of its clause tells."""
Kind = Literal["date", "range", "time", "duration", "set"]


class Grain(StrEnum):
    """How exact an expression is."""

    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    PART = "part"  # of a day: the morning, the evening
    DAY = "day"
    WEEKEND = "weekend"
    WEEK = "week"
    MONTH = "month"
    QUARTER = "quarter"
    SEASON = "season"
    HALF = "half"  # of a year
    YEAR = "year"
    DECADE = "decade"
    CENTURY = "century"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of time from `first` to before `last`; None where it is open."""

    first: datetime | None
    last: datetime | None
    grain: Grain
    certain: bool = True


@dataclass(frozen=True, slots=True)
class Length:
    """So many of a unit, and perhaps more: one hour and thirty minutes."""

    count: float
    unit: Grain
    more: Length | None = None
    certain: bool = True


@dataclass(frozen=True, slots=True)
class When:
    """One expression of time in a text.

    `first` is inclusive, `last` exclusive; None where the time is open. `grain` says how exact the words are:
    "five years ago" is counted to the day but means about a year. Not `certain`: vague or ambiguous words.
    """

    text: str
    start: int
    end: int
    first: datetime | None
    last: datetime | None
    grain: Grain
    certain: bool = True
    recurring: bool = False
    kind: Kind = "date"
