"""Limits: how much a request may bring, how often a caller may come; and answers to repeated requests."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from hashlib import sha256
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from engram.errors import InvalidInput
from engram.lazily import dataclass
from engram.server.problems import BodyTooLarge, BodyTooSlow, KeyReused, TooManyRequests

if TYPE_CHECKING:
    from starlette.types import Message, Receive

    from engram.engine import Engram


CALLERS = 10_000
"""Callers that are counted at once; the one that was quiet for longest is forgotten."""
MINUTE = 60.0
LARGE_BODY = 1_000_000
"""A body above this leaves so much behind that it is worth a look."""
BODY_S = 60.0
"""So long a body may take to come. A connection that is held open costs a little, and many of them a lot."""


class Pace:
    """A bucket of requests for each caller that fills up evenly. Used by the event loop alone."""

    def __init__(self, a_minute: int, now: Callable[[], float] = time.monotonic) -> None:
        self._limit = a_minute
        self._now = now
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, caller: str) -> None:
        """Count a request. Raises TooManyRequests when the bucket is empty.

        >>> pace = Pace(1, now=lambda: 0.0)
        >>> pace.take("rex")
        >>> pace.take("rex")
        Traceback (most recent call last):
        ...
        engram.server.problems.TooManyRequests: E6006: 1 requests a minute are taken from a caller: wait 60 s.
        """
        if not self._limit:
            return
        now = self._now()
        left, since = self._left.pop(caller, (float(self._limit), now))
        left = min(self._limit, left + (now - since) * self._limit / MINUTE)
        self._left[caller] = (left - 1 if left >= 1 else left), now
        if len(self._left) > CALLERS:
            self._left.popitem(last=False)
        if left < 1:
            raise TooManyRequests(self._limit, (1 - left) * MINUTE / self._limit)


class Body:
    """The body of a request, refused as soon as it is larger than it may be or later than it may come."""

    def __init__(self, receive: Receive, limit: int) -> None:
        self.taken = 0
        self._receive = receive
        self._limit = limit
        self._until = time.monotonic() + BODY_S
        self._is_whole = False

    async def receive(self) -> Message:
        """The next part. Raises BodyTooLarge or BodyTooSlow."""
        if self._is_whole:
            return await self._receive()  # nothing but word that the caller has gone, whenever that is
        try:
            with anyio.fail_after(max(0.0, self._until - time.monotonic())):
                message = await self._receive()
        except TimeoutError as error:
            raise BodyTooSlow(BODY_S) from error
        if message["type"] == "http.request":
            self._is_whole = not message.get("more_body", False)
            self.taken += len(message.get("body", b""))
            if self.taken > self._limit:
                raise BodyTooLarge(self._limit)
        return message


def check_length(length: str | None, limit: int) -> None:
    """Refuse by its length a body that need not be read."""
    if length is not None and length.isdigit() and int(length) > limit:
        raise BodyTooLarge(limit)


# ---------------------------------------------------------------- idempotency
# Idempotency keys: a write that is sent again is answered again, and not carried out again.
#
# The answers are kept in memory, and in a store that outlasts the server, for a day, so many at most. A
# write that was carried out while the server died before its answer was kept is a new one when it comes
# again; a statement that is known already is reinforced, not stored twice.

KEY_LENGTH = 255
IDEMPOTENCY_KEYS = 10_000  # idempotency keys known at most
IDEMPOTENCY_HOURS = 24.0  # hours for which one is known
LARGEST = 1_000_000
"""Answers longer than this are not kept beyond the life of the server."""
HEADER = "idempotency-key"
REPLAYED = "Idempotency-Replayed"


@dataclass(frozen=True, slots=True)
class IdempotentAnswer:
    """What was answered."""

    status: int
    body: bytes


@dataclass(slots=True)
class _StoredAnswer:
    mark: str
    at: float
    done: anyio.Event
    answer: IdempotentAnswer | None = None


class Keys:
    """The answers to keyed writes. Used by the event loop alone."""

    def __init__(
        self,
        most: int = IDEMPOTENCY_KEYS,
        hours: float = IDEMPOTENCY_HOURS,
        now: Callable[[], float] = time.monotonic,
        memory: Callable[[], Engram] | None = None,
    ) -> None:
        self._most, self._hours, self._now = most, hours, now
        self._memory = memory
        """Where answers outlast the server. That waits, so it is done in a thread."""
        self._kept: OrderedDict[tuple[str, str], _StoredAnswer] = OrderedDict()

    async def once(
        self, caller: str, key: str, request: bytes, work: Callable[[], Awaitable[IdempotentAnswer]]
    ) -> tuple[IdempotentAnswer, bool]:
        """Carry out a write, or give the answer it had, and whether it did. Raises KeyReused.

        One that failed is not kept: it may be tried again under the same key.
        """
        if not 1 <= len(key) <= KEY_LENGTH:
            raise InvalidInput(f"An idempotency key has 1 to {KEY_LENGTH} characters.")
        mark = sha256(request).hexdigest()
        self._forget()
        while (former := self._kept.get((caller, key))) is not None:
            if former.mark != mark:
                raise KeyReused(key)
            await former.done.wait()
            if former.answer is not None:
                return former.answer, True
        mine = self._kept[caller, key] = _StoredAnswer(mark, self._now(), anyio.Event())
        again = False
        try:
            mine.answer = await self._stored(caller, key, request)
            again = mine.answer is not None
            if mine.answer is None:
                mine.answer = await work()
                await self._keep(caller, key, request, mine.answer)
        finally:
            if mine.answer is None:
                self._kept.pop((caller, key), None)
            mine.done.set()
        return mine.answer, again

    async def _stored(self, caller: str, key: str, request: bytes) -> IdempotentAnswer | None:
        if (memory := self._memory) is None:
            return None
        stored = await anyio.to_thread.run_sync(
            lambda: memory().answers.find(caller, key, request, hours=self._hours)
        )
        if stored is False:
            raise KeyReused(key)
        return IdempotentAnswer(*stored) if isinstance(stored, tuple) else None

    async def _keep(self, caller: str, key: str, request: bytes, answer: IdempotentAnswer) -> None:
        if (memory := self._memory) is not None and len(answer.body) <= LARGEST:
            stored = (answer.status, answer.body)
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(
                    lambda: memory().answers.keep(
                        caller, key, request, stored, hours=self._hours, most=self._most
                    )
                )

    def _forget(self) -> None:
        old = self._now() - self._hours * 3_600
        while self._kept:
            place, oldest = next(iter(self._kept.items()))
            if oldest.at > old and len(self._kept) <= self._most:
                return
            del self._kept[place]
