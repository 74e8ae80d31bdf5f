"""What clients of *layers* rely on beyond the shapes: facts that end alone, honest numbers, budgets."""

# ruff: noqa: E501 (records stand here as they are sent)

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.old import Old, serving

DAY = 86_400_000


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Old]:
    with serving(tmp_path_factory.mktemp("old") / "old.db", preset="layers") as (_, client):
        yield client


@pytest.fixture
def old(served: Old) -> Iterator[Old]:
    yield served
    for place in served.ask("GET", "/stats")["namespaces"]:
        served.ask("DELETE", "/memories", {"namespace": place})


def keep(old: Old, content: str, **fields: Any) -> dict[str, Any]:
    kept: dict[str, Any] = old.ask(
        "POST", "/memories", {"content": content, "skip_dedup": True, **fields}, status=201
    )
    return kept


def fact(old: Old, subject: str, predicate: str, object_: str, **more: Any) -> dict[str, Any]:
    body = {"facts": [{"subject": subject, "predicate": predicate, "object": object_, **more}]}
    told: dict[str, Any] = old.ask("POST", "/facts", body)
    return told


def test_a_fact_that_is_replaced_takes_nothing_else_along(old: Old) -> None:
    kept = keep(old, "Ilse lives in Ghent, keeps two cats and is allergic to penicillin")
    first = fact(old, "Ilse", "city", "Ghent", memory_id=kept["id"])["facts"][0]
    fact(old, "Ilse", "allergy", "penicillin", memory_id=kept["id"])
    told = fact(old, "Ilse", "city", "Bruges")
    assert (told["facts"][0]["subject"], told["facts"][0]["object"]) == ("Ilse", "Bruges")
    assert (told["resolved"], told["conflicts"][0]["object"]) == (1, "Ghent")
    assert old.ask("GET", f"/memories/{kept['id']}")["content"].startswith("Ilse lives in Ghent")
    now = {one["object"] for one in old.ask("GET", "/facts?entity=Ilse")["facts"]}
    assert now == {"Bruges", "penicillin"}
    every = old.ask("GET", "/facts?entity=Ilse&include_superseded=true")["facts"]
    ghent = next(one for one in every if one["object"] == "Ghent")
    assert ghent["superseded_by"] == told["facts"][0]["id"]
    assert ghent["valid_until"]
    assert first["memory_id"] == kept["id"]


def test_names_come_back_as_they_were_written(old: Old) -> None:
    fact(old, "Ilse Peeters", "works at", "Acme NV")
    (chain,) = old.ask("GET", "/facts/graph?entity=Ilse%20Peeters")["chains"]
    assert chain["path"][0] == {"subject": "Ilse Peeters", "predicate": "works at", "object": "Acme NV"}
    assert old.ask("GET", "/facts?entity=peeters")["count"] == 1


def test_a_fact_is_deleted_once(old: Old) -> None:
    made = fact(old, "printer", "color", "grey")["facts"][0]
    assert old.ask("DELETE", f"/facts/{made['id']}") == {"deleted": True}
    old.ask("DELETE", f"/facts/{made['id']}", status=404)


def test_a_memory_is_recalled_by_the_names_of_its_facts(old: Old) -> None:
    kept = keep(old, "prefers an aisle seat on overnight trains")
    fact(old, "Ilse", "travel_habit", "overnight trains", memory_id=kept["id"])
    keep(old, "the boiler was serviced in May")
    found = old.ask("POST", "/recall", {"query": "Ilse"})["memories"]
    assert (found[0]["id"], found[0]["relevance"]) == (kept["id"], 1.0)


def test_a_recall_keeps_its_budget_and_counts_what_there_is(old: Old) -> None:
    for number in range(12):
        keep(
            old,
            f"The deploy job number {number} runs every night in the cluster of the harbor "
            + "and waits " * 20,
        )
    told = old.ask(
        "POST", "/recall", {"query": "deploy job harbor", "budget_tokens": 150, "limit": 5, "dry": True}
    )
    assert told["total_tokens"] <= 150
    assert len(told["memories"]) < 5
    assert told["total"] >= 12
    assert set(told["layer_breakdown"]) == {"1"}
    assert all(one["score"] <= 1.0 for one in told["memories"])
    recent = old.ask("POST", "/recall", {"query": "deploy job harbor", "sort_by": "recent"})
    assert recent["time_filter"]["sort_by"] == "recent"


