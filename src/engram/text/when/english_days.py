"""English days, months and years by name or figure: "7 May 2023", "Q3 2019", "Friday the 13th"."""

from __future__ import annotations

from datetime import timedelta

from engram.lazily import replace
from engram.text import lexicon, re
from engram.text.when.calendar import (
    Grain,
    Length,
    TimeOfDay,
    day_span,
    half_span,
    hours,
    in_part,
    midnight,
    moved,
    on_day,
    quarter_span,
    twelve,
    unit_span,
    week_of_year,
    year_span,
)
from engram.text.when.rules import Built, DateMatch, Partial, chosen
from engram.text.when.tokens import full_year, vocabulary

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


_DAY = "[number ordinal]"
_OF = "[of in comma]*"


def _day_month(match: DateMatch) -> Built:
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


def _month_year(match: DateMatch) -> Built:
    return "date", Partial(year=match.one("year"), month=match.one("month"))


def _quarter_year(match: DateMatch) -> Built:
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


def _bare_quarter(match: DateMatch) -> Built:
    """By the end of Q3, in the second half: of the year that the tense tells."""
    number, now = match.one("quarter", "halfyear"), match.scene.now
    build = quarter_span if match.has("quarter") else half_span
    years = [build(year, number) for year in range(now.year - 1, now.year + 2)]
    found = chosen(years, now, match.scene.meant)
    return ("date", replace(found, certain=False)) if found else None


def week_number(match: DateMatch) -> Built:
    """Week 27 of last year, by the numbers of ISO 8601."""
    year = match.one("year") or match.scene.now.year
    if match.has("date"):
        span = match.scene.span(match.one("date"))
        if span.grain is not Grain.YEAR or span.first is None:
            return None
        year = span.first.year
    return "date", week_of_year(year, match.one("weeknumber"))


def _decade(match: DateMatch) -> Built:
    years = match.one("decade")
    first = years if years > 99 else years + (2000 if years < 30 else 1900)
    return "date", year_span(first, Grain.DECADE)


def _century(match: DateMatch) -> Built:
    if match.one("unit") is not Grain.CENTURY:
        return None
    return "date", year_span((match.one("ordinal") - 1) * 100, Grain.CENTURY)


def _named(match: DateMatch) -> Built:
    named = match.one("holiday")
    if named is None:
        named = Partial(month=match.one("month"), season=match.one("season"))
    return "date", replace(named, year=match.one("year"))


def _the_year(match: DateMatch) -> Built:
    if match.one("unit") not in {Grain.YEAR, None}:
        return None
    return "date", Partial(year=match.one("year"))


def weekday_day(match: DateMatch) -> Built:
    """Friday 7/6, Friday the 13th, Monday 21: the weekday helps to choose the month."""
    weekday, date, day = match.one("weekday"), match.one("date"), match.one("ordinal", "number")
    if isinstance(date, Partial) and date.day:
        near = match.scene.now.year if match.has("shift") and date.year is None else date.year
        return "date", replace(date, weekday=weekday, year=near)
    if (date is None and match.has("ordinal")) or (day or 0) > 12:
        return ("date", Partial(day=day, weekday=weekday)) if day <= 31 else None
    return None


def _weekday_figures(match: DateMatch) -> Built:
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


# ---------------------------------------------------------------- english times
# English times of day: the rules that grow figures and words into clocks and hours.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


def clock_of(hour: int, minute: int = 0, meridiem: str | None = None) -> TimeOfDay:
    """The clock for an hour and a minute; ValueError when no clock shows them."""
    if hour > 24 or minute > 59:
        raise ValueError("no clock shows this")
    return twelve(TimeOfDay(hour % 24, minute, sure=hour > 12), meridiem)


def _said(match: DateMatch) -> Built:
    clock, decimal, numbers = match.one("clock"), match.one("decimal"), match.all("number")
    meridiem = match.one("meridiem")
    if clock:
        return "clock", twelve(clock, meridiem)
    if decimal:
        return "clock", clock_of(decimal[0], decimal[1], meridiem)
    if len(numbers) == 2 and match.has("dash") and re.search(r"\d", match.words):
        return None  # 8-9 am is a stretch of hours
    hour, minute = (*numbers, 0)[:2]
    return "clock", clock_of(hour, minute, meridiem)


