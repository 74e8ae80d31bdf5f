"""Time is passed in. Nothing else in the engine asks the system what time it is."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Protocol

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MICROSECOND = timedelta(microseconds=1)


class Clock(Protocol):
    """What tells the time."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back, for time-outs and measuring."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> datetime:
        """The present moment, in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()


def to_micros(moment: datetime) -> int:
    """A moment as whole microseconds since 1970, exactly.

    >>> to_micros(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment that `to_micros` came from."""
    return EPOCH + timedelta(microseconds=micros)
