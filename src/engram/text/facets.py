"""Facets: what a memory speaks of comes in; the values it is filtered by come out, and what a filter wants.

Both are folded the same way, so a store only compares them. A person is found by any word of the name, a
technology by any of its names, a path or an address by how it begins, at any of its folders or hosts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from engram.model.entity import words_of
from engram.model.filters import Filters
from engram.text.technologies import known

EQUAL: Final = ("people", "technologies", "languages", "code_languages", "topics")
"""Facets that are compared as a whole; `sentiment` is one more, which each memory has once."""
BEGINNING: Final = ("paths", "urls")
"""Facets that are compared by how they begin."""
DATES: Final = "dates"
SENTIMENT: Final = "sentiment"
NEUTRAL: Final = "neutral"
"""The sentiment of a memory that has none."""


def values(metadata: Mapping[str, Any]) -> set[tuple[str, str]]:
    """Each facet with each of its values.

    >>> sorted(values({"people": ["Ada King"], "urls": ["https://docs.python.org/3"]}))
    [('people', 'ada'), ('people', 'ada king'), ('people', 'king'),
     ('urls', 'docs.python.org/3'), ('urls', 'python.org/3')]
    """
    return {(facet, value) for facet in metadata for value in _values(facet, metadata[facet])}


def asked(facet: str, wanted: str) -> str:
    """What a filter compares with.

    >>> asked("people", "ANNA"), asked("technologies", "postgres"), asked("urls", "https://Python.org/")
    ('anna', 'postgresql', 'python.org/')
    """
    if facet == "technologies" and (tech := known(wanted)):
        return tech.name.casefold()
    if facet == "urls":
        return _SCHEME.sub("", wanted.strip().casefold())
    if facet == "paths":
        return _path(wanted)
    return wanted.strip().casefold()


def days(filters: Filters) -> tuple[str, str]:
    """The first and the last day that may be spoken of, as ISO days; open ends lie beyond every day."""
    since, until = filters.about_since, filters.about_until
    return (since.date().isoformat() if since else "", until.date().isoformat() if until else "~")


_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*://)?(?:[^/@]*@)?(?:www\.)?")
_HOST_END = re.compile(r"[/?#:]|$")
_ENDS: Final = 12
"""A path has at most so many ends that it is found by."""


def _values(facet: str, held: Any) -> Iterator[str]:
    if facet == SENTIMENT:
        yield str(held).casefold()
    elif facet == "people":
        for name in held:
            yield name.casefold()
            yield from words_of(name)
    elif facet == "paths":
        for path in held:
            yield from _ends(_path(path), "/")
    elif facet == "urls":
        for url in held:
            yield from _addresses(_SCHEME.sub("", url.casefold()))
    elif facet in EQUAL or facet == DATES:
        yield from map(str.casefold, held)


def _path(path: str) -> str:
    return path.strip().casefold().replace("\\", "/").removeprefix("./").removeprefix("~/").removeprefix("/")


def _addresses(address: str) -> Iterator[str]:
    """The address, and the same without the first labels of its host: python.org finds docs.python.org."""
    found = _HOST_END.search(address)
    end = found.start() if found else len(address)
    host, rest = address[:end], address[end:]
    labels = host.split(".")
    yield address
    for at in range(1, len(labels) - 1):
        yield ".".join(labels[at:]) + rest


def _ends(path: str, mark: str) -> Iterator[str]:
    """The path, and what stands behind each of its last marks."""
    parts = path.split(mark)
    for at in range(max(0, len(parts) - _ENDS), len(parts)):
        if end := mark.join(parts[at:]):
            yield end
    yield path
