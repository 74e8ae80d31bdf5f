"""An embedder without a model: texts come in, and those that share words get near vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from engram.errors import EmbedderDown
from engram.model.vectors import Space
from engram.ports import Health
from engram.text.words import terms
from engram.vectors.similarity import unit

Floats = NDArray[np.float32]


class HashEmbedder:
    """Hashes each word to a direction and adds them up; synonyms share one direction.

    >>> embedder = HashEmbedder(synonyms={"automobile": "car"})
    >>> _, (one, other) = embedder.embed(["my automobile", "my car"])
    >>> float(one @ other) > 0.99
    True
    """

    def __init__(self, dims: int = 64, synonyms: Mapping[str, str] | None = None) -> None:
        self._space = Space("hash", dims)
        self._synonyms = {_term(word): _term(meant) for word, meant in (synonyms or {}).items()}
        self._directions: dict[str, Floats] = {}
        self.down = False
        """Set this to let every call fail, as a service does that is not there."""

    @property
    def space(self) -> Space:
        """Where the vectors belong."""
        return self._space

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """One row each; zeros for a text without a word."""
        if self.down:
            raise EmbedderDown("The hash embedder was switched off.")
        if not texts:
            return self._space, np.zeros((0, self._space.dims), dtype=np.float32)
        return self._space, unit(np.stack([self._sum(text) for text in texts]))

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question: one vector."""
        space, rows = self.embed([text])
        return space, rows[0]

    def health(self) -> Health:
        """Fine, unless it was switched off."""
        return Health(ok=not self.down, detail="switched off" if self.down else "")

    def _sum(self, text: str) -> Floats:
        total = np.zeros(self._space.dims, dtype=np.float32)
        for term in terms(text):
            total += self._direction(self._synonyms.get(term, term))
        return total

    def _direction(self, term: str) -> Floats:
        if term not in self._directions:
            seed = int.from_bytes(blake2b(term.encode(), digest_size=8).digest())
            chance = np.random.default_rng(seed)
            self._directions[term] = unit(chance.standard_normal(self._space.dims).astype(np.float32))
        return self._directions[term]


def _term(word: str) -> str:
    """The word as the text rules write it."""
    return (terms(word) or [word])[0]
