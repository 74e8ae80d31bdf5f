"""Calibration: which cosine means what, space by space.

0.65 says something else in every model. `noise_mean` and `noise_sd` describe the cosine between a question
and memories that have nothing to do with it; recall counts how many deviations a cosine stands above that.
"""

from __future__ import annotations

import mmap
from functools import lru_cache
from math import inf, prod, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engram.lazily import dataclass

# ---------------------------------------------------------------- similarity
# Similarity: vectors come in, cosines come out. A vector of zeros is similar to nothing: its cosine is 0.


Floats = NDArray[np.float32]


def unit(vectors: Floats) -> Floats:
    """The vectors (one, or a row each) with length 1; zeros stay zeros.

    >>> unit(np.array([[3.0, 4.0], [0.0, 0.0]], dtype=np.float32)).tolist()
    [[0.6000000238418579, 0.800000011920929], [0.0, 0.0]]
    """
    if vectors.ndim == 1:
        length = sqrt(vectors @ vectors)
        one = vectors / length if 0 < length < inf else np.zeros_like(vectors)
        return one.astype(np.float32, copy=False)
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


IN_ONE_THREAD = 1 << 18
"""Products of so many terms OpenBLAS leaves to one thread."""


def product(many: Floats, few: Floats) -> Floats:
    """`many @ few`, a few rows and columns at a time on one thread.

    OpenBLAS shares larger products among threads, which then wait busily for the next: on a computer with
    other work that takes ten times as long as the product.

    >>> product(np.eye(3, dtype=np.float32), np.ones((3, 2), dtype=np.float32)).tolist()
    [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """
    if few.shape[1] > COLUMNS:
        parts = [product(many, few[:, start : start + COLUMNS]) for start in range(0, few.shape[1], COLUMNS)]
        return np.concatenate(parts, axis=1)
    step = IN_ONE_THREAD // max(1, few.size)
    if step < FEWEST or len(many) <= step:
        whole: Floats = many @ few
        return whole
    found = np.empty((len(many), few.shape[1]), dtype=np.result_type(many, few))
    end = len(many) - len(many) % step
    np.matmul(
        many[:end].reshape(-1, step, many.shape[1]), few, out=found[:end].reshape(end // step, step, -1)
    )
    np.matmul(many[end:], few, out=found[end:])
    return found


COLUMNS = 64
"""With more columns at once so few rows would fit that it takes up to four times as long."""
FEWEST = 2
"""Rows of a product: one alone is worked out by another way, which is shared among threads far sooner."""


# ---------------------------------------------------------------- quantize
# Quantizing: float vectors come in, 8-bit rows with one scale each come out, and the way back.
#
# Each row has its own scale, so the largest part of every vector uses the whole range: on unit vectors of a
# few hundred dimensions the cosine changes by less than 0.01.


STEPS = 127
"""The largest 8-bit value that is used; -128 is left out so that a row and its negative weigh the same."""


def quantize(vectors: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Rows and scales of `(n, d)` vectors: `rows[i] * scales[i]` is nearly `vectors[i]`.

    A vector of zeros, or one with a part that is no finite number, says nothing: zeros with the scale 0.

    >>> rows, scales = quantize(np.array([[0.5, -1.0], [0.0, 0.0]], dtype=np.float32))
    >>> rows.tolist(), (scales * 127).tolist()
    ([[64, -127], [0, 0]], [1.0, 0.0])
    """
    largest = np.abs(vectors).max(axis=1, initial=0.0)
    sound = np.isfinite(largest) & (largest > 0)
    scales = np.where(sound, largest / STEPS, 0).astype(np.float32)
    # A scale so small that it has no inverse belongs to a vector of nearly zeros.
    usable = scales > np.finfo(np.float32).tiny
    divisors = np.where(usable, scales, 1)[:, np.newaxis]
    steps = np.rint(np.where(usable[:, np.newaxis], vectors, 0) / divisors)
    return np.clip(steps, -STEPS, STEPS).astype(np.int8), np.where(usable, scales, 0).astype(np.float32)


def restore(rows: NDArray[np.int8], scales: Floats) -> Floats:
    """The vectors that `quantize` came from, as nearly as 8 bits tell.

    >>> restore(np.array([[64, -127]], dtype=np.int8), np.array([1 / 127], dtype=np.float32)).round(
    ...     2
    ... ).tolist()
    [[0.5, -1.0]]
    """
    return rows.astype(np.float32) * scales[:, np.newaxis]


# ---------------------------------------------------------------- signatures
# Signatures: a vector comes in, one bit for each dimension comes out. Near vectors differ in few bits.
#
# Vectors of one model lean to a common side, so the centre is taken away first; a fixed random rotation
# then spreads what is left evenly over all bits. Signatures are kept in files: the rotation may never
# change.


Signatures = NDArray[np.uint8]

ROTATION_SEED = 20_240_229
"""Any number would do, as long as it stays the same."""


STRETCH = 32_768
"""Signatures that are compared at once."""


def sign(vectors: Floats, centre: Floats) -> Signatures:
    """The signatures of `(n, d)` vectors: `(n, ceil(d / 8))` packed bits."""
    return np.packbits(product(vectors - centre, rotation(vectors.shape[1])) > 0, axis=1)


def hamming(signatures: Signatures, one: Signatures) -> NDArray[np.uint16]:
    """In how many bits each signature differs from `one`.

    >>> hamming(np.array([[0b1100], [0b1111]], dtype=np.uint8), np.array([0b1101], dtype=np.uint8)).tolist()
    [1, 1]
    """
    word = _widest_word(signatures.shape[1])
    many = np.ascontiguousarray(signatures).view(word)
    total = np.zeros(len(signatures), dtype=np.uint16)
    # Column by column: a sum along the short axis of a tall table takes five times as long. A stretch of
    # lines at a time, which stays in the processor's cache until its last column.
    for start in range(0, len(many), STRETCH):
        lines, sums = many[start : start + STRETCH], total[start : start + STRETCH]
        for place, part in enumerate(np.ascontiguousarray(one).view(word)):
            sums += np.bitwise_count(lines[:, place] ^ part)
    return total


def columns(signatures: Signatures) -> NDArray[np.unsignedinteger]:
    """Signatures column by column, in words as long as can be."""
    word = _widest_word(signatures.shape[1])
    return np.ascontiguousarray(np.ascontiguousarray(signatures).view(word).T)


def hamming_each(
    many: NDArray[np.unsignedinteger], questions: NDArray[np.unsignedinteger]
) -> NDArray[np.uint16]:
    """In how many bits each question differs from each of many signatures, both column by column.

    >>> some = columns(np.array([[0b1100], [0b1111]], dtype=np.uint8))
    >>> hamming_each(some, some).tolist()
    [[0, 2], [2, 0]]
    """
    total = np.zeros((questions.shape[1], many.shape[1]), dtype=np.uint16)
    for one, asked in zip(many, questions, strict=True):
        total += np.bitwise_count(one ^ asked[:, np.newaxis])
    return total


@lru_cache(maxsize=8)
def rotation(dims: int) -> Floats:
    """The rotation of a space: the same on every machine and in every version.

    Twice: flip the signs of a random half, then a cosine transform. That spreads as well as a dense random
    rotation, and its numbers come from a formula instead of a decomposition that libraries do differently.
    """
    transform = _cosine_transform(dims)
    first, second = np.array(coins(2 * dims)).reshape(2, dims) * 2 - 1
    matrix: Floats = ((first[:, np.newaxis] * transform) @ (second[:, np.newaxis] * transform)).astype(
        np.float32
    )
    matrix.setflags(write=False)
    return matrix


def coins(count: int) -> list[int]:
    """The zeros and ones of `numpy.random.RandomState(ROTATION_SEED)`, which takes long to load.

    >>> coins(8)
    [0, 0, 0, 0, 0, 0, 0, 1]
    """
    from random import Random

    state = [ROTATION_SEED]
    for place in range(1, 624):
        state.append((1_812_433_253 * (state[-1] ^ (state[-1] >> 30)) + place) & 0xFFFFFFFF)
    chance = Random()  # noqa: S311 (it is to come out the same each time)
    chance.setstate((3, (*state, 624), None))
    return [chance.getrandbits(32) & 1 for _ in range(count)]


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
    is_steady: bool = False
    """Whether any talk has the same noise: a question nothing answers then shows by lying below it."""
    leads: float = 1.5
    """What the meaning counts where memories say few of a question's words, against what it counts else."""
    noise_chinese: float = 0.0
    """Mean of the noise between Chinese texts, where it is another: their few pieces are shared by many."""


# What a model nobody measured gets: the figures of the common similarity models.
DEFAULT = Thresholds(0.85, 0.80, 0.65, 0.70, 0.10, 0.10, 0.78, 0.75, 0.70, 0.55)

# From STS-B's English training pairs: the cosine at which people's expected judgement (0 to 5) passes 4.0 for
# a duplicate, 3.8 for strong, 3.0 for suppress. Related is where a statement and its correction still meet
# ("My editor is vim", "Actually, my editor is Helix now": 0.54 static) and strangers no longer do. Noise:
# questions of people's small talk against turns of other talks. What maintenance compares by: judgements of
# 3.6 for merge (most agrees), 3.5 for dedup, 3.2 for overlap, 2.5 for reconcile (the same thing, something
# differs), by isotonic regression for the static model, between the measured points for the other one.
SPACES = {
    "engram-static-1": Thresholds(
        0.93,
        0.89,
        0.45,
        0.78,
        0.30,
        0.10,
        0.86,
        0.845,
        0.80,
        0.67,
        is_steady=True,
        leads=1.0,
        noise_chinese=0.36,
    ),
    "arctic-embed-s": Thresholds(0.97, 0.96, 0.83, 0.91, 0.574, 0.040, 0.947, 0.941, 0.922, 0.88, leads=2.0),
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


# ---------------------------------------------------------------- weights


_ENTRY, _LENGTHS, _HEAD = b"PK\x03\x04", (26, 28), 30
"""How an entry of a zip file begins, where it says how long its name and remarks are, where those begin."""


def mapped_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of an `.npz` file as `numpy.savez` writes it, by name.

    They are read as far as they are used, and held once for all processes. Raises OSError, ValueError.
    """
    found: dict[str, NDArray[Any]] = {}
    with path.open("rb") as opened:
        whole = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        at = 0
        while whole[at : at + len(_ENTRY)] == _ENTRY:
            name, more = (int.from_bytes(whole[at + two : at + two + 2], "little") for two in _LENGTHS)
            opened.seek(at + _HEAD + name + more)
            np.lib.format.read_magic(opened)
            shape, _, kind = np.lib.format.read_array_header_1_0(opened)
            array = np.frombuffer(whole, kind, prod(shape), opened.tell()).reshape(shape)
            found[whole[at + _HEAD : at + _HEAD + name].decode().removesuffix(".npy")] = array
            at = opened.tell() + array.nbytes
    return found
