"""Several embedders in order of preference: the first that works answers, and the chain says which it was.

A member that failed is left alone for half a minute, then asked for its health again, so the chain goes back
to the preferred one by itself. Members make vectors of different spaces: whoever stores or compares a vector
takes it from `embed`, where the vectors and their space come out of the same call.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from engram.embed.health import HEALTH_SECONDS
from engram.errors import ConfigError, EmbedderDown, EmbedderError, EmbedderRefused
from engram.model.vectors import Space
from engram.ports import Embedder, Health

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

T = TypeVar("T")


class ChainEmbedder:
    """The first member that works. Safe to share between threads; it owns no connection of its own."""

    def __init__(self, members: Sequence[Embedder], monotonic: Callable[[], float] = time.monotonic) -> None:
        if not members:
            raise ConfigError("A chain of embedders needs at least one member.")
        self._members = tuple(members)
        self._monotonic = monotonic
        # Why a member rests, and until when. Each entry is replaced whole, so readers need no lock.
        self._resting: dict[int, tuple[float, str]] = {}

    @property
    def active(self) -> Embedder:
        """The member that would answer now."""
        return self._members[self._well()[0]]

    @property
    def space(self) -> Space:
        """The space of the member that would answer now."""
        return self._first(lambda member: member.space)

    def embed(self, texts: Sequence[str]) -> tuple[Space, Floats]:
        """Documents, with the space of the member that made them."""
        return self._first(lambda member: member.embed(texts))

    def embed_query(self, text: str) -> tuple[Space, Floats]:
        """A question, with the space of the member that made it."""
        return self._first(lambda member: member.embed_query(text))

    def health(self) -> Health:
        """Well while any member is; the detail names those that were passed over, and why."""
        place, health = self._well()
        passed = [reason for rested, (_, reason) in sorted(self._resting.items()) if rested < place]
        if not passed:
            return health
        return Health(ok=health.ok, detail=f"{health.detail}; fallen back because: {' '.join(passed)}")

    def _well(self) -> tuple[int, Health]:
        """The first member that says it is well; the last one if none does."""
        for place, member in enumerate(self._members):
            if self._usable(place):
                health = member.health()
                if health.ok:
                    return place, health
                self._rest(place, health.detail)
        last = len(self._members) - 1
        return last, Health(ok=False, detail=self._resting.get(last, (0.0, "no member works"))[1])

    def _first(self, ask: Callable[[Embedder], T]) -> T:
        """What the first working member answers; the failure of the last one if none works."""
        failure: EmbedderError | None = None
        for place, member in enumerate(self._members):
            if not self._usable(place):
                continue
            try:
                return ask(member)
            except EmbedderRefused as error:
                failure = error
            except EmbedderError as error:
                self._rest(place, error.message)
                failure = error
        if failure is not None:
            raise failure
        raise EmbedderDown("No embedder works: " + " ".join(reason for _, reason in self._resting.values()))

    def _usable(self, place: int) -> bool:
        """Whether to ask this member now. One that rested long enough must first say that it is well."""
        rest = self._resting.get(place)
        if rest is None:
            return True
        if self._monotonic() < rest[0]:
            return False
        health = self._members[place].health()
        if health.ok:
            self._resting.pop(place, None)
            return True
        self._rest(place, health.detail)
        return False

    def _rest(self, place: int, reason: str) -> None:
        self._resting[place] = (self._monotonic() + HEALTH_SECONDS, reason)
