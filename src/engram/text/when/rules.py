"""The machine that reads dates: tokens and a table of rules come in, fewer and larger tokens come out.

A token has a category. A rule is a pattern over categories, written in words (`shift number? unit`), and a
builder that makes one new token of the tokens it matched, or refuses. The rules are applied in the order of
their table, each to the whole row of tokens, so small things (a number, a month) grow into larger ones (a
day, a range). Inside, each category is one character and a row of tokens one string.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from engram.lazily import calendar, dataclass, replace
from engram.text import lexicon, re
from engram.text.when.calendar import (
    Grain,
    Length,
    Prefer,
    TimeOfDay,
    TimeSpan,
    day_span,
    holiday,
    hours_of_day,
    in_part,
    likely,
    midnight,
    month_span,
    moved,
    on_day,
    part_of_day,
    season_span,
    stepped,
    unit_span,
    year_span,
)
from engram.text.words import HAN

# ---------------------------------------------------------------- tense
# Which of the years is meant: the clause a date stands in comes in, past, future or near comes out.
#
# "I quit in November" means the last one, "the baby is due in October" the next. Where neither tense nor a
# word of plans tells, the nearest one is meant.


_FUTURE = re.compile(
    r"\b(?:will|'ll|going to|gonna|plan(?:s|ning)? to|due|deadline|upcoming|scheduled|booked for"
    r"|wants?|needs?|must|ha(?:s|ve) to)\b"
    r"|'ll\b|\bexpir(?:es?|ing)\b"
    r"|\b(?:is|are|starts?|begins?|opens?|leaves?|arrives?|ends?) (?:\w+ ){0,3}(?:on|in|at|by|until) "
    r"|(?:\b(?:am|is|are)|'m|'re|'s) (?:\w+ )?\w+ing\b",
    re.IGNORECASE,
)
_PAST = re.compile(r"\b(?!need|feed|speed|indeed|embed|exceed|proceed)[a-z]+ed\b", re.IGNORECASE)
# "I'm stuck", "it is booked": how things are now, in a word that looks like the past.
_STATE = re.compile(r"(?:\b(?:am|is|are)|['’](?:m|re)) \w+", re.IGNORECASE)
# What is put off, booked or due lies ahead, though 改了 and 订了 tell of it with the sign of the past.
_CHINESE_FUTURE = re.compile(
    r"预产期|截止|到期|过期|期限|打算|计划|准备|安排|预[定订约计]|[改推延提订定约]\S{0,2}[到在至为]|推迟|延期|提前"
    r"|(?<!正)[要会将](?!议)|以后要|得在"
)
_CHINESE_PAST = re.compile(r"[了过]|已经|刚")
_CLAUSE = re.compile(r"[,;，；。.!?！？]|\b(?:and|but|because|so|which|who)\b")
_HAN_CHAR = re.compile(f"[{HAN}]")
AHEAD: Final = ("by ", "until ", "till ")


@lru_cache(maxsize=1 << 8)
def tense(text: str, start: int) -> Prefer:
    """The tense of the clause in which something stands at `start`, else that of the whole text.

    >>> tense("I quit in November", 7), tense("The deadline is 3 May", 16), tense("3 May", 0)
    ('past', 'future', 'near')
    >>> tense("My flight got cancelled, I'm stuck here until Friday", 46)
    'future'
    """
    first, last = clause(text, start)
    ahead = text[first:start].lower().endswith(AHEAD)
    # "My flight was cancelled, I'm here until Friday": a bound looks ahead unless its own clause is past.
    return told(text[first:last]) or ("future" if ahead else None) or _by_the_rest(text) or "near"


def clause(text: str, start: int) -> tuple[int, int]:
    """Where the clause that holds a place begins and ends."""
    bounds = [0, *(one.end() for one in _CLAUSE.finditer(text)), len(text)]
    return (
        max(bound for bound in bounds if bound <= start),
        min((bound for bound in bounds if bound > start), default=len(text)),
    )


def _by_the_rest(text: str) -> Prefer | None:
    """In Chinese 了 ends many clauses, and says nothing about the others."""
    return None if _HAN_CHAR.search(text) else told(text)


def told(words: str) -> Prefer | None:
    """Past or future, where the words of one clause tell it."""
    if _HAN_CHAR.search(words):
        if _CHINESE_FUTURE.search(words):
            return "future"
        return "past" if _CHINESE_PAST.search(words) else None
    future = _FUTURE.search(words) is not None
    acts = _STATE.sub(" ", words)
    past = _PAST.search(acts) or not lexicon.words("verbs_past").isdisjoint(acts.lower().split())
    if future == bool(past):
        return None
    return "future" if future else "past"


# ---------------------------------------------------------------- partials
# Dates with parts left unsaid: a partial date comes in, the span it most likely means comes out.


# ruff: noqa: PLR2004 - months, days and hours are numbers that everybody knows


@dataclass(frozen=True, slots=True)
class Partial:
    """A day, month or year of which some parts are left unsaid: "7 May", "Friday the 13th", "May"."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    holiday: str | None = None
    season: int | None = None

    @property
    def whole(self) -> bool:
        """Whether nothing is left to choose."""
        return self.year is not None


