"""Calibration: which cosine means what, space by space.

0.65 says something else in every model. `noise_mean` and `noise_sd` describe the cosine between a question
and memories that have nothing to do with it; recall counts how many deviations a cosine stands above that.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of one space."""

    duplicate: float
    strong: float
    related: float
    suppress: float
    noise_mean: float
    noise_sd: float
    is_measured: bool = True


# What a model nobody measured gets: the figures of the common similarity models.
DEFAULT = Thresholds(0.85, 0.80, 0.65, 0.70, 0.10, 0.10, is_measured=False)

# From STS-B's English training pairs: the cosine at which people's expected judgement (0 to 5) passes 4.0 for
# a duplicate, 3.8 for strong, 3.0 for suppress. Related is where a statement and its correction still meet
# ("My editor is vim", "Actually, my editor is Helix now": 0.54 static) and strangers no longer do. Noise:
# questions of people's small talk against turns of other talks.
SPACES = {
    "engram-static-1": Thresholds(0.93, 0.89, 0.45, 0.78, 0.30, 0.10),
    "arctic-embed-s": Thresholds(0.97, 0.96, 0.83, 0.91, 0.574, 0.040),
}


def thresholds(space_key: str) -> Thresholds:
    """The cosines of a space, by its key or its model's name."""
    return SPACES.get(space_key.partition("/")[0], DEFAULT)
