"""Momentum: vectors of turns come in; where the conversation is, which way it goes and how surely comes out.

"ok, deploy it" says little by itself. Blended with the centroid of the last turns it asks about what they
were about.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from engram.lifecycle.calibration import thresholds
from engram.ports import Lean
from engram.session.topic import talk_of
from engram.vectors.similarity import cosine, unit

if TYPE_CHECKING:
    from collections.abc import Mapping

    from engram.model.vectors import Space
    from engram.ports import Floats

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

    def lean(self, need: float, terms: Mapping[str, float], most: float = MOST) -> Lean:
        """How a question leans on the talk: the more it needs it, and the steadier the talk is."""
        sure = need * (LEAST + (1.0 - LEAST) * self.confidence)
        lent = {term: WORD_SHARE * sure * weight for term, weight in terms.items()}
        return Lean(self.space, unit(self.centroid), most * sure, lent)

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
