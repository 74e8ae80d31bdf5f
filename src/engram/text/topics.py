"""What a text is about: text comes in, up to three topics come out, the strongest first.

Each topic has words that say it alone and words that only hint at it; one of the first kind or two different
ones of the second make a topic. A text without such evidence has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final

from engram.text import lexicon
from engram.text.phrases import WORD, Phrases, inflected, listed


def topics(text: str) -> tuple[str, ...]:
    """The topics of `text`.

    >>> topics("The deploy to staging broke the PostgreSQL migration")
    ('deployment', 'databases')
    >>> topics("我妈妈喜欢在厨房做饭"), topics("It is what it is")
    (('food', 'family'), ())
    """
    plain = text[:READ].lower().replace("’", "'")
    held = _cues()
    cues = {spot.value for spot in held.among(WORD.findall(plain))}
    if not plain.isascii():
        cues |= {spot.value for spot in held.within(plain)}
    return _strongest([pair for cue in cues for pair in cue])


READ: Final = 2_000
"""So many characters tell what a text is about."""
ENOUGH: Final = 2
"""So much evidence makes a topic."""
MOST: Final = 3
"""More topics would say nothing."""

_Cue = tuple[tuple[str, int, str], ...]  # topic, weight, and the word, so that a repeated word counts once


def _strongest(found: Sequence[tuple[str, int, str]]) -> tuple[str, ...]:
    weights: dict[str, int] = {}
    for topic, weight, _ in found:
        weights[topic] = weights.get(topic, 0) + weight
    enough = (topic for topic, weight in weights.items() if weight >= ENOUGH)
    order = {topic: at for at, topic in enumerate(lexicon.headings("topics"))}
    return tuple(sorted(enough, key=lambda topic: (-weights[topic], order[topic]))[:MOST])


@cache
def _cues() -> Phrases[_Cue]:
    found: dict[str, dict[str, tuple[int, str]]] = {}
    for topic in lexicon.headings("topics"):
        for phrase, weight in listed("topics", topic):
            for form in inflected(phrase) if phrase.isascii() else (phrase,):
                found.setdefault(form, {}).setdefault(topic, (int(weight), phrase))
    return Phrases(
        {
            form: tuple((topic, weight, word) for topic, (weight, word) in held.items())
            for form, held in found.items()
        }
    )
