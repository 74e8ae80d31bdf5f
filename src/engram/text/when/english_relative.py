"""English days told from today: "yesterday", "last week", "next Friday", "the week after next"."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from engram.lazily import replace
from engram.text import re
from engram.text.when.calendar import (
    Grain,
    Length,
    TimeSpan,
    day_span,
    half_span,
    midnight,
    moved,
    nth_weekday,
    part_of_day,
    unit_span,
)
from engram.text.when.english_days import has_noun, week_number, weekday_day
from engram.text.when.rules import Built, DateMatch, Partial, counted_of, joined, portion

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


_DAY = "[number ordinal]"
_OF = "[of in comma]*"


# "my last day at work", "the last week of the course": nouns, not times. "Her" after a verb is whom one met.
_OWNED = re.compile(
    r"(?:\b(?i:my|his|their|our|your|its|whose)|(?:(?:^|[,;.!?]\s*)|\b(?i:is|was|in|on|at|of|for|and|but|during"
    r"|after|before|until|since|from|about|that)\s+)(?i:her)|\b[A-Z][\w-]*(?:['’]s|s['’]))\s+(?i:very\s+)?$"
)
_OWNED_DAY = re.compile(r"(?i)(?:['’]s|s['’]|\bher)\s+(?:very\s+)?$")
_OF_SOMETHING = re.compile(r"(?i)\s+of\s+(?!course\b)")
_IS = re.compile(r"(?i)\b(?:it|that|there|here|what|who|when|he|she|this)['’]s\s+$")
_OFF = re.compile(r"(?i)\s+off\b|[\s-]+(?:delivery|shipping)\b")
_NOUN: Built = ("noun", None)
"""What is read as no time at all."""


def _is_noun(match: DateMatch) -> bool:
    """Whether the words name a thing that belongs to somebody or something, rather than a time."""
    whose = "" if match.words.startswith("the ") else match.before
    if _OF_SOMETHING.match(match.rest) or (_OWNED.search(whose) and not _IS.search(whose)):
        return True
    if match.one("unit") is not Grain.DAY or not match.one("shift", "past"):
        return False
    # Nobody says "last day" for yesterday; "the next day" is the one after another day.
    return match.one("shift", "past") < 0 or bool(_OWNED_DAY.search(whose) or _OFF.match(match.rest))


def _later_shift(match: DateMatch) -> Built:
    """The second of two: this coming Saturday, this past week."""
    return "shift", match.all("shift", "past")[-1]


def _today(match: DateMatch) -> Built:
    return "date", unit_span(match.scene.now, Grain.DAY, match.one("day"))


def _beside(match: DateMatch) -> Built:
    """The day before yesterday, the week after next."""
    unit, step = match.one("unit"), 1 if match.has("after") else -1
    if match.has("day"):
        return (
            ("date", unit_span(match.scene.now, unit, match.one("day") + step)) if unit is Grain.DAY else None
        )
    shift = match.one("shift")
    return ("date", unit_span(match.scene.now, unit, 2 * step)) if shift == step else None


def _beside_part(match: DateMatch) -> Built:
    """The night before last."""
    step = 1 if match.has("after") else -1
    day = unit_span(match.scene.now, Grain.DAY, 2 * step).first
    return ("moment", part_of_day(day, match.one("part"))) if day and match.one("shift") == step else None


def _the_other(match: DateMatch) -> Built:
    """The other day: some days ago; the other week."""
    today, unit = midnight(match.scene.now), match.one("unit")
    if unit not in {Grain.DAY, Grain.WEEK} or not match.words.startswith("the "):
        return None
    days = (10, 0) if unit is Grain.DAY else (28, 5)
    first, last = (today - timedelta(days=ago) for ago in days)
    return "range", TimeSpan(first, last, unit, certain=False)


def _shifted(match: DateMatch) -> Built:
    """Last month, this week, next hour."""
    by, unit, now = match.one("shift", "past"), match.one("unit"), match.scene.now
    if _is_noun(match):
        return _NOUN
    if match.has("fortnight"):
        return _rolling(match, Length(2, Grain.WEEK))
    if unit in {Grain.HOUR, Grain.MINUTE, Grain.SECOND}:
        return _rolling(match, Length(1, unit)) if by else None
    told = (by != 0 and unit is Grain.DAY) or (match.words.startswith("the ") and "following" in match.words)
    return "date", replace(
        unit_span(now, unit, by), certain=not told
    )  # "the next day" is told from another day


def _counted(match: DateMatch) -> Built:
    """The last 3 months, the next two quarters, 2 upcoming weeks."""
    if match.has("number") and not match.words.endswith("s"):
        return None  # "only 3 next week"
    if _is_noun(match):
        return _NOUN
    return _rolling(match, match.one("length") or Length(match.one("number"), match.one("unit")))


def _rolling(match: DateMatch, length: Length) -> Built:
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
    return "range", TimeSpan(ends[0], ends[1], length.unit, length.certain)


def _shifted_weekday(match: DateMatch) -> Built:
    """Last Friday is the latest one before today, next Friday the first one after it."""
    by, weekday = match.one("shift", "past"), match.one("weekday")
    if by and _is_noun(match):
        return _NOUN
    today = midnight(match.scene.now)
    if by == 0:
        day = today + timedelta(days=weekday - today.weekday())
    elif by > 0:
        day = today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
    else:
        day = today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    return "date", unit_span(day, Grain.DAY)


def _shifted_name(match: DateMatch) -> Built:
    """Last May, this summer, next Easter, this 5/12."""
    by, now = match.one("shift", "past"), match.scene.now
    named = match.one("holiday", "date")
    if named is None:
        named = Partial(month=match.one("month"), season=match.one("season"))
    if not isinstance(named, Partial) or named.year:
        return None
    if by and _is_noun(match):
        return _NOUN
    found = [match.scene.span(replace(named, year=year)) for year in range(now.year - 2, now.year + 3)]
    if by == 0:
        return "date", found[2]
    past = [span for span in found if span.last and span.last <= now]
    coming = [span for span in found if span.first and span.first > now]
    return "date", past[-1] if by < 0 else coming[0]


def _named_in_year(match: DateMatch) -> Built:
    """Thanksgiving last year, last year's October, in summer this year."""
    named = match.one("holiday") or Partial(month=match.one("month"), season=match.one("season"))
    year = match.scene.span(match.one("date"))
    if year.grain is not Grain.YEAR or year.first is None or year.last is None:
        return None
    if year.last - year.first < timedelta(days=365):
        return None  # "two years ago" is counted to the day
    return "date", replace(named, year=year.first.year)


