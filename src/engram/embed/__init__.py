"""Turning text into vectors: a static model in the package, a transformer, a server, and a chain of them."""

from __future__ import annotations

from engram.embed.choose import open_embedder

__all__ = ["open_embedder"]
