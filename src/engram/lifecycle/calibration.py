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
    merge: float
    """From here on two memories may say the same; maintenance looks at their words."""
    dedup: float
    """The same for two of the buffer, of which less is lost."""
    overlap: float
    """Above it two memories of the core are shown as overlapping."""
    reconcile: float
    """From here up to `merge` two memories are about the same thing: the later may replace the earlier."""
    is_measured: bool = True


# What a model nobody measured gets: the figures of the common similarity models.
DEFAULT = Thresholds(0.85, 0.80, 0.65, 0.70, 0.10, 0.10, 0.78, 0.75, 0.70, 0.55, is_measured=False)

# From STS-B's English training pairs: the cosine at which people's expected judgement (0 to 5) passes 4.0 for
# a duplicate, 3.8 for strong, 3.0 for suppress. Related is where a statement and its correction still meet
# ("My editor is vim", "Actually, my editor is Helix now": 0.54 static) and strangers no longer do. Noise:
# questions of people's small talk against turns of other talks. What maintenance compares by: judgements of
# 3.6 for merge (most agrees), 3.5 for dedup, 3.2 for overlap, 2.5 for reconcile (the same thing, something
# differs), by isotonic regression for the static model, between the measured points for the other one.
SPACES = {
    "engram-static-1": Thresholds(0.93, 0.89, 0.45, 0.78, 0.30, 0.10, 0.86, 0.845, 0.80, 0.67),
    "arctic-embed-s": Thresholds(0.97, 0.96, 0.83, 0.91, 0.574, 0.040, 0.947, 0.941, 0.922, 0.88),
}


def thresholds(space_key: str) -> Thresholds:
    """The cosines of a space, by its key or its model's name."""
    return SPACES.get(space_key.partition("/")[0], DEFAULT)


def meant(cosine: float, space_key: str) -> float:
    """The cosine of a space that means what `cosine` means in the common models.

    >>> round(meant(0.75, "engram-static-1"), 3), meant(0.75, "some-model"), meant(1.0, "engram-static-1")
    (0.835, 0.75, 1.0)
    """
    own = thresholds(space_key)
    common = (0.0, DEFAULT.noise_mean, DEFAULT.related, DEFAULT.suppress, DEFAULT.strong, DEFAULT.duplicate)
    theirs = (0.0, own.noise_mean, own.related, own.suppress, own.strong, own.duplicate)
    for low, high, from_, to in zip(common, common[1:], theirs, theirs[1:], strict=False):
        if cosine <= high:
            return from_ + (cosine - low) * (to - from_) / (high - low)
    return own.duplicate + (cosine - DEFAULT.duplicate) * (1 - own.duplicate) / (1 - DEFAULT.duplicate)