def _day_in_year(match: DateMatch) -> Built:
    """3 May last year."""
    day, year = match.all("date")
    if isinstance(day, TimeSpan) and isinstance(year, Partial):
        day, year = year, day
    if not isinstance(day, Partial) or day.year or not day.month:
        return None
    span = match.scene.span(year)
    if span.grain is not Grain.YEAR or span.first is None or isinstance(year, Partial):
        return None
    return "date", replace(day, year=span.first.year)


def _in_week(match: DateMatch) -> Built:
    """Monday of next week; next week on Monday."""
    week = match.scene.span(match.one("date"))
    if week.grain is not Grain.WEEK or week.first is None:
        return None
    return "date", unit_span(week.first + timedelta(days=match.one("weekday")), Grain.DAY)


def _in_week_timed(match: DateMatch) -> Built:
    """Wednesday evening next week."""
    day = _in_week(match)
    return joined(match.but(date=day[1])) if day else None


def _day_of(match: DateMatch) -> Built:
    """The 21st of this month."""
    month = match.scene.span(match.one("date"))
    if month.grain is not Grain.MONTH or month.first is None:
        return None
    return "date", day_span(month.first.year, month.first.month, match.one("ordinal", "number"))


def _days_of(match: DateMatch) -> Built:
    """20 to 26 of next month."""
    month = match.scene.span(match.one("date"))
    if month.grain is not Grain.MONTH or month.first is None:
        return None
    one, other = (
        day_span(month.first.year, month.first.month, day) for day in match.all("number", "ordinal")
    )
    return "range", TimeSpan(one.first, other.last, Grain.DAY, month.certain)


