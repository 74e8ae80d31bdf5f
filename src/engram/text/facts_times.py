"""Since when and until when: a sentence comes in; it goes on without its times, which come out as spans.

"I lived in Rome until 2019" states a fact that is over, "Anna works at Siemens since May" one that goes on.
Dates are looked for only where a cue word stands. A mark takes the place of each time, so that the clause it
stands in is known; the past tense is turned to the present once it is known when it was.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final, Literal

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_CUE = re.compile(
    r"\b(?:[Ss]ince|[Uu]ntil|[Tt]ill)\b|\b(?:[Ff]rom|[Bb]etween|[Ii]n|[Dd]uring) "
    rf"(?:early |late |mid-?)?(?:\d{{4}}\b|{_MONTH})"
)
# A quick look first: nearly every text holds neither.
_SIGNS: Final = ("ince ", "ntil ", "till ")
_DATE = re.compile(r"[12JFMASOND](?:\d\d\d|an|eb|ar|pr|ay|un|ul|ug|ep|ct|ov|ec)")
_CHINESE_CUE = re.compile(r"起|直到|为止|以来|从\d|年(?:到|至)")
_LEAD = r"(?:\s*\b(?:[Bb]ack in|[Ii]n|[Dd]uring|[Aa]round|[Ff]rom|by|the year|early|late|自|在|于)\s*)*"
_BIRTH = re.compile(r"\bborn\b|出生|生于|生日")
_FIRST_MARK: Final = 0xE000
_MARK = re.compile(r"[\ue000-\ue0ff]")


@dataclass(frozen=True, slots=True)
class Validity:
    """From when to when; `over` when that is past."""

    first: datetime | None
    last: datetime | None
    now: datetime
    over: bool = False


def may_be_timed(text: str) -> bool:
    """Whether a text holds a cue at all: without one, when it was said does not matter."""
    if text.isascii() and not any(sign in text for sign in _SIGNS) and not _DATE.search(text):
        return False
    return (_CUE if text.isascii() else _EITHER).search(text) is not None


def marked(sentence: str, now: datetime | None) -> tuple[str, Mapping[str, Validity]]:
    """The sentence with a mark for each time that says how long something holds, and what the marks mean."""
    if now is None or not may_be_timed(sentence) or _BIRTH.search(sentence):
        return sentence, {}
    from engram.text.dates import dates  # a large part of the text rules, needed only here

    found: dict[str, Validity] = {}
    words = sentence
    for when in reversed(dates(sentence, now, prefer=_preferred(sentence))):
        if (
            when.recurring
            or when.kind not in {"range", "date"}
            or not (when.certain or _OPEN.match(when.text))
        ):
            continue
        mark = chr(_FIRST_MARK + len(found))
        found[mark] = Validity(when.first, when.last, now)
        words = words[: when.start] + mark + words[when.end :]
    return re.sub(rf"{_LEAD}(?=[\ue000-\ue0ff])", " ", words) if found else sentence, found


# "until May" leaves the year unsaid; the tense tells which May.
_OPEN = re.compile(rf"(?:since|until|till) (?:{_MONTH})", re.IGNORECASE)


def _preferred(sentence: str) -> Literal["near", "past", "future"]:
    if _PAST.search(sentence) or "since" in sentence:
        return "past"
    return "future" if "until" in sentence or "till" in sentence else "near"


_EITHER = re.compile(f"{_CUE.pattern}|{_CHINESE_CUE.pattern}")


def taken(clause: str, times: Mapping[str, Validity]) -> tuple[str, Validity | None]:
    """A clause without its marks, and its time; none when it names two."""
    if not times:
        return clause, None
    marks = _MARK.findall(clause)
    plain = " ".join(_MARK.sub(" ", clause).split()) if clause.isascii() or marks else clause
    return plain, times[marks[0]] if len(marks) == 1 else None


def settled(clause: str, validity: Validity) -> tuple[str, Validity | None]:
    """The clause in the present tense, if its time allows to say when it was so; else as it was."""
    past = None if _PERFECT.match(clause) else _PAST.match(clause)
    if past is None:
        return _present(clause, validity)
    if validity.last is None or validity.last > validity.now:
        return clause, None  # a past without an end that is known stays unsaid
    verb = past["bare"] or _PRESENT[past["verb"]]
    return f"{past['who']} {verb}{clause[past.end() :]}", replace(validity, over=True)


def _present(clause: str, validity: Validity) -> tuple[str, Validity | None]:
    perfect = _PERFECT.match(clause)
    if perfect is not None:
        if validity.last is not None and validity.first is not None:
            return clause, None
        verb = _PRESENT.get(perfect["verb"].lower(), f"is {perfect['verb']}")
        clause = f"{perfect['who']} {verb}{clause[perfect.end() :]}"
    if _MOVED.search(clause):
        return clause, replace(validity, last=None)  # since then
    if validity.first is not None and validity.last is not None:
        return clause, None  # "I work at Acme in May": nobody knows what that limits
    if validity.last is not None and validity.last <= validity.now:
        return clause, None
    return clause, validity


_PRESENT: Final = {
    "lived": "live", "resided": "reside", "worked": "work", "used": "use", "drove": "drive", "owned": "own",
    "driven": "drive", "been": "is", "played": "play", "known": "know", "was": "is", "were": "is",
}  # fmt: skip
_NAMES = r"(?P<who>I|[Ww]e|(?:[Mm]y|[Oo]ur|[Tt]he) [\w-]+|[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})"
_PAST = re.compile(
    rf"{_NAMES} (?:used to (?P<bare>live|work|use|play|drive|own)"
    r"|(?P<verb>lived|resided|worked|used|drove|owned|played|was|were))\b"
)
_PERFECT = re.compile(
    rf"^{_NAMES}(?:'ve|'s| have| has)(?: been)? (?P<verb>lived|resided|worked|used|driven|owned|played|known"
    r"|living|working|using|based|married|been(?= the| an?))\b"
)
_MOVED = re.compile(r"\b(?:moved|switched|migrated|changed|replaced|bought|adopted|founded)\b")
