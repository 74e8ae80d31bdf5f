"""Idempotency keys: a write that is sent again is answered again, and not carried out again.

The answers are kept in memory, and on a shelf that outlasts the server, for a day, so many at most. A write
that was carried out while the server died before its answer was kept is a new one when it comes again; a
statement that is known already is reinforced, not stored twice.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol

import anyio
import anyio.to_thread

from engram.errors import InvalidInput
from engram.server.refusals import KeyReused

KEY_LENGTH = 255
LARGEST = 1_000_000
"""Answers longer than this are not kept beyond the life of the server."""
HEADER = "idempotency-key"
REPLAYED = "Idempotency-Replayed"


@dataclass(frozen=True, slots=True)
class Answer:
    """What was answered."""

    status: int
    body: bytes


@dataclass(slots=True)
class _Kept:
    mark: str
    at: float
    done: anyio.Event
    answer: Answer | None = None


class Shelf(Protocol):
    """Where answers outlast the server. Its calls wait, so they run in a thread."""

    def find(self, caller: str, key: str, request: bytes) -> Answer | bool | None:
        """The answer to this request; None when there is none, False when the key was for another."""
        ...

    def keep(self, caller: str, key: str, request: bytes, answer: Answer) -> None:
        """Keep an answer."""
        ...


class Keys:
    """The answers to keyed writes. Used by the event loop alone."""

    def __init__(
        self,
        most: int,
        hours: float,
        now: Callable[[], float] = time.monotonic,
        shelf: Shelf | None = None,
    ) -> None:
        self._most = most
        self._seconds = hours * 3_600
        self._now = now
        self._shelf = shelf
        self._kept: OrderedDict[tuple[str, str], _Kept] = OrderedDict()

    async def once(
        self, caller: str, key: str, request: bytes, work: Callable[[], Awaitable[Answer]]
    ) -> tuple[Answer, bool]:
        """Carry out a write, or give the answer it had, and whether it did. Raises KeyReused.

        One that failed is not kept: it may be tried again under the same key.
        """
        if not 1 <= len(key) <= KEY_LENGTH:
            raise InvalidInput(f"An idempotency key has 1 to {KEY_LENGTH} characters.")
        mark = sha256(request).hexdigest()
        self._forget()
        while (kept := self._kept.get((caller, key))) is not None:
            if kept.mark != mark:
                raise KeyReused(key)
            await kept.done.wait()
            if kept.answer is not None:
                return kept.answer, True
        mine = self._kept[caller, key] = _Kept(mark, self._now(), anyio.Event())
        again = False
        try:
            mine.answer = await self._found(caller, key, request)
            again = mine.answer is not None
            if mine.answer is None:
                mine.answer = await work()
                await self._keep(caller, key, request, mine.answer)
        finally:
            if mine.answer is None:
                self._kept.pop((caller, key), None)
            mine.done.set()
        return mine.answer, again

    async def _found(self, caller: str, key: str, request: bytes) -> Answer | None:
        if self._shelf is None:
            return None
        found = await anyio.to_thread.run_sync(self._shelf.find, caller, key, request)
        if found is False:
            raise KeyReused(key)
        return found if isinstance(found, Answer) else None

    async def _keep(self, caller: str, key: str, request: bytes, answer: Answer) -> None:
        if self._shelf is not None and len(answer.body) <= LARGEST:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(self._shelf.keep, caller, key, request, answer)

    def _forget(self) -> None:
        old = self._now() - self._seconds
        while self._kept:
            place, oldest = next(iter(self._kept.items()))
            if oldest.at > old and len(self._kept) <= self._most:
                return
            del self._kept[place]
