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

from engram.model.session import TopicChange
from engram.ports import ConversationBias
from engram.rules.vectors import cosine, cosines, thresholds, unit
from engram.text import lexicon
from engram.text.questions import is_question
from engram.text.words import content_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from engram.model.memory import Space
    from engram.ports import Floats


LATELY = 3
"""So many turns back a message may go on from."""
_END = re.compile(r"(?<=[.!?。！？])\s*(?=\S)")
_ASKING = re.compile(r"[?？]")


@dataclass(frozen=True, slots=True)
class TopicTalk:
    """What cosines mean in one space."""

    mean: float
    """Between a turn and the one before, in ordinary talk."""
    sd: float
    far: float
    """To the centroid of the last turns: below this a new topic is a switch, above it a drift."""


# From marked small talk; far is where a third of the turns that open a topic lie below.
SPACES = {
    "engram-static-1": TopicTalk(0.39, 0.14, 0.42),
    "arctic-embed-s": TopicTalk(0.825, 0.047, 0.85),
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
class TopicVerdict:
    """What a message does to the topic."""

    change: TopicChange
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


def judge(likely: float, to_centroid: float, confidence: float, space_key: str) -> TopicVerdict:
    """Continuation, drift or switch. A talk that never was steady has nothing to drift from."""
    if likely < CHANGED:
        return TopicVerdict(TopicChange.CONTINUATION, likely, to_centroid)
    steady = confidence > STEADY and to_centroid >= talk_of(space_key).far
    return TopicVerdict(TopicChange.DRIFT if steady else TopicChange.SWITCH, likely, to_centroid)


STEADY = 0.2
"""Confidence from which a talk has a direction; two turns that go together reach it."""


def talk_of(space_key: str) -> TopicTalk:
    """What cosines mean in a space; guessed from its noise where nobody measured."""
    known = SPACES.get(space_key.partition("/")[0])
    if known is not None:
        return known
    noise = thresholds(space_key)
    return TopicTalk(
        noise.noise_mean + noise.noise_sd, 1.5 * noise.noise_sd, noise.noise_mean + noise.noise_sd
    )


def _asks(text: str) -> bool:
    return _ASKING.search(text) is not None or is_question(text)


def _found(heading: str, lower: str) -> float:
    return float(bool(lower) and lexicon.found("topic_turns", lower, under=heading))


def order(signs_of: Sequence[Signs]) -> list[tuple[float, ...]]:
    """Signs as rows of numbers, for fitting."""
    return [astuple(one) for one in signs_of]


# ---------------------------------------------------------------- momentum
# Momentum: vectors of turns come in; where the conversation is, which way it goes and how surely comes out.
#
# "ok, deploy it" says little by itself. Blended with the centroid of the last turns it asks about what they
# were about.


ALPHA = 0.3
"""What the newest turn weighs in the centroid."""
MOST = 0.4
"""The most that momentum weighs in a query."""
GROWTH = 0.5
"""How fast confidence grows with each turn that goes on."""
LEAST = 0.9
"""What of it a question that says nothing by itself leans on a talk that is all over the place."""
WORD_SHARE = 0.6
"""What a word of the talk counts against one of the question. Measured by `benchmarks/momentum.py`."""


@dataclass(frozen=True, slots=True, eq=False)
class Momentum:
    """The centroid of the last turns, its velocity, and how steady both are. A new one for each turn."""

    space: Space
    centroid: Floats
    velocity: Floats
    confidence: float = GROWTH
    turns: int = 1

    def lean(self, need: float, terms: Mapping[str, float], most: float = MOST) -> ConversationBias:
        """How a question leans on the talk: the more it needs it, and the steadier the talk is."""
        sure = need * (LEAST + (1.0 - LEAST) * self.confidence)
        lent = {term: WORD_SHARE * sure * weight for term, weight in terms.items()}
        return ConversationBias(self.space, unit(self.centroid), most * sure, lent)

    def ahead(self, step: float = 0.0) -> Floats:
        """Where the conversation is heading: the centroid, or a step further the way it moves."""
        heading: Floats = unit(self.centroid + step * self.velocity)
        return heading


def begin(space: Space, vector: Floats) -> Momentum:
    """Momentum after a first turn."""
    return Momentum(space, vector, vector * 0.0)


def moved(
    before: Momentum | None, space: Space, vector: Floats, weight: float = 1.0, alpha: float = ALPHA
) -> Momentum | None:
    """Momentum after one more turn. A turn without a known word changes nothing; another space begins anew.

    `weight` is how much the turn says by itself: an "ok" hardly moves anything. Confidence grows towards 1
    while turns go the same way, and falls with how far one turns away.
    """
    if not vector.any():
        return before
    if before is None or before.space != space:
        return begin(space, vector)
    share = alpha * min(1.0, weight)
    confidence = min(1.0, before.confidence + GROWTH * (1.0 - before.confidence) * weight)
    return Momentum(
        space=space,
        centroid=share * vector + (1.0 - share) * before.centroid,
        velocity=vector - before.centroid,
        confidence=confidence * (1.0 - 0.5 * weight * away(cosine(vector, before.centroid), space)),
        turns=before.turns + 1,
    )


def away(to_centroid: float, space: Space) -> float:
    """How far a turn leads away from the talk: 0 where talk usually lies, 1 where strangers do."""
    usual, stranger = talk_of(space.key), thresholds(space.key).noise_mean
    near = usual.mean + usual.sd
    return min(1.0, max(0.0, (near - to_centroid) / max(1e-6, near - stranger)))
