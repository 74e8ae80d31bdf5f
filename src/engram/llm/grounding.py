"""Is it true to what was said? A statement and the words it claims to come from come in; yes or no comes out.

Most of its words must have been said, and every number and every name. Words that only report
("User prefers") count neither way. A date may be worked out from what was said ("yesterday"), so it is
checked by itself.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime
from functools import cache
from typing import Any, Final

from engram.lazily import dataclass
from engram.llm.prompts import lines, pattern
from engram.model.capture import Turn
from engram.text.marks import is_negated, marks
from engram.text.names import entities
from engram.text.sentences import sentences
from engram.text.words import content_words

LEAST_SAID: Final = 0.5
"""Share of a statement's words that must have been said."""
NEAR_DAYS: Final = 400
"""How far from its turn a date may lie that was worked out and not said."""
NEAR_YEARS: Final = 1


@dataclass(frozen=True, slots=True)
class GroundingEvidence:
    """What was said, ready to be compared with."""

    sentences: tuple[str, ...]
    terms: frozenset[str]
    words: frozenset[str]
    named: frozenset[str]
    numbers: frozenset[str]
    days: tuple[date, ...] = ()
    """When it was said."""
    speaks_of_time: bool = False


@dataclass(frozen=True, slots=True)
class Day:
    """A date as far as it is written: the year alone, a day without its year, and so on."""

    year: int | None
    month: int | None = None
    day: int | None = None


def evidence_of(cited: Sequence[Turn], context: Sequence[Turn] = ()) -> GroundingEvidence:
    """What the cited turns and those around them say, and by whom."""
    speakers = " ".join(turn.speaker for turn in (*cited, *context))
    days = tuple(turn.at.date() for turn in cited)
    return evidence([speakers, *(turn.content for turn in (*context, *cited))], days)


def evidence(texts: Iterable[str], days: tuple[date, ...] = ()) -> GroundingEvidence:
    """What texts say, made ready."""
    text = "\n".join(texts)
    marked = marks(text)
    return GroundingEvidence(
        sentences=tuple(sentences(text)),
        terms=content_words(text),
        words=marked.words,
        named=frozenset(entity.name.lower() for entity in entities(text)),
        numbers=_plain_numbers(marked.numbers),
        days=days,
        speaks_of_time=pattern("data/when.txt").search(text.lower()) is not None,
    )


def supports(basis: GroundingEvidence, statement: str) -> bool:
    """Whether a statement is borne out by what was said.

    >>> basis = evidence(["I moved to Berlin with my 2 cats"])
    >>> supports(basis, "User moved to Berlin"), supports(basis, "User moved to Bern")
    (True, False)
    >>> supports(basis, "User has 3 cats"), supports(basis, "User is a famous painter")
    (False, False)
    """
    rest, days = without_dates(statement)
    return (
        all(is_day_said(basis, day) for day in days)
        and _numbers_said(basis, rest)
        and said_share(basis, rest) >= LEAST_SAID
        and all(_is_name_said(basis, name) for name in _names(rest))
    )


def said_share(basis: GroundingEvidence, statement: str) -> float:
    """Which share of a statement's words was said; 1 when it has none of its own."""
    words = content_words(_CLOCK_TIME.sub(" ", statement)) - _reporting()
    words = frozenset(word for word in words if not word.isdecimal())  # numbers are checked by themselves
    return len(words & basis.terms) / len(words) if words else 1.0


def is_day_said(basis: GroundingEvidence, day: Day) -> bool:
    """Whether a date was said, or can have been worked out from what was said."""
    if day.year is None or str(day.year) in basis.numbers:
        return day.day is None or str(day.day) in basis.numbers or basis.speaks_of_time
    if not basis.days:
        return False
    if any(_gap(day, when) == 0 for when in basis.days):
        return True
    if any(str(abs(day.year - when.year)) in basis.numbers for when in basis.days):
        return basis.speaks_of_time
    return basis.speaks_of_time and any(_is_near(day, when) for when in basis.days)


def is_moment_said(basis: GroundingEvidence, moment: datetime) -> bool:
    """The same for a moment."""
    return is_day_said(basis, Day(moment.year, moment.month, moment.day))


def is_named(basis: GroundingEvidence, name: str) -> bool:
    """Whether somebody or something was named, in any case of letters.

    >>> basis = evidence(["I met Bob Smith in src/app.py"])
    >>> is_named(basis, "bob smith"), is_named(basis, "user"), is_named(basis, "Eve")
    (True, True, False)
    """
    return _numbers_said(basis, name) and _is_name_said(basis, name.lower())


def turns_round(basis: GroundingEvidence, statement: str) -> bool:
    """Whether a statement affirms what its nearest sentence denies, or denies what it affirms.

    >>> basis = evidence(["I don't drink coffee.", "I like tea."])
    >>> turns_round(basis, "User drinks coffee"), turns_round(basis, "User avoids coffee")
    (True, False)
    """
    best = nearest(basis, statement)
    return bool(best) and _denies(best) != _denies(statement)


