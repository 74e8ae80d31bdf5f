"""Turning text into vectors: a static model in the package, a transformer, a server, and a chain of them.

Beside them a cross-encoder, which reads question and memory together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from engram import plugins
from engram.embed.static import WEIGHTS, StaticEmbedder
from engram.errors import ConfigError, EmbedderDown, EmbedderError, EmbedderRefused
from engram.model.clock import Clock, SystemClock
from engram.ports import HEALTH_SECONDS, Embedded, Embedder, Health, Reranker, Vectors
from engram.rules.sealing import TURNED, is_turned

if TYPE_CHECKING:
    from engram.config import EmbedConfig, RerankConfig
    from engram.model.memory import Space
    from engram.ports import Floats


# ---------------------------------------------------------------- chain
# Several embedders in order of preference: the first that works answers, and the chain says which it was.
#
# A member that failed is left alone for half a minute, then asked for its health again, so the chain goes
# back to the preferred one by itself. Members make vectors of different spaces: whoever stores or compares
# a vector takes it from `embed`, where the vectors and their space come out of the same call.


__all__ = ["FormerEmbedders", "open_embedder", "open_reranker"]


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


# ---------------------------------------------------------------- former
# Models that were used before: their vectors answer until the present model has made its own.


class FormerEmbedders:
    """The models that were used before: those that this machine has. Safe to share between threads."""

    def __init__(self, embedder: Embedder, vectors: Vectors, settings: EmbedConfig, clock: Clock) -> None:
        self._embedder, self._vectors = embedder, vectors
        self._settings, self._clock = settings, clock
        self._found: tuple[Space, list[Embedder]] | None = None

    def embed_query(self, text: str, present: Space) -> list[Embedded]:
        """A question as each of them means it; one that fails is not asked again."""
        if self._found is None or self._found[0] != present:
            former = (key for key in self._others(present) if not is_turned(key))
            self._found = present, [model for key in former if (model := self._maker(key))]
        return [vector for model in tuple(self._found[1]) if (vector := self._asked(model, text)) is not None]

    def replaced(self, present: Space) -> list[str]:
        """The other spaces of the file; a chain may come back to each of its members', so it has none."""
        if isinstance(self._embedder, ChainEmbedder):
            return []
        return [key for key in self._others(present) if key.removesuffix(TURNED) != present.key]

    def forget(self) -> None:
        """Look again at the next question."""
        self._found = None

    def _others(self, present: Space) -> list[str]:
        """The keys of other spaces that have vectors."""
        return [key for key, count in self._vectors.spaces().items() if count and key != present.key]

    def _asked(self, model: Embedder, text: str) -> Embedded | None:
        try:
            space, vector = model.embed_query(text)
        except EmbedderError:
            if self._found is not None and model in self._found[1]:
                self._found[1].remove(model)
            return None
        return Embedded(space, vector) if vector.any() else None

    def _maker(self, key: str) -> Embedder | None:
        """The model of this machine or its server that makes vectors of a space; None where there is none."""
        for model in self._candidates(key.rsplit("/", 2)[0]):
            try:
                if model.space.key == key:
                    return model
            except EmbedderError:
                continue
        return None

    def _candidates(self, name: str) -> Iterator[Embedder]:
        kind, _, served = name.partition(":")
        if served and kind in REMOTE:
            here = kind in self._settings.name
            base_url = self._settings.base_url if here else ""
            yield _remote(kind, replace(self._settings, model=served, base_url=base_url), self._clock)
            return
        yield StaticEmbedder()
        if "/" not in name:
            from engram.embed.transformer import TransformerEmbedder

            yield TransformerEmbedder(name=name)


NAMES = ("static", "transformer", "openai", "ollama")
REMOTE = frozenset({"openai", "ollama"})
CHAIN = "chain:"
AUTO = "auto"


def open_embedder(settings: EmbedConfig, clock: Clock | None = None) -> Embedder:
    """The embedder that `settings.name` names. Nothing is loaded or called before its first use."""
    clock = clock or SystemClock()
    if not settings.name.startswith(CHAIN):
        return _named_embedder(settings.name, settings, clock)
    names = settings.name.removeprefix(CHAIN).split(",")
    return ChainEmbedder([_named_embedder(name.strip(), settings, clock) for name in names], clock.monotonic)


def _named_embedder(name: str, settings: EmbedConfig, clock: Clock) -> Embedder:
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
            embedder: Embedder = plugins.load("embedders", name)(settings, clock)
            return embedder
        case _:
            choices = ", ".join((*NAMES, *plugins.names("embedders")))
            raise ConfigError(f"No embedder is named {name!r}: choose {choices}, or chain:first,second.")


def _remote(kind: str, settings: EmbedConfig, clock: Clock) -> Embedder:
    from engram.embed.models import prefixes_of
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
        reranker: Reranker = plugins.load("rerankers", settings.name)(settings)
        return reranker
    if not settings.path:
        return None
    from engram.embed.transformer import CrossEncoder  # slow, and hardly ever asked for

    return CrossEncoder(Path(settings.path))
