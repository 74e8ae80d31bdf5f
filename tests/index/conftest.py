"""The index runs over a store in memory."""

from __future__ import annotations

from tests.store.conftest import clock, open_store, store

__all__ = ["clock", "open_store", "store"]
