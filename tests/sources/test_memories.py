from __future__ import annotations

import json
from typing import Any

from engram import Draft
from engram.capture.sources import memories
from engram.capture.sources.take import statements
from engram.model.capture import Item, ItemReport


def items(tool: str, *records: Any) -> list[Item]:
    return [one for one in memories.read(tool, list(records)) if isinstance(one, Item)]


def draft(item: Item) -> Draft:
    made, _ = statements(item)
    return made[0]


def test_a_line_of_our_own_export_keeps_every_field() -> None:
    record = {
        "id": "abc", "content": "Bread needs flour", "category": "procedure", "tags": ["baking"],
        "importance": 0.9, "source": "human", "scope": {"project": "kitchen"}, "pinned": True,
        "created_at": "2024-05-01T00:00:00+00:00", "status": "active", "version": 3,
    }  # fmt: skip
    (item,) = items("engram", record)
    made = draft(item)

    assert item.origin == "engram:abc"
    assert (made.content, made.category, made.tags) == ("Bread needs flour", "procedure", ("baking",))
    assert (made.importance, made.pinned, made.scope.project, made.source) == (0.9, True, "kitchen", "human")
    assert made.event_time is not None
    assert made.event_time.year == 2024


def test_lines_that_are_not_in_use_or_no_memory_are_reported() -> None:
    found = list(memories.read("engram", [{"content": "x", "status": "archived"}, {"content": 7}, 3]))

    assert [(str(one.outcome), one.code) for one in found if isinstance(one, ItemReport)] == [
        ("dropped", ""),
        ("refused", "E2007"),
        ("refused", "E2014"),
    ]


def test_a_memory_of_mem0_keeps_its_time_categories_and_owner() -> None:
    record = {
        "id": "m1", "memory": "Likes tea", "hash": "x", "user_id": "ada", "categories": ["food"],
        "metadata": {"room": 7}, "created_at": "2024-07-01T10:00:00-07:00", "updated_at": None,
    }  # fmt: skip
    (item,) = items("mem0", record)

    assert (item.origin, item.text, item.tags) == ("mem0:m1", "Likes tea", ("food",))
    assert item.details == {"user_id": "ada", "metadata": {"room": 7}}
    assert item.at is not None
    assert item.at.hour == 17
    assert draft(item).scope.user == "", "what a file says about its owner is no right to write there"


def test_relations_beside_the_memories_of_mem0_are_facts() -> None:
    data = {
        "results": [{"id": "1", "memory": "Ada works at Acme"}],
        "relations": [{"source": "ada", "relationship": "works_at", "target": "acme"}],
    }
    found = memories.records(data)
    assert found is not None
    _, relation = items(*(found[0], *found[1]))

    assert relation.text == "ada works at acme"
    assert relation.details["facts"] == [{"subject": "ada", "predicate": "works at", "object": "acme"}]


def test_a_knowledge_graph_becomes_statements_and_facts() -> None:
    lines = "\n".join(
        json.dumps(one)
        for one in (
            {"type": "entity", "name": "John_Smith", "entityType": "person",
             "observations": ["Speaks fluent Spanish", "John Smith likes tea", "", 7]},
            {"type": "relation", "from": "John_Smith", "to": "Anthropic", "relationType": "works_at"},
            {"type": "relation", "from": "John_Smith", "to": "", "relationType": "works_at"},
        )
    )  # fmt: skip
    found = list(memories.read_lines("graph", lines))

    assert [one.text for one in found if isinstance(one, Item)] == [
        "John Smith: Speaks fluent Spanish",
        "John Smith likes tea",
        "John Smith works at Anthropic",
    ]
    assert [one.code for one in found if isinstance(one, ItemReport)] == ["E2014"]
    first = found[0]
    assert isinstance(first, Item)
    assert first.details == {"entity": "John_Smith", "entity_type": "person"}


def test_which_tool_a_record_comes_from() -> None:
    assert memories.reader_of({"type": "entity", "name": "a", "observations": []}) == "graph"
    assert memories.reader_of({"memory": "x"}) == "mem0"
    assert memories.reader_of({"content": "x"}) == "engram"
    assert memories.reader_of({"role": "user", "content": "x"}) == ""
    assert memories.reader_of("x") == ""
    assert memories.records({"entities": [], "relations": []}) == ("graph", [])
    assert memories.records({"other": 1}) is None
