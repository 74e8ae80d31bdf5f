"""Turning text into vectors: a static model in the package, a transformer, a server, and a chain of them.

Beside them a cross-encoder, which reads question and memory together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engram import plugins
from engram.config import EmbedConfig, RerankConfig
from engram.embed.models import prefixes_of
from engram.embed.static import WEIGHTS, StaticEmbedder
from engram.errors import ConfigError, EmbedderDown, EmbedderError, EmbedderRefused
from engram.model.clock import Clock, SystemClock
from engram.model.memory import Space
from engram.ports import HEALTH_SECONDS, Embedder, Health, Reranker

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


# ---------------------------------------------------------------- chain
# Several embedders in order of preference: the first that works answers, and the chain says which it was.
#
# A member that failed is left alone for half a minute, then asked for its health again, so the chain goes
# back to the preferred one by itself. Members make vectors of different spaces: whoever stores or compares
# a vector takes it from `embed`, where the vectors and their space come out of the same call.


if TYPE_CHECKING:
    Floats = NDArray[np.float32]

__all__ = ["open_embedder", "open_reranker"]


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


NAMES = ("static", "transformer", "openai", "ollama")
CHAIN = "chain:"
AUTO = "auto"


def open_embedder(settings: EmbedConfig, clock: Clock | None = None) -> Embedder:
    """The embedder that `settings.name` names. Nothing is loaded or called before its first use."""
    clock = clock or SystemClock()
    if not settings.name.startswith(CHAIN):
        return _one(settings.name, settings, clock)
    names = settings.name.removeprefix(CHAIN).split(",")
    return ChainEmbedder([_one(name.strip(), settings, clock) for name in names], clock.monotonic)


def _one(name: str, settings: EmbedConfig, clock: Clock) -> Embedder:
    path = Path(settings.path) if settings.path else None
    match name:
        case "static":
            # The path may mean the transformer of the same chain; a static model is one file.
            return StaticEmbedder(path if path and path.suffix == WEIGHTS.suffix else WEIGHTS)
        case "transformer":
            from engram.embed.transformer import TransformerEmbedder

            # In a chain with a server, `model` names the server's.
            named = settings.model if settings.name == name else ""
            return TransformerEmbedder(path, name=named)
        case "openai" | "ollama":
            return _remote(name, settings, clock)
        case _ if name in plugins.names("embedders"):
            made: Embedder = plugins.load("embedders", name)(settings, clock)
            return made
        case _:
            known = ", ".join((*NAMES, *plugins.names("embedders")))
            raise ConfigError(f"No embedder is named {name!r}: choose {known}, or chain:first,second.")


def _remote(kind: str, settings: EmbedConfig, clock: Clock) -> Embedder:
    from engram.embed.remote import DIALECTS, RemoteEmbedder, Server

    dialect = DIALECTS[kind]
    model = settings.model or dialect.model
    query, document = prefixes_of(model)
    server = Server(
        model=model,
        base_url=(settings.base_url or dialect.base_url).rstrip("/"),
        api_key=settings.api_key,
        timeout_s=settings.timeout_s,
        batch=settings.batch,
        query_prefix=query if settings.query_prefix == AUTO else settings.query_prefix,
        document_prefix=document if settings.document_prefix == AUTO else settings.document_prefix,
    )
    return RemoteEmbedder(dialect, server, monotonic=clock.monotonic)


def open_reranker(settings: RerankConfig) -> Reranker | None:
    """The reranker that the settings name: an extension's, or a cross-encoder, loaded at its first use."""
    if settings.name:
        made: Reranker = plugins.load("rerankers", settings.name)(settings)
        return made
    if not settings.path:
        return None
    from engram.embed.transformer import CrossEncoder  # slow, and hardly ever asked for

    return CrossEncoder(Path(settings.path))
