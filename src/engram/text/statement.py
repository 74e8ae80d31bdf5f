"""A statement is a triple as a sentence words it; here is also how its parts are cleaned."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from engram.text import lexicon
from engram.text.technologies import known

USER: Final = "user"
MAX_WORDS: Final = 8


@dataclass(frozen=True, slots=True)
class Statement:
    """Who, what about them, which value; `replaces` is the old value when the sentence names it."""

    subject: str
    predicate: str
    object: str
    functional: bool = False
    replaces: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


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
