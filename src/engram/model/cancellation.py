"""Cancellation: whether somebody still waits for the work in hand.

A door that gives up on a call (its time is over, its caller went away, the server stops) cancels it. Long
work asks `check_cancelled` between its pieces; it ends there with `WorkCancelled`, and what it was about to
write is not written. Where nobody can give up, as in the library, nothing is ever cancelled.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from engram.errors import WorkCancelled


class Cancellation:
    """The wish that one call ends. Any thread may cancel it; the thread that works asks."""

    __slots__ = ("_event", "_why")

    def __init__(self) -> None:
        self._event = threading.Event()
        self._why = ""

    def cancel(self, why: str) -> None:
        """Let the work end at its next step; the first reason stays."""
        self._why = self._why or why
        self._event.set()

    def check(self) -> None:
        """Go on, or raise WorkCancelled."""
        if self._event.is_set():
            raise WorkCancelled(self._why)


_CURRENT: ContextVar[Cancellation | None] = ContextVar("engram-cancellation", default=None)


def current_cancellation() -> Cancellation | None:
    """What the work in this thread is cancelled by; to be handed on to another thread that works for it."""
    return _CURRENT.get()


@contextmanager
def cancelled_by(cancellation: Cancellation | None) -> Iterator[None]:
    """Inside, the work asks this one.

    >>> with cancelled_by(Cancellation()):
    ...     check_cancelled()
    """
    before = _CURRENT.set(cancellation)
    try:
        yield
    finally:
        _CURRENT.reset(before)


def check_cancelled() -> None:
    """Raise WorkCancelled if nobody waits any more. Costs next to nothing: call it once for each piece."""
    cancellation = _CURRENT.get()
    if cancellation is not None:
        cancellation.check()
