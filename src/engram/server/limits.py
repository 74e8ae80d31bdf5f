"""Limits: how much a request may bring, and how often a caller may come."""

from __future__ import annotations

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


def bounded(receive: Receive, limit: int) -> Receive:
    """The same body, refused as soon as it is larger than the limit or later than it may come."""
    taken, whole = 0, False
    begun = time.monotonic()

    async def read() -> Message:
        nonlocal taken, whole
        if whole:
            return await receive()  # nothing but word that the caller has gone, whenever that is
        try:
            with anyio.fail_after(max(0.0, begun + BODY_S - time.monotonic())):
                message = await receive()
        except TimeoutError as error:
            raise BodyTooSlow(BODY_S) from error
        if message["type"] == "http.request":
            whole = not message.get("more_body", False)
            taken += len(message.get("body", b""))
            if taken > limit:
                raise BodyTooLarge(limit)
        return message

    return read


def check_length(length: str | None, limit: int) -> None:
    """Refuse by its length a body that need not be read."""
    if length is not None and length.isdigit() and int(length) > limit:
        raise BodyTooLarge(limit)
