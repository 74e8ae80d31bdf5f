"""The technologies people speak of: a text comes in, the ones it names come out, with what each serves as."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.scripts import PAIRED

# Inner dots and signs belong to the name (Node.js, C++, CI/CD); a full stop at its end does not.
_TOKEN: Final = re.compile(rf"\.?[^\W_{PAIRED}](?:[.'!&_-]?(?:(?![{PAIRED}_])\w))*(?:\+\+|#)?")
_PLAIN_TOKEN: Final = re.compile(r"\.?[a-z0-9]+(?:[.'!&_-][a-z0-9]+)*(?:\+\+|#)?")  # for ASCII in lower case
_SPEAKS_OF_TOOLS: Final = re.compile(
    r"(?:\b(?:in|with|use[ds]?|using|to|from|on|via|of|and|or|writes?|wrote|learn(?:ing|ed|s)?"
    r"|cod(?:e|ing)|install(?:ed)?|like|love|prefers?|is|my|our|the|run(?:s|ning)?|try|tried|knows?|than"
    r"|over|vs\.?)|[,/+(&]|[用学写装])\s*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Technology:
    """A technology by its usual name; `group` is what it serves as, such as `editor` or `database`."""

    name: str
    group: str
    ambiguous: bool


def mentioned(text: str) -> list[Technology]:
    """The technologies that `text` names, once each, in order.

    >>> [tech.name for tech in mentioned("we moved from postgres to SQLite, written in Go; let's go")]
    ['PostgreSQL', 'SQLite', 'Go']
    """
    return list(_mentioned(text))


def known(name: str) -> Technology | None:
    """The technology of that name or alias, in any spelling of its letters."""
    return vocabulary().get(name.strip().lower())


@cache
def vocabulary() -> dict[str, Technology]:
    """Every name and alias in lower case."""
    found: dict[str, Technology] = {}
    for group, rows in lexicon.parts("technologies").items():
        for row in rows:
            name, _, aliases = row.partition(" = ")
            tech = Technology(name.removeprefix("~"), group, name.startswith("~"))
            found.setdefault(tech.name.lower(), tech)
            for alias in filter(None, (part.strip() for part in aliases.split(","))):
                found.setdefault(alias.lower(), Technology(tech.name, group, ambiguous=False))
    return found


@lru_cache(maxsize=1 << 6)
def _mentioned(text: str) -> tuple[Technology, ...]:
    reach = _reach()
    if text.isascii():
        lower = text.lower()
        if reach.keys().isdisjoint(_PLAIN_TOKEN.findall(lower)):
            return ()
        spans = [match.span() for match in _PLAIN_TOKEN.finditer(lower)]
    else:
        spans = [match.span() for match in _TOKEN.finditer(text)]
    found: dict[str, Technology] = {}
    skip_to = 0
    for at, (start, end) in enumerate(spans):
        tokens = reach.get(text[start:end].lower(), 0)
        if start < skip_to or not tokens:
            continue
        tech, skip_to = _longest(text, spans[at : at + tokens])
        if tech is not None:
            found[tech.name] = tech
    if not text.isascii():
        found |= {tech.name: tech for alias, tech in _han_names() if alias in text}
    return tuple(found.values())


def _longest(text: str, spans: list[tuple[int, int]]) -> tuple[Technology | None, int]:
    """The longest known name that starts with the first span, and where it ends."""
    start = spans[0][0]
    for _, end in reversed(spans):
        name = text[start:end]
        tech = vocabulary().get(name.lower())
        if tech is not None and (not tech.ambiguous or _is_meant(tech, name, text[:start])):
            return tech, end
    return None, start


def _is_meant(tech: Technology, name: str, before: str) -> bool:
    return name == tech.name and _SPEAKS_OF_TOOLS.search(before[-20:]) is not None


@cache
def _reach() -> dict[str, int]:
    """How many tokens the longest name has that starts with a given token."""
    reach: dict[str, int] = {}
    for name in vocabulary():
        tokens = [match.group() for match in _TOKEN.finditer(name)] or [name]
        reach[tokens[0]] = max(reach.get(tokens[0], 1), len(tokens))
    return reach


@cache
def _han_names() -> tuple[tuple[str, Technology], ...]:
    return tuple((name, tech) for name, tech in vocabulary().items() if not name[0].isascii())