def spans(partial: Partial, now: datetime) -> Iterator[TimeSpan]:
    """Every span near `now` that fits, in order."""
    if partial.year is not None:
        yield from _in_year(partial, partial.year)
    elif partial.month or partial.holiday or partial.season:
        far = 9 if partial.weekday is not None or (partial.month, partial.day) == _LEAP_DAY else 1
        for year in range(now.year - far, now.year + far + 1):
            yield from _in_year(partial, year)
    elif partial.day:
        month = now.replace(day=1)
        far = 15 if partial.weekday is not None else 2
        for step in range(-far, far + 1):
            there = stepped(month, step, Grain.MONTH)
            yield from _in_year(Partial(None, there.month, partial.day, partial.weekday), there.year)
    elif partial.weekday is not None:
        monday = unit_span(now, Grain.WEEK).first
        for week in (-1, 0, 1):
            if monday:
                day = monday + timedelta(days=7 * week + partial.weekday)
                yield TimeSpan(day, day + timedelta(days=1), Grain.DAY)


_LEAP_DAY = (2, 29)


def _in_year(partial: Partial, year: int) -> Iterator[TimeSpan]:
    span = None
    if partial.holiday:
        span = holiday(partial.holiday, year)
    elif partial.season:
        span = season_span(year, partial.season)
    elif partial.month and partial.day:
        if 1 <= year <= 9999 and partial.day <= calendar.monthrange(year, partial.month)[1]:
            span = day_span(year, partial.month, partial.day)
    elif partial.month:
        span = month_span(year, partial.month)
    else:
        span = year_span(year)
    by_day = partial.weekday is None or partial.month is None or partial.year is not None
    if span and (by_day or span.first is None or span.first.weekday() == partial.weekday):
        yield span


def chosen(options: list[TimeSpan], now: datetime, prefer: Prefer) -> TimeSpan | None:
    """The option that fits best: the last one begun, the next one not over, or the nearest."""
    if not options:
        return None
    begun = [span for span in options if span.first and span.first <= now]
    coming = [span for span in options if span.last and span.last > now]
    if prefer == "past" and begun:
        return begun[-1]
    if prefer == "future" and coming:
        return coming[0]
    return min(options, key=lambda span: _distance(span, now))


def _distance(span: TimeSpan, now: datetime) -> timedelta:
    first, last = span.first or now, span.last or now
    return max(first - now, now - last, timedelta(0))


def settled(partial: Partial, now: datetime, prefer: Prefer) -> TimeSpan | None:
    """The span a partial date most likely means.

    >>> settled(Partial(month=5, day=9), datetime(2018, 1, 7), "past").first
    datetime.datetime(2017, 5, 9, 0, 0)
    """
    found = chosen(list(spans(partial, now)), now, prefer)
    if found is None and partial.weekday is not None and partial.day:
        # The weekday does not fit the day of the month: the day counts.
        return settled(Partial(partial.year, partial.month, partial.day), now, prefer)
    return found


@dataclass(frozen=True, slots=True)
class DateToken:
    """A piece of the text with its category and what it means."""

    category: str
    start: int
    end: int
    value: Any = None


