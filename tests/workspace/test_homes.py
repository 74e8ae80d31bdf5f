"""The two layouts as their users keep them: what comes in, goes out and comes in again is the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from tests.workspace.conftest import home

KEPT = (
    "content", "category", "priority", "tags", "status", "verification", "confidence", "created_at",
    "event_time", "verified_at", "expires_at", "session", "pinned", "policy", "details",
)  # fmt: skip


def facts_of(memory: Engram) -> dict[str, dict[str, Any]]:
    found = {}
    for record in memory.export():
        edges = {(e["source"], e["target"], e["type"]) for e in record["edges"] if e["origin"] != "engine"}
        found[record["id"]] = {**{name: record[name] for name in KEPT}, "edges": edges}
    return found


@pytest.mark.parametrize("layout", ["ledger", "files"])
def test_in_out_and_in_again_is_the_same(memory: Engram, other: Engram, tmp_path: Path, layout: str) -> None:
    memory.workspace.init(home(layout, tmp_path / "theirs"), layouts=[layout])
    memory.workspace.init(tmp_path / "ours", layouts=[layout])
    other.workspace.init(tmp_path / "ours", layouts=[layout])

    came, again = facts_of(memory), facts_of(other)
    assert sorted(one["content"] for one in came.values()) == sorted(one["content"] for one in again.values())
    named = {
        id_
        for id_ in came
        if id_.startswith(("evt-", "fact-", "decision-", "preference-", "correction-", "artifact-"))
    }
    assert len(named) == (11 if layout == "ledger" else 7)
    for id_ in named:
        assert again[id_] == came[id_]
    by_words = {one["content"]: one for one in again.values()}
    for one in came.values():
        told = by_words[one["content"]]
        for name in ("category", "priority", "status", "tags"):
            assert told[name] == one[name], (name, one["content"])


def test_a_ledger_keeps_its_ids_times_loops_and_corrections(memory: Engram, tmp_path: Path) -> None:
    report = memory.workspace.init(home("ledger", tmp_path / "home"))
    assert report.problems == ()

    first = memory.get("evt-20260128-001")
    assert first is not None
    assert (first.content, str(first.priority), first.session) == (
        "Follow up Client X by Feb 1",
        "P0",
        "main",
    )
    assert first.created_at.isoformat() == "2026-01-28T19:03:11+00:00"
    old, new = memory.get("evt-20260128-002"), memory.get("evt-20260129-001")
    assert old is not None
    assert new is not None
    assert (str(old.status), str(new.status)) == ("superseded", "active")
    assert ("evt-20260129-001", "evt-20260128-002", "supersedes") in {
        (e.source, e.target, str(e.type)) for e in memory.relations(new.id)
    }
    assert "evt-20260128-001" in {one.id for one in memory.commitments.list()}
    paid = memory.commitments.get("evt-20260129-002")
    assert (str(paid.state), paid.because) == ("done", "January invoice was sent to BuckyDrop")
    words = {one.content for one in memory.list(limit=100)}
    assert {"Client X deadline moved to Feb 15", "BuckyDrop: Ships from Guangzhou"} <= words
    page = next(
        one
        for one in memory.list(limit=100)
        if "Draft in Telegram" in one.content and one.content.startswith("## When")
    )
    assert (page.category, page.details["title"]) == ("procedure", "Answer on WhatsApp")
    ships = next(one for one in memory.list(limit=100) if "Guangzhou" in one.content)
    assert ships.verified_at is not None
    assert ships.verified_at.date().isoformat() == "2026-01-28"
    assert {one.words for one in memory.triggers.list()} == {
        ("shopify", "store", "DLM"),
        ("buckydrop", "supplier"),
    }


def test_a_remnic_folder_keeps_status_confidence_verification_and_links(
    memory: Engram, tmp_path: Path
) -> None:
    memory.workspace.init(home("files", tmp_path / "home"), layouts=["files"])

    old, new = memory.get("fact-1770325200000-a1b2"), memory.get("fact-1770368400000-c3d4")
    assert old is not None
    assert new is not None
    assert (str(old.status), old.confidence, old.usage.accessed) == ("superseded", 0.92, 4)
    assert (str(new.status), str(new.verification), new.confidence) == ("active", "user_confirmed", 0.97)
    assert new.verified_at is not None
    edges = {(e.source, e.target, str(e.type)) for e in memory.relations(new.id)}
    assert (new.id, old.id, "supersedes") in edges
    assert (new.id, "decision-1770325300000-e5f6", "supports") in edges
    said = memory.get("decision-1770325300000-e5f6")
    assert said is not None
    assert said.details["front_matter"]["lineage"] == ["turn-12", "turn-13"]
    lunch = memory.get("fact-1767349800000-1234")
    assert lunch is not None
    assert str(lunch.status) == "archived"
    words = {one.content for one in memory.list(limit=100)}
    assert {"Ilse Peeters: Works at Acme", "Wants short answers", "Ask before deleting anything"} <= words
    assert (
        memory.recall("which port does the harbor service listen on?")
        .hits[0]
        .memory.content.endswith("9090.")
    )


@pytest.mark.parametrize("layout", ["ledger", "files"])
def test_files_that_are_there_are_not_written_over(memory: Engram, tmp_path: Path, layout: str) -> None:
    root = home(layout, tmp_path / "home")
    before = {path.relative_to(root): path.read_text() for path in root.rglob("*") if path.is_file()}
    memory.workspace.init(root, layouts=[layout])
    again = memory.workspace.sync(root)
    assert (again.created, again.updated, again.forgotten, again.written) == ((), (), (), ())
    views = {"pack.md", "open-loops.json", "checkpoint.json", "topics.json", "triggers.json"}
    for path, text in before.items():
        if path.name not in views and path != Path("memory/ledger.jsonl"):
            now = (root / path).read_text()
            assert all(line in now for line in text.splitlines()), path
    if layout == "ledger":
        lines = [
            line for path in (root / "memory").glob("ledger*.jsonl") for line in path.read_text().splitlines()
        ]
        for line in before[Path("memory/ledger.jsonl")].splitlines():
            assert any(line[:60] in one for one in lines)
