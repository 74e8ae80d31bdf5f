"""Shorter forms of a text: a summary of about half, a key fact of one clause, a label of two to six words.

All three are cut from the text itself, so nothing is invented; the same text always gives the same forms, and
no form is longer than its text. A short text is its own summary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from engram.text import lexicon
from engram.text.scripts import PAIRED
from engram.text.sentences import sentences
from engram.text.words import content_words, terms

SHORT: Final = 80
SHARE: Final = 0.5
KEY_LIMIT: Final = 120
LABEL_WORDS: Final = 6
LABEL_CHARACTERS: Final = 12  # of a text in a script without spaces

_MARKED = re.compile(
    r"\d[\d.,:]*|(?<=\s)[A-Z]\w*|\w+[./_@]\w+|\b(?:not|never|no longer|actually|instead)\b|不|改|现在"
)
# The same for a text without words joined by signs, which are slow to look for.
_JOINED = re.compile(r"[./_@]\w")
_MARKED_PLAIN = re.compile(
    r"\d[\d.,:]*|[A-Z](?<=\s[A-Z])\w*"
    r"|n(?<=\bn)(?:ot|ever|o longer)\b|a(?<=\ba)ctually\b|i(?<=\bi)nstead\b|不|改|现在"
)
_PAIRED = re.compile(f"[{PAIRED}]")
_CLAUSE = re.compile(
    r"[;,](?<=[^\d][;,])(?=\s)|[，；：]"
    r"|\s(?:[—–-]\s|(?=(?:because|although|though|which|while|whereas|unless)\b))"
)
_OPENER = re.compile(
    r"^(?:(?:by the way|also|and|but|so|well|oh|hey|hi|hello|yes|yeah|ok|okay|thanks|wow|anyway|actually"
    r"|btw|fyi"
    r"|just so you know|i think|i guess|you know)\b[\s,!.:]*)+",
    re.IGNORECASE,
)


def summary(text: str) -> str:
    """The sentences that say most, in their order, together about half of the text.

    >>> summary("Anna uses Helix.")
    'Anna uses Helix.'
    """
    whole = text.strip()
    parts = sentences(whole)
    if _width(whole) <= SHORT or not parts:
        return whole
    if len(parts) == 1:
        return _shorter(_first_clauses(parts[0], int(len(whole) * SHARE)), whole)
    chosen: set[int] = set()
    room = len(whole) * SHARE
    for at in _best_first(parts):
        if not chosen or len(parts[at]) <= room:
            chosen.add(at)
            room -= len(parts[at])
    return _shorter(_joined([part for at, part in enumerate(parts) if at in chosen]), whole)


@lru_cache(maxsize=1 << 6)
def key_fact(text: str) -> str:
    """The one clause that says most.

    >>> key_fact("Thanks! By the way, we moved the database to PostgreSQL 16, which took all day.")
    'we moved the database to PostgreSQL 16'
    """
    whole = text.strip()
    parts = sentences(whole)
    if not parts or (len(parts) == 1 and _width(whole) <= SHORT and not _CLAUSE.search(whole)):
        return whole
    best = parts[next(iter(_best_first(parts)))]
    clauses = [part.strip() for part in _CLAUSE.split(_OPENER.sub("", best)) if part and part.strip()] or [
        best
    ]
    clause = clauses[next(iter(_best_first(clauses)))]
    return _shorter(_cut(clause, KEY_LIMIT).rstrip(".,;:。，；："), whole)


def label(text: str) -> str:
    """Two to six words to show in a list.

    >>> label("We moved the database to PostgreSQL 16 because of the new planner.")
    'moved database PostgreSQL 16'
    """
    key = key_fact(text)
    if _PAIRED.search(key):
        return _shorter(_han_label(key), text.strip())
    words = key.split()
    if len(words) <= LABEL_WORDS - 2:
        return _shorter(key, text.strip())
    stop = lexicon.words("stop_words")
    kept = [word for word in words if word.strip(".,!?'\"()").lower() not in stop]
    chosen = (kept if len(kept) > 1 else words)[:LABEL_WORDS]
    return _shorter(_cut(" ".join(chosen), KEY_LIMIT // 2).strip(" .,;:!?"), text.strip())


def _width(text: str) -> int:
    """The room a text takes: a Chinese character says about as much as two letters."""
    return len(text) if text.isascii() else len(text) + len(_PAIRED.findall(text))


def _best_first(parts: list[str]) -> Sequence[int]:
    """Places of the parts, the most telling first: frequent words, numbers and names count."""
    return (0,) if len(parts) == 1 else _ranked(tuple(parts))


@lru_cache(maxsize=1 << 4)
def _ranked(parts: tuple[str, ...]) -> tuple[int, ...]:
    """Kept for a moment: the summary and the key fact ask the same."""
    words = [content_words(part) for part in parts]
    spread = Counter(word for found in words for word in found)
    scores = [
        sum(spread[word] for word in found) ** 0.5 + _weight(part)
        for part, found in zip(parts, words, strict=True)
    ]
    return tuple(sorted(range(len(parts)), key=lambda at: (-scores[at], at)))


def _weight(part: str) -> float:
    """What a part holds beside plain words: numbers, names, code; a question tells little."""
    marks = _MARKED if _JOINED.search(part) else _MARKED_PLAIN
    marked = min(len(marks.findall(part)), 6)
    return 0.5 * marked - (2.0 if part.rstrip().endswith(("?", "？")) else 0.0)


def _first_clauses(sentence: str, room: int) -> str:
    end = 0
    for match in _CLAUSE.finditer(sentence):
        if match.start() > max(room, SHORT // 2):
            break
        end = match.start()
    kept = sentence[:end].rstrip(" ,;，；：") if end >= room // 2 else ""
    return kept if kept and terms(kept) else _cut(sentence, max(room, SHORT // 2))


def _cut(text: str, room: int) -> str:
    """At most `room` characters, cut between words where there are spaces."""
    if len(text) <= room:
        return text
    head = text[:room]
    at = head.rfind(" ")
    return head[:at] if at > room // 2 else head


def _han_label(key: str) -> str:
    bare = re.sub(r"^[\s“”\"'「」]+|[\s“”\"'「」。！？]+$", "", key)
    return bare[:LABEL_CHARACTERS] if len(bare) > LABEL_CHARACTERS else bare


def _joined(parts: list[str]) -> str:
    return "".join(
        part if not out or _PAIRED.search(part[:1]) else " " + part for out, part in enumerate(parts)
    )


def _shorter(form: str, whole: str) -> str:
    form = form.strip()
    return form if form and len(form) <= len(whole) else whole