@dataclass(frozen=True, slots=True)
class Scene:
    """What a builder may know besides its tokens."""

    text: str
    now: datetime
    prefer: Prefer
    place: int = 0
    """Where the words stand whose tense tells what is meant."""

    @property
    def free(self) -> bool:
        """Whether words that choose by themselves, such as "since", may: nobody asked for past or future."""
        return self.prefer in {"told", "near"}

    @property
    def meant(self) -> Prefer:
        """What is preferred: what the caller says, or the tense."""
        return tense(self.text, self.place) if self.prefer == "told" else self.prefer

    def span(self, value: Partial | TimeSpan) -> TimeSpan:
        """The span a date means; ValueError when there is none, such as on 30 February."""
        if not isinstance(value, Partial):
            return value
        found = settled(value, self.now, self._preferred(value))
        if found is None:
            raise ValueError("no such date")
        return replace(found, certain=value.whole)

    def _preferred(self, value: Partial) -> Prefer:
        """Without a tense the nearest; but "on Friday" and "on the 27th" are still to come."""
        if self.prefer != "told" or value.whole:
            return self.prefer
        named = value.month or value.holiday or value.season
        return "future" if self.meant == "near" and not named else self.meant


class DateMatch:
    """The tokens a rule matched, to be asked by category."""

    __slots__ = ("_tokens", "scene")

    def __init__(self, tokens: list[DateToken], scene: Scene) -> None:
        self._tokens = tokens
        self.scene = scene

    def all(self, *categories: str) -> list[Any]:
        """The values of the tokens of these categories, in order."""
        return [token.value for token in self._tokens if token.category in categories]

    def one(self, *categories: str) -> Any:
        """The first such value; None when there is no such token."""
        return next((token.value for token in self._tokens if token.category in categories), None)

    def has(self, category: str) -> bool:
        """Whether a token of this category was matched."""
        return any(token.category == category for token in self._tokens)

    def but(self, **values: Any) -> DateMatch:
        """The same match with the tokens of some categories exchanged for other values."""
        kept = [token for token in self._tokens if token.category not in values]
        return DateMatch(
            [*kept, *(DateToken(name, 0, 0, value) for name, value in values.items())], self.scene
        )

    @property
    def rest(self) -> str:
        """The text after the match."""
        return self.scene.text[self._tokens[-1].end :]

    @property
    def before(self) -> str:
        """The text before the match."""
        return self.scene.text[: self._tokens[0].start]

    @property
    def words(self) -> str:
        """The matched text in lower case."""
        return self.scene.text[self._tokens[0].start : self._tokens[-1].end].lower()


Built = tuple[str, Any] | None
Builder = Callable[[DateMatch], Built]


@dataclass(frozen=True, slots=True, eq=False)
class DateRule:
    """A pattern over categories with its builder; a row without any of one of its `needs` is not tried."""

    expression: re.Pattern[str]
    builder: Builder
    needs: tuple[frozenset[str], ...]


_CHARACTERS: dict[str, str] = {}
GAP = "gap"
PAIR = "pair"


def character(category: str) -> str:
    """The one character that stands for a category."""
    return _CHARACTERS.setdefault(category, chr(0xE000 + len(_CHARACTERS)))


_REMEMBERED: Final = 1 << 12
"""Sets of categories of which is known what fits them."""


class DateRules:
    """Rules in their order, ready for use; which of them may fit a row is worked out once."""

    def __init__(self, rules: Iterable[tuple[str, Builder]]) -> None:
        self._rules = [DateRule(_compiled(pattern), builder, _needs(pattern)) for pattern, builder in rules]
        self._fitting: dict[frozenset[str], tuple[tuple[int, DateRule], ...]] = {}

    def fitting(self, row: str) -> tuple[tuple[int, DateRule], ...]:
        """The rules that may fit a row of categories, each with its place."""
        here = frozenset(row)
        found = self._fitting.get(here)
        if found is None:
            if len(self._fitting) >= _REMEMBERED:
                self._fitting.clear()
            rules = enumerate(self._rules)
            found = tuple((at, rule) for at, rule in rules if not any(map(here.isdisjoint, rule.needs)))
            self._fitting[here] = found
        return found


