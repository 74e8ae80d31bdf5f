"""Pronouns inside one text: a sentence and those before it come in, the sentence with the name comes out.

"Anna moved to Berlin. She works at Siemens." says where Anna works. Only a "she", "he", "her" or "his" that
begins a clause is read, and only when the sentences before name exactly one person whom it may mean.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from engram.text import lexicon
from engram.text.clauses import NAME
from engram.text.lexicon import words_of
from engram.text.names import entities
from engram.text.scripts import HAN

_PRONOUN = re.compile(
    r"(?P<before>^|[,;] |\band |\bbut )(?P<word>[Ss]he|[Hh]e|[Hh]er|[Hh]is)(?P<short>'s)?(?= [a-z])"
)
_WORDS: Final = frozenset({"she", "he", "her", "his", "She", "He", "Her", "His"})
_HAN_PRONOUN = re.compile(r"(?P<before>^|[，,；;])(?P<word>[他她])(?!们)")
_HAN_SUBJECT = re.compile(
    rf"(?:^|[，,；;])(?P<name>[{HAN}]{{2,3}}?)(?=住|在|是|搬|来自|喜欢|毕业|就职|今年|的|叫|出生|会说|买)"
)


def resolved(sentence: str, before: Sequence[str]) -> str:
    """The sentence with its pronouns named, where they can mean one person only.

    >>> resolved("She works at Siemens.", ["Anna moved to Berlin."])
    'Anna works at Siemens.'
    >>> resolved("She works at Siemens.", ["Anna met Clara."])
    'She works at Siemens.'
    """
    if sentence.isascii() or not _HAN_PRONOUN.search(sentence):
        may = not _WORDS.isdisjoint(words_of(sentence)) and _PRONOUN.search(sentence)
        return _english(sentence, before) if may else sentence
    who = _one_in_chinese(before)
    return _HAN_PRONOUN.sub(lambda match: match["before"] + who, sentence) if who else sentence


def _english(sentence: str, before: Sequence[str]) -> str:
    def name(match: re.Match[str]) -> str:
        word = match["word"].lower()
        owns = word in {"her", "his"}
        who = _one_person(" ".join(before), "she" if word in {"she", "her"} else "he")
        if who is None:
            return match.group()
        return match["before"] + who + ("'s" if owns else match["short"] or "")

    return _PRONOUN.sub(name, sentence)


def _one_person(text: str, pronoun: str) -> str | None:
    """The only person of a text whom the pronoun may mean."""
    people = [entity.name for entity in entities(text) if entity.type == "person"]
    opener = _OPENER.match(text)
    if opener and opener.group("who") not in people and opener.group("who").split()[0] not in people:
        people.append(opener.group("who"))
    fit = [one for one in people if _may_be(one.split()[0].lower(), pronoun)]
    return fit[0] if len(fit) == 1 else None


_OPENER = re.compile(rf"(?P<who>{NAME}) (?:moved|lives|works|lived|worked|is|likes|loves|has) ")


def _may_be(first: str, pronoun: str) -> bool:
    if first in lexicon.words("stop_words") or first in lexicon.words("openers"):
        return False
    return first not in _names("he" if pronoun == "she" else "she")


@cache
def _names(pronoun: str) -> frozenset[str]:
    return frozenset(" ".join(lexicon.parts("gendered_names")[pronoun]).split())


def _one_in_chinese(before: Sequence[str]) -> str | None:
    found = {match["name"] for text in before for match in _HAN_SUBJECT.finditer(text)}
    people = {name for name in found if name[0] not in _NOBODY}
    return people.pop() if len(people) == 1 else None


_NOBODY: Final = frozenset("我你他她它这那您其该此某今明昨")
