"""English parts of longer spans, and days counted from others: "the end of May", "a week after Easter"."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

from engram.text.when.calendars import (
    half_span,
    midnight,
    moved,
    nth_weekday,
    unit_span,
)
from engram.text.when.joining import joined
from engram.text.when.partials import Partial
from engram.text.when.portions import counted_of, portion
from engram.text.when.rules import Built, Match
from engram.text.when.words import Grain, Length, Span


def _whole(match: Match) -> Span:
    """The span after "of": a date, or "the month", which is this month."""
    date = match.one("date", "month", "holiday")
    if date is not None:
        return match.scene.span(Partial(month=date) if isinstance(date, int) else date)
    return unit_span(match.scene.now, match.all("unit")[-1])


def _nth(match: Match) -> Built:
    """The first Monday of next month, the third week of 2018, the last day of May."""
    whole, number = _whole(match), match.one("ordinal", "shift")
    if match.has("weekday"):
        return "date", nth_weekday(whole, number, match.one("weekday"))
    unit = match.one("unit")
    return counted_of(whole, number, Length(1, unit))


def _owned_nth(match: Match) -> Built:
    """Next month's first Monday, this year's last quarter."""
    return _nth(match) if match.one("ordinal", "shift") else None


def _first_few(match: Match) -> Built:
    """The first two weeks of 2021, the last three days of May."""
    number = match.one("ordinal", "shift")
    return counted_of(_whole(match), number, match.one("length")) if number in {1, -1} else None


def _portion(match: Match) -> Built:
    """Early May, the end of the month, later this year, the rest of the week."""
    whole = _whole(match)
    if match.has("edge") and whole.grain is Grain.DAY:
        return None
    edge = match.one("edge", "edgenoun")
    if edge is None:
        edge = "rest" if match.has("rest") else "later" if match.has("later") else "earlier"
    return "date", replace(portion(whole, edge, match.scene.now), certain=whole.certain)


def _holiday_weekend(match: Match) -> Built:
    """Labor Day weekend reaches from Saturday to the holiday, Thanksgiving's from the holiday to Sunday."""
    named = match.one("holiday", "date")
    if match.one("unit") is not Grain.WEEKEND or not isinstance(named, Partial) or not named.holiday:
        return None
    day = match.scene.span(named)
    if day.first is None or day.last is None:
        return None
    weekend = unit_span(day.first - timedelta(days=3), Grain.WEEKEND)
    if weekend.first is None or weekend.last is None:
        return None
    return "range", Span(min(day.first, weekend.first), max(day.last, weekend.last), Grain.WEEKEND)


def _unit_of(match: Match) -> Built:
    """The week of 16 September, the month of June."""
    unit, span = match.one("unit"), _whole(match)
    if span.first is None or unit not in {Grain.WEEK, Grain.WEEKEND, Grain.MONTH}:
        return None
    return "date", replace(unit_span(span.first, unit), certain=span.certain)


def _the_weekend(match: Match) -> Built:
    if match.one("unit") is not Grain.WEEKEND:
        return None
    return "date", replace(unit_span(match.scene.now, Grain.WEEKEND), certain=False)


def _nth_timed(match: Match) -> Built:
    """The first Monday 1pm to 3pm of next month."""
    day = nth_weekday(_whole(match), match.one("ordinal", "shift"), match.one("weekday"))
    return joined(match.but(date=day))


def _half(match: Match) -> Built:
    """The first half of 2022."""
    whole, number = _whole(match), match.one("ordinal")
    if whole.first is None or number not in {1, 2}:
        return None
    if whole.grain is Grain.YEAR:
        return "date", half_span(whole.first.year, number)
    return "date", portion(whole, "earlier" if number == 1 else "later", whole.first)


def _beside_date(match: Match) -> Built:
    """The day after Thanksgiving, the week before Christmas."""
    date = match.one("holiday", "date")
    start, unit = match.scene.span(date).first, match.one("unit")
    by = 1 if match.has("after") else -1
    return ("date", unit_span(start, unit, by)) if start and unit in _CALENDAR else None


_CALENDAR = frozenset({Grain.DAY, Grain.WEEK, Grain.WEEKEND, Grain.MONTH, Grain.YEAR})


def _counted_ago(match: Match) -> Built:
    """A week ago yesterday."""
    day = match.scene.span(match.one("date"))
    return _from(match, day.first, -1) if day.grain is Grain.DAY else None


def _ago(match: Match) -> Built:
    return _from(match, match.scene.now, -1)


def _hence(match: Match) -> Built:
    return _from(match, match.scene.now, 1)


