"""Opening the embedder that the settings name: settings come in, an embedder comes out."""

from __future__ import annotations

from pathlib import Path

from engram.config import EmbedConfig
from engram.embed.chain import ChainEmbedder
from engram.embed.static import WEIGHTS, StaticEmbedder
from engram.errors import ConfigError
from engram.model.clock import Clock, SystemClock
from engram.ports import Embedder

NAMES = ("static", "transformer", "openai", "ollama")
CHAIN = "chain:"


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

            return TransformerEmbedder(path)
        case "openai" | "ollama":
            return _remote(name, settings, clock)
        case _:
            known = ", ".join(NAMES)
            raise ConfigError(f"No embedder is named {name!r}: choose {known}, or chain:first,second.")


def _remote(kind: str, settings: EmbedConfig, clock: Clock) -> Embedder:
    from engram.embed.remote import DIALECTS, RemoteEmbedder, Server

    dialect = DIALECTS[kind]
    server = Server(
        model=settings.model or dialect.model,
        base_url=(settings.base_url or dialect.base_url).rstrip("/"),
        api_key=settings.api_key,
        timeout_s=settings.timeout_s,
        batch=settings.batch,
    )
    return RemoteEmbedder(dialect, server, monotonic=clock.monotonic)