def _compiled(pattern: str) -> re.Pattern[str]:
    # A category inside brackets, [month day], is one of several.
    written = re.sub(r"[a-z]+", lambda match: character(match.group()), pattern)
    return re.compile(written.replace(" ", ""))


def _needs(pattern: str) -> tuple[frozenset[str], ...]:
    """The sets of categories of which each must occur: what is neither optional nor looked around at."""
    plain = re.sub(r"\(\?[^)]*\)", "", pattern)
    found = re.findall(r"(\[[a-z ]+\]|[a-z]+)([?*]?)", plain)
    return tuple(
        frozenset(character(name) for name in re.findall(r"[a-z]+", names))
        for names, times in found
        if not times
    )


def reduced(tokens: list[DateToken], rules: DateRules, scene: Scene) -> list[DateToken]:
    """The tokens after all rules were applied in order."""
    row = "".join([character(token.category) for token in tokens])
    waiting = iter(rules.fitting(row))
    while (one := next(waiting, None)) is not None:
        (at, rule), before = one, row
        found = rule.expression.search(row)
        while found:
            start, end = found.span()
            made = _built(tokens[start:end], rule.builder, scene)
            if made:
                tokens = [*tokens[:start], *made, *tokens[end:]]
                row = row[:start] + "".join([character(token.category) for token in made]) + row[end:]
            found = rule.expression.search(row, start + 1)
        if row != before:
            waiting = iter([one for one in rules.fitting(row) if one[0] > at])
    return tokens


def _built(tokens: list[DateToken], builder: Builder, scene: Scene) -> list[DateToken]:
    try:
        built = builder(DateMatch(tokens, scene))
    except (ValueError, OverflowError):  # a day no calendar has: the words mean something else
        return []
    if built is None:
        return []
    if built[0] == PAIR:  # the first and the last token each mean something of their own
        (one, first), (other, last) = built[1]
        return [
            replace(tokens[0], category=one, value=first),
            *tokens[1:-1],
            replace(tokens[-1], category=other, value=last),
        ]
    return [DateToken(built[0], tokens[0].start, tokens[-1].end, built[1])]


# ---------------------------------------------------------------- portions
# Parts of a span: "early May", "the end of the month", "later this week".


def portion(whole: TimeSpan, edge: str, now: datetime) -> TimeSpan:
    """The early, mid or late part of a span, or what is left of it.

    >>> span = portion(
    ...     TimeSpan(datetime(2023, 5, 1), datetime(2023, 6, 1), Grain.MONTH), "early", datetime(2023, 5, 8)
    ... )
    >>> span.first.day, span.last.day
    (1, 16)
    """
    if whole.first is None or whole.last is None:
        raise ValueError("an open span has no parts")
    if edge == "rest":
        return TimeSpan(_from_today(whole.first, whole.last, now), whole.last, whole.grain)
    if edge in {"earlier", "later"}:
        return _half(whole.first, whole.last, whole.grain, now, edge)
    first, last = _cuts(whole.first, whole.last, whole.grain)[edge]
    return TimeSpan(first, last, whole.grain)


def _half(first: datetime, last: datetime, grain: Grain, now: datetime, edge: str) -> TimeSpan:
    """The earlier half, or what is left of the later one; only today is cut where it is now."""
    if grain is Grain.DAY and not first <= now < last:
        raise ValueError("no half of this day is told apart")
    middle = moved(first, Length(6, Grain.MONTH)) if grain is Grain.YEAR else first + (last - first) // 2
    middle = now if grain is Grain.DAY else midnight(middle)
    if edge == "earlier":
        return TimeSpan(first, middle, grain)
    return TimeSpan(_from_today(middle, last, now), last, grain)


def _from_today(first: datetime, last: datetime, now: datetime) -> datetime:
    """Today where it lies between, as what is left of this week begins today."""
    return midnight(now) if first < midnight(now) < last else first


