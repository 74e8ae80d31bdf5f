"""Turning text into vectors: a static model in the package, a transformer, a server, and a chain of them.

Beside them a cross-encoder, which reads question and memory together.
"""

from __future__ import annotations

from engram.embed.choose import open_embedder
from engram.embed.transformer import open_reranker

__all__ = ["open_embedder", "open_reranker"]
