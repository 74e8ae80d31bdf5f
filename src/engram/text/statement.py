"""A statement is a triple as a sentence words it; here is also how its parts are cleaned."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache, lru_cache
from typing import Final, Literal

from engram.lazily import dataclass, replace
from engram.text import lexicon, re
from engram.text.kinds import known
from engram.text.words import HAN

USER: Final = "user"
MAX_WORDS: Final = 8


@dataclass(frozen=True, slots=True)
class Statement:
    """Who, what about them, which value; `replaces` is the old value when the sentence names it."""

    subject: str
    predicate: str
    object: str
    functional: bool = False
    """Whether there is one value at a time."""
    replaces: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    over: bool = False
    """Whether it is said to hold no longer."""


def plain_name(name: str) -> str:
    """A name as facts write it: in lower case, and its titles without their full stop.

    >>> plain_name("Prof. Dr. Weber"), plain_name("St. Gallen"), plain_name("v1.2")
    ('prof dr weber', 'st gallen', 'v1.2')
    """
    lower = name.lower()
    if ". " not in lower:
        return lower
    titles = lexicon.words("titles")
    return " ".join(bare if (bare := word.removesuffix(".")) in titles else word for word in lower.split(" "))


_HEDGE = (
    r"(?:now|actually|currently|really|just|still|also|already|definitely|probably|simply|mainly|mostly"
    r"|these days"
    r"|nowadays|at the moment|right now|today|instead|again|too|anymore|as well|of course|though|please"
    r"|for now"
    r"|from now on|always|usually|called|named)"
)
_LEADING = re.compile(rf"^(?:{_HEDGE}\b[,\s]*|(?:the|(?-i:a)|an)\s+|[\"'“‘`(*]+)+", re.IGNORECASE)
_TRAILING = re.compile(rf"(?:[\s,]+{_HEDGE}|[\"'”’`)*.,;:!?。！？，、\s]+)+$", re.IGNORECASE)
_TAIL = re.compile(
    r"\s+(?:because|since|when|while|where|which|who|that|so|but|although|though|unless|until|if|after"
    r"|before|as of"
    r"|starting|instead|rather than|due to|thanks to|for the last|for over|for about|with (?:my|his|her)"
    r"|by the way"
    r"|and (?:i|my|we|it|he|she|they|you|that|the))\b.*$",
    re.IGNORECASE,
)
# A phrase that begins so leans on what was said before, or is a clause of its own.
_DANGLING = re.compile(
    r"(?:it|this|that|these|those|i|you|he|she|we|they|him|her|them|there|here|so|such|what|which|who|how"
    r"|when|and|or"
    r"|all|being|having)\b",
    re.IGNORECASE,
)
_QUALITY = re.compile(r"\w+(?:ful|less|ous|ive|able|ible|ing|ed|ish|ly)")


def value(raw: str) -> str | None:
    """The value a phrase names, or nothing when it names none that can be kept.

    >>> value("actually the Helix editor now."), value("cold"), value("it")
    ('Helix editor', 'cold', None)
    >>> value("a nurse"), value("A positive"), value("A")
    ('nurse', 'A positive', 'A')
    """
    text = _TAIL.sub("", raw.strip())
    text = _TRAILING.sub("", _LEADING.sub("", text))
    text = _TRAILING.sub("", text).strip()
    if not text or _DANGLING.match(text) or len(text.split()) > MAX_WORDS:
        return None
    if not any(char.isalnum() for char in text):
        return None
    if text.lower() not in lexicon.words("stop_words") or _is_technology(text) or text == "A":
        return text
    return None


def _is_technology(text: str) -> bool:
    """Whether a plain word is written as the technology of that name: Go, not go."""
    tech = known(text)
    return tech is not None and tech.name == text and not text.islower()


def describes(text: str) -> bool:
    """Whether a value judges instead of naming: "very hard", "amazing".

    >>> describes("very hard"), describes("amazing"), describes("blue")
    (True, True, False)
    """
    words = text.split()
    return (
        words[0]
        in {
            "very",
            "too",
            "so",
            "pretty",
            "quite",
            "like",
            "in",
            "on",
            "at",
            "to",
            "from",
            "for",
            "with",
            "of",
        }
        or words[-1] in lexicon.words("qualities")
        or any(_QUALITY.fullmatch(word) for word in (words[0], words[-1]) if word.islower())
    )


def names_something(text: str) -> bool:
    """Whether a value looks like a name, a number, an address or a technology rather than a description."""
    if any(char.isupper() or char.isdigit() for char in text) or "://" in text or "@" in text:
        return True
    return known(text) is not None


def use(subject: str, tool: str, *, changed: bool, replaces: str | None = None) -> Statement:
    """Read "I use X" in terms of what X serves as: an editor is the subject's editor.

    Only a change says that the new one is the only one: people use two editors, too.
    """
    tech = known(tool)
    if tech is not None and tech.group in _ROLES:
        return Statement(subject, tech.group, tool, changed, replaces)
    return Statement(subject, "use", tool, functional=False, replaces=replaces)


# What a person or a team usually has one of; they know many languages and many libraries.
_ROLES: Final = frozenset({"editor", "database", "operating system", "shell", "terminal", "browser"})


# ---------------------------------------------------------------- facts times
# Since when and until when: a sentence comes in; it goes on without its times, which come out as spans.
#
# "I lived in Rome until 2019" states a fact that is over, "Anna works at Siemens since May" one that goes
# on. Dates are looked for only where a cue word stands. A mark takes the place of each time, so that the
# clause it stands in is known; the past tense is turned to the present once it is known when it was.


_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?"
    r"|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\b"
)
_CUE = re.compile(
    r"\b(?:[Ss]ince|[Uu]ntil|[Tt]ill)\b|\b(?:[Ff]rom|[Bb]etween|[Ii]n|[Dd]uring) "
    rf"(?:early |late |mid-?)?(?:\d{{4}}\b|{_MONTH})"
)
# A quick look first: nearly every text holds neither.
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
    if not text.isascii():
        return _EITHER.search(text) is not None
    may_be = "ince " in text or "ntil " in text or "till " in text or _DATE.search(text)
    return bool(may_be) and _CUE.search(text) is not None


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
_NAMES = (
    r"(?P<who>I|[Ww]e|(?:[Mm]y|[Oo]ur|[Tt]he) [\w-]+"
    r"|(?:[A-Z][a-z]{0,4}\. ){0,2}[A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})"
)
_PAST = re.compile(
    rf"{_NAMES} (?:used to (?P<bare>live|work|use|play|drive|own)"
    r"|(?P<verb>lived|resided|worked|used|drove|owned|played|was|were))\b"
)
_PERFECT = re.compile(
    rf"^{_NAMES}(?:'ve|'s| have| has)(?: been)? (?P<verb>lived|resided|worked|used|driven|owned|played|known"
    r"|living|working|using|based|married|been(?= the| an?))\b"
)
_MOVED = re.compile(r"\b(?:moved|switched|migrated|changed|replaced|bought|adopted|founded)\b")


# ---------------------------------------------------------------- predicates
# Predicates: what a fact says about its subject, one word for one meaning, and the fact put into words.


_HAN = re.compile(f"[{HAN}]")
_BE: Final = re.compile(r"^(?:is|are|was|were|am) (?=\w+ (?:to|in|on|at|by|of|from|with)$)")


@lru_cache(maxsize=1 << 10)
def canonical(predicate: str) -> str:
    """The one form of a predicate, whichever words or spelling it comes in.

    >>> canonical("Lives_In"), canonical("is married to"), canonical("favourite colour"), canonical("orbits")
    ('live in', 'married to', 'favorite colour', 'orbits')
    """
    plain = " ".join(predicate.replace("_", " ").lower().split())
    known = _forms().get(plain)
    if known is not None:
        return known
    if plain.startswith("favourite "):
        plain = "favorite " + plain[10:]
    bare = _BE.sub("", plain)
    return _forms().get(bare, bare)


def is_functional(predicate: str) -> bool:
    """Whether there is one object at a time.

    >>> is_functional("lives in"), is_functional("likes"), is_functional("birthday"), is_functional("sister")
    (True, False, True, False)
    """
    word = canonical(predicate)
    if word in _one_at_a_time() or word.startswith("favorite "):
        return True
    if word in _forms() or is_listed(word, "shared_attributes"):
        return False
    return is_listed(word, "attributes") or is_listed(word, "roles")


def asked(predicate: str) -> frozenset[str]:
    """Every predicate that answers to a word; none for no word.

    >>> sorted(asked("sibling")), asked("works for")
    (['brother', 'sibling', 'sister'], frozenset({'work at'}))
    """
    if not predicate.strip():
        return frozenset()
    word = canonical(predicate)
    return frozenset({word, *_kinds().get(word, ())})


def worded(subject: str, predicate: str, object: str) -> str:  # noqa: A002 - the word for it
    """A fact as a sentence.

    >>> worded("Anna", "live in", "Rome"), worded("user", "editor", "vim"), worded("小明", "喜欢", "茶")
    ('Anna lives in Rome', "User's editor is vim", '小明喜欢茶')
    """
    who = "User" if subject.lower() in {USER, "i", "me"} else subject
    word = canonical(predicate)
    if _HAN.search(predicate):
        return f"{who}{predicate}{object}"
    if word in _spoken():
        return f"{who} {_spoken()[word]} {object}"
    if _is_noun(word):
        return f"{who}'s {word} is {object}"
    return f"{who} {' '.join(predicate.replace('_', ' ').split())} {object}"


def ways() -> Iterator[tuple[str, str]]:
    """Each way to say a predicate, with the predicate."""
    yield from _forms().items()


@cache
def roles() -> frozenset[str]:
    """Nouns for somebody who is spoken of by what they are to another: "my sister", "his boss"."""
    listed = lexicon.words("roles") | lexicon.words("shared_attributes")
    return frozenset(word.replace("_", " ") for word in listed)


def _is_noun(word: str) -> bool:
    return word.startswith("favorite ") or any(
        is_listed(word, name) for name in ("attributes", "roles", "shared_attributes")
    )


def is_listed(word: str, name: str) -> bool:
    """Whether a noun, or the last word of it, stands in a list."""
    listed = lexicon.words(name)
    return word.replace(" ", "_") in listed or word.rsplit(maxsplit=1)[-1] in listed


@cache
def _table() -> dict[str, tuple[str, ...]]:
    """Each predicate with its other forms, the spoken one first."""
    parts = lexicon.parts("predicates")
    rows = (row.partition(" = ") for heading in ("one at a time", "many") for row in parts[heading])
    return {word: tuple(form.strip() for form in forms.split(",")) for word, _, forms in rows}


@cache
def _forms() -> dict[str, str]:
    forms = {form: word for word, others in _table().items() for form in others}
    return forms | {word: word for word in _table()}


@cache
def _spoken() -> dict[str, str]:
    nouns = lexicon.words("attributes")
    return {word: forms[0] for word, forms in _table().items() if word.replace(" ", "_") not in nouns}


@cache
def _one_at_a_time() -> frozenset[str]:
    return frozenset(row.partition(" = ")[0] for row in lexicon.parts("predicates")["one at a time"])


@cache
def _kinds() -> dict[str, tuple[str, ...]]:
    rows = (row.partition(" = ") for row in lexicon.parts("predicates")["kinds"])
    return {word: tuple(kind.replace("_", " ") for kind in kinds.split()) for word, _, kinds in rows}
