"""Dates in text: a sentence and the time it was said come in, the spans of time it names come out.

Pure rules, English and Chinese: the text becomes tokens, rules join tokens to larger ones (see
`when/rules.py`), and what is left that means a time is returned. A text without any word or figure of time
costs one look at its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta, tzinfo
from functools import cache
from typing import Any, Final

from engram.text import re
from engram.text.lexicon import parts, words_of
from engram.text.reading import read_once
from engram.text.when import chinese, english
from engram.text.when.calendar import (
    LONGEST,
    SHORT,
    Grain,
    Kind,
    Prefer,
    TimeExpression,
    TimeSpan,
    hours_of_day,
    is_portion,
    likely,
    on_day,
    part_of_day,
)
from engram.text.when.rules import GAP, DateToken, Scene, clause, reduced, told
from engram.text.when.tokens import chinese_vocabulary, holiday_words, telling, tokens, vocabulary
from engram.text.words import HAN

__all__ = ["Grain", "TimeExpression", "dated", "dates"]


def dates(text: str, now: datetime, *, prefer: Prefer = "told") -> list[TimeExpression]:
    """Every expression of time in `text`, left to right; `prefer` chooses where a year is left unsaid.

    "told": the tense of the clause chooses ("I quit in November", "it is due in May"), else the nearest.

    >>> [found] = dates("I met Anna yesterday", datetime(2023, 5, 8))
    >>> found.text, found.first, found.last
    ('yesterday', datetime.datetime(2023, 5, 7, 0, 0), datetime.datetime(2023, 5, 8, 0, 0))
    """
    return list(_dates(text, now.replace(tzinfo=None), now.tzinfo, prefer))


@read_once
def _dates(text: str, now: datetime, zone: tzinfo | None, prefer: Prefer) -> tuple[TimeExpression, ...]:
    found = []
    for segment in _segments(text):
        here = Scene(text, now, prefer, place=segment[0].start)
        for token in _read(segment, here):
            when = _when(token, here, zone)
            if when:
                found.append(when)
    return tuple(found)


def dated(text: str, now: datetime) -> tuple[tuple[str, str], ...]:
    """Each expression that only means something on the day it was said, with the date it meant.

    >>> dated("I met Anna yesterday", datetime(2023, 5, 8))
    (('yesterday', '7 May 2023'),)
    """
    found = ((when.text, meaning(when)) for when in dates(text, now))
    return tuple(dict.fromkeys(pair for pair in found if pair[1] and pair[1] != pair[0]))


# Figures that may speak of time without a word that does: 2019, 7:30, 5/3, the 3rd, 7 pm, Q3. "974" does not.
# It begins with a set of characters: a fast search.
_FIGURE = re.compile(
    r"[\d'qQhHwW](?:(?<=\d)(?:\d{3}|[:：/]\d|-\d{1,2}-\d|'?[A-Za-z]|\s?\.?\s?[apAP]\s?\.?\s?[mM])"
    r"|(?<=')\d\d|(?<=\b[qQhH])\d|(?<=\b[wW])[kK]?\s?#?\d)"
)
_HAN = re.compile(f"[{HAN}]")
_GREETING = re.compile(
    r"(?i)\bgood\s+(?:morning|afternoon|evening|night)"
    r"|\A\W*(?:(?:hi|hey|hello)\W+)?(?:morning|afternoon|evening)(?:\s*[!,]|\s+(?:all|every(?:one|body)|folks|guys|team|there)\b)"
)
_AGE = re.compile(r"[ -]olds?\b|岁")


@cache
def _categories(under: str) -> frozenset[str]:
    """Categories by what they do in a sentence."""
    return frozenset(name for row in parts("dates_ties")[under] for name in row.split())


@cache
def _triggers() -> frozenset[str]:
    return telling() | holiday_words().keys()


@cache
def _chinese_signs() -> re.Pattern[str]:
    ties = _categories("ties")
    strong = sorted(word for word, (category, _) in chinese_vocabulary().items() if category not in ties)
    starts = "".join(sorted({word[0] for word in strong}))
    return re.compile(rf"{_FIGURE.pattern}|(?=[{starts}])(?:{'|'.join(strong)})")


@read_once
def _segments(text: str) -> tuple[list[DateToken], ...]:
    """Runs of tokens without a gap that hold more than words which tie: whenever it was said, the same."""
    words = words_of(text.lower())
    if words.isdisjoint(_triggers()) and not (_FIGURE if text.isascii() else _chinese_signs()).search(text):
        return ()
    return tuple(_telling_runs(tokens(text, words), text))


def _telling_runs(found: list[DateToken], text: str) -> Iterator[list[DateToken]]:
    ties = _categories("ties")
    for run in _runs(found):
        if any(token.category not in ties for token in run):
            for kept in _runs(_without_lookalikes(run, text)):
                if any(token.category not in ties for token in kept):
                    yield kept


def _runs(found: Iterable[DateToken]) -> Iterator[list[DateToken]]:
    """What lies between gaps, in pieces no longer than any expression."""
    run: list[DateToken] = []
    for token in found:
        if token.category == GAP or len(run) == _LONGEST:
            yield run
            run = []
        if token.category != GAP:
            run.append(token)
    yield run


_LONGEST: Final = 48


def _without_lookalikes(segment: list[DateToken], text: str) -> Iterator[DateToken]:
    """The same tokens, but "may", "march" or "sat" are gaps when nothing near them speaks of time."""
    for place, token in enumerate(segment):
        if token.category == "part" and any(
            greeting.start() <= token.start < greeting.end() for greeting in _GREETING.finditer(text)
        ):
            yield DateToken(GAP, token.start, token.end)
            continue
        if token.category in _NAMES and text[token.start : token.end].lower() in _wary():
            before, after = segment[max(place - 2, 0) : place], segment[place + 1 : place + 3]
            alone = len(text.strip(" .?!")) == token.end - token.start
            if not alone and not _in_company(token, before, after):
                yield DateToken(GAP, token.start, token.end)
                continue
        yield token


def _in_company(token: DateToken, before: list[DateToken], after: list[DateToken]) -> bool:
    name = "a weekday" if token.category == "weekday" else "a name"
    near = {each.category for each in before} & _categories(f"before {name}")
    return bool(near or {each.category for each in after} & _categories(f"after {name}")) or (
        _paired(after, token) or _paired(before[::-1], token)
    )


def _paired(beside: list[DateToken], token: DateToken) -> bool:
    """Whether another name of the kind stands beside: May to March."""
    tie, name = ([each.category for each in beside] + ["", ""])[:2]
    return tie in _categories("pairs") and name == token.category


_NAMES: Final = frozenset({"month", "weekday", "season"})


@cache
def _wary() -> frozenset[str]:
    return frozenset(word for row in parts("dates_en")["wary"] for word in row.partition(" = ")[0].split())


def _read(segment: list[DateToken], scene: Scene) -> list[DateToken]:
    if scene.text.isascii() or not _HAN.search(scene.text, segment[0].start, segment[-1].end):
        return reduced(segment, english.rules(), scene)
    return reduced(segment, chinese.rules(), scene)


def _when(token: DateToken, scene: Scene, zone: tzinfo | None) -> TimeExpression | None:
    try:
        meant = _meant(token, scene)
    except (ValueError, OverflowError):
        return None
    if meant is None:
        return None
    span, kind = meant
    first = span.first.replace(tzinfo=zone) if span.first else None
    last = span.last.replace(tzinfo=zone) if span.last else None
    said = scene.text[token.start : token.end]
    return TimeExpression(
        said, token.start, token.end, first, last, span.grain, span.certain, kind == "set", kind
    )


def _meant(token: DateToken, scene: Scene) -> tuple[TimeSpan, Kind] | None:
    """What a token that is left means; None for those that only tie, and for an age."""
    value, today = token.value, scene.now
    if token.category in {"date", "moment", "range"}:
        span = scene.span(value)
        short = span.first and span.last and span.last - span.first <= timedelta(days=1)
        return span, "date" if short else "range"
    if token.category == "length":
        age = _AGE.match(scene.text, token.end)
        return None if age else (TimeSpan(None, None, value.unit, value.certain), "duration")
    if token.category == "set":
        return TimeSpan(None, None, Grain.DAY), "set"
    build = None if token.end - token.start == 1 else _TIMES.get(token.category)  # 早 alone may mean much
    return (build(today, value), "time") if build else None


_TIMES: Final[dict[str, Callable[[datetime, Any], TimeSpan]]] = {
    "clock": lambda day, clock: on_day(day, likely(clock)),
    "hours": hours_of_day,
    "part": part_of_day,
}


# ---------------------------------------------------------------- unsaid
# What a date leaves unsaid: "on Friday" comes in, "Friday 13 March 2026" goes out.
#
# Which Friday, and which year's January, is told by the tense of the clause; where no tense tells, and
# where something comes back every year, nothing is added.


_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)"
)
_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_TIES = r"(?:on|in|by|until|till|since|before|after|from|during|of|for|to|early|late|mid|back in)"
_ENGLISH = re.compile(
    rf"\b(?P<tie>{_TIES} )(?P<piece>{_WEEKDAY}(?P<part> (?:morning|afternoon|evening|night))?"
    rf"|{_MONTH}(?: \d{{1,2}}(?:st|nd|rd|th)?)?|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH})"
    r"\b(?!,? \d|-|\.\d|'s)"
)
_NUMBER = r"(?:\d{1,2}|[一二三四五六七八九十]{1,3})"
_CHINESE = re.compile(
    rf"(?<![上下这本每个年\d一二三四五六七八九十])(?P<piece>(?:周|星期|礼拜)[一二三四五六日天]"
    rf"|{_NUMBER}月(?:{_NUMBER}[号日]|份)|年底)(?!都)"
)
_YEARLY = re.compile(
    r"\b(?:birthdays?|anniversary|born|every|each|usually|always|often|normally|typically|annual(?:ly)?|yearly)\b"
    r"|生日|纪念日|出生|每|通常|总是|一般",
    re.IGNORECASE,
)
_AHEAD: Final = frozenset({"by ", "until ", "till ", "from "})
_TO: Final = frozenset({"for ", "to "})
_ARRANGED = re.compile(
    r"\b(?:(?:re)?(?:book|schedul)|postpon|arrang|plann|pencil|push|mov|bump|set up)\w*\b[^.;!?]{0,40}$",
    re.IGNORECASE,
)
_HAN_CHAR = re.compile(f"[{HAN}]")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def happening(text: str, now: datetime) -> TimeExpression | None:
    """The one time at which something happened; None when the text names none or several.

    A year that tells which thing is meant ("a Golf, 2018", "a house built in 1920") is not when it happened.

    >>> now = datetime(2026, 3, 10)
    >>> [
    ...     one and one.text
    ...     for one in (happening(text, now) for text in ("We married in 2014", "Got a Golf, 2018"))
    ... ]
    ['2014', None]
    """
    named = [one for one in dates(text, now) if one.first is not None and one.certain and not one.recurring]
    if len(named) != 1:
        return None
    only, before = named[0], text[: named[0].start]
    bare = only.grain is Grain.YEAR and only.text.isdecimal()
    return None if bare and (not _IN_A_YEAR.search(before) or _MADE.search(before)) else only


_IN_A_YEAR = re.compile(r"(?:^|\b(?:in|since|during|until|till|after|before|of|year)) ?$", re.IGNORECASE)
_MADE = re.compile(r"(?<!\bwas)(?<!\bwere)(?<!\bgot)[ ,](?:built|made|founded|dating) in $", re.IGNORECASE)


def completions(text: str, now: datetime) -> tuple[tuple[str, str], ...]:
    """The dates that leave their week or year unsaid, each in full where the tense tells which is meant.

    >>> completions("I'm flying to Oslo on Friday", datetime(2026, 3, 10))
    (('Friday', 'Friday 13 March 2026'),)
    >>> (
    ...     completions("I quit in November", datetime(2026, 3, 10)),
    ...     completions("It rains in May", datetime(2026, 3, 10)),
    ... )
    ((('November', 'November 2025'),), ())
    >>> completions("I failed my test again, booked it for 14 December now", datetime(2026, 11, 17))
    (('14 December', '14 December 2026'),)
    >>> completions("It is leaking again, third time since January", datetime(2026, 11, 17))
    (('January', 'January 2026'),)
    """
    if _YEARLY.search(text):
        return ()
    forms = (_CHINESE, _ENGLISH) if _HAN_CHAR.search(text) else (_ENGLISH,)
    found = ((match["piece"], _in_full(match, now)) for form in forms for match in form.finditer(text))
    return tuple(dict.fromkeys((piece, full) for piece, full in found if full and full != piece))


def _in_full(match: re.Match[str], now: datetime) -> str:
    piece, tie = match["piece"], match.groupdict().get("tie") or ""
    if piece == "年底":
        return f"{now.year}年底"
    tense = _tense(match.string, match.start(), tie, piece)
    found = dates(tie + piece, now, prefer=tense) if tense else []
    inner = dates(piece, now, prefer=tense) if tense and found else []
    if len(inner) != 1 or inner[0].first is None:
        return ""
    return _chinese(inner[0]) if _HAN_CHAR.search(piece) else _english(match, inner[0])


def _tense(text: str, start: int, tie: str, piece: str) -> Prefer | None:
    """Past or future by the clause the date stands in, else by the whole text."""
    first, last = clause(text, start)
    if tie in _TO and _ARRANGED.search(text[first:start]):  # arranged in the past, for a day to come
        return "future"
    if tie == "to ":
        return None
    if tie == "since ":
        return "past"
    # "My flight was cancelled, I'm here until Friday": a bound looks ahead unless its own clause is past.
    meant = told(text[first:last]) or (None if tie in _AHEAD else told(text))
    if meant:
        return meant
    if _HAN_CHAR.search(piece) or tie in _AHEAD:
        return "future"
    # "We freeze features on March 20": a day, unlike a month, is meant once.
    return "near" if tie == "on " else None


def _english(match: re.Match[str], when: TimeExpression) -> str:
    day = when.first
    if day is None:
        return match["piece"]
    month = f"{_MONTHS[day.month - 1]} {day.year}"
    if when.grain is Grain.MONTH:
        return month
    if match["part"]:
        return f"{match['piece']} ({day.day} {month})"
    named = f"{match['piece']} " if match["piece"].endswith("day") else ""
    return f"{named}{day.day} {month}"


def _chinese(when: TimeExpression) -> str:
    day = when.first
    if day is None:
        return when.text
    return f"{day.year}年{day.month}月" + ("" if when.grain is Grain.MONTH else f"{day.day}日")


# ---------------------------------------------------------------- chinese written
# Relative dates written out in Chinese: 昨天 becomes 2023年5月7日.


_CHINESE_DAY = re.compile(
    r"^(?:大?[前昨今明后後][天日儿]|(?:[上下]{1,2}|[本这這])[个個]?(?:周|週|星期|礼拜|禮拜)[一二三四五六日天])"
)


def written_out(when: TimeExpression) -> str | None:
    """A relative expression as an absolute one; None when it is best left as it is."""
    first, last = when.first, when.last
    if first is None or last is None:
        said = _CHINESE_DAY.search(when.text)
        edge = first or last
        day = edge - timedelta(days=1) if edge and first is None and not when.text.endswith("前") else edge
        return _chinese_day(day) + when.text[said.end() :] if said and day else None
    said = _CHINESE_DAY.match(when.text)
    if when.grain in {*SHORT, Grain.PART, Grain.DAY} and last - first <= timedelta(days=1):
        if said:
            return _chinese_day(first) + when.text[said.end() :]
        return _chinese_day(first) if when.grain is Grain.DAY else _chinese_moment(when, first)
    if last - first > LONGEST.get(when.grain, timedelta(0)) or is_portion(when):
        return f"{when.text}（{_chinese_day(first)}至{_chinese_day(last - timedelta(days=1))}）"
    return _chinese_period(first, when.grain, when.text)


def _chinese_day(day: datetime) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _chinese_moment(when: TimeExpression, first: datetime) -> str:
    """昨晚, 今早8点: the part of the day stays as it was said."""
    part = {"早": "早上", "晨": "早上", "晚": "晚上", "夜": "晚上"}.get(when.text[1:2])
    if part and when.text[0] in "今昨明前后後":
        return _chinese_day(first) + part + when.text[2:]
    return f"{_chinese_day(first)}{first:%H:%M}"


def _chinese_period(first: datetime, grain: Grain, said: str) -> str:
    return _PERIODS[grain](first) if grain in _PERIODS else f"{said}（{first.year}年）"


_PERIODS: Final[dict[Grain, Callable[[datetime], str]]] = {
    Grain.WEEK: lambda first: f"{_chinese_day(first - timedelta(days=first.weekday()))}那一周",
    Grain.WEEKEND: lambda first: f"{_chinese_day(first)}那个周末",
    Grain.MONTH: lambda first: f"{first.year}年{first.month}月",
    Grain.QUARTER: lambda first: f"{first.year}年第{'一二三四'[(first.month - 1) // 3]}季度",
    Grain.HALF: lambda first: f"{first.year}年{'上下'[first.month // 7]}半年",
    Grain.YEAR: lambda first: f"{first.year}年",
}


_RELATIVE: Final = frozenset(
    [
        "day",
        "shift",
        "past",
        "tonight",
        "ago",
        "later",
        "earlier",
        "yearword",
        "daypart",
        "qian",
        "hou",
        "back",
    ]
)
_IN_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[A-Za-z]+")
_DAY_WORDS = re.compile(
    r"(?i)\b(?:(?:this|last|next|coming|previous|past|following)\s+[a-z]+day|today|yesterday|tomorrow|tmrw)\b"
)


def meaning(when: TimeExpression) -> str:
    """The date a relative expression meant on the day it was said; empty for one that needs no telling."""
    if when.kind not in {"date", "range"} or not when.certain or not is_relative(when.text):
        return ""
    try:
        if _IN_HAN.search(when.text):
            return written_out(when) or ""
        return _plain(when) or (_ends(when) if when.first and when.last else "")
    except OverflowError:  # the day before the first day of all
        return ""


def is_relative(written: str) -> bool:
    """Whether an expression only means something on the day it was said.

    >>> is_relative("last week"), is_relative("in two days"), is_relative("7 May 2023"), is_relative("前天")
    (True, True, False, True)
    """
    if _IN_HAN.search(written):
        words = (word for word, (category, _) in chinese_vocabulary().items() if category in _RELATIVE)
        return any(word in written for word in words)
    known = vocabulary()
    categories = {known.get(word.lower(), ("", None))[0] for word in _WORD.findall(written)}
    counted = written.lower().startswith(("in ", "within ")) and "unit" in categories
    return bool(categories & _RELATIVE) or counted or written.lower().endswith("from now")


def _plain(when: TimeExpression) -> str | None:
    """The date without a preposition; None when it does not fit in few words."""
    first, last = when.first, when.last
    if first is None or last is None:
        return None
    if when.grain in SHORT:
        return _moment(when, first)
    if when.grain is Grain.PART:
        return _part(when, first)
    if when.grain is Grain.DAY:
        return _day(first, named=_names_weekday(when.text)) if last - first == timedelta(days=1) else None
    if last - first > LONGEST[when.grain] or is_portion(when):
        return None
    return _period(first, when.grain)


def _period(first: datetime, grain: Grain) -> str:
    return _REWRITE_PERIODS[grain](first) if grain in _REWRITE_PERIODS else str(first.year)


# Not by strftime, which speaks the language of the machine.
_MONTH_NAMES: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_NTH: Final = ("first", "second", "third", "fourth")
_SEASONS: Final = ("winter", "spring", "summer", "autumn")


_REWRITE_PERIODS: Final[dict[Grain, Callable[[datetime], str]]] = {
    Grain.WEEK: lambda first: f"the week of {_day(first - timedelta(days=first.weekday()))}",
    Grain.WEEKEND: lambda first: f"the weekend of {_day(first)}",
    Grain.MONTH: lambda first: f"{_MONTH_NAMES[first.month - 1]} {first.year}",
    Grain.QUARTER: lambda first: f"the {_NTH[(first.month - 1) // 3]} quarter of {first.year}",
    Grain.HALF: lambda first: f"the {_NTH[first.month // 7]} half of {first.year}",
    Grain.SEASON: lambda first: f"{_SEASONS[first.month % 12 // 3]} {first.year}",
    Grain.DECADE: lambda first: f"the {first.year // 10 * 10}s",
}


def _day(day: datetime, *, named: bool = False) -> str:
    written = f"{day.day} {_MONTH_NAMES[day.month - 1]} {day.year}"
    return f"{_WEEKDAYS[day.weekday()]} {written}" if named else written


def _names_weekday(written: str) -> bool:
    return any(vocabulary().get(word.lower(), ("",))[0] == "weekday" for word in _WORD.findall(written))


def _moment(when: TimeExpression, first: datetime) -> str | None:
    """Tomorrow at 3pm: the time stays as it was said."""
    said = _DAY_WORDS.search(when.text)
    if said is None:
        return f"{_day(first)} at {first:%H:%M}"
    day = _day(first, named=_names_weekday(said.group()))
    lead = "" if said.start() == 0 or re.search(r"\bon\s+$", when.text[: said.start()]) else "on "
    return when.text[: said.start()] + lead + day + when.text[said.end() :]


def _part(when: TimeExpression, first: datetime) -> str:
    words = [word.lower() for word in _WORD.findall(when.text)]
    part = next((word for word in words if vocabulary().get(word, ("",))[0] == "part"), "evening")
    return f"the {part} of {_day(first, named=_names_weekday(when.text))}"


def _ends(when: TimeExpression) -> str:
    if when.first is None or when.last is None:
        return ""
    if when.grain in SHORT:
        return f"{when.first:%H:%M} to {when.last:%H:%M} on {_day(when.first)}"
    return f"{_day(when.first)} to {_day(when.last - timedelta(days=1))}"
