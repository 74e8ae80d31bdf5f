"""Affect: what was said, how new it was and how it ended come in; how it felt comes out.

Valence says whether it was good or bad, intensity how much was felt, arousal how much it stirs: a memory with
high arousal fades more slowly. Emphasis, urgency, novelty and corrections stir, but have no direction.
"""

from __future__ import annotations

from functools import cache
from typing import Final

from engram.model.memory import Affect
from engram.text import feelings
from engram.text.marks import is_correction
from engram.text.phrases import listed

NEUTRAL: Final = Affect()


def affect(text: str, *, novelty: float = 0.0, outcome: str = "") -> Affect:
    """How `text` felt; `novelty` from 0 (well known) to 1, `outcome` as a task reports it ("failed", "成功").

    >>> affect("The meeting is on Monday") == NEUTRAL
    True
    >>> joy, anger = affect("I love this, amazing!"), affect("I hate it when the build breaks")
    >>> joy.valence > 0.5, anger.valence < -0.5, affect("Deployed v2", outcome="failed").valence < 0
    (True, True, True)
    """
    tone = feelings.tone(text)
    ended = outcome_of(outcome)
    felt = feelings.strength_of(tone)
    stirred = min(
        MOST_STIRRED,
        0.3 * tone.emphasis
        + 0.25 * tone.urgency
        + 0.2 * min(1.0, max(0.0, novelty))
        + (0.15 if is_correction(text) else 0.0),
    )
    return Affect(
        valence=_within(feelings.valence_of(tone) + ended, -1.0),
        intensity=_within(felt + stirred + abs(ended)),
        arousal=_within(LEXICAL * tone.arousal + stirred + abs(ended) / 2),
    )


def sentiment(affect: Affect) -> str:
    """`positive`, `negative`, `neutral`, or `mixed` when much is felt in both directions.

    >>> sentiment(affect("Great food but terrible, rude service"))
    'negative'
    >>> sentiment(Affect(valence=0.0, intensity=0.7, arousal=0.4)), sentiment(NEUTRAL)
    ('mixed', 'neutral')
    """
    return feelings.sentiment(affect.valence, affect.intensity)


MOST_STIRRED: Final = 0.45
"""What has no direction adds at most this: alone it never makes a text a mixed feeling."""
LEXICAL: Final = 0.75
"""How much of a word's arousal counts when it is said calmly."""


def outcome_of(outcome: str) -> float:
    """What an outcome adds to valence; 0 for one that is not known.

    >>> outcome_of("Success"), outcome_of("partial"), outcome_of("失败"), outcome_of("?")
    (0.3, 0.1, -0.3, 0.0)
    """
    return _outcomes().get(outcome.strip().lower(), 0.0)


@cache
def _outcomes() -> dict[str, float]:
    return {word: float(value) for word, value in listed("feelings", "outcomes")}


def _within(value: float, least: float = 0.0) -> float:
    return round(min(1.0, max(least, value)), 3)
