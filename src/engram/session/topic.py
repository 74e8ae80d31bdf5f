"""Topic change: a message and what went before come in; whether the topic goes on, drifts or switches.

How near a message lies to the turn before says little by itself: people answer in other words and change
the subject in the same ones. So what a message does counts too: a question about the listener that comes
out of nothing opens a topic, an answer and "and you?" keep it. The weights are fitted to marked dialogues
(`benchmarks/topic_change.py --fit`); cosines count in deviations of their own space.
"""

from __future__ import annotations

import math
import re
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING

from engram.lifecycle.calibration import thresholds
from engram.model.session import Change
from engram.text import lexicon
from engram.text.questions import is_question
from engram.text.words import content_words
from engram.vectors.similarity import cosine, cosines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engram.ports import Floats

LATELY = 3
"""So many turns back a message may go on from."""
_END = re.compile(r"(?<=[.!?。！？])\s*(?=\S)")
_ASKING = re.compile(r"[?？]")


@dataclass(frozen=True, slots=True)
class Talk:
    """What cosines mean in one space."""

    mean: float
    """Between a turn and the one before, in ordinary talk."""
    sd: float
    far: float
    """To the centroid of the last turns: below this a new topic is a switch, above it a drift."""


# From marked small talk; far is where a third of the turns that open a topic lie below.
SPACES = {
    "engram-static-1": Talk(0.39, 0.14, 0.42),
    "arctic-embed-s": Talk(0.825, 0.047, 0.85),
}


@dataclass(frozen=True, slots=True)
class Signs:
    """What a message does to the topic, number by number."""

    near: float
    """To the turn before, in deviations."""
    tail: float
    """Its last sentence to the nearest of the last turns."""
    fresh: float
    """The question in it, if there is one, to the nearest of them."""
    words: float
    asks: float
    answers: float
    """The turn before asked something."""
    listener: float
    leaning: float
    back: float
    aside: float
    own: float


WEIGHTS = Signs(-0.45, -0.27, -0.31, 0.58, 1.25, -1.11, 1.67, -0.91, -1.16, 0.85, 0.90)
BIAS = -3.51
CHANGED = 0.26
"""From this on the topic counts as changed: where the fitted dialogues give the best F1."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a message does to the topic."""

    change: Change
    score: float
    """How likely it opens a topic, 0 to 1."""
    near: float
    """Its cosine to the centroid of the last turns."""


def sentences(message: str) -> list[str]:
    """The parts of a message, each with a word in it; the message itself when there is none.

    >>> sentences("That is neat . where do you work ?")
    ['That is neat .', 'where do you work ?']
    """
    parts = [part.strip() for part in _END.split(message) if re.search(r"\w", part)]
    return parts or [message]


def signs(message: str, before: str, vectors: Floats, recent: Floats, space_key: str) -> Signs:
    """The signs of a message. `vectors`: its own, then its sentences'; `recent`: turns, oldest first."""
    talk, parts = talk_of(space_key), sentences(message)
    nearest = [float(cosines(recent[-LATELY:], vector).max()) for vector in vectors[1:]]
    asking = [at for at, part in enumerate(parts) if _asks(part)]
    question = " ".join(parts[at] for at in asking).lower()
    whole = message.lower()

    def far(value: float) -> float:
        return (value - talk.mean) / talk.sd

    return Signs(
        near=far(cosine(vectors[0], recent[-1])),
        tail=far(nearest[-1]),
        fresh=far(min(nearest[at] for at in asking)) if asking else 0.0,
        words=math.log1p(len(content_words(message))),
        asks=float(bool(asking)),
        answers=float(_asks(before)),
        listener=_found("listener", question),
        leaning=_found("leaning", question),
        back=_found("back", whole),
        aside=_found("aside", whole),
        own=_found("own", whole) if not asking else 0.0,
    )


def score(found: Signs) -> float:
    """How likely a message with these signs opens a topic, 0 to 1."""
    total = BIAS + sum(weight * value for weight, value in zip(astuple(WEIGHTS), astuple(found), strict=True))
    return 1.0 / (1.0 + math.exp(-total))


def judge(likely: float, to_centroid: float, confidence: float, space_key: str) -> Verdict:
    """Continuation, drift or switch. A talk that never was steady has nothing to drift from."""
    if likely < CHANGED:
        return Verdict(Change.CONTINUATION, likely, to_centroid)
    steady = confidence > STEADY and to_centroid >= talk_of(space_key).far
    return Verdict(Change.DRIFT if steady else Change.SWITCH, likely, to_centroid)


STEADY = 0.2
"""Confidence from which a talk has a direction; two turns that go together reach it."""


def talk_of(space_key: str) -> Talk:
    """What cosines mean in a space; guessed from its noise where nobody measured."""
    known = SPACES.get(space_key.partition("/")[0])
    if known is not None:
        return known
    noise = thresholds(space_key)
    return Talk(noise.noise_mean + noise.noise_sd, 1.5 * noise.noise_sd, noise.noise_mean + noise.noise_sd)


def _asks(text: str) -> bool:
    return _ASKING.search(text) is not None or is_question(text)


def _found(heading: str, lower: str) -> float:
    return float(bool(lower) and lexicon.found("topic_turns", lower, under=heading))


def order(signs_of: Sequence[Signs]) -> list[tuple[float, ...]]:
    """Signs as rows of numbers, for fitting."""
    return [astuple(one) for one in signs_of]
