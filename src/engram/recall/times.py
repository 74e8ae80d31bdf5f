"""Times in a question: its words and the present come in, the stretches of time it asks about come out.

Pure rules. "When did it happen?" asks for a time and names none; "lately" asks for what is new; "every
Monday" and "for two hours" name no stretch of the calendar.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from functools import cache
from math import exp
from typing import Final

from engram.model.recall import Span
from engram.recall.intents import is_fresh
from engram.text import lexicon, words
from engram.text.dates import Grain, When, dates
from engram.text.names import spelled

MOST: Final = 3
"""Times of one question that are looked at."""
SPREAD: Final = 0.25
"""How far proximity reaches beyond a stretch, in lengths of it."""
LEAST_DAYS, MOST_DAYS = 2.0, 45.0
"""The same in days: what happened on a day is often told some days later."""
DAY: Final = timedelta(days=1)
LATER: Final = timedelta(days=40)
"""How far the clock is put on to see whether a time moves with it; "last year" and "in May" mostly do not."""
ABOUT: Final = {Grain.WEEK: 3, Grain.MONTH: 15, Grain.QUARTER: 45, Grain.SEASON: 45, Grain.YEAR: 180}
"""Days on either side of a day that is only counted from a larger measure: "two months ago"."""


def spans(question: str, now: datetime) -> tuple[Span, ...]:
    """The times that `question` asks about.

    >>> [found] = spans("What did I do last week?", datetime(2023, 6, 15))
    >>> found.words, found.first, found.last
    ('last week', datetime.datetime(2023, 6, 5, 0, 0), datetime.datetime(2023, 6, 12, 0, 0))
    >>> spans("When was I in Rome?", datetime(2023, 6, 15)), spans("Any news lately?", datetime(2023, 6, 15))
    ((), ())
    """
    found = [_span(when) for when in dates(question, now, prefer="past") if _is_stretch(when)]
    return tuple(found[:MOST])


def written_out(question: str, asked: Iterable[Span], now: datetime) -> str:
    """The question with the day in place of a time that moves with the clock; longer ones leave no words.

    "Ten days ago" stands in no memory, the day it means is one of the words a memory of that day is found
    by. A time that stands fast, "in July", stays: it may have been said.

    >>> now = datetime(2023, 5, 18)
    >>> written_out("Whom did I meet ten days ago?", spans("Whom did I meet ten days ago?", now), now)
    'Whom did I meet 2023-05-08 8 May 2023 Monday?'
    >>> written_out("What did I cook last week?", spans("What did I cook last week?", now), now)
    'What did I cook ?'
    """
    for span in asked:
        if span.first is not None and span.last is not None and _moves(span, now):
            question = question.replace(span.words, day_words(span), 1)
    return question


def _moves(span: Span, now: datetime) -> bool:
    """Whether the same words mean a later time when they are said later."""
    then = dates(span.words, now + LATER, prefer="past")
    if len(then) != 1 or then[0].first is None or span.first is None:
        return False
    return timedelta(0) < then[0].first - span.first < 2 * LATER


def day_words(span: Span) -> str:
    """The words of the day that a span is; none for a longer one."""
    if span.first is None or span.last is None or span.last - span.first > DAY:
        return ""
    return " ".join(spelled(span.first.date()))


def proximity(moments: Iterable[datetime], asked: Iterable[Span]) -> float:
    """How near the nearest of `moments` lies to one of the times: 1 inside, falling off like a bell beside.

    >>> may = Span("May", datetime(2023, 5, 1), datetime(2023, 6, 1))
    >>> proximity([datetime(2023, 5, 9)], [may]), round(proximity([datetime(2023, 6, 11)], [may]), 2)
    (1.0, 0.43)
    """
    times = list(moments)
    return max((_near(moment, span) for span in asked for moment in times), default=0.0)


def reach(span: Span) -> timedelta:
    """How far beyond a time its proximity is felt: one deviation of the bell."""
    if span.first is None or span.last is None:
        return timedelta(days=MOST_DAYS)
    days = (span.last - span.first) / DAY
    return timedelta(days=min(MOST_DAYS, max(LEAST_DAYS, SPREAD * days)))


def is_all(question: str, asked: Iterable[Span]) -> bool:
    """Whether a question asks for nothing but what was at a time.

    >>> is_all("What did I do last week?", [Span("last week", None, None)])
    True
    >>> is_all("What did I cook last week?", [Span("last week", None, None)])
    False
    """
    rest = question
    for span in asked:
        rest = rest.replace(span.words, " ")
    left = words.query_terms(_idle().sub(" ", rest.lower()))
    return left.weak or not left.terms


def _near(moment: datetime, span: Span) -> float:
    if span.first is not None and moment < span.first:
        away = span.first - moment
    elif span.last is not None and moment >= span.last:
        away = moment - span.last
    else:
        return 1.0
    return exp(-((away / reach(span)) ** 2) / 2)


def _is_stretch(when: When) -> bool:
    dated = when.kind in {"date", "range"} and not when.recurring
    return dated and not (when.first is None and when.last is None) and not is_fresh(when.text)


def _span(when: When) -> Span:
    first, last = when.first, when.last
    about = ABOUT.get(when.grain, 0)
    if first is not None and last is not None and about and last - first <= DAY:
        first, last = first - about * DAY, last + about * DAY
    return Span(when.text, first, last, when.certain)


@cache
def _idle() -> re.Pattern[str]:
    return lexicon.pattern("intents", "idle")
