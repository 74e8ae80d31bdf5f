"""Holidays: a name and a year come in, the day comes out. Names, rules and tables are in a data file."""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Final, Literal

from engram.lazily import calendar, dataclass, replace
from engram.text import lexicon

# ---------------------------------------------------------------- words
# The words of time: grains, spans, lengths, and what was found in a text.


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
class TimeSpan:
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
class TimeExpression:
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


# ---------------------------------------------------------------- calendars
# The calendar: a moment and a unit come in, the span of time they name comes out.
#
# Weeks begin on Monday, seasons are those of the northern half of the world. All moments are naive here.


_SECONDS: Final = {Grain.SECOND: 1, Grain.MINUTE: 60, Grain.HOUR: 3600, Grain.DAY: 86400, Grain.WEEK: 604800}
_MONTHS: Final = {
    Grain.MONTH: 1, Grain.QUARTER: 3, Grain.SEASON: 3, Grain.HALF: 6, Grain.YEAR: 12, Grain.DECADE: 120,
    Grain.CENTURY: 1200,
}  # fmt: skip
CLOCK_GRAINS: Final = frozenset({Grain.SECOND, Grain.MINUTE, Grain.HOUR})


def moved(moment: datetime, length: Length, sign: int = 1) -> datetime:
    """`moment` moved by `length`; the day is kept where the month has it.

    >>> moved(datetime(2023, 1, 31), Length(1, Grain.MONTH))
    datetime.datetime(2023, 2, 28, 0, 0)
    >>> moved(datetime(2023, 5, 8), Length(2, Grain.WEEK), -1)
    datetime.datetime(2023, 4, 24, 0, 0)
    """
    there = stepped(moment, length.count * sign, length.unit)
    return moved(there, length.more, sign) if length.more else there


def stepped(moment: datetime, count: float, unit: Grain) -> datetime:
    """`moment` so many units later, or earlier when `count` is below zero."""
    if unit in _MONTHS:
        months = count * _MONTHS[unit]
        days = round((months - int(months)) * 30)
        year, month = divmod(moment.year * 12 + moment.month - 1 + int(months), 12)
        day = min(moment.day, calendar.monthrange(year, month + 1)[1])
        return moment.replace(year=year, month=month + 1, day=day) + timedelta(days=days)
    return moment + timedelta(seconds=count * _SECONDS.get(unit, 86400 if unit is Grain.PART else 604800))


