"""Moving in from other systems: ids, times, status, users, relations and trust come along."""

# ruff: noqa: E501 (exports stand here as they are written)

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import apsw
import pytest

from engram import Engram
from engram.errors import UnknownFormat
from engram.model.scope import Access, Scope
from tests.workspace.conftest import HOMES

ENGRAM_RS = """
CREATE TABLE memories (id TEXT PRIMARY KEY, content TEXT, layer INTEGER, importance REAL, created_at INTEGER,
  last_accessed INTEGER, access_count INTEGER, repetition_count INTEGER, decay_rate REAL, source TEXT, tags TEXT,
  namespace TEXT, embedding BLOB, kind TEXT, modified_at INTEGER);
CREATE TABLE facts (id TEXT, subject TEXT, predicate TEXT, object TEXT, memory_id TEXT, namespace TEXT, created_at INTEGER,
  valid_from INTEGER, valid_until INTEGER, superseded_by TEXT);
CREATE TABLE trash (id TEXT, content TEXT, layer INTEGER, importance REAL, created_at INTEGER, deleted_at INTEGER,
  tags TEXT, namespace TEXT, source TEXT, kind TEXT);
INSERT INTO memories VALUES ('6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'Ilse lives in Ghent', 3, 0.8, 1767349800000,
  1767436200000, 7, 2, 0.05, 'session', '["lesson", "home"]', 'default', NULL, 'semantic', 1767350000000);
INSERT INTO memories VALUES ('7f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'Tag before you push', 2, 0.6, 1767349800000,
  1767436200000, 0, 0, 0.01, 'api', '[]', 'work', NULL, 'procedural', 1767349800000);
INSERT INTO facts VALUES ('f1', 'Ilse', 'lives in', 'Ghent', '6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'default', 1, NULL, NULL, NULL);
INSERT INTO facts VALUES ('f0', 'Ilse', 'lives in', 'Bruges', '6f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'default', 1, 1500000000000, 1600000000000, 'f1');
INSERT INTO trash VALUES ('8f9619ff-8b86-4d01-b42d-00cf4fc964ff', 'Thrown away', 1, 0.3, 1767349800000, 1767436200000,
  '[]', 'default', 'api', 'semantic');
"""


def wrote(path: Path, value: Any) -> Path:
    path.write_text(value if isinstance(value, str) else json.dumps(value), encoding="utf-8")
    return path


def words(memory: Engram) -> set[str]:
    return {one.content for one in memory.list(limit=200)}


def test_a_database_of_engram_rs(memory: Engram, tmp_path: Path) -> None:
    memory = memory.seen_by(Access.everything(), "human")
    path = tmp_path / "engram.db"
    database = apsw.Connection(str(path))
    database.execute(ENGRAM_RS)
    database.close()
    report = memory.sources.move_in(path)
    assert (report.format, report.counts) == ("engram-rs", {"stored": 3})
    ilse = memory.get("6f9619ff-8b86-4d01-b42d-00cf4fc964ff")
    assert ilse is not None
    assert (ilse.layer.name, ilse.usage.accessed, ilse.usage.repeated) == ("CORE", 7, 2)
    assert (ilse.created_at.isoformat(), ilse.tags) == (
        "2026-01-02T10:30:00+00:00",
        ("lesson", "home", "session"),
    )
    assert [one.fact.object for one in memory.facts.query(subject="ilse")] == ["ghent"]
    held = {one.fact.object: one.fact.valid_to for one in memory.facts.history("ilse", "lives in")}
    assert held["ghent"] is None
    assert held["bruges"] is not None, "what held before came along, with its end"
    thrown = memory.get("8f9619ff")
    assert thrown is not None
    assert str(thrown.status) == "archived"


def test_mem0_keeps_users_apart(memory: Engram, tmp_path: Path) -> None:
    told = {
        "results": [
            {"id": "0aa2b29e-2b1f-4c3e-9d7e-111111111111", "memory": "Likes jazz", "user_id": "alex", "created_at": "2025-05-01T10:00:00-07:00",
             "updated_at": "2025-06-01T10:00:00-07:00", "categories": ["music"], "metadata": {"mood": "good"}},
            {"id": "0aa2b29e-2b1f-4c3e-9d7e-222222222222", "memory": "Likes opera", "user_id": "bob", "created_at": "2025-05-01T10:00:00-07:00"},
        ],
        "relations": [{"source": "alex", "relationship": "plays", "target": "bass"}],
    }  # fmt: skip
    report = memory.sources.move_in(wrote(tmp_path / "mem0.json", told))
    assert report.counts == {"stored": 3}
    alex = memory.get("0aa2b29e-2b1f-4c3e-9d7e-111111111111")
    assert alex is not None
    assert (alex.scope.user, alex.tags, alex.modified_at.month) == ("alex", ("music",), 6)
    assert "Likes jazz" not in {one.content for one in memory.list(scope=Scope(user="bob"))}


