# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Triggers`: the same verbs, awaited."""

from __future__ import annotations

from collections.abc import Sequence

from engram.aio.threads import Threads
from engram.model.scope import Scope
from engram.model.trigger import Trigger
from engram.nouns.triggers import Found, Triggers


class AsyncTriggers:
    """`Triggers` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Triggers, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def add(self, words: Sequence[str], pages: Sequence[str], *, scope: Scope | None = None) -> Trigger:
        """When a message holds one of the words, the pack also tells these pages.

        A page is `entity:Anna`, `tag:billing`, `category:procedure`, `memory:7f3a91c2` or
        `origin:file:/notes/house.md`; a bare name means the entity.
        """
        return await self._threads.run(self._inner.add, words, pages, scope=scope)

    async def list(self) -> Found:
        """The triggers of places this caller sees, oldest first."""
        return await self._threads.run(self._inner.list)

    async def get(self, trigger_id: str) -> Trigger:
        """One trigger by its id."""
        return await self._threads.run(self._inner.get, trigger_id)

    async def update(
        self, trigger_id: str, *, words: Sequence[str] | None = None, pages: Sequence[str] | None = None
    ) -> Trigger:
        """Change the words or the pages of a trigger."""
        return await self._threads.run(self._inner.update, trigger_id, words=words, pages=pages)

    async def remove(self, trigger_id: str) -> Trigger:
        """Take a trigger away."""
        return await self._threads.run(self._inner.remove, trigger_id)

    async def match(self, message: str) -> Found:
        """The triggers that a message sets off."""
        return await self._threads.run(self._inner.match, message)
