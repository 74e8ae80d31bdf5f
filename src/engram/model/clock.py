"""Time is passed in. Nothing else in the engine asks the system what time it is."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Any, Final, Protocol

from engram.errors import WorkCancelled
from engram.lazily import zoneinfo

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


class SystemZone(tzinfo):
    """The zone this system is set to, with its summer time, whatever it is called."""

    def utcoffset(self, moment: datetime | None) -> timedelta | None:
        """How far it is ahead of UTC at a moment of its own clocks."""
        return self._read(moment).utcoffset()

    def dst(self, moment: datetime | None) -> timedelta | None:
        """Not told: the offset holds it already."""

    def tzname(self, moment: datetime | None) -> str | None:
        """What the system calls it then."""
        return self._read(moment).tzname()

    def fromutc(self, moment: datetime) -> datetime:
        """A moment of UTC on its clocks."""
        return moment.replace(tzinfo=UTC).astimezone().replace(tzinfo=self)

    @staticmethod
    def _read(moment: datetime | None) -> datetime:
        return (moment or datetime.now(UTC)).replace(tzinfo=None).astimezone()

    def __repr__(self) -> str:
        return "SystemZone()"


_OFFSET: Final = re.compile(r"([+-])(\d{2}):?(\d{2})")


@lru_cache(maxsize=256)
def zone_of(name: str) -> tzinfo:
    """The time zone of an IANA name ("Europe/Oslo") or an offset ("+05:30"); empty: the system's.

    Raises ValueError when there is no such zone.

    >>> zone_of("+05:30"), zone_of("UTC")
    (datetime.timezone(datetime.timedelta(seconds=19800)), datetime.timezone.utc)
    """
    if not name:
        return SystemZone()
    if name.upper() in {"UTC", "Z"}:
        return UTC
    offset = _OFFSET.fullmatch(name)
    if offset:
        ahead = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(ahead if offset[1] == "+" else -ahead)
    try:
        return zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError) as error:
        message = f"there is no time zone {name!r}: give an IANA name such as Europe/Oslo, or +02:00"
        raise ValueError(message) from error


def here(moment: datetime, zone: tzinfo) -> datetime:
    """A moment on the clocks of whoever speaks: its own offset tells where, UTC says nothing about that.

    >>> here(datetime(2025, 9, 17, 3, tzinfo=UTC), zone_of("-07:00")).day
    16
    >>> here(datetime(2025, 9, 16, 20, tzinfo=zone_of("-07:00")), zone_of("Asia/Tokyo")).day
    16
    """
    return moment if moment.utcoffset() else moment.astimezone(zone)


def written_moment(value: Any) -> datetime | None:
    """A time as it stands written: ISO 8601, or a day; of UTC where no offset is said; None for what is none.

    >>> written_moment("2026-01-28T14:03:11-05:00").hour, written_moment("2026-01-28").day
    (14, 28)
    >>> written_moment("soon"), written_moment(None)
    (None, None)
    """
    try:
        found = value if isinstance(value, datetime) else datetime.fromisoformat(value.strip())
    except (ValueError, AttributeError):
        return None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def to_micros(moment: datetime) -> int:
    """A moment as whole microseconds since 1970, exactly.

    >>> to_micros(datetime(1970, 1, 1, 0, 0, 1, tzinfo=UTC))
    1000000
    """
    return (moment - EPOCH) // MICROSECOND


def from_micros(micros: int) -> datetime:
    """The moment that `to_micros` came from."""
    return EPOCH + timedelta(microseconds=micros)


# ---------------------------------------------------------------- cancellation
# Cancellation: whether somebody still waits for the work in hand.
#
# A door that gives up on a call (its time is over, its caller went away, the server stops) cancels it. Long
# work asks `check_cancelled` between its pieces; it ends there with `WorkCancelled`, and what it was about
# to write is not written. Where nobody can give up, as in the library, nothing is ever cancelled.


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

    @property
    def is_cancelled(self) -> bool:
        """Whether the work is to end."""
        return self._event.is_set()

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
