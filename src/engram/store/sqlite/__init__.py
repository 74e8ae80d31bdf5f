"""The store in one SQLite file."""

from __future__ import annotations

from engram.store.sqlite.connection import StoreSettings
from engram.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore", "StoreSettings"]