def nearest(basis: GroundingEvidence, statement: str) -> str:
    """The sentence that shares most words with a statement; empty when none shares any.

    >>> nearest(evidence(["I don't drink coffee. I like tea."]), "User likes tea")
    'I like tea.'
    """
    words = content_words(statement)
    best = max(basis.sentences, key=lambda sentence: len(words & content_words(sentence)), default="")
    return best if words & content_words(best) else ""


def without_dates(statement: str) -> tuple[str, list[Day]]:
    """The statement without its dates, and the dates.

    >>> without_dates("Anna left on 7 May 2023, not in 2021")
    ('Anna left on  , not in  ', [Day(year=2023, month=5, day=7), Day(year=2021, month=None, day=None)])
    """
    days: list[Day] = []
    for shape in _DATES:
        days += (_day(match) for match in shape.finditer(statement))
        statement = shape.sub(" ", statement)
    return statement, days


_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<name>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
_CLOCK = r"(?:[T ]\d{1,2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?"
_NTH = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATES: Final = tuple(
    re.compile(shape, re.IGNORECASE)
    for shape in (
        rf"\b(?P<year>\d{{4}})[-/](?P<month>\d{{1,2}})(?:[-/](?P<day>\d{{1,2}}))?\b{_CLOCK}",
        rf"\b{_NTH} (?:of )?{_MONTH}(?:,? (?P<year>\d{{4}}))?\b",
        rf"\b{_MONTH} {_NTH}\b(?:,? (?P<year>\d{{4}})\b)?",
        rf"\b{_MONTH},? (?P<year>\d{{4}})\b",
        r"(?P<year>\d{4}) ?年(?: ?(?P<month>\d{1,2}) ?月(?: ?(?P<day>\d{1,2}) ?[日号])?)?",
        r"(?P<month>\d{1,2}) ?月 ?(?P<day>\d{1,2}) ?[日号]",
        r"\b(?P<year>(?:19|20)\d{2})\b",
    )
)
_FIRST_WORD = re.compile(r"[^\W_][\w'’-]*")
_LIKENESS = re.compile(r"-(?:related|based|style|themed|like|inspired)\b")
_CLOCK_TIME = re.compile(r"\b(\d{1,2}):(\d{2})\b")
_HALF_DAY: Final = 12


def _day(match: re.Match[str]) -> Day:
    parts = match.groupdict()
    name = (parts.get("name") or "")[:3].lower()
    month = _MONTHS.index(name) + 1 if name else parts.get("month")
    year, number = parts.get("year"), parts.get("day")
    return Day(int(year) if year else None, int(month) if month else None, int(number) if number else None)


def _gap(day: Day, when: date) -> int | None:
    """Days between a full date and a day; None for a date that is not full, or none at all."""
    try:
        return abs((date(day.year or 0, day.month or 0, day.day or 0) - when).days)
    except ValueError:
        return None


def _is_near(day: Day, when: date) -> bool:
    gap = _gap(day, when)
    if gap is not None:
        return gap <= NEAR_DAYS
    return day.day is None and day.year is not None and abs(day.year - when.year) <= NEAR_YEARS


def _numbers_said(basis: GroundingEvidence, statement: str) -> bool:
    rest = _CLOCK_TIME.sub(lambda match: "" if _hour_said(basis, int(match[1])) else match[0], statement)
    return _plain_numbers(marks(rest).numbers) <= basis.numbers


def _hour_said(basis: GroundingEvidence, hour: int) -> bool:
    """Whether "15:00" may be what "at 3 pm" became."""
    return bool({str(hour), str(hour % _HALF_DAY), str(hour % _HALF_DAY + _HALF_DAY)} & basis.numbers)


def _plain_numbers(numbers: Iterable[str]) -> frozenset[str]:
    """Numbers without leading zeros, and the parts of those written together: 05, 3.0, 1.2.3."""
    return frozenset(number.lstrip("0") or "0" for number in numbers)


def _names(statement: str) -> Iterator[str]:
    """What is written like a name: with a capital inside a sentence, or by the rules for names anywhere."""
    first = {_bare(match[0]) for sentence in sentences(statement) if (match := _FIRST_WORD.search(sentence))}
    yield from marks(statement).names - first
    yield from (entity.name.lower() for entity in entities(statement))


def _is_name_said(basis: GroundingEvidence, name: str) -> bool:
    if name in basis.words or name in basis.named:
        return True
    words = content_words(_LIKENESS.sub("", name)) - _reporting()
    return words <= basis.terms


