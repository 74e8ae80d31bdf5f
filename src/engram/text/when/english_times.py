"""English times of day: the rules that grow figures and words into clocks and hours."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

import re

from engram.text import lexicon
from engram.text.when.calendars import moved
from engram.text.when.clocks import Clock, hours, in_part, on_day, twelve
from engram.text.when.rules import Built, Match
from engram.text.when.vocabulary import vocabulary
from engram.text.when.words import Grain


def clock_of(hour: int, minute: int = 0, meridiem: str | None = None) -> Clock:
    """The clock for an hour and a minute; ValueError when no clock shows them."""
    if hour > 24 or minute > 59:
        raise ValueError("no clock shows this")
    return twelve(Clock(hour % 24, minute, sure=hour > 12), meridiem)


def _said(match: Match) -> Built:
    clock, decimal, numbers = match.one("clock"), match.one("decimal"), match.all("number")
    meridiem = match.one("meridiem")
    if clock:
        return "clock", twelve(clock, meridiem)
    if decimal:
        return "clock", clock_of(decimal[0], decimal[1], meridiem)
    if len(numbers) == 2 and match.has("dash") and re.search(r"\d", match.words):
        return None  # 8-9 am is a stretch of hours
    hour, minute = (*numbers, 0)[:2]
    return "clock", clock_of(hour, minute, meridiem)


def _edge_of_day(match: Match) -> Built:
    first, last = match.one("part")
    edge = match.one("edge")
    if edge == "mid":
        return "clock", Clock(0 if last == 24 else (first + last) // 2, sure=True)
    half = (first + last) // 2
    return "part", (first, half) if edge == "early" else (half, last)


def _past(match: Match) -> Built:
    """A quarter to five, half past three, 20 minutes past eight."""
    unit, numbers, clock = match.one("unit"), match.all("number"), match.one("clock")
    if unit not in {Grain.QUARTER, Grain.MINUTE, None} or (match.has("to") and unit is None):
        return None
    minutes = 15 if unit is Grain.QUARTER else 30 if match.has("half") else numbers[0]
    if minutes >= 60 or (len(numbers) < 2 and unit is None and not match.has("half") and clock is None):
        return None
    hour = (clock.hour if clock else numbers[-1]) * 60
    total = hour + (-minutes if match.has("to") else minutes)
    return "clock", clock_of(total // 60 % 24, total % 60, match.one("meridiem"))


def _end(value: object) -> Clock:
    if isinstance(value, Clock):
        return value
    if isinstance(value, tuple):
        return clock_of(value[0], value[1])
    return clock_of(int(str(value)))


def _hours(match: Match) -> Built:
    one, other = (_end(value) for value in match.all("clock", "number", "decimal"))
    return "hours", hours(one, other)


def _for_length(match: Match) -> Built:
    start, length = _end(match.one("clock", "number")), match.one("length")
    if length.unit not in {Grain.HOUR, Grain.MINUTE}:
        return None
    begin = on_day(match.scene.now, start).first
    end = moved(begin, length) if begin else None
    return ("hours", (start, Clock(end.hour, end.minute, sure=True))) if end else None


def _at(match: Match) -> Built:
    """At 4, at seven twenty-seven, at 17.30; not "at 5 places"."""
    decimal, numbers = match.one("decimal"), match.all("number")
    if has_noun(match.rest):
        return None
    if decimal:
        return "clock", clock_of(decimal[0], decimal[1])
    if len(numbers) == 2 and (numbers[1] < 10 or (match.has("dash") and re.search(r"\d", match.words))):
        return None
    return ("clock", clock_of(*numbers)) if 1 <= numbers[0] <= 12 or len(numbers) == 2 else None


def has_noun(rest: str) -> bool:
    """Whether a text goes on with a word that a number before it would count."""
    word = re.match(r"[ -]?([A-Za-z]+)", rest)
    return word is not None and word[1].lower() not in lexicon.words("stop_words") | vocabulary().keys()


def narrowed(match: Match) -> Built:
    """Nine in the morning, evening at seven."""
    clock, part = match.one("clock"), match.one("part")
    return "clock", in_part(clock, part)


def narrowed_hours(match: Match) -> Built:
    """Five to seven in the morning."""
    ends, part = match.one("hours"), match.one("part")
    return "hours", (in_part(ends[0], part), in_part(ends[1], part))


def plain_hours(match: Match) -> Built:
    """Two numbers beside a day: Monday 3-8, between 7 and 9 last night."""
    one, other = match.all("number")
    return ("hours", hours(clock_of(one), clock_of(other))) if one <= 24 and other <= 24 else None


_END = "[clock number decimal]"
TIMES = (
    ("number dash? number meridiem", _said),
    ("[number decimal clock] meridiem", _said),
    ("number dash? number? oclock meridiem?", _said),
    ("[number clock] ish", _said),
    ("edge part", _edge_of_day),
    ("a? unit [past to] number oclock? meridiem?", _past),
    ("half past number oclock? meridiem?", _past),
    ("number unit? [past to] [number clock] oclock? meridiem?", _past),
    (f"[from between] {_END} [to dash and] clock", _hours),
    ("clock [to dash] [clock number decimal]", _hours),
    ("[number decimal] [to dash] clock", _hours),
    ("from [clock number] of length", _for_length),
    ("of? length from clock", _for_length),
    ("of? length from number", _for_length),
    ("at the? number dash? number", _at),
    ("at the? [number decimal]", _at),
)