def midnight(moment: datetime) -> datetime:
    """The start of the day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def unit_span(moment: datetime, unit: Grain, by: int = 0) -> TimeSpan:
    """The calendar unit that holds `moment`, or the one `by` units later.

    >>> span = unit_span(datetime(2023, 5, 8, 14), Grain.WEEK, -1)
    >>> span.first, span.last
    (datetime.datetime(2023, 5, 1, 0, 0), datetime.datetime(2023, 5, 8, 0, 0))
    """
    step = Grain.WEEK if unit is Grain.WEEKEND else unit
    first = _floor(stepped(_floor(moment, step), by, step), unit)
    last = first + timedelta(days=2) if unit is Grain.WEEKEND else stepped(first, 1, unit)
    return TimeSpan(first, last, unit)


def _floor(moment: datetime, unit: Grain) -> datetime:
    day = midnight(moment)
    if unit in CLOCK_GRAINS:
        keep = {Grain.HOUR: moment.hour * 3600, Grain.MINUTE: moment.hour * 3600 + moment.minute * 60}
        return day + timedelta(seconds=keep.get(unit, (moment - day).seconds))
    if unit in {Grain.WEEK, Grain.WEEKEND}:
        return day - timedelta(days=day.weekday()) + timedelta(days=5 * (unit is Grain.WEEKEND))
    if unit is Grain.SEASON:
        return stepped(day.replace(day=1), -(day.month % 3), Grain.MONTH)
    if unit in {Grain.DECADE, Grain.CENTURY}:
        years = _MONTHS[unit] // 12
        return day.replace(year=day.year // years * years, month=1, day=1)
    if unit in _MONTHS:
        return day.replace(day=1, month=(day.month - 1) // _MONTHS[unit] * _MONTHS[unit] + 1)
    return day


def day_span(year: int, month: int, day: int) -> TimeSpan:
    """One day."""
    first = datetime(year, month, day)  # noqa: DTZ001 - all moments are naive here
    return TimeSpan(first, first + timedelta(days=1), Grain.DAY)


def month_span(year: int, month: int) -> TimeSpan:
    """One month."""
    return unit_span(datetime(year, month, 1), Grain.MONTH)  # noqa: DTZ001


def year_span(year: int, unit: Grain = Grain.YEAR) -> TimeSpan:
    """One year, or the decade or century that begins with it."""
    return unit_span(datetime(year, 1, 1), unit)  # noqa: DTZ001


def week_of_year(year: int, number: int) -> TimeSpan:
    """A week by its ISO number."""
    first = datetime.fromisocalendar(year, number, 1)
    return TimeSpan(first, first + timedelta(days=7), Grain.WEEK)


def quarter_span(year: int, number: int) -> TimeSpan:
    """One quarter of a year."""
    return unit_span(datetime(year, number * 3 - 2, 1), Grain.QUARTER)  # noqa: DTZ001


def half_span(year: int, number: int) -> TimeSpan:
    """One half of a year."""
    return unit_span(datetime(year, number * 6 - 5, 1), Grain.HALF)  # noqa: DTZ001


def season_span(year: int, month: int) -> TimeSpan:
    """The season that begins in `month`; winter is named after the year it begins in."""
    return unit_span(datetime(year, month, 1), Grain.SEASON)  # noqa: DTZ001


def nth_weekday(span: TimeSpan, number: int, weekday: int) -> TimeSpan:
    """The nth such weekday of a span; -1 is the last one."""
    if span.first is None or span.last is None:
        raise ValueError("an open span has no nth weekday")
    if number > 0:
        day = span.first + timedelta(days=(weekday - span.first.weekday()) % 7 + 7 * (number - 1))
    else:
        end = span.last - timedelta(days=1)
        day = end - timedelta(days=(end.weekday() - weekday) % 7 + 7 * (-number - 1))
    if not span.first <= day < span.last:
        raise ValueError("no such weekday in the span")
    return TimeSpan(day, day + timedelta(days=1), Grain.DAY)


# ---------------------------------------------------------------- lengths
# How long the unit is that an expression speaks of, to tell whole units from parts of them.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


SHORT: Final = frozenset({Grain.SECOND, Grain.MINUTE, Grain.HOUR})
LONGEST: Final = {
    Grain.WEEKEND: timedelta(days=4), Grain.WEEK: timedelta(days=7), Grain.MONTH: timedelta(days=31),
    Grain.QUARTER: timedelta(days=92), Grain.SEASON: timedelta(days=92), Grain.HALF: timedelta(days=184),
    Grain.YEAR: timedelta(days=366), Grain.DECADE: timedelta(days=3653), Grain.CENTURY: timedelta(days=0),
}  # fmt: skip


def is_portion(when: TimeExpression) -> bool:
    """Whether the span is neither a whole unit nor a day: "later this month", "the last month and a half"."""
    first, last = when.first, when.last
    if first is None or last is None or last - first == timedelta(days=1):
        return False
    whole = {Grain.WEEK: first.weekday() == 0, Grain.WEEKEND: first.weekday() == 5}
    shortest = LONGEST[when.grain] - timedelta(days=3 if when.grain is not Grain.WEEK else 0)
    return not whole.get(when.grain, first.day == 1) or (
        when.grain is not Grain.WEEKEND and last - first < shortest
    )


# ---------------------------------------------------------------- clocks
# Times of day: hours as they are said come in, clock times come out.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


@dataclass(frozen=True, slots=True)
class TimeOfDay:
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


def twelve(clock: TimeOfDay, meridiem: str | None) -> TimeOfDay:
    """The clock with its half of the day: "a", "p" or neither.

    >>> twelve(TimeOfDay(3), "p").hour, twelve(TimeOfDay(12), "a").hour
    (15, 0)
    """
    if meridiem is None or clock.hour > 12:
        return clock
    return replace(clock, hour=clock.hour % 12 + (12 if meridiem == "p" else 0), sure=True)


def in_part(clock: TimeOfDay, part: Part) -> TimeOfDay:
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


def likely(clock: TimeOfDay) -> TimeOfDay:
    """The clock when nothing says which half of the day: one to six is after noon."""
    return clock if clock.sure or not 1 <= clock.hour <= 6 else replace(clock, hour=clock.hour + 12)


def hours(one: TimeOfDay, other: TimeOfDay) -> tuple[TimeOfDay, TimeOfDay]:
    """Two ends of a stretch of hours; what one says of the half of the day helps the other.

    >>> [end.hour for end in hours(TimeOfDay(3), TimeOfDay(20, sure=True))]
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


