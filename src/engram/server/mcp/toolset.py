"""Which tools a client is shown: a dozen that every agent can use, or all of them."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from engram.server.mcp import (
    briefing,
    bus,
    doubting,
    knowing,
    learned,
    maintaining,
    reading,
    results,
    sessions,
    upkeep,
    writing,
)
from engram.server.mcp.tool import Tool

_ORDER = (
    "memory_search", "memory_store", "memory_context", "memory_capture", "memory_get", "memory_list",
    "memory_update", "memory_delete", "memory_feedback", "memory_relate", "search", "fetch",
)  # fmt: skip
_PINNED = {tool.name: tool for tool in (*reading.PINNED, *writing.PINNED)}
_MORE = (
    *reading.MORE, *writing.MORE, *knowing.MORE, *learned.MORE, *briefing.MORE, *results.MORE, *upkeep.MORE,
    *maintaining.MORE, *doubting.MORE, *bus.MORE, *sessions.MORE,
)  # fmt: skip

PINNED: Mapping[str, Tool] = MappingProxyType({name: _PINNED[name] for name in _ORDER})
FULL: Mapping[str, Tool] = MappingProxyType({**PINNED, **{tool.name: tool for tool in _MORE}})
TOOLSETS: Mapping[str, Mapping[str, Tool]] = MappingProxyType({"pinned": PINNED, "full": FULL})
