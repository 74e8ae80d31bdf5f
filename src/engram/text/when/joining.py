"""What both languages share: days and clocks joined, ranges, and ranges with one open end."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from engram.text import re
from engram.text.when.calendar import (
    Grain,
    Prefer,
    TimeOfDay,
    TimeSpan,
    hours_of_day,
    in_part,
    likely,
    midnight,
    on_day,
    part_of_day,
)
from engram.text.when.rules import Built, DateMatch, Partial, Scene, chosen, spans


def joined(match: DateMatch) -> Built:
    """A day and a time of it: tomorrow at 3pm, Friday morning, Monday 3-8pm."""
    date = match.scene.span(match.one("date"))
    if date.first is None or date.last is None or date.last - date.first != timedelta(days=1):
        return None
    clock, ends, part = match.one("clock"), match.one("hours"), match.one("part")
    if ends:
        return "moment", _as(date, hours_of_day(date.first, ends))
    if clock:
        return "moment", _as(date, on_day(date.first, likely(clock)))
    return "moment", _as(date, part_of_day(date.first, part))


def _as(date: TimeSpan, span: TimeSpan) -> TimeSpan:
    return replace(span, certain=date.certain)


def narrowed_moment(match: DateMatch) -> Built:
    """A part of a day and a time in it: tonight at 8, 2pm to 3pm tomorrow afternoon."""
    moment: TimeSpan = match.one("moment")
    if moment.grain is not Grain.PART or moment.first is None or moment.last is None:
        return None
    day = midnight(moment.first)
    last = 24 if moment.last.day != moment.first.day else moment.last.hour
    part = (moment.first.hour, last)
    clock, ends = match.one("clock"), match.one("hours")
    if clock:
        return "moment", on_day(day, in_part(clock, part))
    inside = (in_part(ends[0], part) if not ends[0].sure else ends[0], in_part(ends[1], part))
    return "moment", hours_of_day(day, inside)


def between(match: DateMatch) -> Built:
    """Two ends: from May 3 to June 7. The range holds its last day, month or year."""
    one, other = _year_shared(*match.all(*_ENDS))
    found = _pair(match.scene, one, other)
    if found is None or found[0].first is None or found[1].last is None or found[1].last < found[0].first:
        return None
    start, end = found
    grain = start.grain if end.grain is Grain.SECOND else end.grain  # from May until now
    return "range", TimeSpan(start.first, _last(end), grain, start.certain and end.certain)


_FIRST_YEAR = 1000
_ENDS = ("date", "moment", "clock", "number", "ordinal", "year", "now")


def _last(end: TimeSpan) -> datetime | None:
    return end.first if end.grain in {Grain.MINUTE, Grain.SECOND, Grain.HOUR} else end.last


def _year_shared(one: Any, other: Any) -> tuple[Any, Any]:
    """May to October 2020, 4 and 6 March: what the second says holds for the first."""
    if isinstance(one, int) and isinstance(other, Partial) and other.day:
        one = Partial(other.year, other.month, one) if one < other.day else Partial(day=one)
    elif isinstance(one, int) and isinstance(other, Partial) and other.month is None and one >= _FIRST_YEAR:
        one = Partial(year=one)  # 1995 – 1997年
    elif isinstance(other, int) and isinstance(one, Partial) and one.day:
        other = Partial(day=other)
    if not (isinstance(one, Partial) and isinstance(other, Partial)):
        return one, other
    if one.month is None and one.day and one.weekday is None and other.month and one.day < (other.day or 0):
        one = replace(one, month=other.month, year=other.year)
    if one.year is None and other.year and one.month and other.month:
        later = (one.month, one.day or 1) > (other.month, other.day or 31)
        one = replace(one, year=other.year - 1 if later else other.year)
    elif one.month and other.month is None and other.day and one.day and other.day > one.day:
        other = replace(other, year=one.year, month=one.month)
    return one, other


def _pair(scene: Scene, one: Any, other: Any) -> tuple[TimeSpan, TimeSpan] | None:
    """Both ends settled together: the second is the first that comes after the start."""
    if isinstance(one, TimeOfDay):
        return _clock_pair(scene, one, other)
    if not isinstance(one, Partial | TimeSpan):
        return None
    starts = list(spans(one, scene.now)) if isinstance(one, Partial) else [one]
    options = [
        (start, end) for start in starts for end in [_after(start, other)] if end and start.first and end.last
    ]
    if isinstance(other, TimeSpan):
        options = [pair for pair in options if pair[0].first and other.last and pair[0].first < other.last][
            -1:
        ]
    best = chosen(
        [TimeSpan(start.first, end.last, end.grain) for start, end in options], scene.now, scene.meant
    )
    return next(((s, e) for s, e in options if best and (s.first, e.last) == (best.first, best.last)), None)


def _clock_pair(scene: Scene, one: TimeOfDay, other: Any) -> tuple[TimeSpan, TimeSpan] | None:
    if not isinstance(other, TimeSpan):
        return None
    return on_day(scene.now, likely(one)), other


def _after(start: TimeSpan, other: Any) -> TimeSpan | None:
    if isinstance(other, TimeSpan):
        return other
    if isinstance(other, TimeOfDay) and start.first:
        clock = on_day(start.first, likely(other))
        return clock if start.grain in {Grain.MINUTE, Grain.SECOND, Grain.HOUR} else None
    if isinstance(other, datetime):
        return TimeSpan(midnight(other), midnight(other), Grain.DAY)
    if not isinstance(other, Partial) or start.first is None:
        return None
    later = (span for span in spans(other, start.first) if span.first and span.first >= start.first)
    return next(later, None)


def recurring(_match: DateMatch) -> Built:
    """What comes again: every Monday."""
    return "set", None


def since(match: DateMatch) -> Built:
    """From its start on."""
    span = _bounded(match)
    return "range", TimeSpan(span.first, None, span.grain, span.certain)


def after(match: DateMatch) -> Built:
    """From its end on."""
    span = _bounded(match, "near")
    return "range", TimeSpan(span.last, None, span.grain, span.certain)


def before(match: DateMatch) -> Built:
    """Until its start; before the end of May, until that end."""
    span = _bounded(match, "future")
    if re.search(r"\b(?:end|close)\b|[底末]", match.words):
        return "range", TimeSpan(None, span.last, span.grain, span.certain)
    return "range", TimeSpan(None, span.first, span.grain, span.certain)


def until(match: DateMatch) -> Built:
    """Until its end."""
    span = _bounded(match, "future")
    last = span.first if span.grain in {Grain.MINUTE, Grain.SECOND} else span.last
    return "range", TimeSpan(None, last, span.grain, span.certain)


def _bounded(match: DateMatch, prefer: Prefer = "past") -> TimeSpan:
    """The date a bound is set by: "since Friday" means the last one, "by Friday" the next."""
    date = match.one("moment") or match.one("date", "range")
    weekday = isinstance(date, Partial) and date.weekday is not None and not date.day
    free = match.scene.free and (weekday or prefer == "past")
    scene = replace(match.scene, prefer=prefer) if free else match.scene
    return scene.span(date)
