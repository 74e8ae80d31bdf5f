"""Idempotency keys: a write that is sent again is answered again, and not carried out again.

The answers are kept in memory for a day, so many at most. After a restart a repeated write is a new one; a
statement that is known already is reinforced, not stored twice.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from hashlib import sha256

import anyio

from engram.errors import InvalidInput
from engram.server.refusals import KeyReused

KEY_LENGTH = 255
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


class Keys:
    """The answers to keyed writes. Used by the event loop alone."""

    def __init__(self, most: int, hours: float, now: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._seconds = hours * 3_600
        self._now = now
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
        try:
            mine.answer = await work()
        finally:
            if mine.answer is None:
                self._kept.pop((caller, key), None)
            mine.done.set()
        return mine.answer, False

    def _forget(self) -> None:
        old = self._now() - self._seconds
        while self._kept:
            place, oldest = next(iter(self._kept.items()))
            if oldest.at > old and len(self._kept) <= self._most:
                return
            del self._kept[place]
