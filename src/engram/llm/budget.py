"""The daily limit: tokens are reserved before a call and accounted for after it, so that the limit holds.

Calls under way count with the most they can cost; what was spent is read from the store, where calls of other
processes stand too.
"""

from __future__ import annotations

import threading
from datetime import datetime, time

from engram.errors import EngramError
from engram.model.advice import Call
from engram.model.clock import Clock
from engram.ports import Spending


class Budget:
    """Tokens of a day (UTC). Safe to share between threads."""

    def __init__(self, spending: Spending, clock: Clock, daily_tokens: int) -> None:
        self._spending = spending
        self._clock = clock
        self._limit = daily_tokens
        self._lock = threading.Lock()
        self._reserved = 0

    def reserve(self, tokens: int) -> bool:
        """Whether a call may cost so much; if so, `settle` must follow."""
        with self._lock:
            fits = self._fits(tokens)
            if fits:
                self._reserved += tokens
            return fits

    def settle(self, reserved: int, call: Call | None) -> None:
        """Account for a call and give back what it did not use; what cannot be written stays reserved."""
        kept = 0
        if call is not None:
            try:
                self._spending.record(call)
            except EngramError:
                kept = call.prompt_tokens + call.answer_tokens
        with self._lock:
            self._reserved += kept - reserved

    def has_room(self, tokens: int) -> bool:
        """Whether a call may cost so much at the moment; reserves nothing."""
        with self._lock:
            return self._fits(tokens)

    def _fits(self, tokens: int) -> bool:
        return not self._limit or self._spent() + self._reserved + tokens <= self._limit

    def _spent(self) -> int:
        """Today's tokens; all of them when nobody can say: a limit that cannot be checked is no limit."""
        try:
            return self._spending.tokens_since(start_of_day(self._clock.now()))
        except EngramError:
            return self._limit


def start_of_day(moment: datetime) -> datetime:
    """Midnight before a moment, in its own time zone.

    >>> start_of_day(datetime(2024, 5, 7, 13, 45)).isoformat()
    '2024-05-07T00:00:00'
    """
    return datetime.combine(moment.date(), time.min, moment.tzinfo)
