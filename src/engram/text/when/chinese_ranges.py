"""Chinese times of day, days with their times, ranges, and ranges with one open end."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

import re
from datetime import timedelta

from engram.text.when.calendars import unit_span
from engram.text.when.clocks import Clock, hours, in_part, part_of_day
from engram.text.when.joining import after, before, between, joined, narrowed_moment, recurring, since, until
from engram.text.when.rules import Built, Match
from engram.text.when.words import Grain, Span


def _clock(match: Match) -> Built:
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
    return "clock", Clock(hour % 24, minute, rest[1] if len(rest) > 1 else 0, sure=hour > 12)


def _in_part(match: Match) -> Built:
    clock = match.one("clock")
    part = match.one("part") or {"a": (0, 12), "p": (12, 24)}.get(match.one("meridiem"))
    return ("clock", in_part(clock, part)) if part else ("clock", clock)


def _hours(match: Match) -> Built:
    one, other = match.all("clock")
    return "hours", hours(one, other)


def _day_part(match: Match) -> Built:
    by, first, last = match.one("daypart")
    day = unit_span(match.scene.now, Grain.DAY, by).first
    return ("moment", part_of_day(day, (first, last))) if day else None


def _now(match: Match) -> Built:
    now = match.scene.now
    return "moment", Span(now, now + timedelta(seconds=1), Grain.SECOND)


def _lately(match: Match) -> Built:
    now = match.scene.now
    ends = sorted([now, now + timedelta(days=30 * match.one("lately"))])
    return "range", Span(ends[0], ends[1], Grain.MONTH, certain=False)


def _since(match: Match) -> Built:
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
