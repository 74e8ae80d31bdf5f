"""Chinese: the tables of rules in the order they are applied."""

from __future__ import annotations

from datetime import timedelta
from functools import cache
from typing import Final

from engram.lazily import replace
from engram.text import re
from engram.text.when.calendar import (
    Grain,
    Length,
    TimeOfDay,
    TimeSpan,
    half_span,
    hours,
    in_part,
    midnight,
    moved,
    nth_weekday,
    part_of_day,
    quarter_span,
    unit_span,
    year_span,
)
from engram.text.when.rules import (
    Built,
    DateMatch,
    DateRules,
    Partial,
    after,
    before,
    between,
    counted_of,
    joined,
    narrowed_moment,
    portion,
    recurring,
    since,
    until,
)
from engram.text.when.tokens import full_year

# ---------------------------------------------------------------- chinese days
# Chinese days, months, years and lengths of time by name or figure: 2016年6月1日, 民国三年, 一个半小时.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


_LONGEST_BARE_YEAR = 99


_SETS = (
    ("every [number vague]? ge? yue number ri", recurring),
    ("every [number vague]? ge? [unit nian yue zhou tian part season] [number ri tian]?", recurring),
    ("every [number vague]? ge? ri", recurring),
)


# Years


def _year(match: DateMatch) -> Built:
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


def _era(match: DateMatch) -> Built:
    return "date", Partial(year=match.one("era") + (match.one("number") or 1))


def _decade(match: DateMatch) -> Built:
    numbers = match.all("number", "year")
    century = numbers[0] - 1 if len(numbers) == 2 else 19 if numbers[0] >= 30 else 20
    first = numbers[-1] if numbers[-1] >= 1000 else century * 100 + numbers[-1]
    return "date", year_span(first, Grain.DECADE)


def _century(match: DateMatch) -> Built:
    if match.one("unit") is not Grain.CENTURY:
        return None
    return "date", year_span((match.one("number") - 1) * 100, Grain.CENTURY)


def _year_word(match: DateMatch) -> Built:
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


def _length(match: DateMatch) -> Built:
    unit = unit_of(match)
    if unit is Grain.MONTH and not match.has("ge") and not match.has("half"):
        return None  # 三月 is March
    count = match.one("number") or 0
    vague = match.has("vague")
    return "length", Length(
        count + 0.5 * match.has("half") if count or not vague else 3, unit, certain=not vague
    )


def unit_of(match: DateMatch) -> Grain:
    """The unit a match names."""
    names = {
        "nian": Grain.YEAR,
        "yue": Grain.MONTH,
        "zhou": Grain.WEEK,
        "tian": Grain.DAY,
        "halfyear": Grain.HALF,
    }
    return next((unit for name, unit in names.items() if match.has(name)), match.one("unit"))


def _sum(match: DateMatch) -> Built:
    one, other = match.all("length")
    return None if one.more else ("length", replace(one, more=other))


def _quarter(match: DateMatch) -> Built:
    date = match.one("date")
    if match.one("unit") not in {Grain.QUARTER, None}:
        return None
    year = match.scene.span(date).first.year if date else match.scene.now.year  # type: ignore[union-attr]
    return "date", replace(quarter_span(year, match.one("number", "quarter")), certain=date is not None)


def _nth(match: DateMatch) -> Built:
    whole = match.scene.span(match.one("date"))
    return counted_of(whole, match.one("number"), Length(1, unit_of(match)))


def _nth_weekday(match: DateMatch) -> Built:
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


def _half_year(_match: DateMatch) -> Built:
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


def _month_day(match: DateMatch) -> Built:
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


# ---------------------------------------------------------------- chinese relative
# Chinese days told from today, parts of longer spans, days counted from others: 昨天, 月底, 三天前.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


_HOURS: Final = frozenset({Grain.HOUR, Grain.MINUTE, Grain.SECOND})


def _day_of(match: DateMatch) -> Built:
    month = match.scene.span(match.one("date"))
    if month.grain is not Grain.MONTH or month.first is None:
        return None
    return "date", Partial(month.first.year, month.first.month, match.one("number"))