def test_a_fresh_memory_stands_before_an_old_one_of_the_same_words(old: Old) -> None:
    now = int(time.time() * 1_000)
    base = {"content": "The wiki lives on the NAS", "layer": 2, "importance": 0.5}
    records = [
        {**base, "id": "11111111-0000-4000-8000-000000000001", "created_at": now - 210 * DAY, "last_accessed": now - 210 * DAY},
        {**base, "id": "11111111-0000-4000-8000-000000000002", "content": "The wiki lives on the NAS box", "created_at": now, "last_accessed": now},
    ]  # fmt: skip
    assert old.ask("POST", "/import", {"memories": records})["imported"] == 2
    one, two = old.ask("POST", "/recall", {"query": "where does the wiki live", "dry": True})["memories"][:2]
    assert (one["id"][-1], one["recency"], two["recency"]) == ("2", 1.0, 0.0)
    assert one["modified_at"] >= one["created_at"]


def test_consolidation_tells_what_rose_and_under_the_settings_of_its_body(old: Old) -> None:
    now = int(time.time() * 1_000)
    record = {"id": "22222222-0000-4000-8000-000000000001", "content": "Deploys go through the staging cluster", "layer": 1,
              "access_count": 6, "created_at": now - 3 * 3_600_000, "importance": 0.7}  # fmt: skip
    old.ask("POST", "/import", {"memories": [record]})
    tried = old.ask("POST", "/consolidate?dry_run=true", {})
    told = old.ask("POST", "/consolidate", {"promote_threshold": 3})
    assert record["id"] in told["promoted_ids"]
    assert told["promoted"] == tried["promoted"] == len(told["promoted_ids"])


def test_an_imported_note_of_a_session_is_one(old: Old) -> None:
    record = {"id": "33333333-0000-4000-8000-000000000001", "content": "Worked on the resume", "layer": 3, "source": "session",
              "access_count": 9, "importance": 0.9, "created_at": int(time.time() * 1_000)}  # fmt: skip
    old.ask("POST", "/import", {"memories": [record]})
    told = old.ask("POST", "/consolidate", {})
    assert told["demoted"] == 1
    assert old.ask("GET", f"/memories/{record['id']}")["layer"] == 2
    assert [one["content"] for one in old.ask("GET", "/resume")["sessions"]] == ["Worked on the resume"]


def test_a_resume_keeps_its_workspace_and_its_budget(old: Old) -> None:
    keep(old, "Rust builds use sccache", layer=3, tags=["engram:build"], importance=0.9)
    keep(old, "The web shop uses Vite", layer=3, tags=["shop"], importance=0.9)
    keep(old, "Answers are short", layer=3, importance=0.9)
    told = {one["content"] for one in old.ask("GET", "/resume?workspace=engram")["core"]}
    assert told == {"Rust builds use sccache", "Answers are short"}
    for number in range(30):
        keep(old, f"Note {number} " + "about the harbor project and its many parts " * 4, layer=2)
    short = old.ask("GET", "/resume?budget=1000")
    sections = ("core", "working", "buffer", "recent", "sessions")
    assert sum(len(one["content"]) for name in sections for one in short[name]) <= 1_000


def test_what_models_cost_is_told_by_name(old: Old) -> None:
    summary = old.ask("GET", "/llm-usage")["summary"]
    assert (summary["by_component"], summary["by_model"]) == ({}, {})


def test_health_counts_every_namespace(served: Old) -> None:
    served.ask("POST", "/memories", {"content": "Kept at work", "namespace": "work"}, status=201)
    time.sleep(6)
    assert served.ask("GET", "/health")["stats"]["total"] >= 1
    served.ask("DELETE", "/memories", {"namespace": "work"})


def test_superseding_what_is_not_there_keeps_nothing(old: Old) -> None:
    before = old.ask("GET", "/stats")["total"]
    old.ask("POST", "/memories", {"content": "A new one", "supersedes": ["00000000-dead"]}, status=404)
    assert old.ask("GET", "/stats")["total"] == before
    first = keep(old, "The wiki is on the NAS")
    keep(old, "The wiki is on the Hetzner box", supersedes=[first["id"]])
    assert first["id"] in {one["id"] for one in old.ask("GET", "/trash")["items"]}
