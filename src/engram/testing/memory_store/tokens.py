"""Tokens over tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from engram.model.token import Token
from engram.testing.memory_store.tables import Tables

Commit = Callable[[Callable[[Tables], None]], None]


class MemoryTokens:
    """`Tokens` over tables."""

    def __init__(self, tables: Callable[[], Tables], commit: Commit) -> None:
        self._tables = tables
        self._commit = commit

    def add(self, token: Token, digest: str) -> None:
        """Keep a new token."""
        self._put(token, digest)

    def known(self) -> list[tuple[str, Token]]:
        """Every token with its digest, oldest first."""
        kept = [(digest, token) for token, digest in self._tables().tokens.values()]
        return sorted(kept, key=lambda one: (one[1].created_at, one[1].id))

    def revoke(self, token_id: str, at: datetime) -> bool:
        """Take a token back; whether it was there to be taken."""
        token, digest = self._tables().tokens.get(token_id, (None, ""))
        if token is None or token.revoked_at is not None:
            return False
        self._put(replace(token, revoked_at=at), digest)
        return True

    def used(self, token_id: str, at: datetime) -> None:
        """Note a use."""
        if token_id in self._tables().tokens:
            token, digest = self._tables().tokens[token_id]
            self._put(replace(token, last_used=at), digest)

    def _put(self, token: Token, digest: str) -> None:
        def put(tables: Tables) -> None:
            tables.tokens[token.id] = (token, digest)

        self._commit(put)
