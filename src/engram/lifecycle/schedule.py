"""The schedule: when memories were maintained last and how idle it is come in; what is due comes out."""

from __future__ import annotations

from datetime import datetime, timedelta

from engram.config import MaintainConfig
from engram.model.upkeep import RunKind

USUAL = MaintainConfig()


def due(
    now: datetime,
    idle: timedelta,
    consolidated: datetime | None,
    dreamt: datetime | None,
    settings: MaintainConfig = USUAL,
) -> RunKind | None:
    """What is to be run now. A consolidation goes first; a dream waits until nobody has asked for a while.

    A memory that was never maintained is consolidated at the first quiet moment.

    >>> from datetime import UTC
    >>> now, day = datetime(2026, 3, 2, tzinfo=UTC), timedelta(days=1)
    >>> due(now, timedelta(minutes=5), None, None).value
    'consolidate'
    >>> due(now, timedelta(minutes=5), now - timedelta(hours=1), None).value
    'dream'
    >>> due(now, timedelta(minutes=1), now - timedelta(hours=1), None) is None
    True
    """
    quiet = idle >= timedelta(minutes=settings.dream_idle_minutes)
    if settings.every_hours and _is_over(consolidated, timedelta(hours=settings.every_hours), now):
        late = consolidated is not None and _is_over(
            consolidated, 2 * timedelta(hours=settings.every_hours), now
        )
        # A memory that is never left alone is maintained all the same, a period later.
        return RunKind.CONSOLIDATE if quiet or late else None
    if settings.dream_every_minutes and quiet:
        pause = timedelta(minutes=settings.dream_every_minutes)
        return RunKind.DREAM if _is_over(dreamt, pause, now) else None
    return None


def _is_over(last: datetime | None, pause: timedelta, now: datetime) -> bool:
    return last is None or now - last >= pause