def _day(match: DateMatch) -> Built:
    day = match.one("number")
    if not 1 <= day <= 31 or re.match(r"[线線楼樓店馆館机機院门門房室车車桌台]", match.rest):
        return None
    return "date", Partial(day=day)


def _today(match: DateMatch) -> Built:
    return "date", unit_span(match.scene.now, Grain.DAY, match.one("day"))


def _weekday_number(match: DateMatch) -> int:
    number: int | None = match.one("number")
    if number is None:
        return 6
    if not 1 <= number <= 7:
        raise ValueError("no such weekday")
    return number - 1


def _shifted_weekday(match: DateMatch) -> Built:
    week = unit_span(match.scene.now, Grain.WEEK, match.one("shift")).first
    return ("date", unit_span(week + timedelta(days=_weekday_number(match)), Grain.DAY)) if week else None


def _weekday_aside(match: DateMatch) -> Built:
    """5月7日星期日."""
    date = match.one("date")
    return ("date", date) if isinstance(date, Partial) and date.day else None


def _weekday(match: DateMatch) -> Built:
    return "date", Partial(weekday=_weekday_number(match))


def _shifted(match: DateMatch) -> Built:
    unit, by = unit_of(match), match.one("shift")
    if unit in _HOURS or unit is Grain.DAY:
        return None
    return "date", unit_span(match.scene.now, unit, by)


def _half(match: DateMatch) -> Built:
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


def _named(match: DateMatch) -> Built:
    date, holiday = match.one("date"), match.one("holiday")
    year = date.year if isinstance(date, Partial) and date.month is None else None
    if date is not None and year is None:
        return None
    return "date", replace(holiday or Partial(season=match.one("season")), year=year)


def _shifted_name(match: DateMatch) -> Built:
    by, now = match.one("shift"), match.scene.now
    year = now.year + by
    return "date", match.scene.span(
        replace(match.one("holiday") or Partial(season=match.one("season")), year=year)
    )


def _these_days(match: DateMatch) -> Built:
    """这几天."""
    today, days = midnight(match.scene.now), timedelta(days=3)
    around = TimeSpan(today - days, today + days, Grain.DAY, certain=False)
    return ("range", around) if match.one("shift") == 0 else None


def _same_day(match: DateMatch) -> Built:
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


def _first_few(match: DateMatch) -> Built:
    whole = match.scene.span(match.one("date"))
    return counted_of(whole, match.one("firstlast") or 1, match.one("length"))


def _portion(match: DateMatch) -> Built:
    """五月初, 年底, 去年年底, 上个月底."""
    date, now, by = match.one("date"), match.scene.now, match.one("shift") or 0
    unit = Grain.YEAR if "年" in match.words else Grain.MONTH
    whole = match.scene.span(date) if date else unit_span(now, unit, by)
    if whole.grain is Grain.DAY:
        return None
    return "date", replace(portion(whole, match.one("edge", "edgeword"), now), certain=whole.certain)


def _weekend(match: DateMatch) -> Built:
    if match.one("unit") is not Grain.WEEKEND:
        return None
    return "date", replace(unit_span(match.scene.now, Grain.WEEKEND), certain=False)


def _counted(match: DateMatch) -> Built:
    """三天前, 两小时后."""
    sign = _sign(match)
    length, now = match.one("length"), match.scene.now
    start = now
    if match.has("date"):
        day = match.scene.span(match.one("date")).first
        start = day or now
    there = moved(start, length, sign)
    if length.unit in _HOURS:
        return "moment", TimeSpan(there, there + timedelta(minutes=1), Grain.MINUTE, length.certain)
    day = midnight(there)
    return "date", TimeSpan(day, day + timedelta(days=1), length.unit, length.certain)


def _sign(match: DateMatch) -> int:
    back = match.one("back", "lately")
    return back or (-1 if match.has("ago") or match.has("qian") else 1)


def _within(match: DateMatch) -> Built:
    """三天内."""
    now, length = match.scene.now, match.one("length")
    return "range", TimeSpan(now, moved(now, length), length.unit, length.certain)