def _bare(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s")


def _denies(text: str) -> bool:
    return is_negated(text) or pattern("data/opposites.txt").search(text.lower()) is not None


@cache
def _reporting() -> frozenset[str]:
    """Words that only report, as terms; in Chinese also the pairs that reach into them."""
    return content_words(" ".join(lines("data/reporting.txt")))


LONGEST: Final = 400_000
"""Characters of an answer that are looked at."""
MOST_STARTS: Final = 12
"""Places at which a value may begin that are tried."""
DEEPEST: Final = 40


def json_values(text: str) -> Iterator[Any]:
    """The lists and objects in a text.

    >>> next(json_values("Sure! ```json {'a': [1, 2,], b: True} ```"))
    {'a': [1, 2], 'b': True}
    >>> next(json_values('{"items": [{"a": 1}, {"a": 2}, {"a": '))
    {'items': [{'a': 1}, {'a': 2}]}
    >>> list(json_values("no value here"))
    []
    """
    plain = _THOUGHTS.sub(" ", text[:LONGEST])
    end = 0
    starts = 0
    for match in _START.finditer(plain):
        if match.start() < end:
            continue  # inside a value that was read already
        starts += 1
        if starts > MOST_STARTS:
            return
        value, end = _value_at(plain, match.start())
        if value is not None:
            yield value


# What a model thinks aloud is no answer; some formats show only its end, a cut answer only its beginning.
_THOUGHTS = re.compile(r"\A.*</think(?:ing)?>|<think(?:ing)?>.*\Z", re.DOTALL)
_START = re.compile(r"[{\[]")
_SKIPPED = r"(?:[\s,]|//[^\n]*|/\*.*?\*/)*"
_TOKEN = re.compile(
    _SKIPPED + r"(?:(?P<sign>[\[\]{}:])"
    r"|\"(?P<double>(?:[^\"\\]|\\.)*+)\""
    r"|'(?P<single>(?:[^'\\]|\\.|(?<=\w)'(?=\w))*+)'"  # a quote inside a word is an apostrophe
    r"|(?P<bare>[^\s,:\[\]{}\"']+))",
    re.DOTALL,
)
_COLON = re.compile(_SKIPPED + r"(:|\Z)", re.DOTALL)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_LITERALS: Final = {"true": True, "false": False, "null": None, "none": None, "undefined": None}
_ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DECODER = json.JSONDecoder(strict=False)


def _value_at(text: str, start: int) -> tuple[Any, int]:
    """The value that begins at a place, and where it ends; None and the next place when there is none."""
    try:
        return _DECODER.raw_decode(text, start)
    except (ValueError, RecursionError):
        pass
    return _forgiven(text, start)


def _forgiven(text: str, start: int) -> tuple[Any, int]:
    """The same of what is no JSON: other quotes or none, comments, commas too many, no end."""
    holders: list[Any] = []
    keys: list[str | None] = []
    place = start
    while (match := _TOKEN.match(text, place)) and not (match["bare"] and match.end() == len(text)):
        sign, place = match["sign"], match.end()
        wants_key = bool(holders) and isinstance(holders[-1], dict) and keys[-1] is None
        if sign in {"[", "{"}:
            if wants_key or len(holders) == DEEPEST:
                return None, start + 1
            holders.append([] if sign == "[" else {})
            keys.append(None)
            continue
        if sign in {"]", "}"}:
            if isinstance(holders[-1], dict) != (sign == "}") or keys.pop() is not None:
                return None, start + 1
            value = holders.pop()
            if not holders:
                return value, place
            wants_key = False
        else:
            value = _word(match)
        colon = _COLON.match(text, place) if wants_key else None
        if sign == ":" or (wants_key and colon is None):
            return None, start + 1
        if colon is not None:
            keys[-1], place = str(value) if colon[1] else None, colon.end()
        elif isinstance(holders[-1], list):
            holders[-1].append(value)
        else:
            holders[-1][keys[-1]] = value
            keys[-1] = None
    return _cut_off(holders, keys), len(text)


def _cut_off(holders: list[Any], keys: list[str | None]) -> Any:
    """What was open when the text ended, without the item of a list that was under way."""
    lists = (index for index, holder in enumerate(holders) if isinstance(holder, list))
    whole = next(lists, len(holders) - 1)
    for index in range(whole):
        holders[index][keys[index]] = holders[index + 1]
    return holders[0]


def _word(match: re.Match[str]) -> Any:
    """What a token says: a text in either kind of quotes, a literal, a number, or a word without quotes."""
    bare = match["bare"]
    if not bare:
        text = match["double"] or match["single"] or ""
        return _ESCAPE.sub(lambda esc: chr(int(esc[1], 16)) if esc[1] else _ESCAPES.get(esc[2], esc[2]), text)
    if bare.lower() in _LITERALS:
        return _LITERALS[bare.lower()]
    try:
        return int(bare) if bare.lstrip("-").isdecimal() else float(bare)
    except ValueError:
        return bare
