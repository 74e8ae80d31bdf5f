"""What a date leaves unsaid: "on Friday" comes in, "Friday 13 March 2026" goes out.

Which Friday, and which year's January, is told by the tense of the clause; where no tense tells, and where
something comes back every year, nothing is added.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from engram.text.dates import dates
from engram.text.scripts import HAN
from engram.text.when.tense import clause, told
from engram.text.when.words import Grain, Prefer, When

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept|Sep|Oct|Nov|Dec)"
)
_WEEKDAY = r"(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day"
_TIES = r"(?:on|in|by|until|till|since|before|after|from|during|of|for|early|late|mid|back in)"
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
_HAN_CHAR = re.compile(f"[{HAN}]")
_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip


def completions(text: str, now: datetime) -> tuple[tuple[str, str], ...]:
    """The dates that leave their week or year unsaid, each in full where the tense tells which is meant.

    >>> completions("I'm flying to Oslo on Friday", datetime(2026, 3, 10))
    (('Friday', 'Friday 13 March 2026'),)
    >>> (
    ...     completions("I quit in November", datetime(2026, 3, 10)),
    ...     completions("It rains in May", datetime(2026, 3, 10)),
    ... )
    ((('November', 'November 2025'),), ())
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
    # "My flight was cancelled, I'm here until Friday": a bound looks ahead unless its own clause is past.
    meant = told(text[first:last]) or (None if tie in _AHEAD else told(text))
    if meant:
        return meant
    if _HAN_CHAR.search(piece) or tie in _AHEAD:
        return "future"
    # "We freeze features on March 20": a day, unlike a month, is meant once.
    return "near" if tie == "on " else None


def _english(match: re.Match[str], when: When) -> str:
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


def _chinese(when: When) -> str:
    day = when.first
    if day is None:
        return when.text
    return f"{day.year}年{day.month}月" + ("" if when.grain is Grain.MONTH else f"{day.day}日")
