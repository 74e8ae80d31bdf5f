"""Chinese days, weeks, months and years: the rules that grow words into dates."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Final

from engram.text.when.calendars import half_span, midnight, moved, quarter_span, unit_span, year_span
from engram.text.when.joining import recurring
from engram.text.when.partials import Partial
from engram.text.when.portions import counted_of, portion
from engram.text.when.rules import Built, Match
from engram.text.when.tokens import full_year
from engram.text.when.words import Grain, Length, Span

_HOURS: Final = frozenset({Grain.HOUR, Grain.MINUTE, Grain.SECOND})
_LONGEST_BARE_YEAR = 99


_SETS = (
    ("every [number vague]? ge? [unit nian yue zhou tian part season] [number ri tian]?", recurring),
    ("every [number vague]? ge? yue number ri", recurring),
    ("every [number vague]? ge? ri", recurring),
)


# Years


def _year(match: Match) -> Built:
    """2016年, 零八年, 98年; but 三年 is how long, and so is 18年 after 了 or before 前."""
    number, written = match.one("number", "year"), match.words
    figures = re.match(r"[\d零〇一二三四五六七八九]+(?=\s*年)", written)
    if number >= 1000 or match.has("year"):
        return "date", Partial(year=number)
    if not figures or len(figures.group()) != 2 or "十" in written or number > _LONGEST_BARE_YEAR:
        return None
    if re.match(r"\s*[以之]?[前后後来內内间間多]", match.rest) and written[0] not in "0零〇":
        return None
    if re.search(r"[了过過有约約近共第这這]\s*$", match.before):
        return None
    return "date", Partial(year=full_year(number))


def _era(match: Match) -> Built:
    return "date", Partial(year=match.one("era") + (match.one("number") or 1))


def _decade(match: Match) -> Built:
    numbers = match.all("number", "year")
    century = numbers[0] - 1 if len(numbers) == 2 else 19 if numbers[0] >= 30 else 20
    first = numbers[-1] if numbers[-1] >= 1000 else century * 100 + numbers[-1]
    return "date", year_span(first, Grain.DECADE)


def _century(match: Match) -> Built:
    if match.one("unit") is not Grain.CENTURY:
        return None
    return "date", year_span((match.one("number") - 1) * 100, Grain.CENTURY)


def _year_word(match: Match) -> Built:
    return "date", Partial(year=match.scene.now.year + match.one("yearword"))


_YEARS = (
    ("[number year] unit number decades", _decade),
    ("[number year] decades", _decade),
    ("number unit", _century),
    ("era [number first] nian", _era),
    ("[number year] nian", _year),
    ("yearword", _year_word),
)


# How long


def _length(match: Match) -> Built:
    unit = _unit(match)
    if unit is Grain.MONTH and not match.has("ge") and not match.has("half"):
        return None  # 三月 is March
    count = match.one("number") or 0
    vague = match.has("vague")
    return "length", Length(3 if vague else count + 0.5 * match.has("half"), unit, certain=not vague)


def _unit(match: Match) -> Grain:
    names = {
        "nian": Grain.YEAR,
        "yue": Grain.MONTH,
        "zhou": Grain.WEEK,
        "tian": Grain.DAY,
        "halfyear": Grain.HALF,
    }
    return next((unit for name, unit in names.items() if match.has(name)), match.one("unit"))


def _sum(match: Match) -> Built:
    one, other = match.all("length")
    return None if one.more else ("length", replace(one, more=other))


def _quarter(match: Match) -> Built:
    date = match.one("date")
    if match.one("unit") not in {Grain.QUARTER, None}:
        return None
    year = match.scene.span(date).first.year if date else match.scene.now.year  # type: ignore[union-attr]
    return "date", quarter_span(year, match.one("number", "quarter"))


def _nth(match: Match) -> Built:
    whole = match.scene.span(match.one("date"))
    return counted_of(whole, match.one("number"), Length(1, _unit(match)))


_UNIT = "[unit nian yue zhou tian]"
_LENGTHS = (
    ("date de? di number ge? [unit nian yue zhou tian]", _nth),
    ("date? de? di? number unit", _quarter),
    (f"[number vague] ge? half? ge? {_UNIT} half?", _length),
    (f"half ge? {_UNIT}", _length),
    ("number ge? halfyear", _length),
    ("length plus? length", _sum),
)


# Days by name or figure


def _month_day(match: Match) -> Built:
    date = match.one("date")
    numbers = match.all("number")
    if isinstance(date, Partial):
        if date.month or date.year is None:
            return None
    elif date is not None:
        return None
    month, day = numbers[0], numbers[1] if len(numbers) > 1 else None
    if not 1 <= month <= 12 or not 1 <= (day or 1) <= 31:
        return None
    return "date", Partial(date.year if date else None, month, day)


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


_DAYS = (
    ("date de? number yue number ri?", _month_day),
    ("date de? number yue", _month_day),
    ("number yue number ri?", _month_day),
    ("number yue", _month_day),
)


# Days told from today


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


def _weekday(match: Match) -> Built:
    return "date", Partial(weekday=_weekday_number(match))


def _shifted(match: Match) -> Built:
    unit, by = _unit(match), match.one("shift")
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


_WEEK = "zhou [number ri tian]"
_RELATIVE = (
    ("day", _today),
    (f"shift ge? {_WEEK}", _shifted_weekday),
    (_WEEK, _weekday),
    ("date? de? [shift qian hou] ge? halfyear", _half),
    (f"shift ge? {_UNIT}", _shifted),
    ("date de? number ri", _day_of),
    ("date? de? [holiday season]", _named),
    ("shift ge? [holiday season]", _shifted_name),
    ("number ri", _day),
)


# Parts of longer spans, and days counted from others


def _first_few(match: Match) -> Built:
    whole = match.scene.span(match.one("date"))
    return counted_of(whole, match.one("firstlast") or 1, match.one("length"))


def _portion(match: Match) -> Built:
    """五月初, 年底, 去年年底, 这个月中旬."""
    date, edge, now = match.one("date"), match.one("edge"), match.scene.now
    unit = Grain.YEAR if "年" in match.words[-2:] else Grain.MONTH
    if date is None and not re.search(r"[年月][初中底末]|旬", match.words):
        return None
    whole = match.scene.span(date) if date else unit_span(now, unit)
    if whole.grain is Grain.DAY:
        return None
    return "date", portion(whole, edge, now)


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
    ("date de? quarter", _quarter),
    ("date de? [firstlast qian] length", _first_few),
    ("date? de? edge", _portion),
    ("length [ago qian later hou]", _counted),
    ("[back lately ago qian later hou] length", _rolling),
)
DAYS = (*_SETS, *_YEARS, *_LENGTHS, *_DAYS, *_RELATIVE, *_COUNTED)
