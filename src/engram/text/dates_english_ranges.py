"""English days with their times, ranges, and ranges with one open end."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from functools import cache

from engram.text.calendars import unit_span
from engram.text.clocks import Clock, part_of_day
from engram.text.dates_joining import after, before, between, joined, narrowed_moment, since, until
from engram.text.dates_rules import Built, Match, Rule, table
from engram.text.dates_times import has_noun, narrowed, narrowed_hours
from engram.text.partials import Partial
from engram.text.when import Grain, Span


@cache
def rules() -> tuple[Rule, ...]:
    """The rules in the order they are applied."""
    return table([*_SMALL, *_TIMED, *_RANGES, *_OPEN])


def _now(match: Match) -> Built:
    now = match.scene.now
    if match.has("present") and not match.has("at"):
        return None
    return "moment", Span(now, now + timedelta(seconds=1), Grain.SECOND)


def _closing(match: Match) -> Built:
    """EOD, end of day, EOY."""
    unit = {"eod": Grain.DAY, "eom": Grain.MONTH, "eoy": Grain.YEAR}[match.words.split()[-1]]
    whole = unit_span(match.scene.now, unit)
    if whole.last is None:
        return None
    if unit is Grain.DAY:
        last = whole.last - timedelta(seconds=1)
        return "moment", Span(last, whole.last, Grain.SECOND)
    return "date", Span(whole.last - timedelta(days=7), whole.last, Grain.WEEK)


def _tonight(match: Match) -> Built:
    return "moment", part_of_day(match.scene.now, (18, 24))


def _shifted_part(match: Match) -> Built:
    """This morning, last night, next evening."""
    day = unit_span(match.scene.now, Grain.DAY, match.one("shift")).first
    return ("moment", part_of_day(day, match.one("part"))) if day else None


def _day_alone(match: Match) -> Built:
    """On the 18th, the 18th: a day of the month, unless it counts something."""
    day = match.one("ordinal", "number")
    if not 1 <= day <= 31 or has_noun(match.rest):
        return None
    if match.has("ordinal") and not any(letter.isdigit() for letter in match.words) and not match.has("on"):
        return None
    return "date", Partial(day=day)


def _year_alone(match: Match) -> Built:
    year = match.one("year")
    held = any(
        match.has(word) for word in ("in", "of", "since", "from", "to", "before", "after", "by", "between")
    )
    if not held and (not 1900 <= year < 2100 or has_noun(match.rest)):
        return None
    return "date", Partial(year=year)


def _part(match: Match) -> Built:
    return "part", match.one("part")


def _reordered(match: Match) -> Built:
    return joined(match)


def _set(match: Match) -> Built:
    return "set", None


def _hour_beside(match: Match) -> Built:
    """February twenty second nine thirty; a number after a day with its minutes."""
    hour, minute = match.all("number")
    if hour > 24 or not 10 <= minute < 60:
        return None
    return joined(_with(match, Clock(hour, minute)))


def _with(match: Match, clock: Clock) -> Match:
    from engram.text.dates_rules import Token

    date = match.one("date")
    return Match([Token("date", 0, 0, date), Token("clock", 0, 0, clock)], match.scene)


def _soon(match: Match) -> Built:
    now, by = match.scene.now, match.one("soon")
    ends = sorted([now, now + timedelta(days=30 * by)])
    return "range", Span(ends[0], ends[1], Grain.MONTH, certain=False)


def _to_date(match: Match) -> Built:
    now = match.scene.now
    return "range", Span(None, now, Grain.DAY)


def _portion_since(match: Match) -> Built:
    return since(match)


def _two_days(match: Match) -> Built:
    """18 and 19 June: the first is a day of that month too."""
    date, day = match.one("date"), match.one("number", "ordinal")
    if not isinstance(date, Partial) or not date.day or not 1 <= day <= 31 or date.day <= day:
        return None
    one, other = match.scene.span(replace(date, day=day)), match.scene.span(date)
    return "range", Span(one.first, other.last, Grain.DAY)


_ON = "[on of in comma at]*"
_SMALL = (
    ("right? now", _now),
    ("at the? present time?", _now),
    ("the? closing", _closing),
    ("shift part", _shifted_part),
    ("tonight", _tonight),
    ("[in at] the? part", _part),
    ("clock [in at of on]* the? part", narrowed),
    ("part [at comma]? clock", narrowed),
    ("hours [in at of]* the? part", narrowed_hours),
    ("on the? ordinal", _day_alone),
    ("on the number", _day_alone),
    ("the ordinal", _day_alone),
    ("year", _year_alone),
)
_TIMED = (
    ("set [on in at comma]* [clock hours part]", _set),
    ("[clock hours part] set", _set),
    ("set [and comma] [date weekday] [on in at comma]* [clock hours part]", _set),
    ("date [from between at] number [to dash and] number", _set),
    (f"date {_ON} [clock hours part]", joined),
    ("date number number", _hour_beside),
    (f"[clock hours] {_ON} the? date", joined),
    (f"part {_ON} date", joined),
    (f"moment {_ON} [clock hours]", narrowed_moment),
    (f"[clock hours] {_ON} moment", narrowed_moment),
    ("date [of in on]* date", _set),
)
_END = "[date moment clock]"
_RANGES = (
    (f"[from between]? the? {_END} [to dash] the? [date moment clock number ordinal now]", between),
    (f"[from between] the? {_END} and the? [date moment clock number ordinal now]", between),
    ("[from between] the? [number ordinal] [to dash and] the? date", between),
    ("[number ordinal] [to dash] the? date", between),
    ("to datum", _to_date),
    ("soon", _soon),
)
_OPEN = (
    ("since the? [date moment range]", since),
    ("starting [on from in at]? the? [date moment]", since),
    ("from the? [date moment] on", since),
    ("[date moment] [or and] later", since),
    ("later than the? [date moment]", after),
    ("after the? [date moment]", after),
    ("no later than the? [date moment]", until),
    ("[date moment] [or and] earlier", until),
    ("[before] the? [date moment range]", before),
    ("earlier than the? [date moment]", before),
    ("[by to] the? [date moment]", until),
)
