"""Tokens of an English text: the words and figures that may speak of time, and gaps for all others."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from string import ascii_lowercase
from typing import Any, Final

from engram.text import lexicon, re
from engram.text.when.calendar import Grain, TimeOfDay, holiday_names
from engram.text.when.rules import GAP, DateToken, Partial

# ---------------------------------------------------------------- numbers
# Number words: "twenty fourth", "two thousand and fifteen", 三十一.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


def with_numbers(found: list[DateToken]) -> Iterator[DateToken]:
    """The same tokens with number words joined: twenty fourth, two thousand and fifteen."""
    waiting: DateToken | None = None
    for token, following in zip(found, [*found[1:], None], strict=True):
        if waiting is None:
            waiting = token
            continue
        joined = _joined(waiting, token, following)
        if joined is None:
            yield waiting
            waiting = token
        else:
            waiting = joined
    if waiting is not None:
        yield waiting


def _joined(one: DateToken, other: DateToken, following: DateToken | None) -> DateToken | None:
    if one.category != "number" or one.end - one.start < 3:  # figures are whole already; words are longer
        return None
    low, high = one.value, other.value
    if other.category == "scale":
        value = low // 1000 * 1000 + low % 1000 * high
    elif (
        other.category == "dash"
        and low in _TENS
        and following
        and following.category in {"number", "ordinal"}
    ):
        return DateToken("number", one.start, other.end, low) if following.start == other.end else None
    elif other.category == "and" and low >= 100 and following and following.category in {"number", "ordinal"}:
        return DateToken("number", one.start, other.end, low)
    elif other.category in {"number", "ordinal"} and _fits(low, high):
        value = low + high
    else:
        return None
    category = "year" if 1000 <= value < 3000 and other.category != "ordinal" else other.category
    category = "number" if category == "scale" else category
    if category == "year" and following and following.category in {"number", "and", "scale"}:
        category = "number"
    return DateToken(category, one.start, other.end, value)


_TENS: Final = frozenset(range(20, 100, 10))


def _fits(low: int, high: int) -> bool:
    return (
        (low in _TENS and 0 < high < 10)
        or (low >= 100 and low % 100 == 0 and high < 100)
        or (low >= 1000 and low % 1000 == 0 and high < 1000)
    )


NUMERALS = "零〇一二两兩三四五六七八九十百千廿"
_DIGITS: Final = {**dict(zip("零一二三四五六七八九", range(10), strict=True)), "〇": 0, "两": 2, "兩": 2}


def numeral(written: str) -> int:
    """The value of a Chinese number.

    >>> numeral("二零一六"), numeral("三十一"), numeral("廿五"), numeral("一百零八")
    (2016, 31, 25, 108)
    """
    if not set(written) & set("十百千廿"):
        return int("".join(str(_DIGITS[sign]) for sign in written))
    total, last = 0, 0
    for sign in written:
        if sign in _DIGITS:
            last = _DIGITS[sign]
        elif sign == "廿":
            total += 20
        else:
            total += (last or 1) * {"十": 10, "百": 100, "千": 1000}[sign]
            last = 0
    return total + last


# ---------------------------------------------------------------- vocabulary
# The words that speak of time: each with its category and what it means, from the data files.


@cache
def vocabulary() -> dict[str, tuple[str, Any]]:
    """Every word with its category and value."""
    found: dict[str, tuple[str, Any]] = {}
    for category, rows in lexicon.parts("dates_en").items():
        for row in rows:
            written, _, value = row.partition(" = ")
            for word in written.split() if category != "wary" else ():
                found.setdefault(
                    word, (value, None) if category == "plain" else (category, _value(category, value))
                )
    found["o'clock"] = found["o’clock"] = ("oclock", None)
    return found


@cache
def chinese_vocabulary() -> dict[str, tuple[str, Any]]:
    """Every Chinese word with its category and value, holidays among them."""
    found: dict[str, tuple[str, Any]] = {}
    for category, rows in lexicon.parts("dates_zh").items():
        for row in rows:
            written, _, value = row.partition(" = ")
            for word in written.split():
                found[word] = (value, None) if category == "plain" else (category, _value(category, value))
    for name, kept in holiday_names().items():
        if not name.isascii():
            found[name] = ("holiday", Partial(holiday=kept))
    return found


def _value(category: str, value: str) -> Any:
    if category == "unit":
        return Grain(value)
    if category in {"part", "daypart"}:
        return tuple(int(piece) for piece in value.split())
    if category == "clock":
        return TimeOfDay(int(value), 0, sure=True)
    return int(value) if re.fullmatch(r"-?\d+", value) else value


@cache
def holiday_words() -> dict[str, list[tuple[str, frozenset[str]]]]:
    """The most telling word of each holiday, its longest, with the name and all its words."""
    found: dict[str, list[tuple[str, frozenset[str]]]] = {}
    for name in holiday_names():
        if name.isascii():
            needed = lexicon.words_of(name)
            found.setdefault(max(needed, key=lambda word: (len(word), word)), []).append((name, needed))
    return found


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


# What begins with a figure, or with a sign before one.
_FIGURES = r"""
  (?P<skip>[$€£¥#]\s?\d[\d.,]*|\d[\d.,]{0,15}\s?%|\d{1,3}(?:,\d{3})+(?:\.\d+)?|24/7)
| (?P<ymd>(?<![\d.])\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?!\d))
| (?P<mdy>(?<![\d./])\d{1,2}(?:[-/]\d{1,2}[-/](?:\d{4}|\d{2})|\.\d{1,2}\.\d{4})(?![\d/]))
| (?P<version>(?<![\w.])\d+(?:\.\d+){2,})
| (?P<compact>(?<![\d.])(?:19|20)\d{6}(?![\d.]))
| (?P<ym>(?<![\d.-])[12]\d{3}[-/](?:1[0-2]|0?[1-9])(?![\d/-]))
| (?P<my>(?<![\d./])(?:1[0-2]|0?[1-9])/[12]\d{3}(?![\d/]))
| (?P<md>(?<![\d./])\d{1,2}/\d{1,2}(?![\d/]|\s+of\b))
| (?P<clock>(?<![\d:.])\d{1,2}[:：]\d{2}(?:[:：]\d{2}(?:\.\d+)?)?(?![\d:]))
| (?P<decade>'?(?<!\d)(?:1\d|20)?\d0'?s\b)
| (?P<ordinal>(?<![\d.])\d{1,3}(?:st|nd|rd|th|ST|ND|RD|TH)\b)
| (?P<apostrophe>'\d\d\b)
| (?P<decimal>(?<![\d.])\d{1,2}\.\d{1,2}(?![\d.]*\d))
| (?P<military>(?<![\d.])0\d{3}(?![\d.]*\d))
| (?P<year>(?<![\d.])[12]\d{3}(?!\.?\d))
| (?P<number>(?<![\d.])\d{1,3}(?!\.?\d))
"""
# What begins with a letter: halves of the day, quarters and weeks by number, the T of ISO 8601, words.
_LETTERS = r"""
  (?P<meridiem>(?<![A-Za-z])[apAP]\s?\.?\s?[mM](?:[pP][mM])?(?![A-Za-z])\.?|(?<=\d)[apAP](?![A-Za-z])\.?)
| (?P<period>(?<![A-Za-z])(?:[qQhH][1-4](?!\d)
    |[wW](?:eek|k|EEK|K)?\s?\#?\d{1,2}(?!\d|\s?[apAP]\.?[mM]|:)))
| (?P<glue>(?<=\d)T(?=\d\d:))
| (?P<word>[A-Za-z]+(?:['’]clock)?)
"""
_OTHERS = r"(?P<own>(?<=[A-Za-z])['’]s(?=\s))|(?P<mark>[-–—~,/()@<>=])|(?P<dotted>\.[apAP]\.?[mM]\b)"


def tokens(text: str, words: frozenset[str]) -> list[DateToken]:
    """The tokens of `text`, left to right; runs of anything else are gaps. `words` are its words."""
    found: list[DateToken] = []
    end = 0
    holidays = _holidays_in(words)
    whole = bool(holidays) or not text.isascii()
    scanner = _scanner(holidays, chinese=not text.isascii())
    for first, last in ((0, len(text)),) if whole else _told_between(text):
        for match in scanner.finditer(text, first):
            start = match.start()
            if start >= last:
                break
            token = _known_token(match)
            if token is None or (token.category == "meridiem" and not _after_hour(found)):
                continue
            between = text[end:start]
            if between and not between.isspace() and not _shortened(found, between):
                found.append(DateToken(GAP, end, start))
            found.append(token)
            end = match.end()
    if not text[end:].isspace():
        found.append(DateToken(GAP, end, len(text)))
    return list(with_numbers(found))


def _known_token(match: re.Match[str]) -> DateToken | None:
    """The token, or nothing for most words: they become part of a gap."""
    if match.lastgroup == "word" and (match[0].lower() not in vocabulary() or match[0] in _SHOUTED):
        return None
    token = _token(match)
    return None if token.category == GAP else token


def _told_between(text: str) -> Iterator[tuple[int, int]]:
    """From where to where an English text may speak of time: rows of words and figures that do or may tie."""
    first, before, told = -1, 0, False
    tying, strong = _tying(), telling()
    for match in _RUN.finditer(text.lower()):
        run = match[0]
        figure = not run.isalpha()
        if figure or run in tying:
            first = before if first < 0 else first
            told = told or figure or run in strong
            continue
        if told:
            yield first, match.start()
        first, before, told = -1, match.end(), False
    if told:
        yield first, len(text)


@cache
def _tying() -> frozenset[str]:
    """Words that a row of words which speak of time may go on with, lone letters among them."""
    return frozenset(vocabulary()) | _GOES_ON | frozenset(ascii_lowercase)


@cache
def telling() -> frozenset[str]:
    """Words that may tell a time by themselves; the others of the vocabulary only tie."""
    ties = {name for row in lexicon.parts("dates_ties")["ties"] for name in row.split()}
    strong = {word for word, (category, _) in vocabulary().items() if category not in ties}
    return frozenset(strong | {"thousand", "nineteen", "twenty", "clock"})


_RUN = re.compile(r"[^\W_]+")
_GOES_ON: Final = frozenset({"am", "pm", "ampm", "pmpm", "apm", "ppm", "clock"})
_SHOUTED: Final = frozenset("DHWY")  # 3D is no three days


def _after_hour(found: list[DateToken]) -> bool:
    """Whether "am" or "p" may stand here; in "I am" it may not."""
    return bool(found) and found[-1].category in {"number", "clock", "decimal", "oclock"}


def _shortened(found: list[DateToken], between: str) -> bool:
    """Whether what lies between is the dot of a shortened month or weekday: Dec. 31."""
    return between.strip() == "." and bool(found) and found[-1].category in {"month", "weekday"}


@lru_cache(maxsize=1 << 6)
def _scanner(holidays: tuple[str, ...], *, chinese: bool) -> re.Pattern[str]:
    """One expression for all tokens; what cannot begin with the character at hand is turned away at once."""
    names = "|".join(re.escape(name) for name in holidays).replace(r"\ ", r"\s+").replace("'", "['’]")
    first = rf"(?P<holiday>\b(?i:{names})\b(?!['’]s\s+(?i:eve|day)))|" if holidays else ""
    pieces = [f"(?=[A-Za-z])(?:{first}{_LETTERS})", f"(?=[\\d'$€£¥#])(?:{_FIGURES})", _OTHERS]
    if chinese:
        words = sorted(chinese_vocabulary(), key=len, reverse=True)
        words = [word for word in words if word != "零"]  # part of a number
        starts = "".join(sorted({word[0] for word in words}))
        known = "|".join(_NOT_BEFORE.get(word, "") + word + _NOT_AFTER.get(word, "") for word in words)
        pieces.append(rf"(?P<chinese>(?=[{starts}])(?:{known}))|(?P<numeral>[{NUMERALS}]{{1,9}})")
    return re.compile("|".join(pieces), re.VERBOSE)


def _holidays_in(words: frozenset[str]) -> tuple[str, ...]:
    """The holidays whose words all occur, longest first."""
    near = (entry for word in words & holiday_words().keys() for entry in holiday_words()[word])
    found = {name for name, needed in near if needed <= words}
    return tuple(sorted(found, key=lambda name: (-len(name), name)))


def _token(match: re.Match[str]) -> DateToken:
    kind, written = match.lastgroup or "", match.group()
    if kind == "chinese":
        category, value = chinese_vocabulary()[written]
    elif kind == "word":
        category, value = vocabulary()[written.lower()]
    else:
        category, value = _figure(kind, written.lower())
    return DateToken(category, match.start(), match.end(), value)


def _figure(kind: str, written: str) -> tuple[str, Any]:
    """The category and meaning of a figure."""
    if kind in {"skip", "version"}:
        return GAP, None
    if kind in {"ymd", "mdy", "compact", "ym", "my", "md"}:
        return _dated(kind, written, _numbers(written))
    if kind in {"clock", "military"}:
        return _timed(written, _numbers(written))
    if kind in {"decade", "ordinal", "number", "year"}:
        return kind, _numbers(written)[0]
    return _SIGNS[kind](written)


def _numbers(written: str) -> list[int]:
    return [int(piece) for piece in re.findall(r"\d+", written)]


def _decimal(written: str) -> tuple[str, Any]:
    before, after = _numbers(written)
    return "decimal", (before, after, float(written))


def _meridiem(written: str) -> tuple[str, Any]:
    either = "mpm" in written  # 7ampm
    return "meridiem", None if either else written.strip(". ")[0]


def _period(written: str) -> tuple[str, Any]:
    return {"q": "quarter", "h": "halfyear"}.get(written[0], "weeknumber"), _numbers(written)[0]


def _holiday(written: str) -> tuple[str, Any]:
    name = re.sub(r"\s+", " ", written.replace("’", "'"))
    return "holiday", Partial(holiday=holiday_names()[name])


_MARKS: Final[dict[str, str]] = {
    **dict.fromkeys("-–—~", "dash"), ",": "comma", "/": "slash", "(": "open", ")": "shut", "@": "at",
    "<": "lesser", ">": "greater", "=": "equal",
}  # fmt: skip
_SIGNS: Final[dict[str, Callable[[str], tuple[str, Any]]]] = {
    "apostrophe": lambda written: ("year", full_year(int(written[1:]))),
    "decimal": _decimal,
    "meridiem": _meridiem,
    "dotted": _meridiem,
    "period": _period,
    "holiday": _holiday,
    "numeral": lambda written: ("number", numeral(written)),
    "mark": lambda written: (_MARKS[written], written),
    "glue": lambda _: ("at", None),
    "own": lambda _: ("own", None),
}


def _dated(kind: str, written: str, numbers: list[int]) -> tuple[str, Any]:
    if kind == "compact":
        numbers = [int(written[:4]), int(written[4:6]), int(written[6:])]
    if kind in {"ymd", "compact"}:
        year, month, day = numbers
        return _day(year, *((day, month) if month > 12 else (month, day)))
    if kind in {"ym", "my"}:
        year, month = sorted(numbers, reverse=True)
        return "date", Partial(year=year, month=month)
    first, second, *years = numbers
    month, day = (second, first) if first > 12 else (first, second)
    return _day(full_year(years[0]) if years else None, month, day)


def _day(year: int | None, month: int, day: int) -> tuple[str, Any]:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return GAP, None
    return "date", Partial(year=year, month=month, day=day)


def full_year(year: int) -> int:
    """The year that two figures mean: '95 is 1995, '23 is 2023."""
    return year if year > 99 else year + (1900 if year > 39 else 2000)


def _timed(written: str, numbers: list[int]) -> tuple[str, Any]:
    if ":" not in written and "：" not in written:
        numbers = [int(written[:2]), int(written[2:])]
    hour, minute, *second = numbers
    if hour > 24 or minute > 59 or (second and second[0] > 59):
        return GAP, None
    return "clock", TimeOfDay(
        hour % 24,
        minute,
        second[0] if second else 0,
        sure=hour > 12 or written[0] == "0",
        grain=Grain.SECOND if second else Grain.MINUTE,
    )


# Where words run together, what stands beside one tells that it is none: 十年|中国, 三天|前|天气.
_NOT_AFTER: Final = {
    "前天": "(?!气)",
    **dict.fromkeys(("早上", "上午", "中午", "下午", "晚上", "早", "晚"), "(?!上?好)"),
    "中": "(?![国文心学间午部华])",
    "初": "(?![中步级恋期衷])",
    "后": "(?!台|面|来)",
}
_NOT_BEFORE: Final = dict.fromkeys(
    ("年初", "年中", "年底", "年末", "月初", "月中", "月底", "月末"), r"(?<![\d零〇一二两三四五六七八九十])"
)
