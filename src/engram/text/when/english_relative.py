"""English days told from today: "yesterday", "last week", "next Friday", "the week after next"."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

from engram.text.when.calendars import (
    day_span,
    midnight,
    moved,
    unit_span,
)
from engram.text.when.clocks import part_of_day
from engram.text.when.english_days import week_number, weekday_day
from engram.text.when.english_times import has_noun
from engram.text.when.joining import joined
from engram.text.when.partials import Partial
from engram.text.when.rules import Built, Match
from engram.text.when.words import Grain, Length, Span

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


def _is_noun(match: Match) -> bool:
    """Whether the words name a thing that belongs to somebody or something, rather than a time."""
    whose = "" if match.words.startswith("the ") else match.before
    if _OF_SOMETHING.match(match.rest) or (_OWNED.search(whose) and not _IS.search(whose)):
        return True
    if match.one("unit") is not Grain.DAY or not match.one("shift", "past"):
        return False
    # Nobody says "last day" for yesterday; "the next day" is the one after another day.
    return match.one("shift", "past") < 0 or bool(_OWNED_DAY.search(whose) or _OFF.match(match.rest))


def _later_shift(match: Match) -> Built:
    """The second of two: this coming Saturday, this past week."""
    return "shift", match.all("shift", "past")[-1]


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


def _the_other(match: Match) -> Built:
    """The other day: some days ago; the other week."""
    today, unit = midnight(match.scene.now), match.one("unit")
    if unit not in {Grain.DAY, Grain.WEEK} or not match.words.startswith("the "):
        return None
    days = (10, 0) if unit is Grain.DAY else (28, 5)
    first, last = (today - timedelta(days=ago) for ago in days)
    return "range", Span(first, last, unit, certain=False)


def _shifted(match: Match) -> Built:
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


def _counted(match: Match) -> Built:
    """The last 3 months, the next two quarters, 2 upcoming weeks."""
    if match.has("number") and not match.words.endswith("s"):
        return None  # "only 3 next week"
    if _is_noun(match):
        return _NOUN
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


def _shifted_name(match: Match) -> Built:
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


def _named_in_year(match: Match) -> Built:
    """Thanksgiving last year, last year's October, in summer this year."""
    named = match.one("holiday") or Partial(month=match.one("month"), season=match.one("season"))
    year = match.scene.span(match.one("date"))
    if year.grain is not Grain.YEAR or year.first is None or year.last is None:
        return None
    if year.last - year.first < timedelta(days=365):
        return None  # "two years ago" is counted to the day
    return "date", replace(named, year=year.first.year)


def _day_in_year(match: Match) -> Built:
    """3 May last year."""
    day, year = match.all("date")
    if isinstance(day, Span) and isinstance(year, Partial):
        day, year = year, day
    if not isinstance(day, Partial) or day.year or not day.month:
        return None
    span = match.scene.span(year)
    if span.grain is not Grain.YEAR or span.first is None or isinstance(year, Partial):
        return None
    return "date", replace(day, year=span.first.year)


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


def _days_of(match: Match) -> Built:
    """20 to 26 of next month."""
    month = match.scene.span(match.one("date"))
    if month.grain is not Grain.MONTH or month.first is None:
        return None
    one, other = (
        day_span(month.first.year, month.first.month, day) for day in match.all("number", "ordinal")
    )
    return "range", Span(one.first, other.last, Grain.DAY, month.certain)


def _weekday_aside(match: Match) -> Built:
    return "date", match.one("date")


def _year(match: Match) -> Built:
    return "date", Partial(year=match.one("year"))


def _year_alone(match: Match) -> Built:
    """A year without a word before it, unless it counts something: 2000 people."""
    year = match.one("year")
    return (
        None
        if not 1900 <= year <= match.scene.now.year + 20 or has_noun(match.rest)
        else ("date", Partial(year=year))
    )


def _current(match: Match) -> Built:
    return ("date", unit_span(match.scene.now, Grain.DAY)) if match.one("shift") == 0 else None


def _bracketed(match: Match) -> Built:
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
