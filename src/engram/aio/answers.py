# Written by scripts/aio.py from the facade. Change that, then run `make docs`.

"""The twin of `Answers`: the same verbs, awaited."""

from __future__ import annotations

from engram.aio.threads import Threads
from engram.nouns.answers import Answers


class AsyncAnswers:
    """`Answers` for asyncio: the same verbs, awaited."""

    def __init__(self, inner: Answers, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def find(
        self, caller: str, key: str, request: bytes, *, hours: float
    ) -> tuple[int, bytes] | bool | None:
        """Status and body of the answer to this request; None when there is none.

        False when the key was used for another request.
        """
        return await self._threads.run(self._inner.find, caller, key, request, hours=hours)

    async def keep(
        self, caller: str, key: str, request: bytes, answer: tuple[int, bytes], *, hours: float, most: int
    ) -> None:
        """Keep an answer for so many hours, and so many in all."""
        await self._threads.run(self._inner.keep, caller, key, request, answer, hours=hours, most=most)
