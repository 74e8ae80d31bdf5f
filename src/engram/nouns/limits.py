"""Limits: how often a caller that is not the owner may recall. Asking again and again feels out a secret."""

from __future__ import annotations

from collections import OrderedDict, deque
from threading import Lock
from typing import TypeVar

from engram.config import LimitsConfig
from engram.errors import TooManyRecalls
from engram.model.clock import Clock
from engram.model.scope import Access, Role, Scope

K = TypeVar("K")
V = TypeVar("V")
MINUTE_S = 60.0
HOUR_S = 3_600.0
"""So long a recall counts for the session it was part of."""
KEPT = 1_000
"""So many places and sessions are counted at a time; the one that has been quiet longest is forgotten."""


class Limits:
    """Counts recalls. Lives as long as the engine; any thread may use it.

    The minute holds for the caller's place, whatever session it names; the hour for each session it names.
    Both pass: nobody is locked out for good.
    """

    def __init__(self, settings: LimitsConfig, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = Lock()
        self._minutes: OrderedDict[Scope, deque[float]] = OrderedDict()
        self._sessions: OrderedDict[tuple[Scope, str], deque[float]] = OrderedDict()

    def take(self, access: Access, session: str = "") -> None:
        """Count one recall. Raises TooManyRecalls, and counts nothing, when it is one too many."""
        if access.role is Role.OWNER:
            return
        with self._lock:
            now = self._clock.monotonic()
            asked = _since(self._minutes.get(access.scope), now - MINUTE_S)
            a_minute, a_session = self._settings.recalls_a_minute, self._settings.recalls_a_session
            here = (access.scope, session)
            before = _since(self._sessions.get(here), now - HOUR_S) if session and a_session else None
            if before is not None and len(before) >= a_session:
                raise TooManyRecalls(a_session, "session", HOUR_S - (now - before[0]))
            if a_minute and len(asked) >= a_minute:
                raise TooManyRecalls(a_minute, "minute", MINUTE_S - (now - asked[0]))
            asked.append(now)
            _keep(self._minutes, access.scope, asked)
            if before is not None:
                before.append(now)
                _keep(self._sessions, here, before)


def _since(asked: deque[float] | None, first: float) -> deque[float]:
    """The times that still count."""
    found = asked if asked is not None else deque[float]()
    while found and found[0] <= first:
        found.popleft()
    return found


def _keep(counts: OrderedDict[K, V], key: K, value: V) -> None:
    counts[key] = value
    counts.move_to_end(key)
    if len(counts) > KEPT:
        counts.popitem(last=False)
