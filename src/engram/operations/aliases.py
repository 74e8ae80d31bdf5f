"""Old names that clients use: each stands here and nowhere else, with the name it has now."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TOOLS_BEFORE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"memory_promote": ("memories.promote", "memories.demote"), "memory_stats": ("stats",)}
)
"""MCP tools that are not listed and that clients of other systems call: the first operation that fits."""

COMMANDS_BEFORE: Mapping[str, str] = MappingProxyType(
    {
        name: f"{group} {name}"
        for group, names in {
            "backup": "salvage",
            "config": "models",
            "knowledge": "conflicts gaps",
            "maintain": "audit doctor dream drift migrate reembed reread runs undo vacuum",
            "memory": (
                "confirm demote edit erase feedback history pin promote relate restore status trash unrelate"
            ),
            "server": "bus mcp page proxy token",
            "session": "pack resume triggers",
        }.items()
        for name in names.split()
    }
)
"""Commands that stand in a group by now and are still understood without it."""

ACTIONS: Mapping[str, str] = MappingProxyType({"empty": "purge", "down": "demote"})
"""Words that agents say are true when they mean an action of another name."""

ARGUMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "query": ("q", "text", "question", "prompt", "input"),
        "content": ("text", "memory", "data", "fact", "statement", "message"),
        "text": ("content", "document"),
        "limit": ("top_k", "topK", "k", "n", "n_results", "max_results", "count"),
        "id": ("memory_id", "memoryId", "uuid"),
        "memory_id": ("id", "memoryId", "uuid"),
        "memory_ids": ("ids",),
        "commitment_id": ("id",),
        "gap_id": ("id", "key"),
        "trigger_id": ("id",),
        "run_id": ("run",),
        "id_a": ("a",),
        "id_b": ("b",),
        "budget": ("max_tokens", "maxTokens", "token_budget", "tokens"),
        "tags": ("tag", "labels", "keywords"),
        "source": ("source_id", "from", "from_id"),
        "target": ("target_id", "to", "to_id"),
        "type": ("relation", "relation_type", "relationType", "edge_type"),
        "because": ("reason", "why"),
        "helpful": ("useful", "positive"),
        "user": ("user_message", "input"),
        "assistant": ("assistant_message", "reply", "response", "output"),
        "session": ("session_id", "sessionId", "conversation_id", "thread_id"),
        "session_id": ("session", "sessionId", "conversation_id", "thread_id"),
        "event_time": ("when", "date", "timestamp", "time"),
        "since": ("after", "from_date", "start"),
        "until": ("before", "to_date", "end"),
        "request_id": ("idempotency_key", "requestId"),
        "name": ("entity", "entity_name"),
        "status": ("state",),
        "title": ("name",),
    }
)
"""Other words for an argument, the likeliest first. One that the call itself takes keeps its own meaning."""
