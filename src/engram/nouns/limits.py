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
KEPT = 1_000
"""So many places and sessions are counted at a time; the one that has been quiet longest is forgotten."""


class Limits:
    """Counts recalls. Lives as long as the engine; any thread may use it.

    The minute holds for the caller's place, whatever session it names; the session for the two together.
    """

    def __init__(self, settings: LimitsConfig, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._lock = Lock()
        self._minutes: OrderedDict[Scope, deque[float]] = OrderedDict()
        self._sessions: OrderedDict[tuple[Scope, str], int] = OrderedDict()

    def take(self, access: Access, session: str = "") -> None:
        """Count one recall. Raises TooManyRecalls, and counts nothing, when it is one too many."""
        if access.role is Role.OWNER:
            return
        with self._lock:
            now, place = self._clock.monotonic(), (access.scope, session)
            asked = self._minutes.get(access.scope, deque())
            while asked and now - asked[0] >= MINUTE_S:
                asked.popleft()
            a_minute, a_session = self._settings.recalls_a_minute, self._settings.recalls_a_session
            if a_session and self._sessions.get(place, 0) >= a_session:
                raise TooManyRecalls(a_session, "session", None)
            if a_minute and len(asked) >= a_minute:
                raise TooManyRecalls(a_minute, "minute", MINUTE_S - (now - asked[0]))
            asked.append(now)
            _keep(self._minutes, access.scope, asked)
            _keep(self._sessions, place, self._sessions.get(place, 0) + 1)


def _keep(counts: OrderedDict[K, V], key: K, value: V) -> None:
    counts[key] = value
    counts.move_to_end(key)
    if len(counts) > KEPT:
        counts.popitem(last=False)
