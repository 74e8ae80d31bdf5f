"""Settings of contexts: what a prompt's sections may take, and how a conversation is shortened."""

from __future__ import annotations

from dataclasses import dataclass

from engram.config.making import number, words


@dataclass(frozen=True, slots=True)
class ContextConfig:
    """What goes into a prompt, and how much of it."""

    model: str = words("", "the model that prompts are made for when a caller names none", "design")
    models_file: str = words("", "a TOML file with models of your own, beside those known", "design")
    reply_tokens: int = number(
        4_096, 16, 1_000_000, "tokens kept free for a reply; four times more where a model thinks", "cortex"
    )
    uncertainty: float = number(
        0.05, 0, 0.5, "share of a window kept free where tokens are estimated, not counted", "measured"
    )
    identity_share: float = number(0.08, 0, 1, "of the free tokens: who the agent is", "cortex")
    working_share: float = number(0.15, 0, 1, "of the free tokens: what is held in mind", "cortex")
    history_share: float = number(0.45, 0, 1, "of the free tokens: the conversation so far", "cortex")
    recalled_share: float = number(0.12, 0, 1, "of the free tokens: what is remembered", "cortex")
    schemas_share: float = number(0.05, 0, 1, "of the free tokens: patterns", "cortex")
    skills_share: float = number(0.08, 0, 1, "of the free tokens: skills", "cortex")
    today_share: float = number(0.04, 0, 1, "of the free tokens: notes of today", "cortex")
    roster_share: float = number(0.03, 0, 1, "of the free tokens: other agents", "cortex")
    most_memories: int = number(500, 1, 500, "memories in one prompt at most", "cortex")
    verbatim_exchanges: int = number(3, 0, 100, "last exchanges that are kept word for word", "cortex")
    told_exchanges: int = number(10, 0, 1_000, "exchanges before those kept as one line each", "cortex")
