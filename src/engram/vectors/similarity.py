"""Similarity: vectors come in, cosines come out. A vector of zeros is similar to nothing: its cosine is 0."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]


def unit(vectors: Floats) -> Floats:
    """The vectors (one, or a row each) with length 1; zeros stay zeros.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    lengths = np.linalg.norm(vectors, axis=-1, keepdims=True)
    known = np.isfinite(lengths) & (lengths > 0)
    scaled = np.where(known, vectors, 0) / np.where(known, lengths, 1)
    return scaled.astype(np.float32, copy=False)


def cosine(one: Floats, other: Floats) -> float:
    """How far two vectors point the same way, between -1 and 1.

    >>> cosine(np.array([2.0, 0.0], dtype=np.float32), np.array([5.0, 0.0], dtype=np.float32))
    1.0
    """
    return float(unit(one) @ unit(other))


def cosines(vectors: Floats, one: Floats) -> Floats:
    """The cosine of each row with `one`."""
    return dots(unit(vectors), unit(one))


def dots(vectors: Floats, one: Floats) -> Floats:
    """The dot product of each row with `one`, on one thread: a second one only slows such small work."""
    found: Floats = np.vecdot(vectors, one)
    return found
