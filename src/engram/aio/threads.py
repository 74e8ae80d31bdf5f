"""Threads: a call that blocks comes in, something to await goes out. What the twins stand on."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import islice
from typing import ParamSpec, TypeVar

from engram.errors import StoreClosed

P = ParamSpec("P")
T = TypeVar("T")

WORKERS = 8
"""Writes wait for the disk together, so more threads than cores are of use."""
SOME = 100
"""So many items of a long answer are fetched at a time."""


class Threads:
    """The threads of one open memory and of everybody who shares it. Used from one event loop."""

    def __init__(self, workers: int = WORKERS) -> None:
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="engram-aio")
        self._closed = False

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Carry out a call in a thread. What has begun there is finished, whoever stops waiting for it.

        Raises StoreClosed after `close`.
        """
        if self._closed:
            raise StoreClosed
        call = partial(contextvars.copy_context().run, work, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._pool, call)

    async def each(self, items: Iterator[T]) -> AsyncIterator[T]:
        """The items of a long answer, fetched some at a time."""
        while some := await self.run(lambda: list(islice(items, SOME))):
            for item in some:
                yield item

    def told(self, tell: Callable[P, None] | None) -> Callable[P, None] | None:
        """The same function for a thread to call; it runs in the event loop, where the caller lives."""
        if tell is None:
            return None
        loop = asyncio.get_running_loop()

        def tell_loop(*args: P.args, **kwargs: P.kwargs) -> None:
            loop.call_soon_threadsafe(partial(tell, *args, **kwargs))

        return tell_loop

    async def close(self, last: Callable[[], None]) -> None:
        """Let calls that are under way end, carry out a last one, end the threads. Safe to call twice."""
        self._closed = True
        await asyncio.to_thread(self._pool.shutdown)
        await asyncio.to_thread(last)