def _weekday_aside(match: DateMatch) -> Built:
    return "date", match.one("date")


def _year(match: DateMatch) -> Built:
    return "date", Partial(year=match.one("year"))


def _year_alone(match: DateMatch) -> Built:
    """A year without a word before it, unless it counts something: 2000 people."""
    year = match.one("year")
    return (
        None
        if not 1900 <= year <= match.scene.now.year + 20 or has_noun(match.rest)
        else ("date", Partial(year=year))
    )


def _current(match: DateMatch) -> Built:
    return ("date", unit_span(match.scene.now, Grain.DAY)) if match.one("shift") == 0 else None


def _bracketed(match: DateMatch) -> Built:
    dates = match.all("date")
    return "date", dates[-1]


_SHIFT = "(?<![date month] own) the? [shift past]"  # this year's last quarter is the last of the year
RELATIVE = (
    ("shift [shift past]", _later_shift),
    ("the? unit [before after] day", _beside),
    ("the part [before after] shift", _beside_part),
    ("the? unit [before after] shift", _beside),
    ("the other [unit part]", _the_other),
    ("day", _today),
    ("the? [shift past] length(?! [of in] the? [date year month shift unit])", _counted),
    ("the? number shift unit", _counted),
    (f"{_SHIFT} calendar? [unit fortnight](?! of the? [date year month shift unit])", _shifted),
    (f"{_OF} weeknumber {_OF} date", week_number),
    ("weeknumber", week_number),
    ("the? [shift past] weekday comma? the? date", weekday_day),
    (f"{_SHIFT} weekday(?! [of in] the? [date month unit year])", _shifted_weekday),
    ("[shift past] [month season holiday date]", _shifted_name),
    ("[holiday season month] [of in comma]* the? date", _named_in_year),
    ("date own? [of in on at comma]* [holiday season month](?! [number ordinal year])", _named_in_year),
    ("date [of in comma]* date", _day_in_year),
    ("weekday [of in on comma dash]* the? date", _in_week),
    ("weekday at? [part clock hours] [of in on comma]* the? date", _in_week_timed),
    ("date [of in on comma dash]* weekday", _in_week),
    (f"[from between]? the? {_DAY} [to dash and] the? {_DAY} [of in] date", _days_of),
    (f"the? {_DAY} {_OF} date", _day_of),
    ("date open date shut", _bracketed),
    ("date open weekday shut", _weekday_aside),
    ("(?<=[in of since from to before after by between edge edgenoun]) year", _year),
    ("year", _year_alone),
    ("shift datum", _current),
)


# ---------------------------------------------------------------- english counted
# English parts of longer spans, and days counted from others: "the end of May", "a week after Easter".


def _whole(match: DateMatch) -> TimeSpan:
    """The span after "of": a date, or "the month", which is this month."""
    date = match.one("date", "month", "holiday")
    if date is not None:
        return match.scene.span(Partial(month=date) if isinstance(date, int) else date)
    return unit_span(match.scene.now, match.all("unit")[-1])


def _nth(match: DateMatch) -> Built:
    """The first Monday of next month, the third week of 2018, the last day of May."""
    whole, number = _whole(match), match.one("ordinal", "shift")
    if match.has("weekday"):
        return "date", nth_weekday(whole, number, match.one("weekday"))
    unit = match.one("unit")
    return counted_of(whole, number, Length(1, unit))


def _owned_nth(match: DateMatch) -> Built:
    """Next month's first Monday, this year's last quarter."""
    return _nth(match) if match.one("ordinal", "shift") else None


