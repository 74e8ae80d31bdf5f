"""Dates in text: a sentence and the time it was said come in, the spans of time it names come out.

Pure rules, English and Chinese: the text becomes tokens, rules join tokens to larger ones (see
`dates_rules`), and what is left that means a time is returned. A text without any word or figure of time
costs one look at its words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

from engram.text import dates_chinese, dates_chinese_ranges, dates_english, dates_english_ranges, dates_times
from engram.text.clocks import hours_of_day, likely, on_day, part_of_day
from engram.text.dates_rewrite import rewritten
from engram.text.dates_rules import GAP, Scene, Token, reduced
from engram.text.dates_tokens import chinese_vocabulary, tokens, vocabulary
from engram.text.holidays import holiday_names
from engram.text.lexicon import parts, words_of
from engram.text.partials import Partial
from engram.text.when import Grain, Kind, Prefer, Span, When


def dates(text: str, now: datetime, *, prefer: Prefer = "near") -> list[When]:
    """Every expression of time in `text`, left to right; `prefer` chooses where a year or week is left unsaid.

    >>> [found] = dates("I met Anna yesterday", datetime(2023, 5, 8))
    >>> found.text, found.first, found.last
    ('yesterday', datetime.datetime(2023, 5, 7, 0, 0), datetime.datetime(2023, 5, 8, 0, 0))
    """
    words = words_of(text.lower())
    if words.isdisjoint(_triggers()) and not (_DIGIT if text.isascii() else _chinese_signs()).search(text):
        return []
    scene = Scene(text, now.replace(tzinfo=None), prefer)
    found = []
    for segment in _segments(tokens(text, words), scene):
        for token in _read(segment, scene):
            when = _when(token, scene, now)
            if when:
                found.append(when)
    return found


def resolved(text: str, now: datetime, *, prefer: Prefer = "near") -> str:
    """`text` with each relative expression that is certain enough written out, so that it reads well later.

    >>> resolved("I met Anna yesterday", datetime(2023, 5, 8))
    'I met Anna on 7 May 2023'
    >>> resolved("昨天我去了上海", datetime(2023, 5, 8))
    '2023年5月7日我去了上海'
    """
    found = dates(text, now, prefer=prefer)
    return rewritten(text, found, lambda piece: dates(piece, now, prefer=prefer)) if found else text


_DIGIT = re.compile(r"\d")
_FUNCTION: Final = frozenset(
    [
        "the",
        "a",
        "of",
        "in",
        "on",
        "at",
        "to",
        "from",
        "between",
        "and",
        "or",
        "after",
        "before",
        "by",
        "any",
        "all",
        "other",
        "half",
        "ish",
        "more",
        "less",
        "than",
        "rest",
        "number",
        "scale",
        "no",
        "back",
        "time",
        "right",
        "dash",
        "comma",
        "slash",
        "open",
        "shut",
        "as",
        "lesser",
        "greater",
        "equal",
        "decimal",
        "vague",
        "edge",
        "edgenoun",
        "shift",
        "past",
        "meridiem",
        "later",
        "earlier",
        "starting",
        "ending",
        "calendar",
        "de",
        "ge",
        "di",
        "qian",
        "hou",
        "ago",
        "plus",
        "among",
        "until",
        "first",
        "firstlast",
        "back",
        "fen",
        "ke",
        "zheng",
    ]
)


@cache
def _triggers() -> frozenset[str]:
    weak = {"ish", "half"} | _FUNCTION
    found = {word for word, (category, _) in vocabulary().items() if category not in weak}
    return frozenset(found | {re.split(r"[\s'-]", name)[0].rstrip(".") for name in holiday_names()})


@cache
def _chinese_signs() -> re.Pattern[str]:
    strong = {word[0] for word, (category, _) in chinese_vocabulary().items() if category not in _FUNCTION}
    return re.compile(rf"\d|[{''.join(sorted(strong))}]")


def _segments(found: list[Token], scene: Scene) -> Iterator[list[Token]]:
    """Runs of tokens without a gap that hold more than words which tie."""
    segment: list[Token] = []
    for token in [*found, Token(GAP, 0, 0)]:
        if token.category != GAP:
            segment.append(token)
            continue
        kept = list(_without_lookalikes(segment, scene.text))
        yield from (run for run in _runs(kept) if any(each.category not in _FUNCTION for each in run))
        segment = []


def _runs(found: list[Token]) -> Iterator[list[Token]]:
    run: list[Token] = []
    for token in found:
        if token.category == GAP:
            yield run
            run = []
        else:
            run.append(token)
    yield run


def _without_lookalikes(segment: list[Token], text: str) -> Iterator[Token]:
    """The same tokens, but "may", "march" or "sat" are gaps when nothing near them speaks of time."""
    for place, token in enumerate(segment):
        word = text[token.start : token.end]
        if token.category in {"month", "weekday", "season"} and word.lower() in _wary():
            near = {each.category for each in segment[max(place - 2, 0) : place]}
            behind = {each.category for each in segment[place + 1 : place + 3]}
            if not (near & _COMPANY or behind & _FOLLOWERS or word == text.strip(" .?!")):
                yield Token(GAP, token.start, token.end)
                continue
        yield token


_COMPANY: Final = frozenset(
    [
        "in",
        "on",
        "of",
        "since",
        "to",
        "from",
        "by",
        "after",
        "before",
        "shift",
        "past",
        "every",
        "between",
        "edge",
        "edgenoun",
        "number",
        "ordinal",
        "year",
        "weekday",
        "dash",
        "slash",
        "open",
        "month",
        "date",
    ]
)
_FOLLOWERS: Final = frozenset(["number", "ordinal", "year", "clock", "part", "weekday"])


@cache
def _wary() -> frozenset[str]:
    return frozenset(word for row in parts("dates_en")["wary"] for word in row.partition(" = ")[0].split())


def _read(segment: list[Token], scene: Scene) -> list[Token]:
    if scene.text[segment[0].start : segment[-1].end].isascii():
        tables = (dates_times.rules(), dates_english.rules(), dates_english_ranges.rules())
    else:
        tables = (dates_chinese_ranges.times(), dates_chinese.rules(), dates_chinese_ranges.rules())
    for rules in tables:
        segment = reduced(segment, rules, scene)
    return segment


def _when(token: Token, scene: Scene, now: datetime) -> When | None:
    try:
        meant = _meant(token, scene)
    except (ValueError, OverflowError):
        return None
    if meant is None:
        return None
    span, kind = meant
    zone = now.tzinfo
    first = span.first.replace(tzinfo=zone) if span.first else None
    last = span.last.replace(tzinfo=zone) if span.last else None
    start, end = _trimmed(token, scene.text)
    return When(scene.text[start:end], start, end, first, last, span.grain, span.certain, kind == "set", kind)


def _meant(token: Token, scene: Scene) -> tuple[Span, Kind] | None:
    value = token.value
    match token.category:
        case "date" | "moment" | "range":
            span = scene.span(value)
            long = not (span.first and span.last and span.last - span.first <= timedelta(days=1))
            return Span(
                span.first, span.last, span.grain, span.certain and _clear(value)
            ), "range" if long else "date"
        case "clock":
            return on_day(scene.now, likely(value)), "time"
        case "hours":
            return hours_of_day(scene.now, value), "time"
        case "part":
            return part_of_day(scene.now, value), "time"
        case "length":
            return Span(None, None, value.unit, value.certain), "duration"
        case "set":
            return Span(None, None, Grain.DAY), "set"
    return None


def _clear(value: Any) -> bool:
    """Whether a partial date leaves little to choose: a bare weekday or day of the month leaves a lot."""
    return not isinstance(value, Partial) or value.whole or (value.weekday is None and value.day is None)


def _trimmed(token: Token, text: str) -> tuple[int, int]:
    return token.start, token.end
