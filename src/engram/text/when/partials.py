"""Dates with parts left unsaid: a partial date comes in, the span it most likely means comes out."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from engram.text.when.calendars import day_span, month_span, season_span, stepped, unit_span, year_span
from engram.text.when.holidays import holiday
from engram.text.when.words import Grain, Prefer, Span


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
        far = 9 if partial.weekday is not None or (partial.month, partial.day) == _LEAP_DAY else 1
        for year in range(now.year - far, now.year + far + 1):
            yield from _in_year(partial, year)
    elif partial.day:
        month = now.replace(day=1)
        far = 15 if partial.weekday is not None else 2
        for step in range(-far, far + 1):
            there = stepped(month, step, Grain.MONTH)
            yield from _in_year(Partial(None, there.month, partial.day, partial.weekday), there.year)
    elif partial.weekday is not None:
        monday = unit_span(now, Grain.WEEK).first
        for week in (-1, 0, 1):
            if monday:
                day = monday + timedelta(days=7 * week + partial.weekday)
                yield Span(day, day + timedelta(days=1), Grain.DAY)


_LEAP_DAY = (2, 29)


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
