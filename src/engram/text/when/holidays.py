"""Holidays: a name and a year come in, the day comes out. Names, rules and tables are in a data file."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

from datetime import timedelta
from functools import cache

from engram.text import lexicon
from engram.text.when.calendars import day_span, month_span, nth_weekday
from engram.text.when.words import Grain, Span


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
        return _days_after(day, int(rest[3]) if len(rest) > 3 else 0)
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
