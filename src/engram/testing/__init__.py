"""What to test with: a clock moved by hand, an embedder without weights, ids in order, a scripted model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from itertools import count

import numpy as np
from numpy.typing import NDArray

from engram.errors import EmbedderDown
from engram.model.memory import Space
from engram.ports import Health
from engram.rules.vectors import unit
from engram.testing.model_server import ScriptedServer
from engram.text.words import terms

__all__ = ["ScriptedServer"]


# ---------------------------------------------------------------- clock
# A clock that stands still until it is moved, so that "after 30 days" takes no time to test.


START = datetime(2024, 1, 1, 12, 0, tzinfo=UTC)


class FakeClock:
    """Tells the time it was set to.

    >>> clock = FakeClock()
    >>> clock.advance(days=30, seconds=5)
    >>> clock.now().isoformat(), clock.monotonic()
    ('2024-01-31T12:00:05+00:00', 2592005.0)
    """

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        """The moment it was moved to."""
        return self._now

    def monotonic(self) -> float:
        """Seconds it was moved forward by."""
        return self._elapsed

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Let time pass."""
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        self._now += step
        self._elapsed += max(step.total_seconds(), 0.0)

    def jump(self, moment: datetime) -> None:
        """Set the wall clock, backwards too, as a machine does that asks the network for the time."""
        self._now = moment


# ---------------------------------------------------------------- embedder
# An embedder without a model: texts come in, and those that share words get near vectors.


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


# ---------------------------------------------------------------- ids
# Ids that come in the same order in each run, and differ in their first eight characters.


def sequential_ids() -> Callable[[], str]:
    """A maker of ids that look like random ones.

    >>> new_id = sequential_ids()
    >>> new_id(), new_id()
    ('00000001-0000-4000-8000-000000000000', '00000002-0000-4000-8000-000000000000')
    """
    numbers = count(1)
    return lambda: f"{next(numbers):08x}-0000-4000-8000-000000000000"
