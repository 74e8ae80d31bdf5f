"""The sensory buffer: what was just said, word for word, with whom it names and what it does.

It holds the last 20 exchanges, in this process alone. After 30 seconds an exchange may be promoted to
working memory; until then "that" means something in here.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engram.model.session import Speech

CAPACITY = 20
PROMOTED_AFTER = timedelta(seconds=30)


class Held:
    """Words that can be wiped: they lie in bytes that are overwritten, not in a text that only goes away."""

    __slots__ = ("_bytes",)

    def __init__(self, text: str = "") -> None:
        self._bytes = bytearray(text.encode())

    @property
    def text(self) -> str:
        """The words, for a moment."""
        return self._bytes.decode()

    def wipe(self) -> None:
        """Overwrite the words; afterwards they are empty."""
        self._bytes[:] = bytes(len(self._bytes))
        self._bytes.clear()


@dataclass(slots=True)
class Exchange:
    """A message and what was answered."""

    message: Held
    at: datetime
    entities: tuple[str, ...] = ()
    speech: Speech = Speech.STATEMENT
    reply: Held = field(default_factory=Held)
    promoted: bool = False

    def wipe(self) -> None:
        """Overwrite both sides."""
        self.message.wipe()
        self.reply.wipe()


class SensoryBuffer:
    """A ring of exchanges. Owned by one session, used under its lock."""

    def __init__(self, capacity: int = CAPACITY) -> None:
        self._capacity = capacity
        self._ring: deque[Exchange] = deque()

    def hear(self, exchange: Exchange) -> list[Exchange]:
        """Take in an exchange; those that fall out, to be promoted if worth it and then wiped."""
        self._ring.append(exchange)
        return [self._ring.popleft() for _ in range(len(self._ring) - self._capacity)]

    def due(self, now: datetime) -> list[Exchange]:
        """Exchanges that are old enough for working memory and have not been offered to it."""
        return [one for one in self._ring if not one.promoted and now - one.at >= PROMOTED_AFTER]

    def last(self) -> Exchange | None:
        """The latest exchange."""
        return self._ring[-1] if self._ring else None

    def named(self, most: int = 10) -> tuple[str, ...]:
        """Names that came up lately, the latest first, each once."""
        names = (name for one in reversed(self._ring) for name in one.entities)
        return tuple(dict.fromkeys(names))[:most]

    def wipe(self) -> None:
        """Overwrite and empty it."""
        for one in self._ring:
            one.wipe()
        self._ring.clear()

    def __iter__(self) -> Iterator[Exchange]:
        return iter(tuple(self._ring))

    def __len__(self) -> int:
        return len(self._ring)
