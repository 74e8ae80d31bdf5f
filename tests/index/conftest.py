"""The index runs over every store."""

from __future__ import annotations

from tests.store.conftest import clock, open_store, store

__all__ = ["clock", "open_store", "store"]
