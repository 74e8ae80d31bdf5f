"""Settings of the doors that speak to other services: the proxy before a model."""

from __future__ import annotations

from dataclasses import dataclass

from engram.config.making import choice, number, words

PLACES = ("user", "system")


@dataclass(frozen=True, slots=True)
class ProxyConfig:
    """The proxy before a model: it adds what is remembered to a chat, and listens to it."""

    base_url: str = words(
        "", "the model service behind the proxy, as its clients write it; empty: none", "layers"
    )
    api_key: str = words("", "key for that service; empty: each caller's own is passed on", "layers")
    budget_tokens: int = number(600, 0, 100_000, "tokens of memories added to a chat; 0: none", "design")
    time_budget_ms: int = number(
        400, 1, 60_000, "recalling may take so long; then the chat goes on without", "design"
    )
    place: str = choice(
        "user", PLACES, "where memories stand: before the user's words, or in the system's", "design"
    )
    capture: str = choice("on", ("on", "off"), "whether the proxy listens to what is said", "design")
    upstream_s: float = number(600.0, 1, 86_400, "how long the model may be silent", "design")
    waiting: int = number(1_000, 1, 1_000_000, "exchanges that may wait to be listened to", "design")
