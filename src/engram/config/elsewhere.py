"""Variables of two older systems, as settings of this one: whoever moves here changes no environment.

What is said in our own words (`ENGRAM_SERVER__PORT`) wins. Variables without a counterpart are passed over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

MINUTES_AN_HOUR = 60


def _same(value: str) -> str:
    return value


def _base(value: str) -> str:
    """An address without the call at its end.

    >>> _base("https://api.example/v1/chat/completions"), _base("https://api.example/v1/")
    ('https://api.example/v1', 'https://api.example/v1')
    """
    trimmed = value.strip().rstrip("/")
    for call in ("/chat/completions", "/embeddings"):
        trimmed = trimmed.removesuffix(call)
    return trimmed


def _hours(minutes: str) -> str:
    """Minutes as hours; what is no number stays, and is refused by name."""
    try:
        return str(float(minutes) / MINUTES_AN_HOUR)
    except ValueError:
        return minutes


# Variable → setting, and how its value is written there. Of two that mean one setting the later counts.
VARIABLES: Mapping[str, tuple[str, Callable[[str], str]]] = MappingProxyType(
    {
        "ENGRAM_HOST": ("server.host", _same),
        "REMNIC_HOST": ("server.host", _same),
        "ENGRAM_PORT": ("server.port", _same),
        "REMNIC_PORT": ("server.port", _same),
        "ENGRAM_AUTH_TOKEN": ("server.api_key", _same),
        "REMNIC_AUTH_TOKEN": ("server.api_key", _same),
        "ENGRAM_API_KEY": ("server.api_key", _same),
        "ENGRAM_LLM_URL": ("llm.base_url", _base),
        "ENGRAM_LLM_KEY": ("llm.api_key", _same),
        "ENGRAM_LLM_MODEL": ("llm.model", _same),
        "ENGRAM_LLM_LEVEL": ("llm.level", _same),
        "ENGRAM_EMBED_URL": ("embed.base_url", _base),
        "ENGRAM_EMBED_KEY": ("embed.api_key", _same),
        "ENGRAM_EMBED_MODEL": ("embed.model", _same),
        "ENGRAM_BUFFER_CAP": ("forgetting.buffer_cap", _same),
        "ENGRAM_CONSOLIDATE_MINS": ("maintain.every_hours", _hours),
        "ENGRAM_PROXY_UPSTREAM": ("proxy.base_url", _base),
        "ENGRAM_PROXY_KEY": ("proxy.api_key", _same),
    }
)
CHAT_MODEL, EMBED_MODEL = "gpt-4o-mini", "text-embedding-3-small"
"""The models meant by those who name a service and no model."""


def from_elsewhere(variables: Mapping[str, str]) -> dict[str, str]:
    """The settings that those variables stand for.

    >>> from_elsewhere({"ENGRAM_PORT": "4000", "ENGRAM_AUTO_MERGE": "1"})
    {'server.port': '4000'}
    >>> from_elsewhere({"ENGRAM_LLM_URL": "http://127.0.0.1:11434/v1/chat/completions"})
    {'llm.base_url': 'http://127.0.0.1:11434/v1', 'llm.model': 'gpt-4o-mini'}
    """
    told = {
        setting: written(variables[variable])
        for variable, (setting, written) in VARIABLES.items()
        if variables.get(variable)
    }
    if "llm.base_url" in told:
        told.setdefault("llm.model", CHAT_MODEL)
    if "embed.base_url" in told:
        told["embed.name"] = "openai"
        told.setdefault("embed.model", EMBED_MODEL)
    return told
