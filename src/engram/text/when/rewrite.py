"""Relative dates written out: "yesterday" becomes "on 7 May 2023", so that a text reads well later.

Comes in: a text and the expressions found in it. Goes out: the text with each relative expression that is
certain enough replaced, or followed by its dates in brackets where a replacement would not read well.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import Final

from engram.text.scripts import HAN
from engram.text.when.vocabulary import chinese_vocabulary, vocabulary
from engram.text.when.words import Grain, When

Reader = Callable[[str], list[When]]

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
_SHORT: Final = frozenset({Grain.SECOND, Grain.MINUTE, Grain.HOUR})
_HAN = re.compile(f"[{HAN}]")
_WORD = re.compile(r"[A-Za-z]+")
_BOUND = re.compile(r"(?i)^(?:since|until|till|til|by|before|after|from|no later than)\s+(?:around\s+)?")
_DAY_WORDS = re.compile(
    r"(?i)\b(?:(?:this|last|next|coming|previous|past|following)\s+[a-z]+day|today|yesterday|tomorrow|tmrw)\b"
)
_CHINESE_DAY = re.compile(
    r"^(?:大?[前昨今明后後][天日儿]|(?:[上下]{1,2}|[本这這])[个個]?(?:周|週|星期|礼拜|禮拜)[一二三四五六日天])"
)


def rewritten(text: str, found: Iterable[When], read: Reader) -> str:
    """`text` with the relative ones of `found` written out; `read` finds dates in a piece of text."""
    pieces, end = [], 0
    for when in found:
        written = _written(text, when, read)
        if written is not None:
            pieces += [text[end : when.start], written]
            end = when.end
    return "".join([*pieces, text[end:]])


def _written(text: str, when: When, read: Reader) -> str | None:
    if when.kind not in {"date", "range"} or not when.certain or not is_relative(when.text):
        return None
    if _HAN.search(when.text):
        return _chinese(when)
    bound = _BOUND.match(when.text)
    if bound and (when.first is None or when.last is None):
        inner = read(when.text[bound.end() :])
        plain = _plain(inner[0]) if len(inner) == 1 and inner[0].certain else None
        return bound.group() + plain if plain else None
    return _english(text, when)


def is_relative(written: str) -> bool:
    """Whether an expression only means something on the day it was said.

    >>> is_relative("last week"), is_relative("in two days"), is_relative("7 May 2023"), is_relative("前天")
    (True, True, False, True)
    """
    if _HAN.search(written):
        words = (word for word, (category, _) in chinese_vocabulary().items() if category in _RELATIVE)
        return any(word in written for word in words)
    known = vocabulary()
    categories = {known.get(word.lower(), ("", None))[0] for word in _WORD.findall(written)}
    counted = written.lower().startswith(("in ", "within ")) and "unit" in categories
    return bool(categories & _RELATIVE) or counted or written.lower().endswith("from now")


def _english(text: str, when: When) -> str | None:
    before = (_WORD.findall(text[: when.start])[-1:] or [""])[0].lower()
    after = text[when.end :]
    plain = _plain(when)
    if plain is None:
        return f"{when.text} ({_ends(when)})" if when.first and when.last else None
    if after[:2] in {"'s", "’s"}:
        return plain if when.grain in {Grain.DAY, Grain.MONTH, Grain.YEAR} else None
    led = before in _LEADS and re.search(r"\s$", text[: when.start])
    subject = not text[: when.start].strip() and re.match(
        r"\s+(?:is|was|will|would|has|had|looks|seems)\b", after
    )
    written = plain if led or subject else _preposition(when) + plain
    return written[0].upper() + written[1:] if when.text[0].isupper() else written


_LEADS: Final = frozenset(
    [
        "on",
        "in",
        "at",
        "since",
        "until",
        "till",
        "by",
        "before",
        "after",
        "from",
        "for",
        "of",
        "during",
        "to",
        "around",
        "about",
        "than",
        "over",
        "between",
        "through",
        "and",
        "or",
        "with",
    ]
) - {"and", "or", "with"}


def _preposition(when: When) -> str:
    if when.grain in {Grain.MONTH, Grain.YEAR, Grain.QUARTER, Grain.SEASON, Grain.HALF, Grain.DECADE}:
        return "in "
    if when.grain in {Grain.WEEK, Grain.WEEKEND} or not when.text[:1].isalpha():
        return "" if when.grain is not Grain.DAY else "on "
    return (
        "" if _DAY_WORDS.search(when.text) and when.grain in _SHORT and not _starts_with_day(when) else "on "
    )


def _starts_with_day(when: When) -> bool:
    return _DAY_WORDS.match(when.text) is not None


def _plain(when: When) -> str | None:
    """The date without a preposition; None when it does not fit in few words."""
    first, last = when.first, when.last
    if first is None or last is None:
        return None
    if when.grain in _SHORT:
        return _moment(when, first)
    if when.grain is Grain.PART:
        return _part(when, first)
    if when.grain is Grain.DAY:
        return _day(first, named=_names_weekday(when.text)) if last - first == timedelta(days=1) else None
    if last - first > _LONGEST[when.grain] or _is_portion(when):
        return None
    return _period(first, when.grain)


_LONGEST: Final = {
    Grain.WEEKEND: timedelta(days=4), Grain.WEEK: timedelta(days=7), Grain.MONTH: timedelta(days=31),
    Grain.QUARTER: timedelta(days=92), Grain.SEASON: timedelta(days=92), Grain.HALF: timedelta(days=184),
    Grain.YEAR: timedelta(days=366), Grain.DECADE: timedelta(days=3653), Grain.CENTURY: timedelta(days=0),
}  # fmt: skip


def _is_portion(when: When) -> bool:
    """Whether the span is neither a whole unit nor a day: "later this month", "the last month and a half"."""
    first, last = when.first, when.last
    if first is None or last is None or last - first == timedelta(days=1):
        return False
    whole = {Grain.WEEK: first.weekday() == 0, Grain.WEEKEND: first.weekday() == 5}  # noqa: PLR2004
    shortest = _LONGEST[when.grain] - timedelta(days=3 if when.grain is not Grain.WEEK else 0)
    return not whole.get(when.grain, first.day == 1) or (
        when.grain is not Grain.WEEKEND and last - first < shortest
    )


def _period(first: datetime, grain: Grain) -> str:
    match grain:
        case Grain.WEEK:
            return f"the week of {_day(first - timedelta(days=first.weekday()))}"
        case Grain.WEEKEND:
            return f"the weekend of {_day(first)}"
        case Grain.MONTH:
            return f"{first:%B} {first.year}"
        case Grain.QUARTER:
            return f"the {_NTH[(first.month - 1) // 3]} quarter of {first.year}"
        case Grain.HALF:
            return f"the {_NTH[first.month // 7]} half of {first.year}"
        case Grain.SEASON:
            return f"{_SEASONS[first.month % 12 // 3]} {first.year}"
        case Grain.DECADE:
            return f"the {first.year // 10 * 10}s"
    return str(first.year)


_NTH: Final = ("first", "second", "third", "fourth")
_SEASONS: Final = ("winter", "spring", "summer", "autumn")


def _day(day: datetime, *, named: bool = False) -> str:
    return f"{day:%A} {day.day} {day:%B} {day.year}" if named else f"{day.day} {day:%B} {day.year}"


def _names_weekday(written: str) -> bool:
    return any(vocabulary().get(word.lower(), ("",))[0] == "weekday" for word in _WORD.findall(written))


def _moment(when: When, first: datetime) -> str | None:
    """Tomorrow at 3pm: the time stays as it was said."""
    said = _DAY_WORDS.search(when.text)
    if said is None:
        return f"{_day(first)} at {first:%H:%M}"
    day = _day(first, named=_names_weekday(said.group()))
    lead = "" if said.start() == 0 or re.search(r"\bon\s+$", when.text[: said.start()]) else "on "
    return when.text[: said.start()] + lead + day + when.text[said.end() :]


def _part(when: When, first: datetime) -> str:
    words = [word.lower() for word in _WORD.findall(when.text)]
    part = next((word for word in words if vocabulary().get(word, ("",))[0] == "part"), "evening")
    return f"the {part} of {_day(first, named=_names_weekday(when.text))}"


def _ends(when: When) -> str:
    if when.first is None or when.last is None:
        return ""
    if when.grain in _SHORT:
        return f"{when.first:%H:%M} to {when.last:%H:%M} on {_day(when.first)}"
    return f"{_day(when.first)} to {_day(when.last - timedelta(days=1))}"


def _chinese(when: When) -> str | None:
    first, last = when.first, when.last
    if first is None or last is None:
        said = _CHINESE_DAY.search(when.text)
        edge = first or last
        day = edge - timedelta(days=1) if edge and first is None and not when.text.endswith("前") else edge
        return _chinese_day(day) + when.text[said.end() :] if said and day else None
    said = _CHINESE_DAY.match(when.text)
    if when.grain in {*_SHORT, Grain.PART, Grain.DAY} and last - first <= timedelta(days=1):
        if said:
            return _chinese_day(first) + when.text[said.end() :]
        return _chinese_day(first) if when.grain is Grain.DAY else _chinese_moment(when, first)
    if last - first > _LONGEST.get(when.grain, timedelta(0)) or _is_portion(when):
        return f"{when.text}（{_chinese_day(first)}至{_chinese_day(last - timedelta(days=1))}）"
    return _chinese_period(first, when.grain, when.text)


def _chinese_day(day: datetime) -> str:
    return f"{day.year}年{day.month}月{day.day}日"


def _chinese_moment(when: When, first: datetime) -> str:
    """昨晚, 今早8点: the part of the day stays as it was said."""
    part = {"早": "早上", "晨": "早上", "晚": "晚上", "夜": "晚上"}.get(when.text[1:2])
    if part and when.text[0] in "今昨明前后後":
        return _chinese_day(first) + part + when.text[2:]
    return f"{_chinese_day(first)}{first:%H:%M}"


def _chinese_period(first: datetime, grain: Grain, said: str) -> str | None:
    match grain:
        case Grain.WEEK:
            return f"{_chinese_day(first - timedelta(days=first.weekday()))}那一周"
        case Grain.WEEKEND:
            return f"{_chinese_day(first)}那个周末"
        case Grain.MONTH:
            return f"{first.year}年{first.month}月"
        case Grain.QUARTER:
            return f"{first.year}年第{'一二三四'[(first.month - 1) // 3]}季度"
        case Grain.HALF:
            return f"{first.year}年{'上下'[first.month // 7]}半年"
        case Grain.YEAR:
            return f"{first.year}年"
    return f"{said}（{first.year}年）"
