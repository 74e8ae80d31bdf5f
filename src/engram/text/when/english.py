"""English: the tables of rules in the order they are applied."""

from __future__ import annotations

from datetime import timedelta
from functools import cache

from engram.lazily import replace
from engram.text import re
from engram.text.when.calendar import Grain, TimeOfDay, TimeSpan, in_part, part_of_day, unit_span
from engram.text.when.english_days import (
    DAYS,
    LENGTHS,
    TIMES,
    has_noun,
    narrowed,
    narrowed_hours,
    plain_hours,
)
from engram.text.when.english_relative import COUNTED, RELATIVE
from engram.text.when.rules import (
    PAIR,
    Built,
    DateMatch,
    DateRules,
    Partial,
    after,
    before,
    between,
    joined,
    narrowed_moment,
    recurring,
    since,
    until,
)

# ---------------------------------------------------------------- english ranges
# English days with their times, ranges, and ranges with one open end.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


def _now(match: DateMatch) -> Built:
    now = match.scene.now
    if match.one("unit") not in {None, Grain.MINUTE} or match.one("shift"):
        return None
    return "moment", TimeSpan(now, now + timedelta(seconds=1), Grain.SECOND)


def _closing(match: DateMatch) -> Built:
    """EOD, end of day, EOY."""
    unit = {"eod": Grain.DAY, "eom": Grain.MONTH, "eoy": Grain.YEAR}[match.words.split()[-1]]
    whole = unit_span(match.scene.now, unit)
    if whole.last is None:
        return None
    if unit is Grain.DAY:
        last = whole.last - timedelta(seconds=1)
        return "moment", TimeSpan(last, whole.last, Grain.SECOND)
    return "date", TimeSpan(whole.last - timedelta(days=7), whole.last, Grain.WEEK)


def _tonight(match: DateMatch) -> Built:
    return "moment", part_of_day(match.scene.now, (18, 24))


def _shifted_part(match: DateMatch) -> Built:
    """Last night, this morning, next evening."""
    day = unit_span(match.scene.now, Grain.DAY, match.one("shift")).first
    return ("moment", part_of_day(day, match.one("part"))) if day else None


def _day(match: DateMatch) -> Built:
    """On the 18th: a day of the month, unless it counts something."""
    day = match.one("ordinal", "number")
    return None if not 1 <= day <= 31 or has_noun(match.rest) else ("date", Partial(day=day))


def _day_alone(match: DateMatch) -> Built:
    """The 18th in figures; "the first" may be the first of anything."""
    return _day(match) if any(letter.isdigit() for letter in match.words) else None


def _hour_in_part(match: DateMatch) -> Built:
    """Eight in the morning."""
    return (
        ("clock", in_part(TimeOfDay(match.one("number")), match.one("part")))
        if match.one("number") <= 12
        else None
    )


def _part(match: DateMatch) -> Built:
    return "part", match.one("part")


def _hour_beside(match: DateMatch) -> Built:
    """February twenty second nine thirty; a number after a day with its minutes."""
    hour, minute = match.all("number")
    if hour > 24 or not 10 <= minute < 60:
        return None
    return joined(match.but(clock=TimeOfDay(hour, minute)))


def _hours_beside(match: DateMatch) -> Built:
    """Monday 3-8, between 7 and 9 last night; not "on Monday 2 to 3 people"."""
    said = None if has_noun(match.rest) else plain_hours(match)
    if said is None:
        return None
    with_hours = match.but(hours=said[1])
    return narrowed_moment(with_hours) if match.has("moment") else joined(with_hours)


def _bounded_clock(match: DateMatch) -> Built:
    """Tomorrow before 5pm, 3 pm or later on Monday."""
    built = joined(match)
    if built is None or re.search(r"\bto\b", match.words):
        return None
    moment = match.but(moment=built[1], date=None)
    late = any(map(match.has, ("after", "since"))) or (match.has("later") and not match.has("no"))
    return since(moment) if late else before(moment)


def _soon(match: DateMatch) -> Built:
    now, by = match.scene.now, match.one("soon")
    ends = sorted([now, now + timedelta(days=30 * by)])
    return "range", TimeSpan(ends[0], ends[1], Grain.MONTH, certain=False)


def _to_date(match: DateMatch) -> Built:
    now = match.scene.now
    return "range", TimeSpan(None, now, Grain.DAY)


