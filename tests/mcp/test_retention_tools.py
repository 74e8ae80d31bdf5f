"""Clients of *retention* call their tools by the names they know, with the arguments of their document."""

# ruff: noqa: E501 (a call a line)

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.server.mcp.dispatch import ToolDispatcher
from engram.server.mcp.handshake import listed
from engram.server.mcp.tools import TOOLSETS
from engram.testing import FakeClock, HashEmbedder

Call = Callable[..., Any]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Engram]:
    with Engram.open(tmp_path / "m.db", clock=FakeClock(), embedder=HashEmbedder()) as opened:
        yield opened


@pytest.fixture
def call(memory: Engram) -> Call:
    """The answer of a tool as its text block holds it."""
    door = ToolDispatcher(TOOLSETS["retention"])

    def call(name: str, /, **given: Any) -> Any:
        answer = door.call(memory, name, given)
        assert not answer.error, (name, answer.error)
        return json.loads(answer.text)

    return call


def test_sixty_tools_are_listed_with_their_arguments() -> None:
    tools = {one["name"]: one for one in listed("retention")}
    assert len(tools) == 60
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
