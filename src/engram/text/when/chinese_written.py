"""Relative dates written out in Chinese: 昨天 becomes 2023年5月7日."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from engram.text.when.lengths import LONGEST, SHORT, is_portion
from engram.text.when.words import Grain, When

_CHINESE_DAY = re.compile(
    r"^(?:大?[前昨今明后後][天日儿]|(?:[上下]{1,2}|[本这這])[个個]?(?:周|週|星期|礼拜|禮拜)[一二三四五六日天])"
)


def written_out(when: When) -> str | None:
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


def _chinese_moment(when: When, first: datetime) -> str:
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
