"""The store in a PostgreSQL database."""

from __future__ import annotations

from engram.store.postgres.store import PostgresStore

__all__ = ["PostgresStore"]