def test_zep_facts_keep_the_time_they_held(memory: Engram, tmp_path: Path) -> None:
    told = {
        "nodes": [{"uuid": "n1-00000001", "name": "Ilse", "labels": ["Entity", "Person"], "summary": "Runs the harbor project"},
                  {"uuid": "n2-00000001", "name": "Ghent"}],
        "edges": [
            {"uuid": "e1-00000001", "fact": "Ilse lives in Ghent", "name": "LIVES_IN", "source_node_uuid": "n1-00000001",
             "target_node_uuid": "n2-00000001", "created_at": "2025-01-01T00:00:00Z", "valid_at": "2024-01-01T00:00:00Z", "invalid_at": "2025-06-01T00:00:00Z"},
            {"uuid": "e2-00000001", "fact": "Ilse lives in Bruges", "name": "LIVES_IN", "created_at": "2025-06-01T00:00:00Z"},
        ],
    }  # fmt: skip
    report = memory.sources.move_in(wrote(tmp_path / "zep.json", told))
    assert (report.format, report.counts) == ("zep", {"stored": 3})
    old = memory.get("e1-00000001")
    assert old is not None
    assert (str(old.status), old.valid_to is not None) == ("superseded", True)
    assert "Ilse: Runs the harbor project" in words(memory)


def test_hindsight_units(memory: Engram, tmp_path: Path) -> None:
    told = {"items": [
        {"id": "u1-00000001", "text": "Ilse moved the release", "fact_type": "experience", "mentioned_at": "2025-05-01T00:00:00Z",
         "occurred_start": "2025-04-30T00:00:00Z", "entities": "Ilse, release", "links": [{"to_unit_id": "u2-00000001", "weight": 0.5}]},
        {"id": "u2-00000001", "text": "Fridays are bad for releases", "fact_type": "opinion", "confidence_score": 0.6, "occurred_start": "2025-04-01T00:00:00Z"},
    ]}  # fmt: skip
    report = memory.sources.move_in(wrote(tmp_path / "bank.json", told))
    assert (report.format, report.related) == ("hindsight", 1)
    one = memory.get("u1-00000001")
    assert one is not None
    assert (str(one.kind), one.happened_at.day) == ("episodic", 30)
    two = memory.get("u2-00000001")
    assert two is not None
    assert (two.confidence, two.created_at.month) == (0.6, 4)


def test_letta_blocks_and_passages(memory: Engram, tmp_path: Path) -> None:
    told = {
        "agents": [{"name": "rex", "block_ids": ["b1"]}],
        "blocks": [{"id": "b1", "label": "human", "value": "- The user is called Ada\n- Ada likes tea"}],
        "archival_memory": [{"id": "passage-00000001", "text": "The roof was mended in May", "created_at": "2025-05-02T00:00:00Z", "tags": ["house"]}],
    }  # fmt: skip
    report = memory.sources.move_in(wrote(tmp_path / "rex.af", told))
    assert (report.format, report.counts) == ("letta", {"stored": 3})
    assert {"Ada likes tea", "The roof was mended in May"} <= words(memory)
    told["agents"] = [{"name": "rex"}]
    assert memory.sources.move_in(wrote(tmp_path / "rex.af", told)).counts == {"unchanged": 3}


def test_chats_are_listened_to(memory: Engram, tmp_path: Path) -> None:
    said = {
        "uuid": "m1",
        "text": "My dog is called Biscuit and he is allergic to chicken.",
        "sender": "human",
        "created_at": "2024-05-01T10:00:00Z",
    }
    told = [{"uuid": "k1", "name": "Dogs", "created_at": "2024-05-01T10:00:00Z", "chat_messages": [said]}]
    report = memory.sources.move_in(wrote(tmp_path / "conversations.json", told))
    assert (report.format, report.counts) == ("claude", {"stored": 1})


def test_the_memory_server_of_mcp(memory: Engram, tmp_path: Path) -> None:
    lines = [
        {
            "type": "entity",
            "name": "John_Smith",
            "entityType": "person",
            "observations": ["Speaks fluent Spanish"],
        },
        {"type": "relation", "from": "John_Smith", "to": "Acme", "relationType": "works_at"},
    ]
    text = "".join(json.dumps(one) + "\n" for one in lines) + "{broken\n"
    report = memory.sources.move_in(wrote(tmp_path / "memory.jsonl", text))
    assert report.counts == {"stored": 2, "refused": 1}
    assert words(memory) == {"John Smith: Speaks fluent Spanish", "John Smith works at Acme"}
    assert memory.facts.query(subject="john smith")[0].fact.object == "acme"


