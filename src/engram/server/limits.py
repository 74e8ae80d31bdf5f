"""Limits: how much a request may bring, and how often a caller may come."""

from __future__ import annotations

import ctypes
import gc
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from engram.server.refusals import BodyTooLarge, BodyTooSlow, TooManyRequests

if TYPE_CHECKING:
    from starlette.types import Message, Receive

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
        engram.server.refusals.TooManyRequests: E6006: 1 requests a minute are taken from a caller: wait 60 s.
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


def give_back_memory() -> None:
    """Let the system have what a large body took. Python and the C library would keep it."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, others need it less
        if trim is not None:
            trim(0)