def _cuts(first: datetime, last: datetime, grain: Grain) -> dict[str, tuple[datetime, datetime]]:
    if grain in {Grain.YEAR, Grain.DECADE, Grain.CENTURY, Grain.QUARTER}:
        third = Length({Grain.YEAR: 4, Grain.DECADE: 40, Grain.CENTURY: 400}.get(grain, 1), Grain.MONTH)
        one, two = moved(first, third), moved(last, third, -1)
        return {"early": (first, one), "mid": (one, two), "late": (two, last)}
    if grain is Grain.MONTH:
        half = first + timedelta(days=15)
        return {
            "early": (first, half),
            "mid": (first + timedelta(days=9), first + timedelta(days=20)),
            "late": (half, last),
        }
    third_part = (last - first) / 3
    if grain is Grain.WEEK:
        third_part = timedelta(days=3)
        return {
            "early": (first, first + third_part),
            "mid": (first + timedelta(days=2), first + timedelta(days=4)),
            "late": (first + third_part, last),
        }
    one, two = first + third_part, last - third_part
    return {"early": (first, one), "mid": (one, two), "late": (two, last)}


def counted_of(whole: TimeSpan, number: int, length: Length) -> Built:
    """The nth unit of a span, or its first or last few: the third week of May, the last days of 2021."""
    if whole.first is None or whole.last is None or number == 0:
        return None
    first, last = whole.first, whole.last
    if length.unit is Grain.WEEK and whole.grain in {Grain.MONTH, Grain.QUARTER, Grain.HALF, Grain.YEAR}:
        first, last = _first_monday(first), _first_monday(last)
        if last > whole.last:
            last -= timedelta(days=7)
    skipped = Length(length.count * (number - 1), length.unit)
    start = moved(first, skipped) if number > 0 else moved(last, length, -1)
    if start >= whole.last:
        return None
    return "date" if length.count == 1 else "range", TimeSpan(start, moved(start, length), length.unit)


def _first_monday(day: datetime) -> datetime:
    """Where the weeks of a span begin: a week belongs to the year or month that has its Thursday."""
    nearest = day + timedelta(days=3)
    return nearest - timedelta(days=nearest.weekday())


def joined(match: DateMatch) -> Built:
    """A day and a time of it: tomorrow at 3pm, Friday morning, Monday 3-8pm."""
    date = match.scene.span(match.one("date"))
    if date.first is None or date.last is None or date.last - date.first != timedelta(days=1):
        return None
    clock, ends, part = match.one("clock"), match.one("hours"), match.one("part")
    if ends:
        return "moment", _as(date, hours_of_day(date.first, ends))
    if clock:
        return "moment", _as(date, on_day(date.first, likely(clock)))
    return "moment", _as(date, part_of_day(date.first, part))


def _as(date: TimeSpan, span: TimeSpan) -> TimeSpan:
    return replace(span, certain=date.certain)


def narrowed_moment(match: DateMatch) -> Built:
    """A part of a day and a time in it: tonight at 8, 2pm to 3pm tomorrow afternoon."""
    moment: TimeSpan = match.one("moment")
    if moment.grain is not Grain.PART or moment.first is None or moment.last is None:
        return None
    day = midnight(moment.first)
    last = 24 if moment.last.day != moment.first.day else moment.last.hour
    part = (moment.first.hour, last)
    clock, ends = match.one("clock"), match.one("hours")
    if clock:
        return "moment", on_day(day, in_part(clock, part))
    inside = (in_part(ends[0], part) if not ends[0].sure else ends[0], in_part(ends[1], part))
    return "moment", hours_of_day(day, inside)


def between(match: DateMatch) -> Built:
    """Two ends: from May 3 to June 7. The range holds its last day, month or year."""
    one, other = _year_shared(*match.all(*_ENDS))
    found = _pair(match.scene, one, other)
    if found is None or found[0].first is None or found[1].last is None or found[1].last < found[0].first:
        return None
    start, end = found
    grain = start.grain if end.grain is Grain.SECOND else end.grain  # from May until now
    return "range", TimeSpan(start.first, _last(end), grain, start.certain and end.certain)


_FIRST_YEAR = 1000
_ENDS = ("date", "moment", "clock", "number", "ordinal", "year", "now")


def _last(end: TimeSpan) -> datetime | None:
    return end.first if end.grain in {Grain.MINUTE, Grain.SECOND, Grain.HOUR} else end.last


