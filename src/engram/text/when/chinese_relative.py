"""Chinese days told from today, parts of longer spans, days counted from others: 昨天, 月底, 三天前."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from engram.text.when.calendars import half_span, midnight, moved, unit_span
from engram.text.when.chinese_days import UNIT, unit_of
from engram.text.when.partials import Partial
from engram.text.when.portions import counted_of, portion
from engram.text.when.rules import Built, Match
from engram.text.when.words import Grain, Span

_HOURS: Final = frozenset({Grain.HOUR, Grain.MINUTE, Grain.SECOND})


def _day_of(match: Match) -> Built:
    month = match.scene.span(match.one("date"))
    if month.grain is not Grain.MONTH or month.first is None:
        return None
    return "date", Partial(month.first.year, month.first.month, match.one("number"))


def _day(match: Match) -> Built:
    day = match.one("number")
    if not 1 <= day <= 31 or re.match(r"[线線楼樓店馆館机機院门門房室车車桌台]", match.rest):
        return None
    return "date", Partial(day=day)


def _today(match: Match) -> Built:
    return "date", unit_span(match.scene.now, Grain.DAY, match.one("day"))


def _weekday_number(match: Match) -> int:
    number: int | None = match.one("number")
    if number is None:
        return 6
    if not 1 <= number <= 7:
        raise ValueError("no such weekday")
    return number - 1


def _shifted_weekday(match: Match) -> Built:
    week = unit_span(match.scene.now, Grain.WEEK, match.one("shift")).first
    return ("date", unit_span(week + timedelta(days=_weekday_number(match)), Grain.DAY)) if week else None


def _weekday_aside(match: Match) -> Built:
    """5月7日星期日."""
    date = match.one("date")
    return ("date", date) if isinstance(date, Partial) and date.day else None


def _weekday(match: Match) -> Built:
    return "date", Partial(weekday=_weekday_number(match))


def _shifted(match: Match) -> Built:
    unit, by = unit_of(match), match.one("shift")
    if unit in _HOURS or unit is Grain.DAY:
        return None
    return "date", unit_span(match.scene.now, unit, by)


def _half(match: Match) -> Built:
    """上半年 is the first half, 上个半年 the half before this one."""
    now, date = match.scene.now, match.one("date")
    by = match.one("shift")
    if match.has("ge"):
        return "date", unit_span(now, Grain.HALF, by)
    if isinstance(date, Partial) and (date.month or date.year is None):
        return None
    year = date.year if isinstance(date, Partial) else now.year
    first = re.search(r"[上前]\s*半年", match.words)
    return "date", half_span(year or now.year, 1 if first else 2)


def _named(match: Match) -> Built:
    date, holiday = match.one("date"), match.one("holiday")
    year = date.year if isinstance(date, Partial) and date.month is None else None
    if date is not None and year is None:
        return None
    return "date", replace(holiday or Partial(season=match.one("season")), year=year)


def _shifted_name(match: Match) -> Built:
    by, now = match.one("shift"), match.scene.now
    year = now.year + by
    return "date", match.scene.span(
        replace(match.one("holiday") or Partial(season=match.one("season")), year=year)
    )


def _these_days(match: Match) -> Built:
    """这几天."""
    today, days = midnight(match.scene.now), timedelta(days=3)
    around = Span(today - days, today + days, Grain.DAY, certain=False)
    return ("range", around) if match.one("shift") == 0 else None


def _same_day(match: Match) -> Built:
    """去年的今天."""
    date, day = match.one("date"), unit_span(match.scene.now, Grain.DAY, match.one("day")).first
    if not isinstance(date, Partial) or date.month or day is None:
        return None
    return "date", Partial(date.year, day.month, day.day)


_WEEK = "zhou [number ri tian]"
_RELATIVE = (
    ("date de? day", _same_day),
    ("day", _today),
    ("shift length", _these_days),
    (f"shift ge? {_WEEK}", _shifted_weekday),
    (f"date {_WEEK}", _weekday_aside),
    (_WEEK, _weekday),
    ("date? de? [shift qian hou] ge? halfyear", _half),
    (f"shift ge? {UNIT}", _shifted),
    ("date de? number ri", _day_of),
    ("date? de? [holiday season]", _named),
    ("shift ge? [holiday season]", _shifted_name),
    ("number ri", _day),
)


def _first_few(match: Match) -> Built:
    whole = match.scene.span(match.one("date"))
    return counted_of(whole, match.one("firstlast") or 1, match.one("length"))


def _portion(match: Match) -> Built:
    """五月初, 年底, 去年年底, 上个月底."""
    date, now, by = match.one("date"), match.scene.now, match.one("shift") or 0
    unit = Grain.YEAR if "年" in match.words else Grain.MONTH
    whole = match.scene.span(date) if date else unit_span(now, unit, by)
    if whole.grain is Grain.DAY:
        return None
    return "date", replace(portion(whole, match.one("edge", "edgeword"), now), certain=whole.certain)


def _weekend(match: Match) -> Built:
    if match.one("unit") is not Grain.WEEKEND:
        return None
    return "date", replace(unit_span(match.scene.now, Grain.WEEKEND), certain=False)


def _counted(match: Match) -> Built:
    """三天前, 两小时后."""
    sign = _sign(match)
    length, now = match.one("length"), match.scene.now
    start = now
    if match.has("date"):
        day = match.scene.span(match.one("date")).first
        start = day or now
    there = moved(start, length, sign)
    if length.unit in _HOURS:
        return "moment", Span(there, there + timedelta(minutes=1), Grain.MINUTE, length.certain)
    day = midnight(there)
    return "date", Span(day, day + timedelta(days=1), length.unit, length.certain)


def _sign(match: Match) -> int:
    back = match.one("back", "lately")
    return back or (-1 if match.has("ago") or match.has("qian") else 1)


def _within(match: Match) -> Built:
    """三天内."""
    now, length = match.scene.now, match.one("length")
    return "range", Span(now, moved(now, length), length.unit, length.certain)


def _rolling(match: Match) -> Built:
    """过去十年, 未来三天, 之后5分钟."""
    by, length, now = _sign(match), match.one("length"), match.scene.now
    if match.one("lately") == 1:
        return None
    if length.unit in _HOURS:
        ends = sorted([now, moved(now, length, by)])
    else:
        today = midnight(now) + timedelta(days=1 if by > 0 else 0)
        ends = sorted([today, moved(today, length, by)])
    return "range", Span(ends[0], ends[1], length.unit, length.certain)


_COUNTED = (
    ("date de? [firstlast qian] length", _first_few),
    ("date de? [edge edgeword]", _portion),
    ("shift? ge? edgeword", _portion),
    ("unit", _weekend),
    ("length [ago qian later hou]", _counted),
    ("[back lately ago qian later hou] length", _rolling),
    ("length within", _within),
)
RELATIVE = (*_RELATIVE, *_COUNTED)
