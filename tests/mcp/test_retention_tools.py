"""Clients of *retention* call their tools by the names they know, with the arguments of their document."""

# ruff: noqa: E501 (a call a line)

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.server.mcp.handshake import listed_tools
from engram.server.mcp.tools import ToolDispatcher, toolset
from engram.testing import FakeClock, HashEmbedder

Call = Callable[..., Any]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engram]:
    with Engram.open(tmp_path / "m.db", clock=FakeClock(), embedder=HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def call(memory: Engram) -> Call:
    """The answer of a tool as its text block holds it."""
    door = ToolDispatcher(toolset("retention"))

    def call(name: str, /, **given: Any) -> Any:
        answer = door.call(memory, name, given)
        assert not answer.error, (name, answer.error)
        return json.loads(answer.text)

    return call


def test_its_tools_are_listed_with_their_arguments() -> None:
    tools = {one["name"]: one for one in listed_tools("retention")}
    assert len(tools) == 73
    assert tools["recall"]["inputSchema"]["required"] == ["query"]
    assert {"query", "top_k", "mode"} <= set(tools["recall"]["inputSchema"]["properties"])


def test_remembering_and_recalling_by_layer_type_and_mode(call: Call) -> None:
    kept = call("remember", content="The API uses JWT tokens", layer="semantic", memory_type="fact")
    assert kept["status"] == "stored"
    call("remember_decision", decision="Use a real database in tests", rationale="Mocks lied")
    call("remember_error", error="The disk was full", prevention="Watch the disk")
    call("remember_interaction", question="Which port?", answer="9090")
    call("remember_negative", content="The API does not use cookies")
    found = call("recall", query="JWT tokens API", mode="facts_only")
    assert isinstance(found, list)
    assert found[0]["id"] == kept["id"]
    assert (found[0]["layer"], found[0]["memory_type"], found[0]["status"]) == ("semantic", "fact", "active")
    assert [one["content"] for one in call("recall_layer", layer="procedural")]
    assert {one["memory_type"] for one in call("recall_by_type", memory_type="procedure")} == {"procedure"}
    assert "JWT" in call("recall_context", query="JWT tokens")["context"]
    assert call("recall_hints", query="JWT tokens", hint_length=7)["hints"][0]["hint"] == "The API"
    assert "NEGATIVE KNOWLEDGE: " in json.dumps(call("recall_recent"))


def test_status_with_its_history(call: Call) -> None:
    id_ = call("remember", content="The office is in Berlin", layer="semantic")["id"]
    call("update_status", memory_id=id_, new_status="challenged", reason="conflicting info")
    call("invalidate", memory_id=id_, reason="moved")
    told = call("status_history", memory_id=id_)
    steps = [(one["old_status"], one["new_status"], one["reason"]) for one in told["transitions"]]
    assert steps == [("active", "challenged", "conflicting info"), ("challenged", "invalidated", "moved")]
    assert told["current_status"] == "invalidated"
    assert call("recall", query="where is the office") == []
    assert call("forget", memory_id="00000000-unknown") == {"status": "forgotten"}


def test_every_other_tool_answers(call: Call, tmp_path: Path) -> None:
    one = call("remember", content="Anna works at Acme in Ghent", layer="episodic")["id"]
    two = call("remember", content="Ben plays the violin in Bruges", layer="working")["id"]
    (tmp_path / "notes.md").write_text("# House\n\nThe boiler was serviced in May 2025.\n")
    calls: dict[str, dict[str, Any]] = {
        "recall_explain": {"query": "Anna"}, "recall_entity": {"name": "Anna"}, "recall_related": {"name": "Anna"},
        "recall_timeline": {"start": "2020-01-01"}, "recall_code": {"query": "parser"}, "status": {}, "health": {},
        "layers": {"query": "Anna"}, "entity_graph": {"name": "Anna"}, "access_patterns": {}, "memory_map": {},
        "find_similar": {"memory_id": one}, "search_entities": {"query": "Ann"}, "entity_timeline": {"name": "Anna"},
        "promote": {"memory_id": two, "target_layer": "semantic"}, "demote": {"memory_id": two, "target_layer": "working"},
        "edit_memory": {"memory_id": one, "new_content": "Anna works at Globex in Ghent"}, "pin": {"memory_id": one},
        "unpin": {"memory_id": one}, "annotate": {"memory_id": one, "note": "checked"}, "compress": {"query": "Anna"},
        "tag": {"memory_id": one, "add": ["work"]}, "batch_tag": {"query": "violin", "tags": ["music"]},
        "link_memories": {"memory_id_1": one, "memory_id_2": two}, "backlinks": {"memory_id": one},
        "update_entity": {"name": "Anna", "alias": "Annie"}, "merge_entities": {"source_name": "Bruges", "target_name": "Ghent"},
        "count_by": {"group_by": "layer"}, "export": {"format": "json"}, "explain_importance": {"memory_id": one},
        "quality_metrics": {}, "diary_write": {"entry": "a quiet day"}, "diary_read": {}, "session_summary": {},
        "get_skills": {"query": "release"}, "list_projects": {}, "find_duplicates": {}, "dedup": {},
        "ingest": {"path": str(tmp_path / "notes.md")}, "scan_codebase": {"path": str(tmp_path)}, "consolidate": {},
        "remember_project": {"name": "harbor", "status": "green"}, "bulk_forget": {"confirm": True, "layer": "working"},
        "drift_check": {"project_root": str(tmp_path)}, "drift_fix": {"project_root": str(tmp_path)},
        "recall_layer": {"layer": "semantic"},
    }  # fmt: skip
    told = {name: call(name, **given) for name, given in calls.items()}
    assert told["status"]["memories"]["total"] == 2
    assert told["tag"] == {"tags": ["work"]}
    assert told["diary_read"]["diary"][0].endswith("a quiet day")
    assert told["count_by"]["counts"]
    assert call("bulk_forget", layer="working") == {
        "error": "confirm=true and at least one filter are needed"
    }
    assert {"forgotten", "promoted", "memories_merged", "beliefs_challenged"} <= set(told["consolidate"])


ANSWERS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("recall_explain", {"query": "Acme", "top_k": 3}, "query intent expanded_terms phrase_terms cache_hit latency_ms candidate_counts results"),
    ("recall_entity", {"name": "Anna"}, "entity memories relationships"),
    ("status", {}, "memories entities relationships db_size_mb"),
    ("entity_graph", {"name": "Anna"}, "nodes edges"),
    ("remember", {"content": "The mill stands by the river", "source_type": "remember:ai", "importance": 0.6}, "id status surprise importance"),
    ("update_entity", {"name": "Anna", "alias": "Annie", "metadata": {"a": 1}}, "status entity_id"),
    ("consolidate", {}, "forgotten promoted clusters_found memories_merged peer_cards_generated cross_domain_bridges beliefs_challenged drift_score drift_issues"),
    ("compress", {"query": "Acme", "max_tokens": 100}, "compressed original_count"),
    ("diary_write", {"entry": "a quiet day"}, "status entries"),
    ("diary_read", {}, "diary"),
    ("merge_entities", {"source_name": "Anna", "target_name": "Acme"}, "status kept deleted aliases"),
    ("recall_context", {"query": "mill", "max_tokens": 100}, "context tokens memories_used"),
    ("count_by", {"group_by": "layer"}, "counts"),
    ("export", {"format": "markdown", "limit": 5}, "markdown count"),
    ("export", {"format": "json", "layer": "episodic"}, "memories"),
    ("health", {}, "memories embedding_cache_loaded embedding_cache_size orphaned_entities stale_working_memories fts_indexed memories_without_embeddings"),
    ("list_projects", {}, "projects"),
    ("compress_embeddings", {}, "scanned compressed by_tier"),
    ("reranker_status", {}, "trained model_path model_exists"),
    ("train_reranker", {"epochs": 5}, "error"),
    ("ingest_sessions", {"limit": 3}, "sessions memories_created exchanges"),
    ("invalidate", {"memory_id": "00000000-unknown"}, "error"),
    ("recall_related", {"name": "Nobody Known"}, "error"),
    ("quality_metrics", {}, "storage_quality curation_ratio avg_access_count enrichment_ratio total_memories accessed_memories curated_memories enriched_memories evolved_memories confirmed_memories"),
    ("detect_communities", {"generate_summaries": True}, "communities entities_assigned largest_community community_details summaries_generated"),
    ("dedup", {"threshold": 0.99, "max_merges": 2}, "found merged skipped"),
    ("find_duplicates", {"threshold": 0.99}, "duplicates"),
    ("session_summary", {}, "summary diary_entries searches writes open_loops decisions"),
    ("session_handoff", {"session_id": "s1", "limit": 4}, "session_id generated_at summary current_state decisions errors facts recent_work open_loops recent_queries touched_entities suggested_queries stats"),
    ("session_checkpoint", {"note": "half way"}, "summary checkpoint_note"),
    ("resume_context", {"session_id": "s1"}, "latest handoffs note"),
    ("resume_context", {"session_id": "never seen"}, "latest handoffs note generated"),
    ("focus_brief", {"query": "the mill"}, "query summary result_count time_window top_layers top_types top_statuses top_sources top_entities key_memories suggested_queries"),
    ("compare_queries", {"query_a": "mill", "query_b": "river"}, "query_a query_b overlap only_a only_b"),
    ("hotspots", {"hours": 24.0}, "hours memory_count hot_entities hot_layers hot_sources hot_types hot_memories activity_buckets"),
    ("recompute_importance", {}, "total updated"),
    ("search_entities", {"query": "A"}, "entities"),
    ("entity_timeline", {"name": "Acme"}, "entity timeline"),
    ("memory_map", {}, "memories layers date_range last_hour"),
    ("recall_hints", {"query": "mill"}, "query hints note"),
    ("get_skills", {"query": "mill"}, "should_inject confidence task_novelty domain_coverage reason skill_count context"),
    ("get_skills", {"query": "mill", "format": False}, "should_inject skills"),
    ("drift_check", {"search_roots": ["."], "check_functions": False}, "score issues memories_checked claims_extracted claims_verified claims_valid stale_memories timestamp summary"),
    ("drift_fix", {"project_root": ".", "dry_run": True}, "dry_run total_actions actions invalidated flagged_stale forgotten"),
    ("extract_patterns", {"hours": 4.0, "novelty_threshold": 0.25, "dry_run": True}, "patterns total would_store dry_run"),
    ("extract_patterns", {}, "stored skipped total_patterns total_stored total_skipped"),
    ("detect_communities", {"min_size": 2}, "communities entities_assigned largest_community community_details"),
    ("quality_metrics", {}, "storage_quality curation_ratio avg_access_count total_memories accessed_memories confirmed_memories"),
    ("bulk_forget", {"confirm": False, "layer": "working"}, "error"),
    ("bulk_forget", {"confirm": True, "older_than": "2020-01-01"}, "status count"),
)  # fmt: skip
"""A tool, what a client gives it, and what the answer must have."""


@pytest.mark.slow
def test_each_tool_answers_with_the_fields_its_document_names(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = tmp_path / ".claude" / "projects" / "mill" / "one.jsonl"
    log.parent.mkdir(parents=True)
    said = {"role": "user", "content": "I moved to Porto and I work as a harbour pilot."}
    log.write_text(json.dumps({"type": "user", "uuid": "u1", "sessionId": "one", "message": said}))
    monkeypatch.setenv("HOME", str(tmp_path))
    assert call("ingest_sessions")["memories_created"] > 0
    call("remember", content="Anna works at Acme in Ghent", layer="episodic")
    call("remember", content="Anna and Bob of Acme met in Lisbon", layer="semantic", memory_type="fact")
    missing = []
    for name, given, wanted in ANSWERS:
        answer = call(name, **given)
        missing += [(name, field) for field in wanted.split() if field not in answer]
    assert missing == []


def test_they_are_loaded_only_when_they_are_asked_for() -> None:
    names = "[name for name in sys.modules if name.endswith('retention_tools')]"
    code = f"import sys; from engram.server.mcp.tools import toolset; toolset('full'); print({names})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert done.stdout.split() == ["[]"]