def test_notes_of_basic_memory(memory: Engram, tmp_path: Path) -> None:
    note = """---
title: Coffee Brewing
permalink: notes/coffee
tags: [kitchen]
type: note
---
# Coffee Brewing

A page about coffee.

## Observations
- [method] Pour over gives clarity #brewing #filter (learned in May)
- [x] buy beans

## Relations
- relates_to [[Tea Brewing]]
"""
    (tmp_path / "notes").mkdir()
    wrote(tmp_path / "notes/coffee.md", note)
    report = memory.sources.move_in(tmp_path / "notes", system="basic-memory")
    assert report.refused == ()
    found = {one.content: one for one in memory.list()}
    one = found["Coffee Brewing: Pour over gives clarity"]
    assert (one.category, one.tags, one.details["context"]) == (
        "method",
        ("brewing", "filter", "kitchen"),
        "learned in May",
    )
    assert "Coffee Brewing relates to Tea Brewing" in found
    assert str(found["A page about coffee."].category) == "reference"


def test_a_table_with_a_mapping(memory: Engram, tmp_path: Path) -> None:
    text = "nr,note,when,who,stars\n1,Buy a Brompton,2026-01-02,anna,0.9\n2,,2026-01-02,anna,\n3,Sell the car,2026-01-03,bob,0.2\n"
    mapping = {"id": "nr", "content": "note", "created_at": "when", "user": "who", "importance": "stars"}
    report = memory.sources.move_in(wrote(tmp_path / "old.csv", text), mapping=mapping)
    assert report.counts == {"stored": 2, "refused": 1}
    assert "note" in report.refused[0].reason
    (car,) = memory.list(scope=Scope(user="bob"))
    assert (car.content, car.importance, car.created_at.day) == ("Sell the car", 0.2, 3)
    lines = '{"body": {"text": "Nested words"}, "extra": 7}\n'
    memory.sources.move_in(wrote(tmp_path / "old.jsonl", lines), mapping={"content": "body.text"})
    nested = next(one for one in memory.list() if one.content == "Nested words")
    assert nested.details["extra"] == 7


@pytest.mark.parametrize(("system", "least"), [("ledger", 22), ("files", 12)])
def test_folders_come_in_whole_are_known_again_and_go_as_one(memory: Engram, system: str, least: int) -> None:
    tried = memory.sources.move_in(HOMES / system, dry=True)
    assert memory.count() == 0
    report = memory.sources.move_in(HOMES / system)
    assert tried.counts == report.counts
    assert (report.format, report.refused) == (system, ())
    assert report.counts["stored"] >= least
    again = memory.sources.move_in(HOMES / system)
    assert (again.counts, again.run) == ({"unchanged": report.counts["stored"]}, "")

    memory.undo(report.run)
    assert memory.count() == 0
    back = memory.sources.move_in(HOMES / system)
    # What came as archived lay in the archive all along.
    assert back.counts["stored"] + back.counts.get("unchanged", 0) == report.counts["stored"]
    assert memory.count() > 0


def test_the_free_text_of_a_day_is_found_under_its_date(memory: Engram) -> None:
    memory.sources.move_in(HOMES / "ledger")
    found = next(one for one in memory.list(limit=100) if "supplier list" in one.content)
    assert found.happened_at.isoformat() == "2026-01-28T08:55:00+00:00"
    assert found.category == "reference"


def test_a_move_that_was_cut_off_goes_on(memory: Engram, tmp_path: Path) -> None:
    records = [
        {"memory": f"Shelf {n} holds {n * 7} boxes", "id": f"0aa2b29e-0000-0000-0000-{n:012}"}
        for n in range(30)
    ]
    memory.sources.move_in(wrote(tmp_path / "part.json", {"results": records[:10]}))
    report = memory.sources.move_in(wrote(tmp_path / "all.json", {"results": records}))
    assert report.counts == {"stored": 20, "unchanged": 10}


def test_what_nobody_knows_is_refused_with_the_systems_that_are_known(memory: Engram, tmp_path: Path) -> None:
    with pytest.raises(UnknownFormat, match="ledger"):
        memory.sources.move_in(wrote(tmp_path / "x.json", {"hello": 1}))
