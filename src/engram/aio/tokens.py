# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Tokens`: the same verbs, awaited."""

from __future__ import annotations

from datetime import datetime

from engram.aio.threads import Threads
from engram.model.scope import Role, Scope
from engram.model.token import Token
from engram.nouns.tokens import Found, Issued, Tokens


class AsyncTokens:
    """`Tokens` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Tokens, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def create(
        self,
        name: str,
        role: Role | str = Role.AGENT,
        *,
        scope: Scope | None = None,
        expires_at: datetime | str | None = None,
        timezone: str = "",
    ) -> Issued:
        """Make a token. `name` is the actor in what its bearer does; the secret is given out only here.

        `timezone` says where its bearer is: an IANA name, or an offset such as +02:00.
        """
        return await self._threads.run(
            self._inner.create, name, role, scope=scope, expires_at=expires_at, timezone=timezone
        )

    async def list(self, *, revoked: bool = False) -> Found:
        """The tokens for places this caller owns, oldest first; with `revoked` also those taken back."""
        return await self._threads.run(self._inner.list, revoked=revoked)

    async def revoke(self, token_id: str) -> Token:
        """Take a token back, by its id or its name if only one has it. It lets nobody in any more."""
        return await self._threads.run(self._inner.revoke, token_id)

    async def bearer(self, secret: str) -> Token | None:
        """The valid token with this secret; None when there is none. Whoever asks needs no right to."""
        return await self._threads.run(self._inner.bearer, secret)

    async def any_valid(self) -> bool:
        """Whether anybody could come in by a token now."""
        return await self._threads.run(self._inner.any_valid)
