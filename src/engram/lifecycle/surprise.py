"""Surprise: how near the nearest known memories lie comes in; how little a new one was expected comes out."""

from __future__ import annotations

from collections.abc import Sequence


def surprise(cosines: Sequence[float], neighbours: int) -> float | None:
    """From 0 (well known) to 1 (like nothing known); None while too little is known to be surprised.

    >>> surprise([0.9, 0.7, 0.2], 2), surprise([0.0, 0.0], 2), surprise([0.9], 2)
    (0.19999999999999996, 1.0, None)
    """
    if len(cosines) < neighbours:
        return None
    return min(1.0, max(0.0, 1.0 - sum(cosines[:neighbours]) / neighbours))


def moved(importance: float, surprise: float, gain: float) -> float:
    """The importance of a memory that surprised so much: up for the novel, down for the well known.

    >>> moved(0.5, 1.0, gain=0.3), moved(0.5, 0.0, gain=0.3), moved(0.9, 1.0, gain=0.3)
    (0.8, 0.2, 1.0)
    """
    return min(1.0, max(0.0, importance + gain * (2 * surprise - 1)))
