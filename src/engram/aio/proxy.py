"""Twins: a class whose verbs block comes in, the class whose verbs are awaited goes out.

A twin is made when it is first needed, from what the class offers: a verb is carried out by a thread, a
property is read at once, and what has verbs of its own comes as its own twin. `scripts/aio.py` writes the
types of the twins beside this module.
"""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import AsyncIterator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache, cached_property, partial, wraps
from itertools import islice
from typing import Any, ParamSpec, Self, TypeVar

from engram.engine import Engram
from engram.errors import StoreClosed
from engram.folder import has_verbs, offered

CALLBACK = "progress"
"""An argument of this name is called by a thread; its twin is called in the event loop."""


class Twin:
    """Something that blocks, and the threads that carry out its verbs. Used from one event loop."""

    def __init__(self, inner: Any, threads: Threads) -> None:
        self._inner = inner
        self._threads = threads

    async def __aenter__(self) -> Self:
        await self._threads.run(self._inner.__enter__)
        return self

    async def __aexit__(self, *error: object) -> None:
        if isinstance(self._inner, Engram):
            await self._threads.close(self._inner.close)
        else:
            await self._threads.run(self._inner.__exit__, *error)


class AsyncCall(Coroutine[Any, Any, Any]):
    """A verb about to be carried out: `await` it, hold what it gives by `async with`, or go through it."""

    def __init__(self, work: Coroutine[Any, Any, Any]) -> None:
        self._work = work
        self._given: Any = None

    def __await__(self) -> Generator[Any, Any, Any]:
        return self._work.__await__()

    async def __aenter__(self) -> Any:
        self._given = await self._work
        return await self._given.__aenter__()

    async def __aexit__(self, *error: object) -> None:
        await self._given.__aexit__(*error)

    async def __aiter__(self) -> AsyncIterator[Any]:
        async for item in await self._work:
            yield item

    def send(self, value: Any) -> Any:
        """Go on; what a task of the event loop calls."""
        return self._work.send(value)

    def throw(self, *fault: Any) -> Any:
        """Go on with a fault."""
        return self._work.throw(*fault)

    def close(self) -> None:
        """Give up."""
        self._work.close()


@cache
def twin_of(kind: type) -> type[Twin]:
    """The class that offers the same verbs, awaited."""
    members = {name: _member(name, made) for name, made in offered(kind).items()}
    words = f"`{kind.__name__}` for asyncio: the same verbs, awaited."
    return type(f"Async{kind.__name__}", (Twin,), {**members, "__doc__": words, "__module__": "engram.aio"})


def _member(name: str, made: Any) -> Any:
    if isinstance(made, property | cached_property):
        return _property(name, made)
    if isinstance(made, classmethod):
        return classmethod(_opening(made.__func__))
    return _verb(name, made)


def _property(name: str, made: Any) -> property:
    def read(self: Twin) -> Any:
        return _given(getattr(self._inner, name), self._threads)

    def write(self: Twin, value: Any) -> None:
        setattr(self._inner, name, value)

    return property(read, write if getattr(made, "fset", None) else None, doc=made.__doc__)


def _verb(name: str, made: Callable[..., Any]) -> Callable[..., AsyncCall]:
    async def carry_out(self: Twin, args: tuple[Any, ...], more: dict[str, Any]) -> Any:
        if CALLBACK in more:
            more[CALLBACK] = self._threads.told(more[CALLBACK])
        return _given(await self._threads.run(getattr(self._inner, name), *args, **more), self._threads)

    async def close(self: Twin) -> None:
        await self._threads.close(self._inner.close)

    @wraps(made)
    def verb(self: Twin, *args: Any, **more: Any) -> AsyncCall:
        if name == "close" and isinstance(self._inner, Engram):
            return AsyncCall(close(self))
        return AsyncCall(carry_out(self, args, more))

    return verb


def _opening(made: Callable[..., Any]) -> Callable[..., AsyncCall]:
    async def begin(kind: type[Twin], args: tuple[Any, ...], more: dict[str, Any]) -> Twin:
        threads = Threads()
        try:
            return kind(await threads.run(made, Engram, *args, **more), threads)
        except BaseException:
            await threads.close(lambda: None)
            raise

    @wraps(made)
    def opening(kind: type[Twin], *args: Any, **more: Any) -> AsyncCall:
        return AsyncCall(begin(kind, args, more))

    return opening


def _given(given: Any, threads: Threads) -> Any:
    """What a verb gives, as an event loop can use it."""
    kind: type = type(given)
    if has_verbs(kind):
        return twin_of(kind)(given, threads)
    return threads.each(given) if isinstance(given, Iterator) else given


# ---------------------------------------------------------------- threads
# Threads: a call that blocks comes in, something to await goes out. What the twins stand on.


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
