"""The curves of forgetting: an age and a half-life come in, the share that is left comes out.

All start at 1 and stand at one half (elastic: a little under it) after one half-life. An infinite half-life
is no forgetting at all.
"""

from __future__ import annotations

import math

DAY_S = 86_400.0
ACCESS_GAIN = 0.1
ACCESS_LIMIT = 0.3


def l2(age_days: float, half_life: float) -> float:
    """Halves again and again; the tail is long.

    >>> l2(0, 30), l2(30, 30), l2(60, 30)
    (1.0, 0.5, 0.25)
    """
    return float(2.0 ** (-max(0.0, age_days) / half_life))


def huber(age_days: float, half_life: float) -> float:
    """Halves once within the half-life, then goes down in a straight line to nothing.

    >>> huber(0, 30), huber(30, 30), huber(30, math.inf), huber(90, 30)
    (1.0, 0.5, 1.0, 0.0)
    """
    if age_days <= half_life:
        return l2(age_days, half_life)
    slope = 0.5 * math.log(2) / half_life
    return max(0.0, 0.5 - slope * (age_days - half_life))


def elastic(age_days: float, half_life: float, shrink: float = 0.1) -> float:
    """Loses more the less is left: what is strong stays about as it is, what is weak ends at 0.

    >>> elastic(0, 30), round(elastic(30, 30), 3), elastic(120, 30)
    (1.0, 0.45, 0.0)
    """
    left = l2(age_days, half_life)
    return max(0.0, left - shrink * (1.0 - left))


def ebbinghaus(age_days: float, half_life: float, accesses: int = 0) -> float:
    """Falls like l2, but ever more slowly the more often a memory was used.

    >>> round(ebbinghaus(30, 30), 6), round(ebbinghaus(30, 30, accesses=6), 3)
    (0.5, 0.79)
    """
    tau = half_life / math.log(2) * (1.0 + math.log1p(accesses))
    return math.exp(-max(0.0, age_days) / tau)


def reinforced(left: float, accesses: int, gain: float = ACCESS_GAIN, limit: float = ACCESS_LIMIT) -> float:
    """What is left once uses have brought some back, each with less effect than the one before.

    >>> round(reinforced(0.5, 1), 3), reinforced(0.5, 1_000), reinforced(0.9, 1_000)
    (0.569, 0.8, 1.0)
    """
    return min(1.0, left + min(limit, gain * math.log1p(accesses)))


def freshness(age_days: float, half_life: float, accesses: int = 0) -> float:
    """How fresh a memory is in the eyes of a recall: huber with what its uses bring back.

    >>> freshness(30, 30) < freshness(30, 30, accesses=5) <= 1.0
    True
    """
    return reinforced(huber(age_days, half_life), accesses)
