"""Cues: a question comes in; the predicates that its words ask for come out, word by word.

"In which city does my sister live?" has three: "city" is answered by where something is, "sister" by who
somebody's sister is, "live" by where one lives.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final

from engram.text import lexicon, predicates, words
from engram.text.scripts import HAN

VAGUE: Final = 0.4
"""What a word counts that many facts answer."""
LONGEST: Final = 3
"""Words of the longest cue."""
MOST: Final = 60
"""Words of a question that are looked at."""
_WORD = re.compile(r"[^\W_](?:[\w'’-]*\w)?")
_HAN = re.compile(f"[{HAN}]")


@dataclass(frozen=True, slots=True)
class Cue:
    """One word, or a few that belong together, and the predicates that answer it."""

    words: str
    predicates: frozenset[str]
    weight: float = 1.0

    @property
    def terms(self) -> frozenset[str]:
        """The terms of the question that it explains."""
        return frozenset(words.terms(self.words))


def cues(question: str) -> tuple[Cue, ...]:
    """The cues of a question, longest first; each word belongs to one.

    >>> [(cue.words, sorted(cue.predicates)) for cue in cues("Is my sister's phone number new?")]
    [('phone number', ['phone']), ('sister', ['sister'])]
    >>> [cue.words for cue in cues("Where does Anna live?")], cues("How are you?")
    (['where', 'live'], ())
    """
    spoken = [_bare(word) for word in _WORD.findall(question.lower())[:MOST]]
    found = [*_spaced(spoken)]
    if _HAN.search(question):
        found += (cue for word, cue in _chinese().items() if word in question)
    return tuple(found)


def _spaced(spoken: Sequence[str]) -> Iterator[Cue]:
    taken: set[int] = set()
    for size in range(LONGEST, 0, -1):
        for at in range(len(spoken) - size + 1):
            places = range(at, at + size)
            if taken.isdisjoint(places):
                cue = _cue(" ".join(spoken[at : at + size]))
                if cue is not None:
                    taken.update(places)
                    yield cue


def _cue(spoken: str) -> Cue | None:
    """What a word or group of words asks for."""
    stem = _stem(spoken)
    if stem in _vague():
        return Cue(spoken, _vague()[stem], VAGUE)
    if not stem:
        return None
    asked = _telling().get(stem, frozenset()) | _heads().get(stem, frozenset()) | _noun(spoken)
    return Cue(spoken, asked) if asked else None


def _noun(spoken: str) -> frozenset[str]:
    """A noun that things have, as it is said or in the singular."""
    for form in (spoken, spoken.removesuffix("s")):
        if form and form.replace(" ", "_") in _nouns():
            return predicates.asked(form)
    return frozenset()


def _bare(word: str) -> str:
    plain = word.replace("’", "'")
    return plain.removesuffix("'s").removesuffix("'")


def _stem(spoken: str) -> str:
    """The stems of a cue; none when one of its words is so common that it asks for nothing."""
    if spoken in _ASKING:
        return spoken
    common = lexicon.words("stop_words")
    if any(word in common for word in spoken.split()):
        return ""
    return " ".join(words.terms(spoken))


_ASKING: Final = frozenset({"where", "who", "when", "name", "place"})


@cache
def _nouns() -> frozenset[str]:
    return lexicon.words("attributes") | lexicon.words("roles") | lexicon.words("shared_attributes")


@cache
def _telling() -> dict[str, frozenset[str]]:
    return _rows("telling")


@cache
def _vague() -> dict[str, frozenset[str]]:
    return _rows("vague")


@cache
def _chinese() -> dict[str, Cue]:
    rows = (row.partition(" = ") for row in lexicon.parts("fact_cues")["chinese"])
    return {word: Cue(word, _listed(answers)) for word, _, answers in rows}


def _rows(heading: str) -> dict[str, frozenset[str]]:
    rows = (row.partition(" = ") for row in lexicon.parts("fact_cues")[heading])
    return {_stem(word): _listed(answers) for word, _, answers in rows}


def _listed(answers: str) -> frozenset[str]:
    return frozenset(predicates.canonical(one.strip()) for one in answers.split(","))


@cache
def _heads() -> dict[str, frozenset[str]]:
    """The telling word of each way to say a predicate: "is married to" is asked for by "married"."""
    heads: dict[str, set[str]] = {}
    for form, predicate in predicates.ways():
        told = [word for word in form.split() if word not in lexicon.words("stop_words")]
        if len(told) == 1 and told[0].isascii() and _stem(told[0]):
            heads.setdefault(_stem(told[0]), set()).add(predicate)
    return {head: frozenset(found) for head, found in heads.items()}
