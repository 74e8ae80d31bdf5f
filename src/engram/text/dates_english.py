"""English days, weeks, months and years: the rules that grow words into dates."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache
from typing import Any

from engram.text.calendars import (
    day_span,
    half_span,
    midnight,
    moved,
    nth_weekday,
    quarter_span,
    unit_span,
    week_of_year,
    year_span,
)
from engram.text.clocks import part_of_day
from engram.text.dates_joining import joined
from engram.text.dates_portions import counted_of, portion
from engram.text.dates_rules import Built, Match, Rule, table
from engram.text.dates_times import has_noun
from engram.text.dates_tokens import full_year
from engram.text.partials import Partial
from engram.text.when import Grain, Length, Span

_DAY = "[number ordinal]"
_OF = "[of in comma]*"


@cache
def rules() -> tuple[Rule, ...]:
    """The rules in the order they are applied."""
    return table(
        [
            (f"every other? {_DAY}? [unit weekday part month season fortnight nights holiday]", _set),
            ("any [unit parts]", _set),
            ("times a unit", _set),
            ("[weekdays parts set]", _set),
            *_LENGTHS,
            *_DAYS,
            *_RELATIVE,
            *_COUNTED,
        ]
    )


def _set(match: Match) -> Built:
    if match.has("any") and match.one("unit") not in {Grain.WEEKEND, None}:
        return None
    return "set", None


# How long


def _length(match: Match) -> Built:
    unit = match.one("unit")
    number = match.one("number", "vague")
    decimal = match.one("decimal")
    count = decimal[2] if decimal else 1 if number is None else number
    certain = not match.has("vague") or (match.one("vague") == 2 and match.has("a"))
    return "length", Length(count, unit, certain=certain)


def _and_half(match: Match) -> Built:
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


def _fortnights(match: Match) -> Built:
    return "length", Length(2 * (match.one("number") or 1), Grain.WEEK)


def _nights(match: Match) -> Built:
    return "length", Length(match.one("number"), Grain.DAY)


def _sum(match: Match) -> Built:
    one, other = match.all("length")
    order = list(Grain)
    if one.more or order.index(one.unit) <= order.index(other.unit):
        return None
    return "length", replace(one, more=other)


_LENGTHS = (
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


# Days, months and years by name or figure


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


def _week_number(match: Match) -> Built:
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


def _weekday_day(match: Match) -> Built:
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
    fits = any(
        day_span(y, month, day).first.weekday() == match.one("weekday") for y in (year - 1, year, year + 1)
    )  # type: ignore[union-attr]
    hours_too = not decimal and (month < day or month == 12)
    if hours_too or (not fits and not (decimal and match.has("shift"))):
        return None
    year_said = match.scene.now.year if match.has("shift") else None
    return "date", Partial(year_said, month, day, weekday=match.one("weekday"))


def _weekday_aside(match: Match) -> Built:
    return "date", match.one("date")


def _year(match: Match) -> Built:
    return "date", Partial(year=match.one("year"))


def _year_alone(match: Match) -> Built:
    """A year without a word before it, unless it counts something: 2000 people."""
    year = match.one("year")
    return None if not 1900 <= year < 2100 or has_noun(match.rest) else ("date", Partial(year=year))


def _current(match: Match) -> Built:
    return ("date", unit_span(match.scene.now, Grain.DAY)) if match.one("shift") == 0 else None


def _bracketed(match: Match) -> Built:
    dates = match.all("date")
    return "date", dates[-1]


_DAYS = (
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
    (f"weeknumber {_OF} the? year", _week_number),
    (f"[holiday season] {_OF} year", _named),
    ("unit of? year", _the_year),
    ("the? decade", _decade),
    ("the? ordinal dash? unit", _century),
    ("shift? weekday number dash number", _weekday_figures),
    ("shift? weekday decimal", _weekday_figures),
    (f"weekday comma? the? [date {_DAY[1:-1]}]", _weekday_day),
)


# Days told from today


def _later_shift(match: Match) -> Built:
    """This coming Saturday, this past week."""
    return "shift", match.all("shift", "past")[-1]


def _counted_ago(match: Match) -> Built:
    """A week ago yesterday."""
    day = unit_span(match.scene.now, Grain.DAY, match.one("day")).first
    return _from(match, day, -1)


def _today(match: Match) -> Built:
    return "date", unit_span(match.scene.now, Grain.DAY, match.one("day"))


def _beside(match: Match) -> Built:
    """The day before yesterday, the week after next."""
    unit, step = match.one("unit"), 1 if match.has("after") else -1
    if match.has("day"):
        return (
            ("date", unit_span(match.scene.now, unit, match.one("day") + step)) if unit is Grain.DAY else None
        )
    shift = match.one("shift")
    return ("date", unit_span(match.scene.now, unit, 2 * step)) if shift == step else None


def _beside_part(match: Match) -> Built:
    """The night before last."""
    step = 1 if match.has("after") else -1
    day = unit_span(match.scene.now, Grain.DAY, 2 * step).first
    return ("moment", part_of_day(day, match.one("part"))) if day and match.one("shift") == step else None


def _beside_date(match: Match) -> Built:
    """The day after Thanksgiving, the week before Christmas."""
    date = match.one("holiday", "date")
    start, unit = match.scene.span(date).first, match.one("unit")
    by = 1 if match.has("after") else -1
    return ("date", unit_span(start, unit, by)) if start and unit in _CALENDAR else None


_CALENDAR = frozenset({Grain.DAY, Grain.WEEK, Grain.WEEKEND, Grain.MONTH, Grain.YEAR})


def _shifted(match: Match) -> Built:
    """This week, last month, next hour."""
    by, unit, now = match.one("shift", "past"), match.one("unit"), match.scene.now
    if match.has("fortnight"):
        return _rolling(match, Length(2, Grain.WEEK))
    if unit in {Grain.HOUR, Grain.MINUTE, Grain.SECOND}:
        return _rolling(match, Length(1, unit)) if by else None
    told = match.words.startswith("the ") and (unit is Grain.DAY or "following" in match.words)
    return "date", replace(
        unit_span(now, unit, by), certain=not told
    )  # "the next day" is told from another day


def _counted(match: Match) -> Built:
    """The last 3 months, the next two quarters, 2 upcoming weeks."""
    if match.has("number") and not match.words.endswith("s"):
        return None  # "only 3 next week"
    return _rolling(match, match.one("length") or Length(match.one("number"), match.one("unit")))


def _rolling(match: Match, length: Length) -> Built:
    by, now = match.one("shift", "past"), match.scene.now
    if not by:
        return None
    if length.unit in {Grain.QUARTER, Grain.WEEKEND, Grain.DECADE, Grain.CENTURY}:
        here = unit_span(now, length.unit, 1 if by > 0 else 0).first
        ends = sorted([here, moved(here, length, by)]) if here else [now, now]
    elif length.unit in {Grain.HOUR, Grain.MINUTE, Grain.SECOND}:
        ends = sorted([now, moved(now, length, by)])
    else:
        today = midnight(now) + timedelta(days=1 if by > 0 else 0)
        ends = sorted([today, moved(today, length, by)])
    return "range", Span(ends[0], ends[1], length.unit, length.certain)


def _shifted_weekday(match: Match) -> Built:
    """Last Friday is the latest one before today, next Friday the first one after it."""
    by, weekday = match.one("shift", "past"), match.one("weekday")
    today = midnight(match.scene.now)
    if by == 0:
        day = today + timedelta(days=weekday - today.weekday())
    elif by > 0:
        day = today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
    else:
        day = today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    return "date", unit_span(day, Grain.DAY)


def _shifted_name(match: Match) -> Built:
    """Last May, this summer, next Easter, this 5/12."""
    by, now = match.one("shift", "past"), match.scene.now
    named = match.one("holiday", "date")
    if named is None:
        named = Partial(month=match.one("month"), season=match.one("season"))
    if not isinstance(named, Partial) or named.year:
        return None
    found = [match.scene.span(replace(named, year=year)) for year in range(now.year - 2, now.year + 3)]
    if by == 0:
        return "date", found[2]
    past = [span for span in found if span.last and span.last <= now]
    coming = [span for span in found if span.first and span.first > now]
    return "date", past[-1] if by < 0 else coming[0]


def _in_week(match: Match) -> Built:
    """Monday of next week; next week on Monday."""
    week = match.scene.span(match.one("date"))
    if week.grain is not Grain.WEEK or week.first is None:
        return None
    return "date", unit_span(week.first + timedelta(days=match.one("weekday")), Grain.DAY)


def _in_week_timed(match: Match) -> Built:
    """Wednesday evening next week."""
    day = _in_week(match)
    return joined(match.but(date=day[1])) if day else None


def _day_of(match: Match) -> Built:
    """The 21st of this month."""
    month = match.scene.span(match.one("date"))
    if month.grain is not Grain.MONTH or month.first is None:
        return None
    return "date", day_span(month.first.year, month.first.month, match.one("ordinal", "number"))


_RELATIVE = (
    ("shift [shift past]", _later_shift),
    ("length ago day", _counted_ago),
    ("the? unit [before after] day", _beside),
    ("the part [before after] shift", _beside_part),
    ("the? unit [before after] shift", _beside),
    ("day", _today),
    ("the? [shift past] length(?! [of in] the? [date year month shift unit])", _counted),
    ("the? number shift unit", _counted),
    ("the? [shift past] calendar? [unit fortnight](?! of the? [date year month])", _shifted),
    (f"{_OF} weeknumber {_OF} date", _week_number),
    ("weeknumber", _week_number),
    ("the? [shift past] weekday comma? the? date", _weekday_day),
    ("the? [shift past] weekday(?! [of in] the? [date month unit year])", _shifted_weekday),
    ("[shift past] [month season holiday date]", _shifted_name),
    ("weekday [of in on comma dash]* the? date", _in_week),
    ("weekday at? [part clock hours] [of in on comma]* the? date", _in_week_timed),
    ("date [of in on comma dash]* weekday", _in_week),
    (f"the? {_DAY} {_OF} date", _day_of),
    ("date open date shut", _bracketed),
    ("date open weekday shut", _weekday_aside),
    ("(?<=[in of since from to before after by between edge edgenoun]) year", _year),
    ("year", _year_alone),
    ("shift datum", _current),
)


# Parts of longer spans, and days counted from others


def _whole(match: Match) -> Span:
    """The span after "of": a date, or "the month", which is this month."""
    date = match.one("date", "month")
    if date is not None:
        return match.scene.span(Partial(month=date) if isinstance(date, int) else date)
    return unit_span(match.scene.now, match.all("unit")[-1])


def _nth(match: Match) -> Built:
    """The first Monday of next month, the third week of 2018, the last day of May."""
    whole, number = _whole(match), match.one("ordinal", "shift")
    if match.has("weekday"):
        return "date", nth_weekday(whole, number, match.one("weekday"))
    unit = match.one("unit")
    return counted_of(whole, number, Length(1, unit))


def _first_few(match: Match) -> Built:
    """The first two weeks of 2021, the last three days of May."""
    number = match.one("ordinal", "shift")
    return counted_of(_whole(match), number, match.one("length")) if number in {1, -1} else None


def _portion(match: Match) -> Built:
    """Early May, the end of the month, later this year, the rest of the week."""
    whole = _whole(match)
    if match.has("edge") and whole.grain is Grain.DAY:
        return None
    edge = match.one("edge", "edgenoun")
    if edge is None:
        edge = "rest" if match.has("rest") else "later" if match.has("later") else "earlier"
    return "date", portion(whole, edge, match.scene.now)


def _holiday_weekend(match: Match) -> Built:
    """Labor Day weekend reaches from Saturday to the holiday, that of Thanksgiving from the holiday to Sunday."""
    named = match.one("holiday", "date")
    if match.one("unit") is not Grain.WEEKEND or not isinstance(named, Partial) or not named.holiday:
        return None
    day = match.scene.span(named)
    if day.first is None or day.last is None:
        return None
    weekend = unit_span(day.first - timedelta(days=3), Grain.WEEKEND)
    if weekend.first is None or weekend.last is None:
        return None
    return "range", Span(min(day.first, weekend.first), max(day.last, weekend.last), Grain.WEEKEND)


def _the_weekend(match: Match) -> Built:
    if match.one("unit") is not Grain.WEEKEND:
        return None
    return "date", replace(unit_span(match.scene.now, Grain.WEEKEND), certain=False)


def _nth_timed(match: Match) -> Built:
    """The first Monday 1pm to 3pm of next month."""
    day = nth_weekday(_whole(match), match.one("ordinal", "shift"), match.one("weekday"))
    return joined(match.but(date=day))


def _half(match: Match) -> Built:
    """The first half of 2022."""
    whole, number = _whole(match), match.one("ordinal")
    if whole.first is None or number not in {1, 2}:
        return None
    if whole.grain is Grain.YEAR:
        return "date", half_span(whole.first.year, number)
    return "date", portion(whole, "earlier" if number == 1 else "later", whole.first)


def _ago(match: Match) -> Built:
    return _from(match, match.scene.now, -1)


def _hence(match: Match) -> Built:
    return _from(match, match.scene.now, 1)


def _counted_from(match: Match) -> Built:
    """Three months after Easter, two days before yesterday, a week from now."""
    sign = -1 if match.has("before") else 1
    if match.has("now"):
        return _from(match, match.scene.now, sign)
    date = match.one("date", "month", "weekday", "holiday")
    if isinstance(date, int):
        date = Partial(month=date) if match.has("month") else Partial(weekday=date)
    if isinstance(date, Partial) and not date.whole:
        date = match.scene.span(date) if match.scene.prefer != "near" else _coming(match, date)
    span = match.scene.span(date)
    return _from(match, span.first, sign) if span.first else None


def _coming(match: Match, date: Partial) -> Span:
    return replace(match.scene, prefer="future").span(date)


def _from(match: Match, start: Any, sign: int) -> Built:
    length: Length = match.one("length")
    there = moved(start, length, sign)
    if length.unit in {Grain.HOUR, Grain.MINUTE, Grain.SECOND}:
        return "moment", Span(there, there + timedelta(minutes=1), Grain.MINUTE, length.certain)
    day = midnight(there)
    if match.has("more") or match.has("less"):
        return "range", _at_most(midnight(start), day, sign, more=match.has("more"))
    return "date", Span(day, day + timedelta(days=1), length.unit, length.certain)


def _at_most(start: Any, day: Any, sign: int, *, more: bool) -> Span:
    """More than a week ago is open; less than a week ago lies between."""
    if more:
        return Span(None, day, Grain.DAY) if sign < 0 else Span(day, None, Grain.DAY)
    return Span(min(start, day), max(start, day), Grain.DAY)


def _within(match: Match) -> Built:
    now, length = match.scene.now, match.one("length")
    return "range", Span(now, moved(now, length), length.unit)


def _starting(match: Match) -> Built:
    span, length = match.scene.span(match.one("date")), match.one("length")
    return ("range", Span(span.first, moved(span.first, length), length.unit)) if span.first else None


def _weekday_near(match: Match) -> Built:
    """Monday two weeks from now: the Monday of that week, which begins on Sunday in this way of speaking."""
    day = match.scene.span(match.one("date")).first
    if day is None:
        return None
    sunday = day - timedelta(days=(day.weekday() + 1) % 7)
    return "date", unit_span(sunday + timedelta(days=(match.one("weekday") + 1) % 7), Grain.DAY)


def _plain_name(match: Match) -> Built:
    season, month, holiday = match.one("season"), match.one("month"), match.one("holiday")
    return "date", holiday or Partial(month=month, season=season)


def _plain_weekday(match: Match) -> Built:
    return "date", Partial(weekday=match.one("weekday"))


def _whole_of(pattern: str) -> str:
    return f"{pattern} the? [date month unit holiday]"


_FROM = "[date month weekday holiday now]"
_COUNTED = (
    (_whole_of("the? [ordinal shift] weekday [of in]"), _nth),
    (_whole_of("the? [ordinal shift] unit [of in]"), _nth),
    (_whole_of("the? [ordinal shift] length [of in]"), _first_few),
    (_whole_of("the? ordinal half of"), _half),
    ("the unit [before after] [holiday date]", _beside_date),
    (_whole_of("the? edgenoun of?"), _portion),
    (_whole_of("the? rest of?"), _portion),
    ("edge dash? in? the? [date month]", _portion),
    ("[later earlier] date", _portion),
    ("[holiday date] unit", _holiday_weekend),
    ("the? unit of [holiday date]", _holiday_weekend),
    ("the? [ordinal shift] weekday [clock hours part] [of in] the? [date month unit]", _nth_timed),
    ("the? unit", _the_weekend),
    ("[more less] than length ago", _ago),
    ("length ago", _ago),
    ("length back", _ago),
    (f"[more less] than length [before after from] the? {_FROM}", _counted_from),
    (f"in? length [before after from since] the? {_FROM}", _counted_from),
    ("length starting on? date", _starting),
    ("length later", _hence),
    ("in length", _hence),
    ("length earlier", _ago),
    ("within the? length", _within),
    ("weekday comma? date", _weekday_near),
    ("date on weekday", _weekday_near),
    ("[holiday season month]", _plain_name),
    ("weekday", _plain_weekday),
)