def _two_days(match: DateMatch) -> Built:
    """18 and 19 June: the first is a day of that month too."""
    date, day = match.one("date"), match.one("number", "ordinal")
    if not isinstance(date, Partial) or not date.month or not date.day or not 1 <= day < date.day:
        return None
    return PAIR, (("date", replace(date, day=day)), ("date", date))


def _until_now(match: DateMatch) -> Built:
    """From March to date."""
    date = match.one("date", "moment")
    scene = replace(match.scene, prefer="past")
    first, now = scene.span(date).first, match.scene.now
    return "range", TimeSpan(first, now, Grain.DAY)


def _starting(match: DateMatch) -> Built:
    """Starting tomorrow, beginning on 7 May; "to start in May" only tells when something starts."""
    return since(match) if match.has("starting") or match.words.startswith("beginning") else None


def _until(match: DateMatch) -> Built:
    """Until Friday, by Friday; "compared to last week" sets no end."""
    return None if match.words.startswith("to ") else until(match)


def _as_edge(match: DateMatch) -> Built:
    return until(match) if match.one("edge") == "late" else since(match)


_ON = "[on of in comma at]*"
_SMALL = (
    ("(?<!between)(?<!from) [number ordinal] [and or] date", _two_days),
    ("right? now", _now),
    ("at the? [present unit] time?", _now),
    ("at shift time", _now),
    ("the? closing", _closing),
    ("shift part", _shifted_part),
    ("tonight", _tonight),
    ("number [in at] the part", _hour_in_part),
    ("[in at] the? part", _part),
    ("clock [in at of on]* the? part", narrowed),
    ("part [at comma]? clock", narrowed),
    ("hours [in at of]* the? part", narrowed_hours),
    ("(?<=[on by since to before after from]) the? ordinal", _day),
    ("(?<=on) the number", _day),
    ("the ordinal", _day_alone),
)
_TIMED = (
    ("set [on in at comma]* [clock hours part]", recurring),
    ("[clock hours part] set", recurring),
    ("set [and comma] [date weekday] [on in at comma]* [clock hours part]", recurring),
    (f"date {_ON} [clock hours part]", joined),
    ("date dash clock", joined),
    (f"date {_ON} [before after since by to] at? clock", _bounded_clock),
    (f"date {_ON} no later than at? clock", _bounded_clock),
    (f"[before after since by to] at? clock {_ON} date", _bounded_clock),
    (f"clock [or and] [later earlier] {_ON} date", _bounded_clock),
    ("[date moment] [from between at comma]* number [to dash] number", _hours_beside),
    ("[date moment] between number and number", _hours_beside),
    (f"[from between] number [to dash and] number {_ON} [date moment]", _hours_beside),
    ("date number number", _hour_beside),
    (f"[clock hours] {_ON} the? date", joined),
    (f"part {_ON} date", joined),
    (f"moment {_ON} [clock hours]", narrowed_moment),
    (f"[clock hours] {_ON} moment", narrowed_moment),
)
_END = "[date moment clock]"
_RANGES = (
    (f"[from between]? the? {_END} [to dash] the? [date moment clock number ordinal now]", between),
    (f"between the? {_END} and the? [date moment clock number ordinal now]", between),
    (f"from? the? {_END} to datum", _until_now),
    ("[from between] the? [number ordinal] [to dash and] the? date", between),
    ("[number ordinal] [to dash] the? date", between),
    ("to datum", _to_date),
    ("soon", _soon),
)
_OPEN = (
    ("on or after the? [date moment]", since),
    ("on or before the? [date moment]", until),
    ("prior to the? [date moment]", before),
    ("up to the? [date moment]", until),
    ("no earlier than the? [date moment]", since),
    ("from? [date moment] onwards", since),
    ("since the? [date moment range]", since),
    ("[starting edgenoun] [on from in at]? the? [date moment]", _starting),
    ("from the? [date moment] on", since),
    ("[date moment] [or and] later", since),
    ("no later than the? [date moment]", until),
    ("as edge as [date moment]", _as_edge),
    ("later than the? [date moment]", after),
    ("after the? [date moment]", after),
    ("[date moment] [or and] earlier", until),
    ("before at? the? [date moment range]", before),
    ("earlier than the? [date moment]", before),
    ("[by to] at? the? [date moment]", _until),
)
RANGES = (*_SMALL, *_TIMED, *_RANGES, *_OPEN)


@cache
def rules() -> DateRules:
    """Times of day first, then days, then what is made of both."""
    return DateRules([*TIMES, *LENGTHS, *DAYS, *RELATIVE, *COUNTED, *RANGES])
