"""A line of waiting work: many threads put in, one takes out in groups. It has a limit and can be closed."""

from __future__ import annotations

import threading
from collections import deque
from typing import Generic, TypeVar

from engram.errors import Overloaded, StoreClosed

T = TypeVar("T")


class Line(Generic[T]):
    """First in, first out. Once closed, nothing more comes in, and what waits can still be taken."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._items: deque[T] = deque()
        self._closed = False
        lock = threading.Lock()
        self._room = threading.Condition(lock)
        self._work = threading.Condition(lock)

    def put(self, item: T, patience_s: float) -> None:
        """Wait for room, then join the line. Raises Overloaded or StoreClosed."""
        with self._room:
            self._room.wait_for(lambda: self._closed or len(self._items) < self._limit, patience_s)
            if self._closed:
                raise StoreClosed
            if len(self._items) >= self._limit:
                raise Overloaded(len(self._items))
            self._items.append(item)
            self._work.notify()

    def take(self, most: int) -> list[T]:
        """Wait for work, then take what is there, up to `most`. Empty when the line is closed and done."""
        with self._work:
            self._work.wait_for(lambda: self._closed or self._items)
            taken = [self._items.popleft() for _ in range(min(most, len(self._items)))]
            self._room.notify(len(taken))
            return taken

    def close(self) -> None:
        """Let nobody in any more."""
        with self._work:
            self._closed = True
            self._work.notify_all()
            self._room.notify_all()

    def __len__(self) -> int:
        return len(self._items)
