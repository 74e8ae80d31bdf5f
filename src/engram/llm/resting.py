"""Models that failed are left alone for a while, so that nobody waits for them at every call."""

from __future__ import annotations

import threading
from typing import Final

from engram.model.clock import Clock

EVERY: Final = "*"
"""Stands for all models of the service."""
LONGEST: Final = 3_600.0
"""Seconds that a service may ask to be left alone."""


class Resting:
    """Which models rest, until when and why. Safe to share between threads."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._seconds = seconds
        self._lock = threading.Lock()
        self._until: dict[str, tuple[float, str]] = {}

    def begin(self, model: str, reason: str, asked_s: float = 0.0) -> None:
        """Leave a model alone, for longer if its service asks for that."""
        until = self._clock.monotonic() + max(self._seconds, min(asked_s, LONGEST))
        with self._lock:
            self._until[model] = (until, reason)

    def end(self, model: str) -> None:
        """It works again."""
        with self._lock:
            self._until.pop(model, None)
            self._until.pop(EVERY, None)

    def why(self, model: str) -> str:
        """Why a model rests at the moment; empty when it does not."""
        with self._lock:
            for name in (model, EVERY):
                until, reason = self._until.get(name, (0.0, ""))
                if reason and self._clock.monotonic() < until:
                    return reason
        return ""