def _year_shared(one: Any, other: Any) -> tuple[Any, Any]:
    """May to October 2020, 4 and 6 March: what the second says holds for the first."""
    if isinstance(one, int) and isinstance(other, Partial) and other.day:
        one = Partial(other.year, other.month, one) if one < other.day else Partial(day=one)
    elif isinstance(one, int) and isinstance(other, Partial) and other.month is None and one >= _FIRST_YEAR:
        one = Partial(year=one)  # 1995 – 1997年
    elif isinstance(other, int) and isinstance(one, Partial) and one.day:
        other = Partial(day=other)
    if not (isinstance(one, Partial) and isinstance(other, Partial)):
        return one, other
    if one.month is None and one.day and one.weekday is None and other.month and one.day < (other.day or 0):
        one = replace(one, month=other.month, year=other.year)
    if one.year is None and other.year and one.month and other.month:
        later = (one.month, one.day or 1) > (other.month, other.day or 31)
        one = replace(one, year=other.year - 1 if later else other.year)
    elif one.month and other.month is None and other.day and one.day and other.day > one.day:
        other = replace(other, year=one.year, month=one.month)
    return one, other


def _pair(scene: Scene, one: Any, other: Any) -> tuple[TimeSpan, TimeSpan] | None:
    """Both ends settled together: the second is the first that comes after the start."""
    if isinstance(one, TimeOfDay):
        return _clock_pair(scene, one, other)
    if not isinstance(one, Partial | TimeSpan):
        return None
    starts = list(spans(one, scene.now)) if isinstance(one, Partial) else [one]
    options = [
        (start, end) for start in starts for end in [_after(start, other)] if end and start.first and end.last
    ]
    if isinstance(other, TimeSpan):
        options = [pair for pair in options if pair[0].first and other.last and pair[0].first < other.last][
            -1:
        ]
    best = chosen(
        [TimeSpan(start.first, end.last, end.grain) for start, end in options], scene.now, scene.meant
    )
    return next(((s, e) for s, e in options if best and (s.first, e.last) == (best.first, best.last)), None)


def _clock_pair(scene: Scene, one: TimeOfDay, other: Any) -> tuple[TimeSpan, TimeSpan] | None:
    if not isinstance(other, TimeSpan):
        return None
    return on_day(scene.now, likely(one)), other


def _after(start: TimeSpan, other: Any) -> TimeSpan | None:
    if isinstance(other, TimeSpan):
        return other
    if isinstance(other, TimeOfDay) and start.first:
        clock = on_day(start.first, likely(other))
        return clock if start.grain in {Grain.MINUTE, Grain.SECOND, Grain.HOUR} else None
    if isinstance(other, datetime):
        return TimeSpan(midnight(other), midnight(other), Grain.DAY)
    if not isinstance(other, Partial) or start.first is None:
        return None
    later = (span for span in spans(other, start.first) if span.first and span.first >= start.first)
    return next(later, None)


def recurring(_match: DateMatch) -> Built:
    """What comes again: every Monday."""
    return "set", None


def since(match: DateMatch) -> Built:
    """From its start on."""
    span = _bounded(match)
    return "range", TimeSpan(span.first, None, span.grain, span.certain)


def after(match: DateMatch) -> Built:
    """From its end on."""
    span = _bounded(match, "near")
    return "range", TimeSpan(span.last, None, span.grain, span.certain)


def before(match: DateMatch) -> Built:
    """Until its start; before the end of May, until that end."""
    span = _bounded(match, "future")
    if re.search(r"\b(?:end|close)\b|[底末]", match.words):
        return "range", TimeSpan(None, span.last, span.grain, span.certain)
    return "range", TimeSpan(None, span.first, span.grain, span.certain)


def until(match: DateMatch) -> Built:
    """Until its end."""
    span = _bounded(match, "future")
    last = span.first if span.grain in {Grain.MINUTE, Grain.SECOND} else span.last
    return "range", TimeSpan(None, last, span.grain, span.certain)


def _bounded(match: DateMatch, prefer: Prefer = "past") -> TimeSpan:
    """The date a bound is set by: "since Friday" means the last one, "by Friday" the next."""
    date = match.one("moment") or match.one("date", "range")
    weekday = isinstance(date, Partial) and date.weekday is not None and not date.day
    free = match.scene.free and (weekday or prefer == "past")
    scene = replace(match.scene, prefer=prefer) if free else match.scene
    return scene.span(date)
