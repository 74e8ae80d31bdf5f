"""The smart buffer: what was just said and what waits come in; whether to read it now, and why, comes out.

Reading several turns together costs less and understands more; what matters must not wait.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from engram.config import CaptureConfig
from engram.model.turn import Waiting
from engram.text.signals import Level


def due(level: Level, waiting: Waiting, now: datetime, settings: CaptureConfig) -> str:
    """Why the waiting turns are to be read now; empty when they may wait.

    >>> due(Level.LOW, Waiting(2), datetime(2026, 1, 1), CaptureConfig())
    ''
    >>> due(Level.HIGH, Waiting(1), datetime(2026, 1, 1), CaptureConfig())
    'a strong signal'
    """
    if waiting.turns == 0:
        return ""
    if level >= Level.HIGH:
        return "a strong signal"
    if waiting.turns >= settings.buffer_turns:
        return f"{waiting.turns} turns wait"
    if waiting.since is not None and now - waiting.since > timedelta(minutes=settings.buffer_minutes):
        return f"the oldest turn waits for more than {settings.buffer_minutes:g} minutes"
    return ""
