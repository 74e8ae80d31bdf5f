"""English days, months and years by name or figure: "7 May 2023", "Q3 2019", "Friday the 13th"."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

from dataclasses import replace

from engram.text.when.calendars import (
    day_span,
    half_span,
    quarter_span,
    week_of_year,
    year_span,
)
from engram.text.when.partials import Partial, chosen
from engram.text.when.rules import Built, Match
from engram.text.when.tokens import full_year
from engram.text.when.words import Grain

_DAY = "[number ordinal]"
_OF = "[of in comma]*"


def _day_month(match: Match) -> Built:
    """Every order of day, month and year: the month is named, a year has four figures."""
    days, years = match.all("number", "ordinal"), match.all("year")
    month, day = match.one("month"), days[0]
    year = years[0] if years else None
    if len(days) == 3 and not 15 <= days[1] <= 20:
        return None
    if year is None and len(days) == 3 and 15 <= days[1] <= 20 and days[2] < 100:  # nineteen eighty six
        year = days[1] * 100 + days[2]
    elif year is None and len(days) == 2:  # 5-Aug-16
        year = full_year(days[1])
    if not 1 <= day <= 31:
        return None
    day_span(year or 2000, month, day)  # raises when there is no such day
    return "date", Partial(year=year, month=month, day=day)


def _month_year(match: Match) -> Built:
    return "date", Partial(year=match.one("year"), month=match.one("month"))


def _quarter_year(match: Match) -> Built:
    now = match.scene.now
    year = match.one("year")
    if year is None and match.has("date"):
        span = match.scene.span(match.one("date"))
        year = span.first.year if span.first and span.grain is Grain.YEAR else None
        if year is None:
            return None
    build = quarter_span if match.has("quarter") else half_span
    span = build(year or now.year, match.one("quarter", "halfyear"))
    return "date", replace(span, certain=year is not None)


def _bare_quarter(match: Match) -> Built:
    """By the end of Q3, in the second half: of the year that the tense tells."""
    number, now = match.one("quarter", "halfyear"), match.scene.now
    build = quarter_span if match.has("quarter") else half_span
    years = [build(year, number) for year in range(now.year - 1, now.year + 2)]
    found = chosen(years, now, match.scene.meant)
    return ("date", replace(found, certain=False)) if found else None


def week_number(match: Match) -> Built:
    """Week 27 of last year, by the numbers of ISO 8601."""
    year = match.one("year") or match.scene.now.year
    if match.has("date"):
        span = match.scene.span(match.one("date"))
        if span.grain is not Grain.YEAR or span.first is None:
            return None
        year = span.first.year
    return "date", week_of_year(year, match.one("weeknumber"))


def _decade(match: Match) -> Built:
    years = match.one("decade")
    first = years if years > 99 else years + (2000 if years < 30 else 1900)
    return "date", year_span(first, Grain.DECADE)


def _century(match: Match) -> Built:
    if match.one("unit") is not Grain.CENTURY:
        return None
    return "date", year_span((match.one("ordinal") - 1) * 100, Grain.CENTURY)


def _named(match: Match) -> Built:
    named = match.one("holiday")
    if named is None:
        named = Partial(month=match.one("month"), season=match.one("season"))
    return "date", replace(named, year=match.one("year"))


def _the_year(match: Match) -> Built:
    if match.one("unit") not in {Grain.YEAR, None}:
        return None
    return "date", Partial(year=match.one("year"))


def weekday_day(match: Match) -> Built:
    """Friday 7/6, Friday the 13th, Monday 21: the weekday helps to choose the month."""
    weekday, date, day = match.one("weekday"), match.one("date"), match.one("ordinal", "number")
    if isinstance(date, Partial) and date.day:
        near = match.scene.now.year if match.has("shift") and date.year is None else date.year
        return "date", replace(date, weekday=weekday, year=near)
    if (date is None and match.has("ordinal")) or (day or 0) > 12:
        return ("date", Partial(day=day, weekday=weekday)) if day <= 31 else None
    return None


def _weekday_figures(match: Match) -> Built:
    """Friday 7.6 or 7-6 is a day when that day is a Friday; else 3-8 are hours."""
    decimal, numbers = match.one("decimal"), match.all("number")
    month, day = decimal[:2] if decimal else numbers
    year = match.scene.now.year
    days = (day_span(near, month, day).first for near in (year - 1, year, year + 1))
    fits = any(first is not None and first.weekday() == match.one("weekday") for first in days)
    hours_too = not decimal and (month < day or month == 12)
    if hours_too or (not fits and not (decimal and match.has("shift"))):
        return None
    year_said = match.scene.now.year if match.has("shift") else None
    return "date", Partial(year_said, month, day, weekday=match.one("weekday"))


_TIED = "(?<=[in of by to since from before after edge edgenoun between and shift])"
DAYS = (
    ("year [comma]? month [number ordinal]", _day_month),
    ("year [dash slash] month [dash slash] number", _day_month),
    ("year [dash slash] number [dash slash] month", _day_month),
    ("number [dash slash] month [dash slash] [year number]", _day_month),
    ("month [dash slash] number [dash slash] year", _day_month),
    (f"the? {_DAY} of? month {_OF} year", _day_month),
    (f"the? {_DAY} of? month number number", _day_month),
    (f"month [dash slash]? the? {_DAY} {_OF} year", _day_month),
    (f"month the? {_DAY} number number", _day_month),
    (f"month [dash slash]? the? {_DAY}", _day_month),
    (f"the? {_DAY} of? month", _day_month),
    ("month [of in comma dash]* year", _month_year),
    ("year [of comma]? month", _month_year),
    ("[quarter halfyear] [of in comma dash]* the? year", _quarter_year),
    ("year dash? [quarter halfyear]", _quarter_year),
    (f"{_TIED} [quarter halfyear](?! [of in comma dash]* the? [shift past])", _bare_quarter),
    (f"weeknumber {_OF} the? year", week_number),
    (f"[holiday season] {_OF} year", _named),
    ("unit of? year", _the_year),
    ("the? decade", _decade),
    ("the? ordinal dash? unit", _century),
    ("shift? weekday number dash number", _weekday_figures),
    ("shift? weekday decimal", _weekday_figures),
    (f"weekday comma? the? [date {_DAY[1:-1]}]", weekday_day),
)
