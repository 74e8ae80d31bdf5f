"""Names in a text, by rules: people, places, organizations, technologies, files, addresses, versions.

A capital inside a sentence makes a name; at its start only when a known first name, a verb of people or a
possessive says so. What stands around a name tells its type; without such a sign it is `unknown`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.scripts import compatible
from engram.text.sentences import sentences
from engram.text.technologies import known, mentioned


@dataclass(frozen=True, slots=True)
class Entity:
    """A name and what it names.

    Types: person, location, organization, technology, file, url, email, handle, version, unknown.
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
        rest = pattern.sub(" ∎ ", rest)
    for tech in mentioned(rest):
        found.setdefault(tech.name.lower(), Entity(tech.name, "technology"))
    for entity in _people_and_places(rest):
        found.setdefault(entity.name.lower(), entity)
    return list(found.values())


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
        cues += [cue for day in days for cue in _day(day)]
    lower = text.lower()
    cues += [tech.name for tech in mentioned(text) if tech.name.lower() not in lower]
    return list(dict.fromkeys(cues))


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


def _day(day: date) -> tuple[str, str, str]:
    """A day as people write it. Names are spelled here: `strftime` would follow the machine's language."""
    spoken = f"{day.day} {_MONTHS[day.month - 1]} {day.year}"
    return f"{day.year:04}-{day.month:02}-{day.day:02}", spoken, _WEEKDAYS[day.weekday()]


def _shifts(text: str) -> list[int]:
    lower = text.lower()
    if text.isascii() and not any(word in lower for word in ("yesterday", "tomorrow", "last night")):
        return []
    return [days for pattern, days in _SHIFTS if pattern.search(text)]


_URL = r"\b(?:https?://|ftp://|www\.)[^\s<>\"'`)\]}，。；、]+"
_EMAIL = r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"
_HANDLE = r"(?<![\w@./])@[A-Za-z]\w[\w-]*"
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
_FIXED_SIGN = re.compile(r"[/@\\.v](?:(?<=[/@\\])|(?<=\.)\w|(?<=v)\d)")
_FIXED_NAMES: Final = ("Makefile", "Dockerfile", "README", "LICENSE")
_FIXED: Final = (
    ("url", re.compile(_URL, re.IGNORECASE)),
    ("email", re.compile(_EMAIL, re.ASCII)),
    ("handle", re.compile(_HANDLE, re.ASCII)),
    ("file", re.compile(_FILE, re.ASCII)),
    ("version", re.compile(_RELEASE, re.ASCII)),
)


def _has_fixed_form(plain: str) -> bool:
    """Whether there is a sign of an address, a file or a version; it may be wrong only by saying yes."""
    if _FIXED_SIGN.search(plain) or "www." in plain.lower():
        return True
    return any(name in plain for name in _FIXED_NAMES)


