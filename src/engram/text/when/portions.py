"""Parts of a span: "early May", "the end of the month", "later this week"."""

from __future__ import annotations

from datetime import datetime, timedelta

from engram.text.when.calendars import midnight, moved
from engram.text.when.rules import Built
from engram.text.when.words import Grain, Length, Span


def portion(whole: Span, edge: str, now: datetime) -> Span:
    """The early, mid or late part of a span, or what is left of it.

    >>> span = portion(
    ...     Span(datetime(2023, 5, 1), datetime(2023, 6, 1), Grain.MONTH), "early", datetime(2023, 5, 8)
    ... )
    >>> span.first.day, span.last.day
    (1, 16)
    """
    if whole.first is None or whole.last is None:
        raise ValueError("an open span has no parts")
    if edge == "rest":
        return Span(_from_today(whole.first, whole.last, now), whole.last, whole.grain)
    if edge in {"earlier", "later"}:
        return _half(whole.first, whole.last, whole.grain, now, edge)
    first, last = _cuts(whole.first, whole.last, whole.grain)[edge]
    return Span(first, last, whole.grain)


def _half(first: datetime, last: datetime, grain: Grain, now: datetime, edge: str) -> Span:
    """The earlier half, or what is left of the later one; only today is cut where it is now."""
    if grain is Grain.DAY and not first <= now < last:
        raise ValueError("no half of this day is told apart")
    middle = moved(first, Length(6, Grain.MONTH)) if grain is Grain.YEAR else first + (last - first) // 2
    middle = now if grain is Grain.DAY else midnight(middle)
    if edge == "earlier":
        return Span(first, middle, grain)
    return Span(_from_today(middle, last, now), last, grain)


def _from_today(first: datetime, last: datetime, now: datetime) -> datetime:
    """Today where it lies between, as what is left of this week begins today."""
    return midnight(now) if first < midnight(now) < last else first


def _cuts(first: datetime, last: datetime, grain: Grain) -> dict[str, tuple[datetime, datetime]]:
    if grain in {Grain.YEAR, Grain.DECADE, Grain.CENTURY, Grain.QUARTER}:
        third = Length({Grain.YEAR: 4, Grain.DECADE: 40, Grain.CENTURY: 400}.get(grain, 1), Grain.MONTH)
        one, two = moved(first, third), moved(last, third, -1)
        return {"early": (first, one), "mid": (one, two), "late": (two, last)}
    if grain is Grain.MONTH:
        half = first + timedelta(days=15)
        return {
            "early": (first, half),
            "mid": (first + timedelta(days=9), first + timedelta(days=20)),
            "late": (half, last),
        }
    third_part = (last - first) / 3
    if grain is Grain.WEEK:
        third_part = timedelta(days=3)
        return {
            "early": (first, first + third_part),
            "mid": (first + timedelta(days=2), first + timedelta(days=4)),
            "late": (first + third_part, last),
        }
    one, two = first + third_part, last - third_part
    return {"early": (first, one), "mid": (one, two), "late": (two, last)}


def counted_of(whole: Span, number: int, length: Length) -> Built:
    """The nth unit of a span, or its first or last few: the third week of May, the last days of 2021."""
    if whole.first is None or whole.last is None or number == 0:
        return None
    first, last = whole.first, whole.last
    if length.unit is Grain.WEEK and whole.grain in {Grain.MONTH, Grain.QUARTER, Grain.HALF, Grain.YEAR}:
        first, last = _first_monday(first), _first_monday(last)
        if last > whole.last:
            last -= timedelta(days=7)
    skipped = Length(length.count * (number - 1), length.unit)
    start = moved(first, skipped) if number > 0 else moved(last, length, -1)
    if start >= whole.last:
        return None
    return "date" if length.count == 1 else "range", Span(start, moved(start, length), length.unit)


def _first_monday(day: datetime) -> datetime:
    """Where the weeks of a span begin: a week belongs to the year or month that has its Thursday."""
    nearest = day + timedelta(days=3)
    return nearest - timedelta(days=nearest.weekday())
