"""What relative dates meant: "yesterday", said on 8 May 2023, comes in; "7 May 2023" comes out.

Only where it is certain enough and the expression means nothing on another day.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from engram.text import re
from engram.text.when.calendar import LONGEST, SHORT, Grain, TimeExpression, is_portion
from engram.text.when.tokens import chinese_vocabulary, vocabulary
from engram.text.words import HAN

# ---------------------------------------------------------------- chinese written
# Relative dates written out in Chinese: 昨天 becomes 2023年5月7日.


_CHINESE_DAY = re.compile(
    r"^(?:大?[前昨今明后後][天日儿]|(?:[上下]{1,2}|[本这這])[个個]?(?:周|週|星期|礼拜|禮拜)[一二三四五六日天])"
)


def written_out(when: TimeExpression) -> str | None:
    """A relative expression as an absolute one; None when it is best left as it is."""
    first, last = when.first, when.last
    if first is None or last is None:
        said = _CHINESE_DAY.search(when.text)
        edge = first or last
        day = edge - timedelta(days=1) if edge and first is None and not when.text.endswith("前") else edge
        return _chinese_day(day) + when.text[said.end() :] if said and day else None
    said = _CHINESE_DAY.match(when.text)
    if when.grain in {*SHORT, Grain.PART, Grain.DAY} and last - first <= timedelta(days=1):
        if said:
            return _chinese_day(first) + when.text[said.end() :]
        return _chinese_day(first) if when.grain is Grain.DAY else _chinese_moment(when, first)
    if last - first > LONGEST.get(when.grain, timedelta(0)) or is_portion(when):
        return f"{when.text}（{_chinese_day(first)}至{_chinese_day(last - timedelta(days=1))}）"
    return _chinese_period(first, when.grain, when.text)


def _chinese_day(day: datetime) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _chinese_moment(when: TimeExpression, first: datetime) -> str:
    """昨晚, 今早8点: the part of the day stays as it was said."""
    part = {"早": "早上", "晨": "早上", "晚": "晚上", "夜": "晚上"}.get(when.text[1:2])
    if part and when.text[0] in "今昨明前后後":
        return _chinese_day(first) + part + when.text[2:]
    return f"{_chinese_day(first)}{first:%H:%M}"


def _chinese_period(first: datetime, grain: Grain, said: str) -> str:
    return _PERIODS[grain](first) if grain in _PERIODS else f"{said}（{first.year}年）"


_PERIODS: Final[dict[Grain, Callable[[datetime], str]]] = {
    Grain.WEEK: lambda first: f"{_chinese_day(first - timedelta(days=first.weekday()))}那一周",
    Grain.WEEKEND: lambda first: f"{_chinese_day(first)}那个周末",
    Grain.MONTH: lambda first: f"{first.year}年{first.month}月",
    Grain.QUARTER: lambda first: f"{first.year}年第{'一二三四'[(first.month - 1) // 3]}季度",
    Grain.HALF: lambda first: f"{first.year}年{'上下'[first.month // 7]}半年",
    Grain.YEAR: lambda first: f"{first.year}年",
}


_RELATIVE: Final = frozenset(
    [
        "day",
        "shift",
        "past",
        "tonight",
        "ago",
        "later",
        "earlier",
        "yearword",
        "daypart",
        "qian",
        "hou",
        "back",
    ]
)
_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[A-Za-z]+")
_DAY_WORDS = re.compile(
    r"(?i)\b(?:(?:this|last|next|coming|previous|past|following)\s+[a-z]+day|today|yesterday|tomorrow|tmrw)\b"
)


def meaning(when: TimeExpression) -> str:
    """The date a relative expression meant on the day it was said; empty for one that needs no telling."""
    if when.kind not in {"date", "range"} or not when.certain or not is_relative(when.text):
        return ""
    try:
        if _HAN.search(when.text):
            return written_out(when) or ""
        return _plain(when) or (_ends(when) if when.first and when.last else "")
    except OverflowError:  # the day before the first day of all
        return ""


def is_relative(written: str) -> bool:
    """Whether an expression only means something on the day it was said.

    >>> is_relative("last week"), is_relative("in two days"), is_relative("7 May 2023"), is_relative("前天")
    (True, True, False, True)
    """
    if _HAN.search(written):
        words = (word for word, (category, _) in chinese_vocabulary().items() if category in _RELATIVE)
        return any(word in written for word in words)
    known = vocabulary()
    categories = {known.get(word.lower(), ("", None))[0] for word in _WORD.findall(written)}
    counted = written.lower().startswith(("in ", "within ")) and "unit" in categories
    return bool(categories & _RELATIVE) or counted or written.lower().endswith("from now")


def _plain(when: TimeExpression) -> str | None:
    """The date without a preposition; None when it does not fit in few words."""
    first, last = when.first, when.last
    if first is None or last is None:
        return None
    if when.grain in SHORT:
        return _moment(when, first)
    if when.grain is Grain.PART:
        return _part(when, first)
    if when.grain is Grain.DAY:
        return _day(first, named=_names_weekday(when.text)) if last - first == timedelta(days=1) else None
    if last - first > LONGEST[when.grain] or is_portion(when):
        return None
    return _period(first, when.grain)


def _period(first: datetime, grain: Grain) -> str:
    return _REWRITE_PERIODS[grain](first) if grain in _REWRITE_PERIODS else str(first.year)


# Not by strftime, which speaks the language of the machine.
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NTH: Final = ("first", "second", "third", "fourth")
_SEASONS: Final = ("winter", "spring", "summer", "autumn")


_REWRITE_PERIODS: Final[dict[Grain, Callable[[datetime], str]]] = {
    Grain.WEEK: lambda first: f"the week of {_day(first - timedelta(days=first.weekday()))}",
    Grain.WEEKEND: lambda first: f"the weekend of {_day(first)}",
    Grain.MONTH: lambda first: f"{_MONTHS[first.month - 1]} {first.year}",
    Grain.QUARTER: lambda first: f"the {_NTH[(first.month - 1) // 3]} quarter of {first.year}",
    Grain.HALF: lambda first: f"the {_NTH[first.month // 7]} half of {first.year}",
    Grain.SEASON: lambda first: f"{_SEASONS[first.month % 12 // 3]} {first.year}",
    Grain.DECADE: lambda first: f"the {first.year // 10 * 10}s",
}


def _day(day: datetime, *, named: bool = False) -> str:
    written = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    return f"{_WEEKDAYS[day.weekday()]} {written}" if named else written


def _names_weekday(written: str) -> bool:
    return any(vocabulary().get(word.lower(), ("",))[0] == "weekday" for word in _WORD.findall(written))


def _moment(when: TimeExpression, first: datetime) -> str | None:
    """Tomorrow at 3pm: the time stays as it was said."""
    said = _DAY_WORDS.search(when.text)
    if said is None:
        return f"{_day(first)} at {first:%H:%M}"
    day = _day(first, named=_names_weekday(said.group()))
    lead = "" if said.start() == 0 or re.search(r"\bon\s+$", when.text[: said.start()]) else "on "
    return when.text[: said.start()] + lead + day + when.text[said.end() :]


def _part(when: TimeExpression, first: datetime) -> str:
    words = [word.lower() for word in _WORD.findall(when.text)]
    part = next((word for word in words if vocabulary().get(word, ("",))[0] == "part"), "evening")
    return f"the {part} of {_day(first, named=_names_weekday(when.text))}"


def _ends(when: TimeExpression) -> str:
    if when.first is None or when.last is None:
        return ""
    if when.grain in SHORT:
        return f"{when.first:%H:%M} to {when.last:%H:%M} on {_day(when.first)}"
    return f"{_day(when.first)} to {_day(when.last - timedelta(days=1))}"
