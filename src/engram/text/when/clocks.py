"""Times of day: hours as they are said come in, clock times come out."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from engram.text.when.calendars import midnight
from engram.text.when.words import Grain, Span


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day; not `sure` when it may as well be twelve hours later."""

    hour: int
    minute: int = 0
    second: int = 0
    sure: bool = False
    grain: Grain = Grain.MINUTE

    @property
    def minutes(self) -> int:
        """Minutes since midnight."""
        return self.hour * 60 + self.minute


Part = tuple[int, int]  # from hour, to hour


def twelve(clock: Clock, meridiem: str | None) -> Clock:
    """The clock with its half of the day: "a", "p" or neither.

    >>> twelve(Clock(3), "p").hour, twelve(Clock(12), "a").hour
    (15, 0)
    """
    if meridiem is None or clock.hour > 12:
        return clock
    return replace(clock, hour=clock.hour % 12 + (12 if meridiem == "p" else 0), sure=True)


def in_part(clock: Clock, part: Part) -> Clock:
    """The clock within a part of the day: nine in the evening is 21:00."""
    if clock.hour > 12 or (clock.sure and clock.hour != 12):
        return clock
    if part[0] >= 12 and not (part[1] == 24 and clock.hour < 5):
        return replace(clock, hour=clock.hour % 12 + 12, sure=True)
    return replace(
        clock,
        hour=clock.hour % 12 if part[0] < 6 or (clock.hour == 12 and part[0] > 18) else clock.hour,
        sure=True,
    )


def likely(clock: Clock) -> Clock:
    """The clock when nothing says which half of the day: one to six is after noon."""
    return clock if clock.sure or not 1 <= clock.hour <= 6 else replace(clock, hour=clock.hour + 12)


def hours(one: Clock, other: Clock) -> tuple[Clock, Clock]:
    """Two ends of a stretch of hours; what one says of the half of the day helps the other.

    >>> [end.hour for end in hours(Clock(3), Clock(20, sure=True))]
    [15, 20]
    """
    if not one.sure and other.sure and one.hour <= 12:
        later = replace(one, hour=one.hour % 12 + 12)
        one = later if later.minutes < other.minutes or other.minutes < one.minutes else one
    elif not one.sure:
        one, pushed = likely(one), one.hour <= 6
        other = replace(other, hour=other.hour + 12) if pushed and other.hour < 12 else other
    if not other.sure and other.minutes <= one.minutes and other.hour <= 12:
        other = replace(other, hour=other.hour % 12 + 12)
    return one, other


def on_day(day: datetime, clock: Clock) -> Span:
    """The moment a clock shows on a day."""
    first = midnight(day) + timedelta(hours=clock.hour, minutes=clock.minute, seconds=clock.second)
    step = timedelta(seconds=1) if clock.grain is Grain.SECOND else timedelta(minutes=1)
    return Span(first, first + step, clock.grain)


def part_of_day(day: datetime, part: Part) -> Span:
    """A part of a day."""
    start = midnight(day)
    return Span(start + timedelta(hours=part[0]), start + timedelta(hours=part[1]), Grain.PART)


def hours_of_day(day: datetime, ends: tuple[Clock, Clock]) -> Span:
    """A stretch of hours of a day; one that ends before it begins runs into the next day."""
    first, last = on_day(day, ends[0]).first, on_day(day, ends[1]).first
    if first and last and last <= first:
        last += timedelta(days=1)
    return Span(first, last, Grain.MINUTE)
