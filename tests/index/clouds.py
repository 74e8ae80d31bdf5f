"""Many vectors at once, and the plain answer to compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from engram.model.memory import Memory
from engram.ports import Embedded, Store, Unit, View
from engram.rules.vectors import cosines, quantize, restore, unit
from tests.store.making import SPACE, found_by, make

Floats = NDArray[np.float32]


def clustered(count: int, dims: int = SPACE.dims, clusters: int = 20, seed: int = 0) -> Floats:
    """Vectors in clusters that all lean to one side, as those of real sentences do."""
    chance = np.random.default_rng(seed)
    centres = chance.standard_normal((clusters, dims)) + 0.5
    vectors = centres[chance.integers(0, clusters, count)] + 0.5 * chance.standard_normal((count, dims))
    return unit(vectors.astype(np.float32))


def fill(
    store: Store, vectors: Floats, name: Callable[[int], Memory] = lambda n: make(f"number {n}")
) -> list[Memory]:
    """A memory for each vector, in one write."""
    memories = [name(n) for n in range(len(vectors))]

    def work(unit: Unit) -> None:
        for memory, vector in zip(memories, vectors, strict=True):
            unit.add(memory, found_by(memory.content), Embedded(SPACE, vector), "")

    store.write(work, "tester")
    return memories


def kept(vector: Floats) -> Floats:
    """The vector as the store gives it back."""
    one: Floats = restore(*quantize(vector[np.newaxis]))[0]
    return one


def brute(
    store: Store, truth: dict[str, Floats], question: Floats, k: int, view: View
) -> list[tuple[int, float]]:
    """The nearest allowed keys, by looking at each."""
    ids = [memory_id for memory_id, vector in truth.items() if kept(vector).any()]
    keys = store.memories.keys(ids)
    allowed = store.memories.allow(view, list(keys.values()))
    inside = [memory_id for memory_id in ids if keys[memory_id] in allowed]
    if not inside or not question.any():
        return []
    found = cosines(np.stack([kept(truth[memory_id]) for memory_id in inside]), question)
    pairs = [(keys[memory_id], float(value)) for memory_id, value in zip(inside, found, strict=True)]
    return sorted(pairs, key=lambda pair: (-pair[1], pair[0]))[:k]


def same(found: Sequence[tuple[int, float]], expected: Sequence[tuple[int, float]]) -> bool:
    """Whether two answers agree, up to the last digits of the cosines and the order of equal ones."""
    if len(found) != len(expected):
        return False
    values = np.allclose([value for _, value in found], [value for _, value in expected], atol=1e-5)
    if not values or not expected:
        return bool(values)
    # Whoever is clearly better than the last must be there; at the border equal ones may differ.
    border = expected[-1][1] + 1e-5
    return {key for key, value in expected if value > border} <= {key for key, _ in found}
