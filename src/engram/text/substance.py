"""Substance: a sentence comes in; whether it tells something of its own comes out.

"Family is so important" and "You're doing great!" are sentences like any other, but nobody will ever ask for
them. What tells something names somebody, a place, a number or a time, or says what the speaker did, has or
wants in words that do more than judge.
"""

from __future__ import annotations

import re
from typing import Final

from engram.text import lexicon
from engram.text.names import entities
from engram.text.scripts import is_wide

TELLING: Final = 2
"""So many words that do more than judge make a statement about oneself worth keeping."""


def has_substance(sentence: str, people: frozenset[str] = frozenset()) -> bool:
    """Whether a sentence tells something; `people` are the ones who talk, whose names alone tell nothing.

    >>> has_substance("I roasted marshmallows at the lake"), has_substance("Nature can make us feel small")
    (True, False)
    >>> has_substance("You're so thoughtful, Anna!", frozenset({"Anna"})), has_substance("It was in Chicago")
    (False, True)
    """
    if is_wide(sentence) or _is_concrete(sentence, people):
        return True
    if _ABOUT_LISTENER.search(sentence) and not _MINE.search(sentence):
        return False
    telling = _telling(sentence)
    if _RULE.search(sentence) and len(telling) > TELLING:
        return True
    if _SELF.search(sentence) or _UNSAID_I.match(sentence):
        return len(telling) >= TELLING
    return bool(telling) and lexicon.found("past", sentence.lower())


def _is_concrete(sentence: str, people: frozenset[str]) -> bool:
    if "[shares" in sentence or _DIGIT.search(sentence):
        return True
    lower = sentence.lower()
    if lexicon.found("times", lower) and not _ABOUT_LISTENER.search(sentence):
        return True
    return any(entity.name not in people for entity in entities(sentence))


def _telling(sentence: str) -> list[str]:
    vague, stop = lexicon.words("vague"), lexicon.words("stop_words")
    return [
        word
        for word in _WORD.findall(sentence.lower().replace("’", "'"))
        if len(word) > _SHORT and word not in vague and word not in stop
    ]


_SHORT: Final = 2
# "Been busy at the shelter", "Thinking about a new bike": who, if not the speaker?
_UNSAID_I = re.compile(
    r"(?:been|got|had|just|gonna|[a-z]{3,}ing)\b(?!(?: \w+){0,3} (?:is|are|was|can|takes|makes)\b)",
    re.IGNORECASE,
)
_SELF = re.compile(r"\b(?:I|[Mm]y|[Mm]e|[Mm]ine|[Ww]e|[Oo]ur)\b")
# What holds for a thing, or was found out about it, without anybody in the sentence.
_RULE = re.compile(
    r"\b(?:must|(?:is|are) (?:not )?(?:required|allowed|forbidden)|turned out|caused by|root cause)\b"
)
_DIGIT = re.compile(r"\d")
_WORD = re.compile(r"[a-z]+(?:'[a-z]+)?")
_ABOUT_LISTENER = re.compile(r"\b(?:you|your|yours|you're|you've|you'll|yourself)\b", re.IGNORECASE)
_MINE = re.compile(r"\b(?:I|[Mm]y|[Ww]e|[Oo]ur)\b(?! (?:bet|hope|wish|think|guess|know|can tell|imagine)\b)")
