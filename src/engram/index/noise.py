"""Noise: how near a question lies to memories in general, so that one can tell which lie nearer than chance.

Every embedding model has its own idea of a large cosine. A spread sample of the space's own vectors tells,
for each question, the mean and the deviation of its cosines with whatever is there.
"""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING

import numpy as np

from engram.model.vectors import Space
from engram.ports import Noise, Store
from engram.vectors.similarity import dots, unit

if TYPE_CHECKING:
    from engram.ports import Floats, Keys

SAMPLE = 512
GROWTH = 1.5
"""The sample is taken anew when the space has grown or shrunk by this factor."""


class Sampler:
    """The sample of one space. Every thread may ask; it is replaced as a whole."""

    def __init__(self, store: Store, space: Space) -> None:
        self._store, self._space = store, space
        self._lock = Lock()
        self._rows: Floats = np.zeros((0, space.dims), dtype=np.float32)
        self._size = 0

    def noise(self, question: Floats, keys: Keys) -> Noise:
        """The mean and deviation of the question's cosines with a sample of these keys."""
        rows = self._sample(keys)
        if not len(rows):
            return Noise(0.0, 0.0, 0)
        found = dots(rows, question)
        return Noise(float(found.mean()), float(found.std()), len(rows))

    def _sample(self, keys: Keys) -> Floats:
        with self._lock:
            size = len(keys)
            if not self._size / GROWTH < size < self._size * GROWTH:
                some = keys[:: max(1, size // SAMPLE)]
                stored = self._store.vectors.rows(self._space, some.tolist())
                self._rows, self._size = unit(stored.rows.astype(np.float32)), size
            return self._rows
