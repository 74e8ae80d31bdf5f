"""Times in a question: its words and the present come in, the stretches of time it asks about come out.

Pure rules. "When did it happen?" asks for a time and names none; "lately" and "now" ask for what is new;
"every Monday" and "for two hours" name no stretch of the calendar. "The week before my trip" is a stretch
once somebody knows when the trip was: an anchor.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from functools import cache
from math import exp, inf
from typing import Final, Literal

from engram.lazily import dataclass
from engram.model.recall import Span
from engram.recall.intents import cues, is_fresh
from engram.text import lexicon, re, words
from engram.text.dates import dates
from engram.text.names import spelled
from engram.text.when.calendar import Grain, Prefer, TimeExpression

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
    prefer: Prefer = "future" if _AHEAD.search(question) else "past"
    found = [
        _span(when)
        for when in dates(question, now, prefer=prefer)
        if _is_stretch(when) and _is_asked(when, question)
    ]
    return tuple(found[:MOST])


# What is asked about may be yet to come: "what do I have on Friday?", "where am I going in June?".
_AHEAD: Final = re.compile(
    r"(?i)\b(?:will|upcoming|planned|scheduled|going to|due|deadline)\b|'s on (?:for )?\b"
    r"|\b(?:do|does) (?:i|we|he|she|they|[a-z]+) have\b(?!.*\bfrom\b)"
    r"|\b(?:am|are|is) (?:i|we|he|she|they) \w+ing\b"
    r"|\bwhat plans\b|\bmy plans\b|打算|计划|安排|要做|要去|有什么事|会议吗"
)
_TODAY: Final = re.compile(
    r"(?i)^(?:today|tonight|tonite|this (?:morning|afternoon|evening)|今[天日晚夜早])$"
)
# "Where do I live today?", "what should I cook tonight?": how things stand, not what happened then.
_STANDING: Final = re.compile(
    r"(?i)\b(?:should|shall|could|can|would|might|recommend|suggest|ideas?)\b"
    r"|\b(?:do|does|am|is|are) [\w' ]{1,40}\b(?:live|work|use|like|prefer|drive|own|love|speak|play|weigh"
    r"|feel|stay|eat|drink|wear|know|called|named|allergic|married|based|employed)\b"
    r"|^(?:so |and )?(?:who|what|where|which|how)(?:'s| is| are) (?:my|our|his|her|their|[\w-]+'s)\b"
    r"(?!.*\b(?:plans?|schedule|agenda|meetings?|appointments?|calls?|on)\b)"
    r"|该|应该|可以|能不能|推荐|建议|住在|工作|叫什么|用什么|是谁"
)


def _is_asked(when: TimeExpression, question: str) -> bool:
    """Whether a question is after what was at that time; "today" often says only that it is asked now."""
    return not (_TODAY.match(when.text.strip()) and _STANDING.search(question))


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
    question = _OF_SEVERAL.sub(" ", question)
    for span in asked:
        whole = span.first is not None and span.last is not None
        if _ISO.search(span.words) or (whole and _moves(span, now)):
            question = question.replace(span.words, day_words(span), 1)
    return question


# "The first time" is asked for, not told: a memory that says so of something else is not meant.
_OF_SEVERAL: Final = re.compile(
    r"(?i)\b(?:for )?the (?:very )?(?:first|last) time\b|\bmost recent(?:ly)?\b|\b(?:latest|newest)\b(?= \w)"
    r"|上一?次|第一次|(?:最后|最近|头)一次"
)
_ISO: Final = re.compile(r"\d{4}-\d\d-\d\d")


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


Bounds = tuple[float, float, float]
"""Both ends of a time and one deviation of the bell beside it, in seconds: no zone need be asked."""


def proximity(moments: Iterable[datetime], asked: Iterable[Bounds]) -> float:
    """How near the nearest of `moments` lies to one of the times: 1 inside, falling off like a bell beside.

    >>> may = bounds([Span("May", datetime(2023, 5, 1), datetime(2023, 6, 1))])
    >>> proximity([datetime(2023, 5, 9)], may), round(proximity([datetime(2023, 6, 11)], may), 2)
    (1.0, 0.43)
    """
    times, nearest = [moment.timestamp() for moment in moments], inf
    for first, last, deviation in asked:
        for moment in times:
            if first <= moment < last:
                return 1.0
            nearest = min(nearest, max(first - moment, moment - last) / deviation)
    return exp(-(nearest**2) / 2)


def bounds(asked: Iterable[Span]) -> list[Bounds]:
    """The times as `proximity` compares them."""
    return [
        (
            -inf if span.first is None else span.first.timestamp(),
            inf if span.last is None else span.last.timestamp(),
            reach(span).total_seconds(),
        )
        for span in asked
    ]


def length(span: Span) -> timedelta:
    """How long a time is; one with an open end has no end."""
    return timedelta.max if span.first is None or span.last is None else span.last - span.first


def reach(span: Span) -> timedelta:
    """How far beyond a time its proximity is felt: one deviation of the bell."""
    days = length(span) / DAY
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


def _is_stretch(when: TimeExpression) -> bool:
    dated = when.kind in {"date", "range"} and not when.recurring
    return dated and not (when.first is None and when.last is None) and not is_fresh(when.text)


def _span(when: TimeExpression) -> Span:
    first, last = when.first, when.last
    about = ABOUT.get(when.grain, 0)
    if first is not None and last is not None and about and last - first <= DAY:
        first, last = first - about * DAY, last + about * DAY
    return Span(when.text, first, last, when.certain)


@cache
def _idle() -> re.Pattern[str]:
    return lexicon.pattern("intents", "idle")


# ---------------------------------------------------------------- first and last


Superlative = Literal["first", "last"]


def superlative(question: str) -> Superlative | None:
    """Whether a question is after the first or the last of several.

    >>> superlative("When did I last visit grandma?"), superlative("When was the first time I flew?")
    ('last', 'first')
    >>> superlative("What did I cook last week?"), superlative("What is Anna's last name?")
    (None, None)
    """
    said = cues(question)
    return "last" if "last of several" in said else "first" if "first of several" in said else None


# ---------------------------------------------------------------- before and after an event


@dataclass(frozen=True, slots=True)
class Anchor:
    """A time told from an event: "the week before my trip"."""

    words: str
    """As they stand in the question."""
    event: str
    tie: Literal["before", "after"]
    length: timedelta | None = None
    """How long before or after; None: at any time."""


def anchor(question: str, now: datetime) -> Anchor | None:
    """The event from which a question tells its time; None when there is none, or a date says it.

    >>> found = anchor("What did I buy the week before my trip to Rome?", datetime(2026, 6, 1))
    >>> found.event, found.tie, found.length.days
    ('my trip to Rome', 'before', 7)
    >>> anchor("What did I buy before May?", datetime(2026, 6, 1))
    """
    if _ADVICE.search(question):
        return None
    for pattern in (_CHINESE_ANCHOR, _ANCHOR) if not question.isascii() else (_ANCHOR,):
        found = pattern.search(question)
        if found is None or _NOBODY.fullmatch(found["event"]):
            continue
        first, last = found.span("event")
        dated = (when for when in dates(question, now) if when.kind in {"date", "range"})
        if all(when.end <= first or when.start >= last for when in dated):
            length = _length(found["count"], found["unit"])
            return Anchor(found.group().strip(), found["event"].strip(), _tie(found["tie"]), length)
    return None


_NOBODY: Final = re.compile(r"[我你您他她它们咱大家]+")
_ADVICE: Final = re.compile(
    r"(?i)\b(?:should|shall|could|can|must|need to|have to|ought to|will)\b|应该|该不该|需要|必须"
)
_ANCHOR: Final = re.compile(
    r"(?i)\b(?:(?P<count>the|an?|one|two|three|four|five|six|\d{1,2}|(?:a )?few|(?:a )?couple of|several) "
    r"(?P<unit>day|night|evening|morning|week|weekend|fortnight|month|year)s? )?"
    r"(?:right |just |shortly |soon |ever )?"
    r"(?P<tie>before|prior to|leading up to|after|following|since) "
    r"(?P<event>(?:(?:i|we|he|she|they|you|my|our|his|her|their|the|that|[\w-]+['’]s)\b|(?-i:[A-Z])\w+|\w+ing\b)"
    r"[^?.,;!]*?)"
    r"(?=[?.,;!]|$| (?:what|where|who|which|how|did|do|have) )"
)
_CHINESE_ANCHOR: Final = re.compile(
    r"(?P<event>[^，。？,?]{2,20}?)的?(?P<tie>之前|以前|前|之后|以后|后|以来)(?:的)?"
    r"(?P<count>[一两三四五六]|那)?(?P<unit>天|个?星期|周|个?月|年)?(?=[，,我你他她的买做去发吃]|$)"
)
_DAYS_OF: Final[Mapping[str, int]] = {
    "day": 1, "night": 1, "evening": 1, "morning": 1, "week": 7, "weekend": 7, "fortnight": 14, "month": 30,
    "year": 365,
    "天": 1, "星期": 7, "周": 7, "月": 30, "年": 365,
}  # fmt: skip
_COUNTS: Final[Mapping[str, int]] = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "few": 3, "couple of": 2, "several": 4,
    "两": 2, "三": 3, "四": 4, "五": 5, "六": 6,
}  # fmt: skip


def _tie(word: str) -> Literal["before", "after"]:
    early = {"before", "prior to", "leading up to", "之前", "以前", "前"}
    return "before" if word.lower() in early else "after"


def _length(count: str | None, unit: str | None) -> timedelta | None:
    if not unit:
        return None
    number = (count or "the").lower().removeprefix("a ")
    times = int(number) if number.isdigit() else _COUNTS.get(number, 1)
    return timedelta(days=times * _DAYS_OF[unit.lower().removeprefix("个")])


def told_from(question: str, found: Anchor, first: date, last: date) -> tuple[str, str]:
    """The question with dates in place of its anchor, when the event was on these days; and those dates.

    >>> week = Anchor("the week before my trip", "my trip", "before", timedelta(days=7))
    >>> told_from("What did I buy the week before my trip?", week, date(2026, 5, 3), date(2026, 5, 10))
    ('What did I buy between 2026-04-26 and 2026-05-02?', 'between 2026-04-26 and 2026-05-02')
    """
    early = found.tie == "before"
    if found.length is None:
        dated = f"before {first}" if early else f"after {last}"
    else:
        one, other = (first - found.length, first - DAY) if early else (last + DAY, last + found.length)
        dated = f"on {one}" if one == other else f"between {one} and {other}"
    return question.replace(found.words, dated, 1), dated
