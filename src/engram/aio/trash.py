# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Trash`: the same verbs, awaited."""

from __future__ import annotations

from datetime import datetime

from engram.aio.threads import Threads
from engram.model.memory import Memory
from engram.nouns.trash import Lying, Trash


class AsyncTrash:
    """`Trash` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Trash, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def list(self, *, limit: int = 100, offset: int = 0) -> Lying:
        """What lies there, the newest memory first."""
        return await self._threads.run(self._inner.list, limit=limit, offset=offset)

    async def restore(self, memory_id: str, because: str = "") -> Memory:
        """Bring a memory back. Raises NotFound when it does not lie there."""
        return await self._threads.run(self._inner.restore, memory_id, because)

    async def purge(
        self, because: str = "", *, before: datetime | str | None = None, also_in_use: bool = False
    ) -> int:
        """Remove what lies there for good, all of it or what was forgotten before a time; how many.

        With `also_in_use` everything of the caller's place goes; only an owner may ask for that.
        """
        return await self._threads.run(self._inner.purge, because, before=before, also_in_use=also_in_use)
