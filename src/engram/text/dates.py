"""Dates in text: a sentence and the time it was said come in, the spans of time it names come out.

Pure rules, English and Chinese: the text becomes tokens, rules join tokens to larger ones (see
`when/rules.py`), and what is left that means a time is returned. A text without any word or figure of time
costs one look at its words.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final

from engram.text.lexicon import parts, words_of
from engram.text.scripts import HAN
from engram.text.when import chinese, english
from engram.text.when.clocks import hours_of_day, likely, on_day, part_of_day
from engram.text.when.rewrite import meaning, rewritten
from engram.text.when.rules import GAP, Scene, Token, reduced
from engram.text.when.tokens import tokens
from engram.text.when.vocabulary import chinese_vocabulary, holiday_words, vocabulary
from engram.text.when.words import (
    Grain,
    Kind,
    Prefer,
    Span,
    When,
)

__all__ = ["Grain", "When", "dated", "dates", "resolved"]


def dates(text: str, now: datetime, *, prefer: Prefer = "told") -> list[When]:
    """Every expression of time in `text`, left to right; `prefer` chooses where a year is left unsaid.

    "told": the tense of the clause chooses ("I quit in November", "it is due in May"), else the nearest.

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
        here = replace(scene, place=segment[0].start)
        for token in _read(segment, here):
            when = _when(token, here, now)
            if when:
                found.append(when)
    return found


def resolved(text: str, now: datetime, *, prefer: Prefer = "told") -> str:
    """`text` with each relative expression that is certain enough written out, so that it reads well later.

    >>> resolved("I met Anna yesterday", datetime(2023, 5, 8))
    'I met Anna on 7 May 2023'
    >>> resolved("昨天我去了上海", datetime(2023, 5, 8))
    '2023年5月7日我去了上海'
    """
    found = dates(text, now, prefer=prefer)
    return rewritten(text, found, lambda piece: dates(piece, now, prefer=prefer)) if found else text


def dated(text: str, now: datetime) -> tuple[tuple[str, str], ...]:
    """Each expression that only means something on the day it was said, with the date it meant.

    >>> dated("I met Anna yesterday", datetime(2023, 5, 8))
    (('yesterday', '7 May 2023'),)
    """
    found = ((when.text, meaning(when)) for when in dates(text, now))
    return tuple(dict.fromkeys(pair for pair in found if pair[1] and pair[1] != pair[0]))


_DIGIT = re.compile(r"\d")
_HAN = re.compile(f"[{HAN}]")
_GREETING = re.compile(r"(?i)\bgood\s+$")
_AGE = re.compile(r"[ -]olds?\b|岁")


@cache
def _categories(under: str) -> frozenset[str]:
    """Categories by what they do in a sentence."""
    return frozenset(name for row in parts("dates_ties")[under] for name in row.split())


@cache
def _triggers() -> frozenset[str]:
    weak = _categories("ties")
    found = {word for word, (category, _) in vocabulary().items() if category not in weak}
    return frozenset(found | holiday_words().keys() | {"thousand", "nineteen", "twenty"})


@cache
def _chinese_signs() -> re.Pattern[str]:
    ties = _categories("ties")
    strong = sorted(word for word, (category, _) in chinese_vocabulary().items() if category not in ties)
    starts = "".join(sorted({word[0] for word in strong}))
    return re.compile(rf"\d|(?=[{starts}])(?:{'|'.join(strong)})")


def _segments(found: list[Token], scene: Scene) -> Iterator[list[Token]]:
    """Runs of tokens without a gap that hold more than words which tie."""
    ties = _categories("ties")
    for run in _runs(found):
        if any(token.category not in ties for token in run):
            for kept in _runs(_without_lookalikes(run, scene.text)):
                if any(token.category not in ties for token in kept):
                    yield kept


def _runs(found: Iterable[Token]) -> Iterator[list[Token]]:
    """What lies between gaps, in pieces no longer than any expression."""
    run: list[Token] = []
    for token in found:
        if token.category == GAP or len(run) == _LONGEST:
            yield run
            run = []
        if token.category != GAP:
            run.append(token)
    yield run


_LONGEST: Final = 48


def _without_lookalikes(segment: list[Token], text: str) -> Iterator[Token]:
    """The same tokens, but "may", "march" or "sat" are gaps when nothing near them speaks of time."""
    for place, token in enumerate(segment):
        if token.category == "part" and _GREETING.search(text, 0, token.start):
            yield Token(GAP, token.start, token.end)
            continue
        if token.category in _NAMES and text[token.start : token.end].lower() in _wary():
            before, after = segment[max(place - 2, 0) : place], segment[place + 1 : place + 3]
            alone = len(text.strip(" .?!")) == token.end - token.start
            if not alone and not _in_company(token, before, after):
                yield Token(GAP, token.start, token.end)
                continue
        yield token


def _in_company(token: Token, before: list[Token], after: list[Token]) -> bool:
    name = "a weekday" if token.category == "weekday" else "a name"
    near = {each.category for each in before} & _categories(f"before {name}")
    return bool(near or {each.category for each in after} & _categories(f"after {name}")) or (
        _paired(after, token) or _paired(before[::-1], token)
    )


def _paired(beside: list[Token], token: Token) -> bool:
    """Whether another name of the kind stands beside: May to March."""
    tie, name = ([each.category for each in beside] + ["", ""])[:2]
    return tie in _categories("pairs") and name == token.category


_NAMES: Final = frozenset({"month", "weekday", "season"})


@cache
def _wary() -> frozenset[str]:
    return frozenset(word for row in parts("dates_en")["wary"] for word in row.partition(" = ")[0].split())


def _read(segment: list[Token], scene: Scene) -> list[Token]:
    if not _HAN.search(scene.text, segment[0].start, segment[-1].end):
        return reduced(segment, english.rules(), scene)
    return reduced(segment, chinese.rules(), scene)


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
    said = scene.text[token.start : token.end]
    return When(said, token.start, token.end, first, last, span.grain, span.certain, kind == "set", kind)


def _meant(token: Token, scene: Scene) -> tuple[Span, Kind] | None:
    """What a token that is left means; None for those that only tie, and for an age."""
    value, today = token.value, scene.now
    if token.category in {"date", "moment", "range"}:
        span = scene.span(value)
        short = span.first and span.last and span.last - span.first <= timedelta(days=1)
        return span, "date" if short else "range"
    if token.category == "length":
        age = _AGE.match(scene.text, token.end)
        return None if age else (Span(None, None, value.unit, value.certain), "duration")
    if token.category == "set":
        return Span(None, None, Grain.DAY), "set"
    build = None if token.end - token.start == 1 else _TIMES.get(token.category)  # 早 alone may mean much
    return (build(today, value), "time") if build else None


_TIMES: Final[dict[str, Callable[[datetime, Any], Span]]] = {
    "clock": lambda day, clock: on_day(day, likely(clock)),
    "hours": hours_of_day,
    "part": part_of_day,
}
