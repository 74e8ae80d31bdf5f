"""Made-up memories, hits and requests for prompts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from engram.config import ContextConfig
from engram.context.budget import find_model
from engram.context.build import PromptRequest
from engram.model.memory import Forms, Memory, Priority
from engram.model.recall import Hit, Trust
from engram.text import forms
from engram.text.words import content_hash

DAY = datetime(2026, 5, 3, tzinfo=UTC)
TRUST = Trust(1.0, 1.0, 1.0, 1.0)


def memory(content: str, *, vital: bool = False, **more: Any) -> Memory:
    """A memory with its shorter forms."""
    digest = content_hash(content)
    shorter = Forms(forms.summary(content), forms.key_fact(content), forms.label(content))
    priority = Priority.P0 if vital else Priority.P2
    return Memory(digest[:32], content, digest, DAY, DAY, priority=priority, forms=shorter, **more)


def hits(contents: Sequence[str]) -> list[Hit]:
    """Hits in this order, each a little less relevant."""
    return [
        Hit(memory(content), 1.0, max(0.1, 1 - place / 500), TRUST, content)
        for place, content in enumerate(contents)
    ]


def sentences(count: int) -> list[str]:
    """So many different statements of different length."""
    long = "It was moved there because the old place was too small, and nobody wanted to carry it twice."
    return [
        f"Server {number} of the blue cluster listens on port {8000 + number}."
        + (f" {long}" * (number % 4)).replace("old", f"old {number}")
        for number in range(count)
    ]


def asked(message: str = "Which port?", model: str = "gpt-4o", **more: Any) -> PromptRequest:
    """A request for a prompt."""
    return PromptRequest(message, find_model(model), more.pop("settings", ContextConfig()), **more)
