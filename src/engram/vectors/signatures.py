"""Signatures: a vector comes in, one bit for each dimension comes out. Near vectors differ in few bits.

Vectors of one model lean to a common side, so the centre is taken away first; a fixed random rotation then
spreads what is left evenly over all bits. Signatures are kept in files: the rotation may never change.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Signatures = NDArray[np.uint8]

ROTATION_SEED = 20_240_229
"""Any number would do, as long as it stays the same."""


def sign(vectors: Floats, centre: Floats) -> Signatures:
    """The signatures of `(n, d)` vectors: `(n, ceil(d / 8))` packed bits."""
    turned = (vectors - centre) @ rotation(vectors.shape[1])
    return np.packbits(turned > 0, axis=1)


def hamming(signatures: Signatures, one: Signatures) -> NDArray[np.uint16]:
    """In how many bits each signature differs from `one`.

    >>> hamming(np.array([[0b1100], [0b1111]], dtype=np.uint8), np.array([0b1101], dtype=np.uint8)).tolist()
    [1, 1]
    """
    word = _widest_word(signatures.shape[1])
    many = np.ascontiguousarray(signatures).view(word)
    total = np.zeros(len(signatures), dtype=np.uint16)
    # Column by column: a sum along the short axis of a tall table takes five times as long.
    for place, part in enumerate(np.ascontiguousarray(one).view(word)):
        total += np.bitwise_count(many[:, place] ^ part)
    return total


@lru_cache(maxsize=8)
def rotation(dims: int) -> Floats:
    """The rotation of a space: the same on every machine and in every version.

    Twice: flip the signs of a random half, then a cosine transform. That spreads as well as a dense random
    rotation, and its numbers come from a formula instead of a decomposition that libraries do differently.
    """
    # Only the old generator promises that its numbers stay the same in later versions of numpy.
    chance = np.random.RandomState(ROTATION_SEED)
    transform = _cosine_transform(dims)
    first, second = (chance.randint(0, 2, dims) * 2 - 1 for _ in range(2))
    matrix: Floats = ((first[:, np.newaxis] * transform) @ (second[:, np.newaxis] * transform)).astype(
        np.float32
    )
    matrix.setflags(write=False)
    return matrix


def _cosine_transform(dims: int) -> NDArray[np.float64]:
    """The orthogonal cosine transform: row `i` holds what dimension `i` adds to each result."""
    places = np.arange(dims)
    waves = np.cos(np.pi / dims * np.outer(places + 0.5, places)) * np.sqrt(2 / dims)
    waves[:, 0] /= np.sqrt(2)
    whole: NDArray[np.float64] = waves
    return whole


def _widest_word(width: int) -> np.dtype[np.unsignedinteger]:
    """The longest machine word that divides a signature of so many bytes."""
    for size in (8, 4, 2):
        if width % size == 0:
            return np.dtype(f"u{size}")
    return np.dtype(np.uint8)
