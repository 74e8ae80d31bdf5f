"""What the tests of the model path share: an account that keeps the contract, turns, and an advisor."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from engram.config import LlmConfig
from engram.llm import ModelAdvisor
from engram.model.capture import Part, Turn
from engram.model.clock import Clock
from engram.model.knowledge import CallOutcome, ModelCall
from engram.ports import Spending
from engram.testing import FakeClock

AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


class Account:
    """Spending without a store."""

    def __init__(self) -> None:
        self.calls: list[ModelCall] = []
        self.forms: dict[str, str] = {}
        self._lock = threading.Lock()

    def record(self, call: ModelCall) -> None:
        with self._lock:
            self.calls.append(call)

    def form(self, model: str) -> str:
        return self.forms.get(model, "")

    def keep_form(self, model: str, form: str) -> None:
        self.forms[model] = form

    def tokens_since(self, at: datetime) -> int:
        with self._lock:
            return sum(call.prompt_tokens + call.answer_tokens for call in self.calls if call.at >= at)

    @property
    def outcomes(self) -> list[tuple[str, str, CallOutcome]]:
        return [(call.component, call.model, call.outcome) for call in self.calls]


def turn(content: str, key: int = 7, speaker: str = "", part: Part = Part.USER) -> Turn:
    return Turn(id=f"m{key}", session="s", content=content, at=AT, speaker=speaker, part=part, key=key)


def advisor(
    url: str,
    account: Spending | None = None,
    clock: Clock | None = None,
    wait: Callable[[float], None] = lambda _: None,
    **settings: Any,
) -> ModelAdvisor:
    config = LlmConfig(**{"level": "auto", "base_url": url, "model": "large", "timeout_s": 5.0, **settings})
    return ModelAdvisor(config, account or Account(), clock or FakeClock(), wait=wait)


def statement(content: str, **more: Any) -> dict[str, Any]:
    """A statement as a good model writes it."""
    return {
        "content": content, "category": "fact", "confidence": 0.95, "turns": [1], "event_time": None,
        "facts": [], "entities": [], "corrects": False, **more,
    }  # fmt: skip
