"""The calendar: a moment and a unit come in, the span of time they name comes out.

Weeks begin on Monday, seasons are those of the northern half of the world. All moments are naive here.
"""

from __future__ import annotations

from calendar import monthrange
from datetime import datetime, timedelta
from typing import Final

from engram.text.when.words import Grain, Length, Span

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
    first = _floor(stepped(_floor(moment, step), by, step), unit)
    last = first + timedelta(days=2) if unit is Grain.WEEKEND else stepped(first, 1, unit)
    return Span(first, last, unit)


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
