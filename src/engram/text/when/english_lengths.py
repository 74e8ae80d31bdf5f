"""English lengths of time and what comes again: "an hour and a half", "every other week"."""

# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from engram.text.when.calendars import midnight, unit_span
from engram.text.when.rules import Built, Match
from engram.text.when.words import Grain, Length


def _set(match: Match) -> Built:
    if match.has("any") and match.one("unit") not in {Grain.WEEKEND, None}:
        return None
    return "set", None


def _length(match: Match) -> Built:
    unit = match.one("unit")
    number = match.one("number", "vague")
    decimal = match.one("decimal")
    count = decimal[2] if decimal else 1 if number is None else number
    certain = not match.has("vague") or (match.one("vague") == 2 and match.has("a"))
    return "length", Length(count, unit, certain=certain)


def _and_half(match: Match) -> Built:
    units = match.all("unit")
    count = match.one("number") or 0
    if match.has("half"):
        halved = None if count else _HALVES.get(units[0])
        return "length", halved or Length(count + 0.5, units[0])
    return ("length", Length(count + 0.25, units[1])) if units[0] is Grain.QUARTER else None


_HALVES = {
    Grain.YEAR: Length(6, Grain.MONTH),
    Grain.DAY: Length(12, Grain.HOUR),
    Grain.HOUR: Length(30, Grain.MINUTE),
}


def _fortnights(match: Match) -> Built:
    return "length", Length(2 * (match.one("number") or 1), Grain.WEEK)


def _nights(match: Match) -> Built:
    return "length", Length(match.one("number"), Grain.DAY)


def _sum(match: Match) -> Built:
    one, other = match.all("length")
    order = list(Grain)
    if one.more or order.index(one.unit) <= order.index(other.unit):
        return None
    return "length", replace(one, more=other)


def _weekdays_ago(match: Match) -> Built:
    """Two Mondays ago."""
    today, weekday = midnight(match.scene.now), match.one("weekdays")
    last = today - timedelta(days=(today.weekday() - weekday - 1) % 7 + 1)
    return "date", unit_span(last - timedelta(days=7 * (match.one("number") - 1)), Grain.DAY)


LENGTHS = (
    ("every other? [number ordinal]? [unit weekday part month season fortnight nights holiday]", _set),
    ("any [unit parts]", _set),
    ("number? times a unit", _set),
    ("number weekdays ago", _weekdays_ago),
    ("[weekdays parts set]", _set),
    ("number and a? half unit", _and_half),
    ("number unit and a? half", _and_half),
    ("number and? a unit unit", _and_half),
    ("half a? unit", _and_half),
    ("a? vague of? more? unit", _length),
    ("[number decimal] more? dash? unit", _length),
    ("a unit", _length),
    ("[number a] fortnight", _fortnights),
    ("number nights", _nights),
    ("(?<![shift past]) length and? length", _sum),
    ("(?<=[shift past]) length and? length(?! [ago later])", _sum),
)
