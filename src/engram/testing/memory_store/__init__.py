"""A store in memory that keeps every promise of `engram.ports.Store`; the contract tests prove it."""

from __future__ import annotations

from engram.testing.memory_store.store import MemoryStore

__all__ = ["MemoryStore"]
