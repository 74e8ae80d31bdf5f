"""The calendar: a moment and a unit come in, the span of time they name comes out.

Weeks begin on Monday, seasons are those of the northern half of the world. All moments are naive here.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from functools import cache
from typing import Final, Literal

from engram.text import lexicon

Prefer = Literal["past", "future", "near"]


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
    there = _stepped(moment, length.count * sign, length.unit)
    return moved(there, length.more, sign) if length.more else there


def _stepped(moment: datetime, count: float, unit: Grain) -> datetime:
    if unit in _MONTHS:
        months = count * _MONTHS[unit]
        days = round((months - int(months)) * 30)
        year, month = divmod(moment.year * 12 + moment.month - 1 + int(months), 12)
        day = min(moment.day, monthrange(year, month + 1)[1])
        return moment.replace(year=year, month=month + 1, day=day) + timedelta(days=days)
    return moment + timedelta(seconds=count * _SECONDS.get(unit, 86400 if unit is Grain.PART else 604800))


def midnight(moment: datetime) -> datetime:
    """The start of the day."""
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)


def unit_span(moment: datetime, unit: Grain, by: int = 0) -> Span:
    """The calendar unit that holds `moment`, or the one `by` units later.

    >>> span = unit_span(datetime(2023, 5, 8, 14), Grain.WEEK, -1)
    >>> span.first, span.last
    (datetime.datetime(2023, 5, 1, 0, 0), datetime.datetime(2023, 5, 8, 0, 0))
    """
    step = Grain.WEEK if unit is Grain.WEEKEND else unit
    first = _floor(_stepped(_floor(moment, step), by, step), unit)
    last = first + timedelta(days=2) if unit is Grain.WEEKEND else _stepped(first, 1, unit)
    return Span(first, last, unit)


def _floor(moment: datetime, unit: Grain) -> datetime:
    day = midnight(moment)
    if unit in CLOCK_GRAINS:
        keep = {Grain.HOUR: moment.hour * 3600, Grain.MINUTE: moment.hour * 3600 + moment.minute * 60}
        return day + timedelta(seconds=keep.get(unit, (moment - day).seconds))
    if unit in {Grain.WEEK, Grain.WEEKEND}:
        return day - timedelta(days=day.weekday()) + timedelta(days=5 * (unit is Grain.WEEKEND))
    if unit is Grain.SEASON:
        return _stepped(day.replace(day=1), -(day.month % 3), Grain.MONTH)
    if unit in {Grain.DECADE, Grain.CENTURY}:
        years = _MONTHS[unit] // 12
        return day.replace(year=day.year // years * years, month=1, day=1)
    if unit in _MONTHS:
        return day.replace(day=1, month=(day.month - 1) // _MONTHS[unit] * _MONTHS[unit] + 1)
    return day


def day_span(year: int, month: int, day: int) -> Span:
    """One day."""
    first = datetime(year, month, day)  # noqa: DTZ001 - all moments are naive here
    return Span(first, first + timedelta(days=1), Grain.DAY)


def month_span(year: int, month: int) -> Span:
    """One month."""
    return unit_span(datetime(year, month, 1), Grain.MONTH)  # noqa: DTZ001


def year_span(year: int, unit: Grain = Grain.YEAR) -> Span:
    """One year, or the decade or century that begins with it."""
    return unit_span(datetime(year, 1, 1), unit)  # noqa: DTZ001


def week_of_year(year: int, number: int) -> Span:
    """A week by its ISO number."""
    first = datetime.fromisocalendar(year, number, 1)
    return Span(first, first + timedelta(days=7), Grain.WEEK)


def quarter_span(year: int, number: int) -> Span:
    """One quarter of a year."""
    return unit_span(datetime(year, number * 3 - 2, 1), Grain.QUARTER)  # noqa: DTZ001


def half_span(year: int, number: int) -> Span:
    """One half of a year."""
    return unit_span(datetime(year, number * 6 - 5, 1), Grain.HALF)  # noqa: DTZ001


def season_span(year: int, month: int) -> Span:
    """The season that begins in `month`; winter is named after the year it begins in."""
    return unit_span(datetime(year, month, 1), Grain.SEASON)  # noqa: DTZ001


def nth_weekday(span: Span, number: int, weekday: int) -> Span:
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
    return Span(day, day + timedelta(days=1), Grain.DAY)


@dataclass(frozen=True, slots=True)
class Partial:
    """A day, month or year of which some parts are left unsaid: "7 May", "Friday the 13th", "May"."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    holiday: str | None = None
    season: int | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is left to choose."""
        return self.year is not None


def spans(partial: Partial, now: datetime) -> Iterator[Span]:
    """Every span near `now` that fits, in order."""
    if partial.year is not None:
        yield from _in_year(partial, partial.year)
    elif partial.month or partial.holiday or partial.season:
        for year in range(now.year - 9, now.year + 10):
            yield from _in_year(partial, year)
    elif partial.day:
        month = now.replace(day=1)
        for step in range(-15, 16):
            there = _stepped(month, step, Grain.MONTH)
            yield from _in_year(Partial(None, there.month, partial.day, partial.weekday), there.year)
    elif partial.weekday is not None:
        monday = unit_span(now, Grain.WEEK).first
        for week in (-1, 0, 1):
            if monday:
                day = monday + timedelta(days=7 * week + partial.weekday)
                yield Span(day, day + timedelta(days=1), Grain.DAY)


def _in_year(partial: Partial, year: int) -> Iterator[Span]:
    span = None
    if partial.holiday:
        span = holiday(partial.holiday, year)
    elif partial.season:
        span = season_span(year, partial.season)
    elif partial.month and partial.day:
        if 1 <= year <= 9999 and partial.day <= monthrange(year, partial.month)[1]:
            span = day_span(year, partial.month, partial.day)
    elif partial.month:
        span = month_span(year, partial.month)
    else:
        span = year_span(year)
    by_day = partial.weekday is None or partial.month is None or partial.year is not None
    if span and (by_day or span.first is None or span.first.weekday() == partial.weekday):
        yield span


def chosen(options: list[Span], now: datetime, prefer: Prefer) -> Span | None:
    """The option that fits best: the last one begun, the next one not over, or the nearest."""
    if not options:
        return None
    begun = [span for span in options if span.first and span.first <= now]
    coming = [span for span in options if span.last and span.last > now]
    if prefer == "past" and begun:
        return begun[-1]
    if prefer == "future" and coming:
        return coming[0]
    return min(options, key=lambda span: _distance(span, now))


def _distance(span: Span, now: datetime) -> timedelta:
    first, last = span.first or now, span.last or now
    return max(first - now, now - last, timedelta(0))


def settled(partial: Partial, now: datetime, prefer: Prefer) -> Span | None:
    """The span a partial date most likely means.

    >>> settled(Partial(month=5, day=9), datetime(2018, 1, 7), "past").first
    datetime.datetime(2017, 5, 9, 0, 0)
    """
    found = chosen(list(spans(partial, now)), now, prefer)
    if found is None and partial.weekday is not None and partial.day:
        # The weekday does not fit the day of the month: the day counts.
        return settled(Partial(partial.year, partial.month, partial.day), now, prefer)
    return found


def holiday(name: str, year: int) -> Span | None:
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
        return _days_after(day, int(rest[3]) if len(rest) > 3 else 0)  # noqa: PLR2004
    day_of_year = _table(kind).get(year)
    return _days_after(day_span(year, *day_of_year), int(rest[0]) if rest else 0) if day_of_year else None


def _days_after(span: Span, days: int) -> Span:
    if span.first is None:
        return span
    first = span.first + timedelta(days=days)
    return Span(first, first + timedelta(days=1), Grain.DAY)


def easter(year: int) -> Span:
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