_CAPITAL = r"[A-Z][^\W\d_]*(?:['-][A-Z]?[^\W\d_]+)*"
_FIRST = _CAPITAL.replace("[A-Z]", r"[A-Z](?<!\w[A-Z])", 1)  # a set of characters first: a fast search
_NAME = re.compile(rf"{_FIRST}(?:\s(?:(?:de|van|von|der|la|bin|al|of|the)\s)?{_CAPITAL})*")
_HUMAN_VERB = re.compile(
    r"\s(?:said|says|told|tells|asked|asks|likes?|loves?|hates?|prefers?|wants?|thinks?|knows?|works?|worked|lives?|lived"
    r"|went|moved|met|visited|bought|uses?|joined|wrote|enjoys?|plays?|studies|speaks?|owns?|drives?|decided|recommended"
    r"|suggested|agreed|mentioned)\b"
)
_BEFORE_PERSON = re.compile(
    r"(?:\b(?:with|met|meet|call|called|told|tell|ask|asked|thanks?|hi|hey|hello|dear|by|and|named|friend"
    r"|friends|sister|brother|wife"
    r"|husband|son|daughter|boss|manager|colleague|partner|mom|dad|uncle|aunt|cousin|Mr\.?|Mrs\.?|Ms\.?"
    r"|Dr\.?|Prof\.?)\s|^)$",
    re.IGNORECASE,
)
_BEFORE_PLACE = re.compile(
    r"\b(?:live|lives|lived|living|move|moved|moving|travel|travell?ed|travell?ing|flew|fly|drove|went"
    r"|going|go|trip|back|born"
    r"|based|located|visit|visited|visiting|arrived|stayed|staying|from|in|near|to)\s(?:(?:to|in|from|at"
    r"|near|around)\s)?$",
    re.IGNORECASE,
)
_BEFORE_FIRM = re.compile(
    r"\b(?:work|works|worked|working|job|employed|interview|intern|joined|join)\s(?:(?:at|for|with|by)\s)?$",
    re.IGNORECASE,
)
_FIRM = re.compile(
    r"\b(?:Inc|Ltd|LLC|Corp|GmbH|AG|Co|University|College|Institute|Bank|Company|Foundation|Labs?|Group"
    r"|Hospital|School)\.?$"
)
_STREET = re.compile(
    r"\b(?:Street|Avenue|Road|Park|Lake|Mount|River|Beach|City|County|Island|Airport|Station|Square|Bridge)\b"
)
_HAN_PERSON = re.compile(
    "(?<![一-鿿])([王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘于蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤][一-鿿]{1,2}?)"
    "(?=说|在|的|是|和|跟|住|喜欢|告诉|问|去|来|要|想|会|有|今天|昨天|明天|[，,。：:])"
)


def _people_and_places(text: str) -> Iterator[Entity]:
    for match in () if text.isascii() else _HAN_PERSON.finditer(text):
        yield Entity(match.group(1), "person")
    for sentence in sentences(text):
        if sentence.isupper() or sentence.startswith("```"):
            continue
        for match in _NAME.finditer(sentence):
            yield from _named(match, sentence)


def _named(match: re.Match[str], sentence: str) -> Iterator[Entity]:
    name, start = _without_opener(match.group(), match.start())
    name = name.removesuffix("'s")
    before, after = sentence[:start], sentence[match.end() :]
    if not name or _is_common(name) or known(name):
        return
    possessive = match.group().endswith("'s") or after.startswith("'s")
    first = name.split(" ")[0].lower()
    if first in lexicon.words("first_names"):
        yield Entity(name, "person" if not _FIRM.search(name) else "organization")
        return
    opens = not before.strip(" \"'“‘([*-")
    if opens and " " not in name and not possessive and not _HUMAN_VERB.match(after):
        return
    yield Entity(name, _type(name, before, after))


def _without_opener(name: str, start: int) -> tuple[str, int]:
    """A name without the words before it that only carry the sentence's capital: "Yesterday Anna" is Anna."""
    words = name.split(" ")
    while (
        words and _is_common(words[0]) and not (len(words) > 1 and words[0] in {"New", "Old", "Great", "Big"})
    ):
        start += len(words.pop(0)) + 1
    while words and _is_common(words[-1]):
        words.pop()
    return " ".join(words), start


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


# "Wow, Anna!" calls someone; a name after a comma far into a sentence may be anything.
_CALL: Final = 20
BEFORE: Final = 40
"""So much of what stands before a name tells what it is."""


def _type(name: str, before: str, after: str) -> str:
    before = before[-BEFORE:]
    firm, person, place = _led_by(" ".join(before.rsplit(" ", 3)[-3:]))
    if firm or _FIRM.search(name):
        return "organization"
    if _STREET.search(name):
        return "location"
    called = before.endswith(", ") and after[:1] in {"!", "?", ".", ""} and len(before) < _CALL
    if called or person or _HUMAN_VERB.match(after):
        return "person"
    if place:
        return "location"
    return "person" if after.startswith("'s") else "unknown"


@lru_cache(maxsize=1 << 12)
def _led_by(words: str) -> tuple[bool, bool, bool]:
    """Whether the last two words before a name announce a firm, a person, a place."""
    firm, person, place = (sign.search(words) for sign in (_BEFORE_FIRM, _BEFORE_PERSON, _BEFORE_PLACE))
    return firm is not None, person is not None, place is not None