def _counted_from(match: Match) -> Built:
    """Three months after Easter, two days before yesterday, a week from now."""
    sign = -1 if match.has("before") else 1
    if match.has("now"):
        return _from(match, match.scene.now, sign)
    date = match.one("date", "month", "weekday", "holiday")
    if isinstance(date, int):
        date = Partial(month=date) if match.has("month") else Partial(weekday=date)
    if isinstance(date, Partial) and not date.whole:
        date = match.scene.span(date) if not match.scene.free else _coming(match, date)
    span = match.scene.span(date)
    return _from(match, span.first, sign) if span.first else None


def _coming(match: Match, date: Partial) -> Span:
    return replace(match.scene, prefer="future").span(date)


def _from(match: Match, start: Any, sign: int) -> Built:
    length: Length = match.one("length")
    there = moved(start, length, sign)
    if length.unit in {Grain.HOUR, Grain.MINUTE, Grain.SECOND}:
        return "moment", Span(there, there + timedelta(minutes=1), Grain.MINUTE, length.certain)
    day = midnight(there)
    if match.has("more") or match.has("less"):
        return "range", _at_most(midnight(start), day, sign, more=match.has("more"))
    return "date", Span(day, day + timedelta(days=1), length.unit, length.certain)


def _at_most(start: Any, day: Any, sign: int, *, more: bool) -> Span:
    """More than a week ago is open; less than a week ago lies between."""
    if more:
        return Span(None, day, Grain.DAY) if sign < 0 else Span(day, None, Grain.DAY)
    return Span(min(start, day), max(start, day), Grain.DAY)


def _within(match: Match) -> Built:
    now, length = match.scene.now, match.one("length")
    return "range", Span(now, moved(now, length), length.unit)


def _starting(match: Match) -> Built:
    span, length = match.scene.span(match.one("date")), match.one("length")
    return ("range", Span(span.first, moved(span.first, length), length.unit)) if span.first else None


def _weekday_near(match: Match) -> Built:
    """Monday two weeks from now: the Monday of that week, which begins on Sunday in this way of speaking."""
    day = match.scene.span(match.one("date")).first
    if day is None:
        return None
    sunday = day - timedelta(days=(day.weekday() + 1) % 7)
    return "date", unit_span(sunday + timedelta(days=(match.one("weekday") + 1) % 7), Grain.DAY)


_ATTRIBUTE = re.compile(r"(?i)\b(?:the|my|our|your|his|her|their|its|a|an|[\w-]+['’]s)\s+$")


def _plain_name(match: Match) -> Built:
    """A month, season or holiday; but "the October invoice" says which invoice, not when."""
    if match.has("month") and _ATTRIBUTE.search(match.before) and re.match(r"[ -][a-z]", match.rest):
        return None
    season, month, holiday = match.one("season"), match.one("month"), match.one("holiday")
    return "date", holiday or Partial(month=month, season=season)


def _plain_weekday(match: Match) -> Built:
    return "date", Partial(weekday=match.one("weekday"))


def _whole_of(pattern: str) -> str:
    return f"{pattern} the? [date month unit holiday]"


_FROM = "[date month weekday holiday now]"
COUNTED = (
    ("length ago date", _counted_ago),
    (_whole_of("the? [ordinal shift] weekday [of in]"), _nth),
    (_whole_of("the? [ordinal shift] unit [of in]"), _nth),
    (_whole_of("the? [ordinal shift] length [of in]"), _first_few),
    ("[date month] own [ordinal shift] [weekday unit]", _owned_nth),
    (_whole_of("the? ordinal half of"), _half),
    ("the unit [before after] [holiday date]", _beside_date),
    (_whole_of("the? edgenoun of?"), _portion),
    (_whole_of("the? rest of?"), _portion),
    ("edge dash? in? the? [date month]", _portion),
    ("[later earlier] date", _portion),
    ("[holiday date] unit", _holiday_weekend),
    ("the? unit of [holiday date]", _holiday_weekend),
    ("the? unit of the? [date month]", _unit_of),
    ("the? [ordinal shift] weekday [clock hours part] [of in] the? [date month unit]", _nth_timed),
    ("the? unit", _the_weekend),
    ("[more less] than length ago", _ago),
    ("length ago", _ago),
    ("length back", _ago),
    (f"[more less] than length [before after from] the? {_FROM}", _counted_from),
    (f"in? length [before after from since] the? {_FROM}", _counted_from),
    ("length starting on? date", _starting),
    ("length later", _hence),
    ("in length", _hence),
    ("length earlier", _ago),
    ("within the? length", _within),
    ("in less than length", _within),
    ("weekday comma? date", _weekday_near),
    ("date on weekday", _weekday_near),
    ("[holiday season month]", _plain_name),
    ("weekday", _plain_weekday),
)
