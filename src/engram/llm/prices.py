"""What a call costs, by the table of prices that ships or by the prices in the configuration."""

from __future__ import annotations

from functools import cache

from engram.config import LlmConfig
from engram.llm.files import lines

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
