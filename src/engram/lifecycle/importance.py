"""Importance: a memory, its uses and the time come in; how much it matters now comes out, factor by factor.

The stored importance is what a memory is worth by itself. What disuse takes off is worked out when it is
asked for and never written: a memory that is used again counts in full again, nothing is taken off twice,
and no run has to remember what an earlier one did.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Final

from engram.config import Config
from engram.lifecycle import curves
from engram.lifecycle.retention import age_days, half_life_by_source, unused_days
from engram.lifecycle.traits import is_confirmed, protected
from engram.model.axes import Kind, Layer
from engram.model.memory import Memory

USUAL = Config()
HOUR_S: Final = 3_600.0
LEAST_H: Final = 1.0 / 60.0
"""A use counts as at least a minute ago: the power law knows no end at zero."""
ACTIVATION_DECAY: Final = 0.5
ACTIVATION_MIDDLE: Final = -2.0
"""The base level at which a memory comes to mind every other time; one use two days ago is about there."""
MANY_USES: Final = 20
LAYER_SHARE: Final = {Layer.BUFFER: 0.3, Layer.WORKING: 0.6, Layer.CORE: 1.0}
KNOWLEDGE_SHARE: Final = 0.8
"""What knowledge counts for at least, whatever its layer."""
SEVERAL: Final = 3
"""Moments that make two gaps: fewer tell nothing about regularity."""


@dataclass(frozen=True, slots=True)
class Importance:
    """What each factor says, from 0 to 1, and the weighted sum of all nine."""

    base: float
    frequency: float
    recency: float
    emotion: float
    stability: float
    layer: float
    trust: float
    confirmations: float
    activation: float
    total: float

    def told(self) -> str:
        """The factors in words, for an explanation."""
        named = ((name, getattr(self, name)) for name in self.__slots__ if name != "total")
        return ", ".join(f"{name} {value:.2f}" for name, value in named)


def effective_importance(
    memory: Memory, uses: Sequence[datetime], now: datetime, config: Config = USUAL
) -> Importance:
    """How much a memory matters by all that is known. `uses` are the times of its uses, where they are kept.

    >>> from datetime import UTC
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> found = effective_importance(Memory("1", "We met", "h", day, day), [], day)
    >>> found.base, found.recency, found.trust, round(found.total, 3)
    (0.5, 1.0, 1.0, 0.478)
    """
    factors = {
        "base": decayed_importance(memory, now, config),
        "frequency": min(1.0, math.log1p(memory.usage.accessed) / math.log1p(MANY_USES)),
        "recency": _recency(memory, now, config),
        "emotion": min(1.0, max(abs(memory.affect.valence), memory.affect.arousal)),
        "stability": stability(uses, memory),
        "layer": _layer(memory),
        "trust": min(1.0, max(0.0, memory.trust)),
        "confirmations": 1.0 - 0.5 ** max(memory.usage.confirmed, int(is_confirmed(memory))),
        "activation": comes_to_mind(activation(memory, uses, now)),
    }
    weights = config.importance.weights
    return Importance(**factors, total=sum(weights[name] * value for name, value in factors.items()))


def decayed_importance(memory: Memory, now: datetime, config: Config = USUAL) -> float:
    """The importance after so many whole days without use. A number for this moment: it is not to be stored.

    What is protected keeps all of it.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day, importance=0.5)
    >>> [decayed_importance(memory, day + timedelta(days=days)) for days in (0.9, 1, 3, 4, 400)]
    [0.5, 0.45, 0.35, 0.3, 0.3]
    """
    settings = config.importance
    if protected(memory, config):
        return memory.importance
    lost = settings.loss_a_day * math.floor(unused_days(memory, now))
    return min(memory.importance, max(settings.floor, round(memory.importance - lost, 9)))


def reinforcement(memory: Memory, config: Config = USUAL) -> float:
    """How often a memory proved itself: uses, and 2.5 for each time it was said again.

    >>> from engram.model.memory import Usage
    >>> day = datetime(2026, 1, 1)
    >>> reinforcement(Memory("1", "Hi", "h", day, day, usage=Usage(accessed=2, repeated=2)))
    7.0
    """
    return memory.usage.accessed + config.importance.repetition_weight * memory.usage.repeated


def activation(memory: Memory, uses: Sequence[datetime], now: datetime) -> float:
    """The base level of ACT-R, ln Σ t^-0.5 over the hours since each use; storing it was the first.

    Uses whose times are not kept any more count as spread evenly over the memory's life.

    >>> from datetime import UTC, timedelta
    >>> day = datetime(2026, 1, 1, tzinfo=UTC)
    >>> memory = Memory("1", "We met", "h", day, day)
    >>> (
    ...     activation(memory, [], day + timedelta(hours=1)),
    ...     round(activation(memory, [], day + timedelta(days=2)), 2),
    ... )
    (0.0, -1.94)
    """
    known = [_since(at, now) ** -ACTIVATION_DECAY for at in (memory.created_at, *uses)]
    unknown = max(0, memory.usage.accessed - len(uses))
    life = max(LEAST_H, age_days(memory, now) * 24.0)
    spread = unknown * life**-ACTIVATION_DECAY / (1.0 - ACTIVATION_DECAY)
    return math.log(sum(known) + spread)


def comes_to_mind(base_level: float) -> float:
    """A base level as a chance, from 0 to 1.

    >>> comes_to_mind(ACTIVATION_MIDDLE), comes_to_mind(2.0) > 0.95
    (0.5, True)
    """
    return 1.0 / (1.0 + math.exp(ACTIVATION_MIDDLE - base_level))


def stability(uses: Sequence[datetime], memory: Memory) -> float:
    """How regular its use is: 1 like clockwork, 0.5 by chance, near 0 in one burst; 0 for one never used.

    With too few times to tell, uses of several sessions speak for regularity.
    """
    moments = sorted((memory.created_at, *uses))
    if len(moments) < SEVERAL:
        used = memory.usage.accessed
        return 0.5 * min(1.0, memory.usage.sessions / used) if used else 0.0
    gaps = [(later - one).total_seconds() for one, later in pairwise(moments)]
    middle = sum(gaps) / len(gaps)
    spread = math.sqrt(sum((gap - middle) ** 2 for gap in gaps) / len(gaps))
    return middle / (middle + spread) if middle > 0 else 0.0


def _recency(memory: Memory, now: datetime, config: Config) -> float:
    """Also of knowledge: what does not fade may yet be long unused."""
    return curves.l2(unused_days(memory, now), half_life_by_source(memory, config.retention))


def _layer(memory: Memory) -> float:
    share = LAYER_SHARE[memory.layer]
    return share if memory.kind is Kind.EPISODIC else max(share, KNOWLEDGE_SHARE)


def _since(at: datetime, now: datetime) -> float:
    return max(LEAST_H, (now - at).total_seconds() / HOUR_S)