def _edge_of_day(match: DateMatch) -> Built:
    first, last = match.one("part")
    edge = match.one("edge")
    if edge == "mid":
        return "clock", TimeOfDay(0 if last == 24 else (first + last) // 2, sure=True)
    half = (first + last) // 2
    return "part", (first, half) if edge == "early" else (half, last)


def _past(match: DateMatch) -> Built:
    """A quarter to five, half past three, 20 minutes past eight."""
    unit, numbers, clock = match.one("unit"), match.all("number"), match.one("clock")
    if unit not in {Grain.QUARTER, Grain.MINUTE, None} or (match.has("to") and unit is None):
        return None
    minutes = 15 if unit is Grain.QUARTER else 30 if match.has("half") else numbers[0]
    if minutes >= 60 or (len(numbers) < 2 and unit is None and not match.has("half") and clock is None):
        return None
    hour = (clock.hour if clock else numbers[-1]) * 60
    total = hour + (-minutes if match.has("to") else minutes)
    return "clock", clock_of(total // 60 % 24, total % 60, match.one("meridiem"))


def _end(value: object) -> TimeOfDay:
    if isinstance(value, TimeOfDay):
        return value
    if isinstance(value, tuple):
        return clock_of(value[0], value[1])
    return clock_of(int(str(value)))


def _hours(match: DateMatch) -> Built:
    one, other = (_end(value) for value in match.all("clock", "number", "decimal"))
    return "hours", hours(one, other)


def _for_length(match: DateMatch) -> Built:
    start, length = _end(match.one("clock", "number")), match.one("length")
    if length.unit not in {Grain.HOUR, Grain.MINUTE}:
        return None
    begin = on_day(match.scene.now, start).first
    end = moved(begin, length) if begin else None
    return ("hours", (start, TimeOfDay(end.hour, end.minute, sure=True))) if end else None


def _at(match: DateMatch) -> Built:
    """At 4, at seven twenty-seven, at 17.30; not "at 5 places"."""
    decimal, numbers = match.one("decimal"), match.all("number")
    if has_noun(match.rest):
        return None
    if decimal:
        return "clock", clock_of(decimal[0], decimal[1])
    if len(numbers) == 2 and (numbers[1] < 10 or (match.has("dash") and re.search(r"\d", match.words))):
        return None
    return ("clock", clock_of(*numbers)) if 1 <= numbers[0] <= 12 or len(numbers) == 2 else None


def has_noun(rest: str) -> bool:
    """Whether a text goes on with a word that a number before it would count."""
    word = re.match(r"[ -]?([A-Za-z]+)", rest)
    return word is not None and word[1].lower() not in lexicon.words("stop_words") | vocabulary().keys()


def narrowed(match: DateMatch) -> Built:
    """Nine in the morning, evening at seven."""
    clock, part = match.one("clock"), match.one("part")
    return "clock", in_part(clock, part)


def narrowed_hours(match: DateMatch) -> Built:
    """Five to seven in the morning."""
    ends, part = match.one("hours"), match.one("part")
    return "hours", (in_part(ends[0], part), in_part(ends[1], part))


def plain_hours(match: DateMatch) -> Built:
    """Two numbers beside a day: Monday 3-8, between 7 and 9 last night."""
    one, other = match.all("number")
    return ("hours", hours(clock_of(one), clock_of(other))) if one <= 24 and other <= 24 else None


_END = "[clock number decimal]"
TIMES = (
    ("number dash? number meridiem", _said),
    ("[number decimal clock] meridiem", _said),
    ("number dash? number? oclock meridiem?", _said),
    ("[number clock] ish", _said),
    ("edge part", _edge_of_day),
    ("a? unit [past to] number oclock? meridiem?", _past),
    ("half past number oclock? meridiem?", _past),
    ("number unit? [past to] [number clock] oclock? meridiem?", _past),
    (f"[from between] {_END} [to dash and] clock", _hours),
    ("clock [to dash] [clock number decimal]", _hours),
    ("[number decimal] [to dash] clock", _hours),
    ("from [clock number] of length", _for_length),
    ("of? length from clock", _for_length),
    ("of? length from number", _for_length),
    ("at the? number dash? number", _at),
    ("at the? [number decimal]", _at),
)


# ---------------------------------------------------------------- english lengths
# English lengths of time and what comes again: "an hour and a half", "every other week".


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


def _set(match: DateMatch) -> Built:
    if match.has("any") and match.one("unit") not in {Grain.WEEKEND, None}:
        return None
    return "set", None


def _length(match: DateMatch) -> Built:
    unit = match.one("unit")
    number = match.one("number", "vague")
    decimal = match.one("decimal")
    count = decimal[2] if decimal else 1 if number is None else number
    certain = not match.has("vague") or (match.one("vague") == 2 and match.has("a"))
    return "length", Length(count, unit, certain=certain)


def _and_half(match: DateMatch) -> Built:
    units = match.all("unit")
    count = match.one("number") or 0
    if match.has("half"):
        halved = None if count else _HALVES.get(units[0])
        return "length", halved or Length(count + 0.5, units[0])
    return ("length", Length(count + 0.25, units[1])) if units[0] is Grain.QUARTER else None


_HALVES = {
    Grain.YEAR: Length(6, Grain.MONTH),
    Grain.DAY: Length(12, Grain.HOUR),
    Grain.HOUR: Length(30, Grain.MINUTE),
}


def _fortnights(match: DateMatch) -> Built:
    return "length", Length(2 * (match.one("number") or 1), Grain.WEEK)


def _nights(match: DateMatch) -> Built:
    return "length", Length(match.one("number"), Grain.DAY)


def _sum(match: DateMatch) -> Built:
    one, other = match.all("length")
    order = list(Grain)
    if one.more or order.index(one.unit) <= order.index(other.unit):
        return None
    return "length", replace(one, more=other)


def _weekdays_ago(match: DateMatch) -> Built:
    """Two Mondays ago."""
    today, weekday = midnight(match.scene.now), match.one("weekdays")
    last = today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    return "date", unit_span(last - timedelta(days=7 * (match.one("number") - 1)), Grain.DAY)


LENGTHS = (
    ("every other? [number ordinal]? [unit weekday part month season fortnight nights holiday]", _set),
    ("any [unit parts]", _set),
    ("number? times a unit", _set),
    ("number weekdays ago", _weekdays_ago),
    ("[weekdays parts set]", _set),
    ("number and a? half unit", _and_half),
    ("number unit and a? half", _and_half),
    ("number and? a unit unit", _and_half),
    ("half a? unit", _and_half),
    ("a? vague of? more? unit", _length),
    ("[number decimal] more? dash? unit", _length),
    ("a unit", _length),
    ("[number a] fortnight", _fortnights),
    ("number nights", _nights),
    ("(?<![shift past]) length and? length", _sum),
    ("(?<=[shift past]) length and? length(?! [ago later])", _sum),
)
