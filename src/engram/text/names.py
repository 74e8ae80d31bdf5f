"""Names in a text, by rules: people, places, organizations, technologies, files, addresses, versions.

A capital inside a sentence makes a name; at its start only when a known first name, a verb of people or a
possessive says so. What stands around a name tells its type; without such a sign it is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, lru_cache
from typing import Final

from engram.text import lexicon, names_chinese
from engram.text.name_types import (
    UNKNOWN,
    by_its_words,
    followed_by,
    leads_to,
    listed_as,
    openers,
    type_of,
)
from engram.text.scripts import compatible
from engram.text.sentences import sentences
from engram.text.technologies import known, mentioned


@dataclass(frozen=True, slots=True)
class Entity:
    """A name and what it names.

    Types: person, location, organization, project, technology, service, concept, file, url, email, handle,
    version, unknown.
    """

    name: str
    type: str


def entities(text: str) -> list[Entity]:
    """The entities that `text` names, once each: what has a fixed form first, then technologies, then names.

    >>> entities("Anna moved to Berlin with Bob Smith; see src/auth.ts")
    [Entity(name='src/auth.ts', type='file'), Entity(name='Anna', type='person'),
     Entity(name='Berlin', type='location'), Entity(name='Bob Smith', type='person')]
    """
    plain = compatible(text).replace("’", "'")
    found: dict[str, Entity] = {}
    rest = plain
    for kind, pattern in _FIXED if _has_fixed_form(plain) else ():
        for match in pattern.finditer(rest):
            name = match.group().rstrip(".,;:!?)'\"")
            found.setdefault(name.lower(), Entity(name, kind))
            service = service_of(name) if kind == "url" else ""
            if service:
                found.setdefault(service.lower(), Entity(service, "service"))
        rest = pattern.sub(" ∎ ", rest)
    for tech in mentioned(rest):
        found.setdefault(tech.name.lower(), Entity(tech.name, "technology"))
    for entity in _people_and_places(rest):
        found.setdefault(entity.name.lower(), entity)
    return list(found.values())


def service_of(url: str) -> str:
    """The well-known service behind an address, by its host; "" for others.

    >>> service_of("https://gist.github.com/anna/1"), service_of("https://example.org")
    ('GitHub', '')
    """
    host = url.lower().partition("://")[2] or url.lower()
    host = re.split(r"[/:?#]", host.rpartition("@")[2] if "@" in host.split("/")[0] else host, maxsplit=1)[0]
    labels = host.split(".")
    tails = (".".join(labels[at:]) for at in range(len(labels) - 1))
    return next((_services()[tail] for tail in tails if tail in _services()), "")


def cue_words(text: str, *, speaker: str | None = None, when: datetime | None = None) -> list[str]:
    """Words to find the text by that it does not hold: its speaker, its date, days it speaks of, full names.

    >>> cue_words("I went to the zoo yesterday", speaker="Anna", when=datetime(2023, 5, 8))
    ['Anna', '2023-05-08', '8 May 2023', 'Monday', '2023-05-07', '7 May 2023', 'Sunday']
    """
    cues = [speaker] if speaker else []
    if when is not None:
        today = when.toordinal()
        near = (today + shift for shift in (0, *_shifts(text)))
        days = [date.fromordinal(day) for day in near if 1 <= day <= date.max.toordinal()]
        cues += [cue for day in days for cue in spelled(day)]
    lower = text.lower()
    cues += [tech.name for tech in mentioned(text) if tech.name.lower() not in lower]
    return list(dict.fromkeys(cues))


@cache
def _services() -> dict[str, str]:
    rows = (row.partition(" = ") for row in lexicon.lines("services"))
    return {host: name for host, _, name in rows}


_MONTHS: Final = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip
_WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHIFTS: Final = (
    (re.compile(r"\byesterday\b|\blast night\b|昨[天晚]", re.IGNORECASE), -1),
    (re.compile(r"\btomorrow\b|明[天早晚]", re.IGNORECASE), 1),
    (re.compile(r"\bday before yesterday\b|前天", re.IGNORECASE), -2),
    (re.compile(r"\bday after tomorrow\b|后天", re.IGNORECASE), 2),
)


def spelled(day: date) -> tuple[str, str, str]:
    """A day as people write it; memories of a day are found by these words.

    Names are spelled here: `strftime` would follow the machine's language.
    """
    spoken = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    return f"{day.year:04}-{day.month:02}-{day.day:02}", spoken, _WEEKDAYS[day.weekday()]


def _shifts(text: str) -> list[int]:
    lower = text.lower()
    if text.isascii() and not any(word in lower for word in ("yesterday", "tomorrow", "last night")):
        return []
    return [days for pattern, days in _SHIFTS if pattern.search(text)]


_URL = r"\b(?:https?://|ftp://|www\.)[^\s<>\"'`)\]}，。；、]+"
_EMAIL = r"\b[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+\b"
_HANDLE = r"(?<![\w@./])@[A-Za-z]\w[\w-]*"
_HASHTAG = r"(?<![\w&/#])#(?![0-9a-fA-F]{3,8}\b)[^\W\d_][\w-]{1,40}"  # no colour
_FILE = (
    r"(?<![\w/.-])(?:~|\.{1,2})?/[\w.@-]+(?:/[\w.@-]+)+/?"
    r"|(?<![\w/.-])[\w.-]+(?:/[\w.@-]+)*/[\w@-]+\.\w{1,8}\b"
    r"|(?<![\w/.-])[\w-]+\.(?:pyi?|tsx?|jsx?|mjs|go|rs|java|kt|c|h|cc|cpp|hpp|cs|rb|php|swift|sql|toml"
    r"|ya?ml|jsonl?"
    r"|md|txt|csv|html?|s?css|sh|ps1|ini|cfg|conf|lock|env|ipynb|pdf|docx?|xlsx?|pptx?|png|jpe?g|svg|gif"
    r"|log|xml|proto"
    r"|tf|vue|svelte|gradle|lua|exs?|zip|gz|tar)\b|(?<![\w/.-])\.(?:env|gitignore|bashrc|zshrc|vimrc)\b"
    r"|\b(?:Makefile|Dockerfile|README|LICENSE)\b|\b[A-Za-z]:\\[\w\\. -]*\w"
)
_RELEASE = r"(?<![\w.])v\d+(?:\.\d+)*(?:-[\w.]+)?\b|(?<![\w.$€£])\d+\.\d+\.\d+(?:-[\w.]+)?\b(?!\.\d)"
# Nearly every text has none of them: one quick look saves all the others.
_FIXED_SIGN = re.compile(r"[/@\\.v#](?:(?<=[/@\\])|(?<=[.#])\w|(?<=v)\d)")
_FIXED_NAME = re.compile("[MDRL](?:akefile|ockerfile|EADME|ICENSE)")
_FIXED: Final = (
    ("url", re.compile(_URL, re.IGNORECASE)),
    ("email", re.compile(_EMAIL, re.ASCII)),
    ("handle", re.compile(_HANDLE, re.ASCII)),
    ("concept", re.compile(_HASHTAG)),
    ("file", re.compile(_FILE, re.ASCII)),
    ("version", re.compile(_RELEASE, re.ASCII)),
)


def _has_fixed_form(plain: str) -> bool:
    """Whether there is a sign of an address, a file or a version; it may be wrong only by saying yes."""
    return _FIXED_SIGN.search(plain) is not None or _FIXED_NAME.search(plain) is not None


_CAPITAL = r"[A-Z][^\W\d_]*(?:['-][A-Z]?[^\W\d_]+)*"
_FIRST = _CAPITAL.replace("[A-Z]", r"[A-Z](?<!\w[A-Z])", 1)  # a set of characters first: a fast search
_NAME = re.compile(rf"{_FIRST}(?:\s(?:(?:de|van|von|der|la|bin|al|of|the)\s)?{_CAPITAL})*")
_UPPER = re.compile("[A-Z]")
_JOINED: Final = frozenset({", ", " and ", ", and ", " & ", " or ", "/"})


def _people_and_places(text: str) -> Iterator[Entity]:
    if not text.isascii():
        yield from (Entity(name, type_) for name, type_ in names_chinese.names(text))
    for sentence in sentences(text) if _UPPER.search(text) else ():
        if sentence.isupper() or sentence.startswith("```"):
            continue
        end, last = 0, ""
        for match in _NAME.finditer(sentence):
            found = _named(match, sentence)
            if found is None:
                continue
            if found.type == UNKNOWN and last and sentence[end : match.start()] in _JOINED:
                found = Entity(found.name, last)  # "Berlin and Foo": one of a row is like the one before
            end, last = match.end(), found.type
            yield found


def _named(match: re.Match[str], sentence: str) -> Entity | None:
    name, start = _without_opener(match.group(), match.start())
    name = name.removesuffix("'s")
    if not name or _is_common(name) or known(name):
        return None
    before, after = sentence[:start], sentence[match.end() :]
    if match.group().endswith("'s"):
        after = "'s" + after
    if name.split(" ", 1)[0].lower() in lexicon.words("first_names"):
        return Entity(name, _type_of_first_name(name, before))
    listed, ambiguous = listed_as(name)
    if listed and not ambiguous:
        return Entity(name, _type_of_listed(listed, before, after))
    opens = not before.strip(" \"'“‘([*-")
    if opens and " " not in name and not _acts(name, after):
        return None
    return Entity(name, _type_of_listed(listed, before, after) if listed else type_of(name, before, after))


_ACTORS: Final = frozenset({"person", "organization"})
_NO_NOUN: Final = ("ing", "ed", "ly")


def _acts(name: str, after: str) -> bool:
    """Whether the first word of a sentence acts as a name does: "Zelda's cat", "Zelda said".

    "Music's amazing" and "Running helps" begin with plain words.
    """
    if after.startswith("'s"):
        owned = after[2:].strip().split(" ", 1)[0].rstrip(".,;:!?").lower()
        return bool(owned) and owned not in lexicon.words("stop_words") and not owned.endswith(_NO_NOUN)
    return not name.endswith("ing") and followed_by(after) in _ACTORS


def _type_of_first_name(name: str, before: str) -> str:
    """A first name is a person's, unless it is part of a firm's name or stands where a place is meant."""
    own = by_its_words(name)
    place = own == "location" or listed_as(name)[0] == "location"
    if own == "organization" or (place and leads_to(before)[0] == "location"):
        return own or "location"
    return "person"


def _type_of_listed(listed: str, before: str, after: str) -> str:
    """A well-known name is what the list says, unless the words around it clearly say otherwise."""
    led, strong = leads_to(before)
    if (strong and led in _ACTORS) or (followed_by(after) == "person" and led == "person"):
        return led
    return listed


def _without_opener(name: str, start: int) -> tuple[str, int]:
    """A name without the words before it that only carry the sentence's capital: "Yesterday Anna" is Anna."""
    words = name.split(" ")
    while words and _is_opener(words):
        start += len(words.pop(0)) + 1
    while words and _is_common(words[-1]):
        words.pop()
    return " ".join(words), start


def _is_opener(words: list[str]) -> bool:
    alone = len(words) == 1
    if _is_common(words[0]):
        return alone or words[0] not in {"New", "Old", "Great", "Big"}
    return not alone and words[0].lower() in openers()


@lru_cache(maxsize=1 << 12)
def _is_common(name: str) -> bool:
    plain = name.lower().removesuffix("'s")
    if len(plain) < 2 or ("'" in plain and plain in lexicon.words("stop_words")):  # noqa: PLR2004 - a lone capital names nothing
        return True
    listed = plain in lexicon.words("stop_words") or plain in lexicon.words("openers")
    return listed or plain in _CALENDAR or lexicon.pattern("times").fullmatch(plain) is not None


_CALENDAR: Final = frozenset(
    [
        *(month.lower() for month in _MONTHS),
        *(day.lower() for day in _WEEKDAYS),
        "christmas",
        "easter",
        "i'm",
        "i've",
        "i'd",
        "i'll",
    ]
)