def _first_few(match: DateMatch) -> Built:
    """The first two weeks of 2021, the last three days of May."""
    number = match.one("ordinal", "shift")
    return counted_of(_whole(match), number, match.one("length")) if number in {1, -1} else None


def _portion(match: DateMatch) -> Built:
    """Early May, the end of the month, later this year, the rest of the week."""
    whole = _whole(match)
    if match.has("edge") and whole.grain is Grain.DAY:
        return None
    edge = match.one("edge", "edgenoun")
    if edge is None:
        edge = "rest" if match.has("rest") else "later" if match.has("later") else "earlier"
    return "date", replace(portion(whole, edge, match.scene.now), certain=whole.certain)


def _holiday_weekend(match: DateMatch) -> Built:
    """Labor Day weekend reaches from Saturday to the holiday, Thanksgiving's from the holiday to Sunday."""
    named = match.one("holiday", "date")
    if match.one("unit") is not Grain.WEEKEND or not isinstance(named, Partial) or not named.holiday:
        return None
    day = match.scene.span(named)
    if day.first is None or day.last is None:
        return None
    weekend = unit_span(day.first - timedelta(days=3), Grain.WEEKEND)
    if weekend.first is None or weekend.last is None:
        return None
    return "range", TimeSpan(min(day.first, weekend.first), max(day.last, weekend.last), Grain.WEEKEND)


def _unit_of(match: DateMatch) -> Built:
    """The week of 16 September, the month of June."""
    unit, span = match.one("unit"), _whole(match)
    if span.first is None or unit not in {Grain.WEEK, Grain.WEEKEND, Grain.MONTH}:
        return None
    return "date", replace(unit_span(span.first, unit), certain=span.certain)


def _the_weekend(match: DateMatch) -> Built:
    if match.one("unit") is not Grain.WEEKEND:
        return None
    return "date", replace(unit_span(match.scene.now, Grain.WEEKEND), certain=False)


def _nth_timed(match: DateMatch) -> Built:
    """The first Monday 1pm to 3pm of next month."""
    day = nth_weekday(_whole(match), match.one("ordinal", "shift"), match.one("weekday"))
    return joined(match.but(date=day))


def _half(match: DateMatch) -> Built:
    """The first half of 2022."""
    whole, number = _whole(match), match.one("ordinal")
    if whole.first is None or number not in {1, 2}:
        return None
    if whole.grain is Grain.YEAR:
        return "date", half_span(whole.first.year, number)
    return "date", portion(whole, "earlier" if number == 1 else "later", whole.first)


def _beside_date(match: DateMatch) -> Built:
    """The day after Thanksgiving, the week before Christmas."""
    date = match.one("holiday", "date")
    start, unit = match.scene.span(date).first, match.one("unit")
    by = 1 if match.has("after") else -1
    return ("date", unit_span(start, unit, by)) if start and unit in _CALENDAR else None


_CALENDAR = frozenset({Grain.DAY, Grain.WEEK, Grain.WEEKEND, Grain.MONTH, Grain.YEAR})


def _counted_ago(match: DateMatch) -> Built:
    """A week ago yesterday."""
    day = match.scene.span(match.one("date"))
    return _from(match, day.first, -1) if day.grain is Grain.DAY else None


def _ago(match: DateMatch) -> Built:
    return _from(match, match.scene.now, -1)


def _hence(match: DateMatch) -> Built:
    return _from(match, match.scene.now, 1)


def _counted_from(match: DateMatch) -> Built:
    """Three months after Easter, two days before yesterday, a week from now."""
    sign = -1 if match.has("before") else 1
    if match.has("now"):
        return _from(match, match.scene.now, sign)
    date = match.one("date", "month", "weekday", "holiday")
    if isinstance(date, int):
        date = Partial(month=date) if match.has("month") else Partial(weekday=date)
    if isinstance(date, Partial) and not date.whole:
        date = match.scene.span(date) if not match.scene.free else _coming(match, date)
    span = match.scene.span(date)
    return _from(match, span.first, sign) if span.first else None


