# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Entities`: the same verbs, awaited."""

from __future__ import annotations

from engram.aio.threads import Threads
from engram.model.entity import Entity
from engram.nouns.entities import Entities, Found, Profile, Steps


class AsyncEntities:
    """`Entities` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Entities, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def get(self, name: str) -> Profile | None:
        """What is known about somebody or something, under any of its names; None when nothing is.

        A name that nobody has may still mean one: the first name of one person, a known short form.
        """
        return await self._threads.run(self._inner.get, name)

    async def list(self, *, type: str = "", prefix: str = "", limit: int = 50) -> Found:
        """Entities, last seen first: of one type, or with a name that begins so."""
        return await self._threads.run(self._inner.list, type=type, prefix=prefix, limit=limit)

    async def alias(self, name: str, other: str) -> Entity:
        """Let an entity go by one more name; what was known under that name becomes part of it.

        `split` takes it back.
        """
        return await self._threads.run(self._inner.alias, name, other)

    async def merge(self, keep: str, other: str) -> Entity:
        """Say that two entities are one; it is shown by the first name. `split` takes it back."""
        return await self._threads.run(self._inner.merge, keep, other)

    async def split(self, name: str) -> Entity | None:
        """Make a name stand for an entity of its own again, with the memories that use this name.

        None when no memory that the caller may see does.
        """
        return await self._threads.run(self._inner.split, name)

    async def timeline(self, name: str, limit: int = 50) -> Steps:
        """How the knowledge about an entity grew, oldest first; of a long story the latest steps."""
        return await self._threads.run(self._inner.timeline, name, limit)
