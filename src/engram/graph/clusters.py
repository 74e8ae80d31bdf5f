"""Clusters: pairs that belong together, or vectors, come in; groups come out.

`joined` follows pairs: whatever hangs together is one group. `grouped` puts vectors around centres, a given
number of them; the same vectors always give the same groups.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Final, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Places = NDArray[np.int64]

Thing = TypeVar("Thing", bound=Hashable)
SAMPLE: Final = 4_096
"""Vectors that centres are looked for among; more would hardly move them."""
ROUNDS: Final = 8
BLOCK: Final = 8_192


def joined(pairs: Iterable[tuple[Thing, Thing]]) -> list[list[Thing]]:
    """Groups of everything that hangs together, in the order in which they were met.

    >>> joined([(1, 2), (4, 5), (2, 3)])
    [[1, 2, 3], [4, 5]]
    """
    heads: dict[Thing, Thing] = {}
    for one, other in pairs:
        a, b = _head(heads, one), _head(heads, other)
        if a != b:
            heads[b] = a
    groups: dict[Thing, list[Thing]] = {}
    for thing in heads:
        groups.setdefault(_head(heads, thing), []).append(thing)
    return list(groups.values())


def _head(heads: dict[Thing, Thing], thing: Thing) -> Thing:
    heads.setdefault(thing, thing)
    while heads[thing] != thing:
        heads[thing] = heads[heads[thing]]
        thing = heads[thing]
    return thing


def centres(vectors: Floats, count: int) -> Floats:
    """So many centres among unit vectors, or as many as there are vectors.

    They begin with vectors evenly spread over the given order; a few rounds then move each centre to the
    middle of what is nearest to it.
    """
    import numpy as np

    sample = vectors[:: max(1, len(vectors) // SAMPLE)][:SAMPLE]
    count = min(count, len(sample))
    middles = sample[np.linspace(0, len(sample) - 1, count).astype(np.int64)]
    for _ in range(ROUNDS):
        places = nearest(sample, middles)[0]
        moved = np.zeros_like(middles)
        np.add.at(moved, places, sample)
        lengths = np.linalg.norm(moved, axis=1, keepdims=True)
        middles = np.where(lengths > 0, moved / np.where(lengths > 0, lengths, 1), middles)
    found: Floats = middles.astype(np.float32)
    return found


def nearest(vectors: Floats, middles: Floats) -> tuple[Places, Floats]:
    """For each vector the place of the nearest centre, and the cosine with it."""
    import numpy as np

    places = np.zeros(len(vectors), dtype=np.int64)
    cosines = np.zeros(len(vectors), dtype=np.float32)
    for start in range(0, len(vectors), BLOCK):
        block = vectors[start : start + BLOCK] @ middles.T
        places[start : start + BLOCK] = block.argmax(axis=1)
        cosines[start : start + BLOCK] = block.max(axis=1)
    return places, cosines
