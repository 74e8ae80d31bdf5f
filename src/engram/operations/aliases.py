"""Old names that clients use: each stands here and nowhere else, with the name it has now."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

TOOLS_BEFORE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "memory_audit": ("maintenance.audit",),
        "memory_chain": ("facts.chain",),
        "memory_commitment_change": ("commitments.change",),
        "memory_commitment_open": ("commitments.open",),
        "memory_confirm": ("memories.confirm",),
        "memory_conflict_resolve": ("conflicts.resolve",),
        "memory_consolidate": ("consolidate",),
        "memory_count": ("memories.count",),
        "memory_deliver": ("bus.deliver",),
        "memory_doctor": ("maintenance.doctor", "maintenance.repair"),
        "memory_dream": ("maintenance.dream",),
        "memory_drift": ("maintenance.drift",),
        "memory_entity_merge": ("entities.alias",),
        "memory_entity_split": ("entities.split",),
        "memory_fact_add": ("facts.add",),
        "memory_fact_end": ("facts.end",),
        "memory_flow_learn": ("sessions.learn",),
        "memory_flush": ("flush",),
        "memory_gap_answer": ("gaps.answer",),
        "memory_gap_dismiss": ("gaps.dismiss",),
        "memory_ingest_research": ("sources.research",),
        "memory_ingest_summary": ("sources.summary",),
        "memory_ingest_task": ("sources.task", "sources.flow"),
        "memory_ingest_text": ("sources.text",),
        "memory_news": ("history.news",),
        "memory_pin": ("memories.pin",),
        "memory_project_complete": ("sessions.complete",),
        "memory_promote": ("memories.promote", "memories.demote"),
        "memory_publications": ("bus.publications",),
        "memory_publish": ("bus.publish",),
        "memory_recall_health": ("maintenance.recall_health",),
        "memory_reembed": ("maintenance.reembed",),
        "memory_restore": ("restore",),
        "memory_run_report": ("maintenance.report",),
        "memory_runs": ("maintenance.runs",),
        "memory_said": ("history.said",),
        "memory_session_abort": ("sessions.abort",),
        "memory_session_end": ("sessions.end",),
        "memory_session_get": ("sessions.get",),
        "memory_session_hold": ("sessions.hold",),
        "memory_session_list": ("sessions.list",),
        "memory_session_reply": ("sessions.reply",),
        "memory_session_resume": ("sessions.resume",),
        "memory_session_start": ("sessions.start",),
        "memory_session_suspend": ("sessions.suspend",),
        "memory_session_turn": ("sessions.turn",),
        "memory_spending": ("maintenance.spending",),
        "memory_stats": ("stats",),
        "memory_status": ("memories.set_status",),
        "memory_subscribe": ("bus.subscribe",),
        "memory_subscriptions": ("bus.subscriptions",),
        "memory_touch": ("memories.touch",),
        "memory_trigger_put": ("triggers.update", "triggers.add"),
        "memory_trigger_remove": ("triggers.remove",),
        "memory_turns": ("history.turns",),
        "memory_undo": ("maintenance.undo",),
        "memory_unrelate": ("memories.unrelate",),
        "memory_unsubscribe": ("bus.unsubscribe",),
        "memory_withdraw": ("bus.withdraw",),
    }
)
"""MCP tools no longer listed that still work: the operation of each, or the first of several that fits."""

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
