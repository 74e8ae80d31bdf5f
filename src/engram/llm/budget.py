"""The daily limit: tokens are reserved before a call and accounted for after it, so that the limit holds.

Calls under way count with the most they can cost; what was spent is read from the store, where calls of other
processes stand too.
"""

from __future__ import annotations

import threading
from datetime import datetime, time
from functools import cache
from typing import Final

from engram.config import LlmConfig
from engram.errors import EngramError
from engram.llm.prompts import lines
from engram.model.advice import ModelCall
from engram.model.clock import Clock
from engram.ports import Spending

# ---------------------------------------------------------------- prices
# What a call costs, by the table of prices that ships or by the prices in the configuration.


MILLION = 1_000_000


def cost(model: str, prompt_tokens: int, answer_tokens: int, config: LlmConfig) -> float:
    """US dollars, estimated; 0 where the price is not known, as for a model on one's own machine.

    >>> round(cost("gpt-4o-mini-2024-07-18", 1_000_000, 100_000, LlmConfig()), 2)
    0.21
    >>> cost("llama3.1:8b", 1_000_000, 0, LlmConfig())
    0.0
    """
    prompt, answer = price(model)
    prompt = config.prompt_price or prompt
    answer = config.answer_price or answer
    return (prompt_tokens * prompt + answer_tokens * answer) / MILLION


def price(model: str) -> tuple[float, float]:
    """Dollars for a million tokens asked and answered; a provider before a slash does not matter.

    >>> price("openai/GPT-4o-mini"), price("gpt-4o"), price("gpt-oss:20b")
    ((0.15, 0.6), (2.5, 10.0), (0.0, 0.0))
    """
    name = model.lower().rpartition("/")[2]
    fitting = [start for start in _table() if name == start or name.startswith((f"{start}-", f"{start}:"))]
    return _table()[max(fitting, key=len)] if fitting else (0.0, 0.0)


@cache
def _table() -> dict[str, tuple[float, float]]:
    rows = (row.split() for row in lines("prices.txt"))
    return {name: (float(prompt), float(answer)) for name, prompt, answer in rows}


# ---------------------------------------------------------------- resting
# Models that failed are left alone for a while, so that nobody waits for them at every call.


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

    def settle(self, reserved: int, call: ModelCall | None) -> None:
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