def _rolling(match: DateMatch) -> Built:
    """过去十年, 未来三天, 之后5分钟."""
    by, length, now = _sign(match), match.one("length"), match.scene.now
    if match.one("lately") == 1:
        return None
    if length.unit in _HOURS:
        ends = sorted([now, moved(now, length, by)])
    else:
        today = midnight(now) + timedelta(days=1 if by > 0 else 0)
        ends = sorted([today, moved(today, length, by)])
    return "range", TimeSpan(ends[0], ends[1], length.unit, length.certain)


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


# ---------------------------------------------------------------- chinese ranges
# Chinese times of day, days with their times, ranges, and ranges with one open end.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


def _clock(match: DateMatch) -> Built:
    hour, *rest = match.all("number")
    if hour > 24:
        return None
    minute = 30 if match.has("half") else rest[0] if rest else 0
    minute = minute * 15 if match.has("ke") else minute
    bare = not rest and not match.has("half") and not match.has("zheng")
    if minute > 59 or (
        bare and match.words.startswith("一") and not re.search(r"[午晚早上晨夜天日在到]\s*$", match.before)
    ):
        return None  # 一点 is "a little"
    return "clock", TimeOfDay(hour % 24, minute, rest[1] if len(rest) > 1 else 0, sure=hour > 12)


def _in_part(match: DateMatch) -> Built:
    clock = match.one("clock")
    part = match.one("part") or {"a": (0, 12), "p": (12, 24)}.get(match.one("meridiem"))
    return ("clock", in_part(clock, part)) if part else ("clock", clock)


def _hours(match: DateMatch) -> Built:
    one, other = match.all("clock")
    return "hours", hours(one, other)


def _day_part(match: DateMatch) -> Built:
    by, first, last = match.one("daypart")
    day = unit_span(match.scene.now, Grain.DAY, by).first
    return ("moment", part_of_day(day, (first, last))) if day else None


def _now(match: DateMatch) -> Built:
    now = match.scene.now
    return "moment", TimeSpan(now, now + timedelta(seconds=1), Grain.SECOND)


def _lately(match: DateMatch) -> Built:
    now = match.scene.now
    ends = sorted([now, now + timedelta(days=30 * match.one("lately"))])
    return "range", TimeSpan(ends[0], ends[1], Grain.MONTH, certain=False)


def _since(match: DateMatch) -> Built:
    """从明天: from then on; but hours that are told with both ends stay what they are."""
    moment = match.one("moment")
    if moment and moment.last - moment.first > timedelta(minutes=1):
        return "moment", moment
    return since(match)


# Clocks come first, as they take figures that would otherwise be days.
TIMES = (
    ("number dian half", _clock),
    ("number dian number ke", _clock),
    ("number dian number fen number unit", _clock),
    ("number dian number fen?", _clock),
    ("number dian zheng?", _clock),
    ("part de? clock", _in_part),
    ("clock meridiem", _in_part),
    ("clock [to dash] clock", _hours),
)
_TIMED = (
    ("now", _now),
    ("daypart", _day_part),
    ("set de? [clock hours part]", recurring),
    ("set and date", recurring),
    ("date de? [clock hours part]", joined),
    ("moment de? [clock hours]", narrowed_moment),
)
_ANY = "[date moment]"
_OPEN = (
    (f"{_ANY} laterincluded", since),
    (f"{_ANY} earlierincluded", until),
    (f"from? {_ANY} onwards", since),
)
_END = "[date moment clock]"
_RANGES = (
    (f"from? {_END} [to dash] {_END} among?", between),
    (f"from? {_END} and {_END} among", between),
    (f"from? [number year] [to dash] {_END} among?", between),
)
_LATE = (
    (f"from {_ANY} [later hou]?", _since),
    (f"until {_ANY}", until),
    (f"{_ANY} [ago qian]", before),
    (f"{_ANY} [later hou]", after),
    ("lately", _lately),
)
RANGES = (*_TIMED, *_OPEN, *_RANGES, *_LATE)


@cache
def rules() -> DateRules:
    """Times of day first, then days, then what is made of both."""
    return DateRules([*TIMES, *DAYS, *RELATIVE, *RANGES])