def _coming(match: DateMatch, date: Partial) -> TimeSpan:
    return replace(match.scene, prefer="future").span(date)


def _from(match: DateMatch, start: Any, sign: int) -> Built:
    length: Length = match.one("length")
    there = moved(start, length, sign)
    if length.unit in {Grain.HOUR, Grain.MINUTE, Grain.SECOND}:
        return "moment", TimeSpan(there, there + timedelta(minutes=1), Grain.MINUTE, length.certain)
    day = midnight(there)
    if match.has("more") or match.has("less"):
        return "range", _at_most(midnight(start), day, sign, more=match.has("more"))
    return "date", TimeSpan(day, day + timedelta(days=1), length.unit, length.certain)


def _at_most(start: Any, day: Any, sign: int, *, more: bool) -> TimeSpan:
    """More than a week ago is open; less than a week ago lies between."""
    if more:
        return TimeSpan(None, day, Grain.DAY) if sign < 0 else TimeSpan(day, None, Grain.DAY)
    return TimeSpan(min(start, day), max(start, day), Grain.DAY)


def _within(match: DateMatch) -> Built:
    now, length = match.scene.now, match.one("length")
    return "range", TimeSpan(now, moved(now, length), length.unit)


def _starting(match: DateMatch) -> Built:
    span, length = match.scene.span(match.one("date")), match.one("length")
    return ("range", TimeSpan(span.first, moved(span.first, length), length.unit)) if span.first else None


def _weekday_near(match: DateMatch) -> Built:
    """Monday two weeks from now: the Monday of that week, which begins on Sunday in this way of speaking."""
    day = match.scene.span(match.one("date")).first
    if day is None:
        return None
    sunday = day - timedelta(days=(day.weekday() + 1) % 7)
    return "date", unit_span(sunday + timedelta(days=(match.one("weekday") + 1) % 7), Grain.DAY)


_ATTRIBUTE = re.compile(r"(?i)\b(?:the|my|our|your|his|her|their|its|a|an|[\w-]+['’]s)\s+$")


def _plain_name(match: DateMatch) -> Built:
    """A month, season or holiday; but "the October invoice" says which invoice, not when."""
    if match.has("month") and _ATTRIBUTE.search(match.before) and re.match(r"[ -][a-z]", match.rest):
        return None
    season, month, holiday = match.one("season"), match.one("month"), match.one("holiday")
    return "date", holiday or Partial(month=month, season=season)


def _plain_weekday(match: DateMatch) -> Built:
    return "date", Partial(weekday=match.one("weekday"))


def _whole_of(pattern: str) -> str:
    return f"{pattern} the? [date month unit holiday]"


_FROM = "[date month weekday holiday now]"
COUNTED = (
    ("length ago date", _counted_ago),
    (_whole_of("the? [ordinal shift] weekday [of in]"), _nth),
    (_whole_of("the? [ordinal shift] unit [of in]"), _nth),
    (_whole_of("the? [ordinal shift] length [of in]"), _first_few),
    ("[date month] own [ordinal shift] [weekday unit]", _owned_nth),
    (_whole_of("the? ordinal half of"), _half),
    ("the unit [before after] [holiday date]", _beside_date),
    (_whole_of("the? edgenoun of?"), _portion),
    (_whole_of("the? rest of?"), _portion),
    ("edge dash? in? the? [date month]", _portion),
    ("[later earlier] date", _portion),
    ("[holiday date] unit", _holiday_weekend),
    ("the? unit of [holiday date]", _holiday_weekend),
    ("the? unit of the? [date month]", _unit_of),
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
    ("in less than length", _within),
    ("weekday comma? date", _weekday_near),
    ("date on weekday", _weekday_near),
    ("[holiday season month]", _plain_name),
    ("weekday", _plain_weekday),
)
