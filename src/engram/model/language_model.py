"""A language model as far as a prompt must know it: how much it reads and writes, and how it counts."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """What a model can take and do."""

    name: str
    """As the caller gave it; empty: nobody said."""
    window: int = 32_000
    """Tokens of prompt and reply together."""
    output: int = 4_000
    """Tokens of one reply at most."""
    tools: bool = True
    vision: bool = False
    thinking: bool = False
    tokenizer: str = "o200k"
    """Which family counts its tokens; see `engram.text.tokens`."""
    caution: float = 1.0
    """How many times higher its tokens are taken, where its counting cannot be checked."""
    provider: str = ""
    family: str = ""
    """The entry of the registry that decided; empty: unknown, and the figures are the cautious ones."""
