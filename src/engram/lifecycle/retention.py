"""Retention: how much of a memory is left after some time. The recall's freshness comes from it."""

from __future__ import annotations

import math

DAY_S = 86_400.0
ACCESS_GAIN = 0.05
ACCESS_GAIN_LIMIT = 0.3


def huber(age_days: float, half_life: float) -> float:
    """Halves once within the half-life, then goes down in a straight line: old memories fade slowly at first.

    >>> huber(0, 30), huber(30, 30)
    (1.0, 0.5)
    >>> huber(30, math.inf)
    1.0
    """
    if age_days <= half_life:
        return float(2.0 ** (-max(0.0, age_days) / half_life))
    slope = 0.5 * math.log(2) / half_life
    return max(0.0, 0.5 - slope * (age_days - half_life))


def retention(age_days: float, half_life: float, accesses: int = 0) -> float:
    """What is left, between 0 and 1; each use brings some back, with ever less effect.

    >>> retention(30, 30, accesses=0) < retention(30, 30, accesses=5) <= 1.0
    True
    """
    gain = min(ACCESS_GAIN_LIMIT, ACCESS_GAIN * math.log1p(accesses) * 2)
    return min(1.0, huber(age_days, half_life) + gain)
