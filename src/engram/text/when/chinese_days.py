"""Chinese days, months, years and lengths of time by name or figure: 2016年6月1日, 民国三年, 一个半小时."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

import re
from dataclasses import replace

from engram.text.when.calendars import nth_weekday, quarter_span, unit_span, year_span
from engram.text.when.joining import recurring
from engram.text.when.partials import Partial
from engram.text.when.portions import counted_of
from engram.text.when.rules import Built, Match
from engram.text.when.tokens import full_year
from engram.text.when.words import Grain, Length

_LONGEST_BARE_YEAR = 99


_SETS = (
    ("every [number vague]? ge? yue number ri", recurring),
    ("every [number vague]? ge? [unit nian yue zhou tian part season] [number ri tian]?", recurring),
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
    unit = unit_of(match)
    if unit is Grain.MONTH and not match.has("ge") and not match.has("half"):
        return None  # 三月 is March
    count = match.one("number") or 0
    vague = match.has("vague")
    return "length", Length(
        count + 0.5 * match.has("half") if count or not vague else 3, unit, certain=not vague
    )


def unit_of(match: Match) -> Grain:
    """The unit a match names."""
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
    return "date", replace(quarter_span(year, match.one("number", "quarter")), certain=date is not None)


def _nth(match: Match) -> Built:
    whole = match.scene.span(match.one("date"))
    return counted_of(whole, match.one("number"), Length(1, unit_of(match)))


def _nth_weekday(match: Match) -> Built:
    """下个月第一个周一, 十月的第二个星期天."""
    now, numbers = match.scene.now, match.all("number")
    if match.has("date"):
        whole = match.scene.span(match.one("date"))
    elif match.has("shift"):
        whole = unit_span(now, Grain.MONTH, match.one("shift"))
    else:
        whole = match.scene.span(Partial(month=numbers.pop(0)))
    if whole.grain is not Grain.MONTH or not all(1 <= number <= 7 for number in numbers):
        return None
    weekday = numbers[1] - 1 if len(numbers) > 1 else 6
    return "date", replace(nth_weekday(whole, numbers[0], weekday), certain=whole.certain)


def _half_year(_match: Match) -> Built:
    return "length", Length(6, Grain.MONTH)


UNIT = "[unit nian yue zhou tian]"
_WEEKDAY = "de? di number ge? zhou [number ri tian]"
_LENGTHS = (
    (f"date {_WEEKDAY}", _nth_weekday),
    (f"shift ge? yue {_WEEKDAY}", _nth_weekday),
    (f"number yue {_WEEKDAY}", _nth_weekday),
    ("date de? di number ge? [unit nian yue zhou tian]", _nth),
    ("date? de? di? number unit", _quarter),
    ("date de? quarter", _quarter),
    (f"number vague ge? {UNIT}", _length),
    (f"[number vague] ge? half? ge? {UNIT} half?", _length),
    (f"half ge? {UNIT}", _length),
    ("number ge? halfyear", _length),
    ("(?<![shift qian hou ge date de]) halfyear", _half_year),
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


_DAYS = (
    ("date de? number yue number ri?", _month_day),
    ("date de? number yue", _month_day),
    ("number yue number ri?", _month_day),
    ("number yue", _month_day),
)
DAYS = (*_SETS, *_YEARS, *_LENGTHS, *_DAYS)
