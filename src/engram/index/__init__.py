"""Finding the nearest vectors. The store holds the truth; what is kept here is a copy that follows it."""

from __future__ import annotations

from engram.index.signature_index import SignatureIndex

__all__ = ["SignatureIndex"]
