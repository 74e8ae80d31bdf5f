"""What can be filtered by later: a text comes in; its people, technologies, paths, dates, topics … come out.

Everything is told by rules from the words alone. Recall filters on it; it inherits the tier of its memory.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final

from engram.text import feelings, lexicon, names
from engram.text.languages import languages
from engram.text.names import Entity
from engram.text.technologies import mentioned
from engram.text.topics import topics


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a text speaks of. Dates are ISO days, languages ISO 639-1 codes."""

    people: tuple[str, ...] = ()
    technologies: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    dates: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    code_languages: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    sentiment: str = ""


def metadata(text: str, *, now: datetime | None = None, names: Sequence[Entity] | None = None) -> Metadata:
    """The metadata of `text`; `names` are its entities where somebody has found them already.

    >>> found = metadata("Anna fixed the crash in src/auth.py on 2024-05-03")
    >>> found.people, found.paths, found.dates, found.languages, found.code_languages
    (('Anna',), ('src/auth.py',), ('2024-05-03',), ('en',), ('Python',))
    >>> metadata("See you tomorrow", now=datetime(2024, 5, 8)).dates
    ('2024-05-09',)
    """
    entities = _entities(text) if names is None else names
    tone = feelings.tone(text)
    paths = _of_type(entities, "file")
    return Metadata(
        people=_of_type(entities, "person"),
        technologies=_of_type(entities, "technology"),
        paths=paths,
        urls=_of_type(entities, "url"),
        dates=_dates(text, now),
        languages=languages(text),
        code_languages=tuple(dict.fromkeys(_code_languages(text, paths)))[:MOST],
        topics=topics(text),
        sentiment=feelings.sentiment(feelings.valence_of(tone), feelings.strength_of(tone)),
    )


def plain(found: Metadata) -> dict[str, Any]:
    """The parts that say something, as JSON knows them.

    >>> plain(Metadata(people=("Anna",), sentiment="neutral"))
    {'people': ['Anna'], 'sentiment': 'neutral'}
    """
    values = ((field.name, getattr(found, field.name)) for field in fields(found))
    return {name: value if isinstance(value, str) else list(value) for name, value in values if value}


MOST: Final = 20
"""Values of one part."""


def _entities(text: str) -> Sequence[Entity]:
    return names.entities(text)


def _of_type(entities: Sequence[Entity], wanted: str) -> tuple[str, ...]:
    return tuple(entity.name for entity in entities if entity.type == wanted)[:MOST]


# A day that means the same whenever it is read is spelled out; these two lie far apart in every way.
_READ_AT: Final = (datetime(1971, 3, 10, 9, tzinfo=UTC), datetime(2033, 9, 24, 21, tzinfo=UTC))
_EXACT: Final = frozenset({"second", "minute", "hour", "part", "day", "weekend", "week"})
_RANGE: Final = timedelta(days=8)
_TICK: Final = timedelta(microseconds=1)


def _dates(text: str, now: datetime | None) -> tuple[str, ...]:
    """The days a text speaks of; without `now` only those that it spells out with their year."""
    if now is not None:
        return tuple(dict.fromkeys(_days(text, now)))[:MOST]
    early, late = (dict.fromkeys(_days(text, moment)) for moment in _READ_AT)
    return tuple(day for day in early if day in late)[:MOST]


def _days(text: str, now: datetime) -> Iterator[str]:
    """A day as itself, a few days as their first and last; a month or a year is no day."""
    from engram.text.dates import dates  # reading dates needs many rules: only where they are wanted

    for when in dates(text, now):
        if when.recurring or when.first is None or when.last is None or when.grain not in _EXACT:
            continue
        if when.last - when.first <= _RANGE:
            yield when.first.date().isoformat()
            yield max(when.first, when.last - _TICK).date().isoformat()


def _code_languages(text: str, paths: Sequence[str]) -> Iterator[str]:
    """The programming languages of code blocks, of files, and those that are named."""
    by_name, by_ending = _code_names()
    for match in _FENCE.finditer(text) if "```" in text else ():
        yield from filter(None, [by_name.get(match.group(1).lower())])
    for path in paths:
        yield from filter(None, [by_ending.get(path.rpartition(".")[2].lower())])
    yield from (tech.name for tech in mentioned(text) if tech.name in by_name.values())


_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+#-]+)", re.MULTILINE)


@cache
def _code_names() -> tuple[dict[str, str], dict[str, str]]:
    """The languages by the name of a block and by the ending of a file."""
    by_name: dict[str, str] = {}
    by_ending: dict[str, str] = {}
    for row in lexicon.lines("code_languages"):
        name, _, rest = row.partition(": ")
        named, _, endings = rest.partition("|")
        by_name |= dict.fromkeys(named.split(), name)
        by_ending |= dict.fromkeys(endings.split(), name)
    return by_name, by_ending