def on_day(day: datetime, clock: TimeOfDay) -> TimeSpan:
    """The moment a clock shows on a day."""
    first = midnight(day) + timedelta(hours=clock.hour, minutes=clock.minute, seconds=clock.second)
    step = timedelta(seconds=1) if clock.grain is Grain.SECOND else timedelta(minutes=1)
    return TimeSpan(first, first + step, clock.grain)


def part_of_day(day: datetime, part: Part) -> TimeSpan:
    """A part of a day."""
    start = midnight(day)
    return TimeSpan(start + timedelta(hours=part[0]), start + timedelta(hours=part[1]), Grain.PART)


def hours_of_day(day: datetime, ends: tuple[TimeOfDay, TimeOfDay]) -> TimeSpan:
    """A stretch of hours of a day; one that ends before it begins runs into the next day."""
    first, last = on_day(day, ends[0]).first, on_day(day, ends[1]).first
    if first and last and last <= first:
        last += timedelta(days=1)
    return TimeSpan(first, last, Grain.MINUTE)


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


def holiday(name: str, year: int) -> TimeSpan | None:
    """The day a holiday falls on, by the rule in the data file.

    >>> holiday("easter", 2018).first, holiday("thanksgiving", 2023).first.day
    (datetime.datetime(2018, 4, 1, 0, 0), 23)
    """
    kind, *rest = _holiday_rules()[name].split()
    if kind == "fixed":
        return day_span(year, int(rest[0]), int(rest[1]))
    if kind == "easter":
        return _days_after(easter(year), int(rest[0]))
    if kind == "nth":
        month, weekday, number = int(rest[0]), int(rest[1]), int(rest[2])
        day = nth_weekday(month_span(year, month), number, weekday)
        return _days_after(day, int(rest[3]) if len(rest) > 3 else 0)
    day_of_year = _table(kind).get(year)
    return _days_after(day_span(year, *day_of_year), int(rest[0]) if rest else 0) if day_of_year else None


def _days_after(span: TimeSpan, days: int) -> TimeSpan:
    if span.first is None:
        return span
    first = span.first + timedelta(days=days)
    return TimeSpan(first, first + timedelta(days=1), Grain.DAY)


def easter(year: int) -> TimeSpan:
    """Easter Sunday of the western churches (the anonymous Gregorian computus)."""
    a, b, c = year % 19, year // 100, year % 100
    d = (19 * a + b - b // 4 - (b - (b + 8) // 25 + 1) // 3 + 15) % 30
    e = (32 + 2 * (b % 4) + 2 * (c // 4) - d - c % 4) % 7
    f = d + e - 7 * ((a + 11 * d + 22 * e) // 451) + 114
    return day_span(year, f // 31, f % 31 + 1)


@cache
def holiday_names() -> dict[str, str]:
    """Every name of every holiday, in lower case, and the name its rule is kept under."""
    names = {}
    for row in lexicon.parts("holidays")["names"]:
        written = [name.strip() for name in row.partition(" = ")[0].split(",")]
        names.update(dict.fromkeys(written, written[0]))
    return names


@cache
def _holiday_rules() -> dict[str, str]:
    rows = (row.partition(" = ") for row in lexicon.parts("holidays")["names"])
    return {written.split(",")[0].strip(): rule for written, _, rule in rows}


@cache
def _table(name: str) -> dict[int, tuple[int, int]]:
    """Days that follow no rule short enough: a year and its month and day."""
    found = {}
    for row in lexicon.parts("holidays")[name.replace("_", " ")]:
        for entry in row.split():
            year, month, day = entry.split("-")
            found[int(year)] = (int(month), int(day))
    return found
