"""A clock that stands still until it is moved, so that "after 30 days" takes no time to test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2024, 1, 1, 12, 0, tzinfo=UTC)


class FakeClock:
    """Tells the time it was set to.

    >>> clock = FakeClock()
    >>> clock.advance(days=30, seconds=5)
    >>> clock.now().isoformat(), clock.monotonic()
    ('2024-01-31T12:00:05+00:00', 2592005.0)
    """

    def __init__(self, start: datetime = START) -> None:
        self._now = start
        self._elapsed = 0.0

    def now(self) -> datetime:
        """The moment it was moved to."""
        return self._now

    def monotonic(self) -> float:
        """Seconds it was moved forward by."""
        return self._elapsed

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Let time pass."""
        step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        self._now += step
        self._elapsed += max(step.total_seconds(), 0.0)

    def jump(self, moment: datetime) -> None:
        """Set the wall clock, backwards too, as a machine does that asks the network for the time."""
        self._now = moment
