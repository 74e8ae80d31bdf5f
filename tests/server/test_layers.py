"""Clients of *layers* find their routes at the root, in the shapes they know."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engram.server.compat.layers import ROUTES
from tests.server.conftest import Running
from tests.server.old import KEY, Old, serving
from tests.tables import every

MEMORY = {
    "id", "content", "layer", "layer_name", "importance", "created_at", "last_accessed", "access_count",
    "repetition_count", "decay_rate", "source", "tags", "kind", "modified_at",
}  # fmt: skip
FACT = {"id", "subject", "predicate", "object", "memory_id", "namespace", "created_at"}
ANNA = {"subject": "Anna", "predicate": "lives in", "object": "Bremen"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Running, Old]]:
    with serving(tmp_path_factory.mktemp("old") / "old.db") as both:
        yield both


@pytest.fixture
def old(served: tuple[Running, Old]) -> Iterator[Old]:
    """A client of the server that all tests share; what a test kept is gone after it."""
    _, client = served
    yield client
    for place in client.ask("GET", "/stats")["namespaces"]:
        client.ask("DELETE", "/memories", {"namespace": place})


def keep(old: Old, content: str, **fields: Any) -> dict[str, Any]:
    kept: dict[str, Any] = old.ask("POST", "/memories", {"content": content, **fields}, status=201)
    return kept


# ---------------------------------------------------------------- every route


def test_every_route_answers_in_its_shape(old: Old) -> None:
    """What stands in braces was kept before."""
    kept = {
        "memory": keep(old, "My editor is Helix", tags=["trigger:edit"])["id"],
        "gone": keep(old, "Our cat is grey")["id"],
        "fact": old.ask("POST", "/facts", {"facts": [ANNA]})["facts"][0]["id"],
    }
    asked = set()
    for method, path, body, keys in TABLE:
        found = old.ask(method, path.format(**kept), body)
        assert found.keys() >= keys, (method, path, found)
        asked.add((method, path.partition("?")[0]))
    known = {"{memory}": "{id}", "{gone}": "{id}", "{fact}": "{id}", "/edit": "/{action:path}"}

    def told(path: str) -> str:
        for name, other in known.items():
            path = path.replace(name, other)
        return path

    beside = {("POST", "/memories"), ("POST", "/facts"), ("POST", "/audit"), ("POST", "/audit/sandbox")}
    assert {(method, told(path)) for method, path in asked} | beside == {
        (route.method, route.path) for route in ROUTES
    }


TABLE: list[tuple[str, str, Any, set[str]]] = [
    ("GET", "/memories", None, {"memories", "count", "total", "limit", "offset"}),
    ("POST", "/memories/batch", [{"content": "Ben has a dog"}], {"inserted", "requested", "errors"}),
    ("GET", "/memories/{memory}", None, MEMORY),
    ("PATCH", "/memories/{memory}", {"importance": 0.7}, MEMORY),
    ("DELETE", "/memories/{gone}", None, {"ok"}),
    (
        "POST",
        "/recall",
        {"query": "which editor do I use?"},
        {
            "memories", "query", "total_tokens", "layer_breakdown", "search_mode", "total", "offset", "limit",
        },
    ),
    ("GET", "/search?q=editor", None, {"memories", "count"}),
    ("GET", "/recent?hours=1", None, {"memories", "count", "since_ms", "hours"}),
    (
        "GET",
        "/resume?hours=1",
        None,
        {
            "core", "working", "buffer", "recent", "sessions", "hours", "core_count", "core_total",
            "core_summary_used", "working_count", "buffer_count", "recent_count", "session_count",
        },
    ),
    ("GET", "/triggers/edit", None, {"action", "count", "memories"}),
    ("POST", "/consolidate", None, {"promoted", "decayed", "demoted", "merged"}),
    ("GET", "/facts?entity=Anna", None, {"facts", "count"}),
    ("GET", "/facts/all", None, {"facts", "count"}),
    ("GET", "/facts/graph?entity=Anna&hops=2", None, {"entity", "hops", "chains", "count"}),
    ("GET", "/facts/conflicts?subject=Anna&predicate=lives in", None, {"conflicts", "count"}),
    ("GET", "/facts/history?subject=Anna&predicate=lives in", None, {"history", "count"}),
    ("DELETE", "/facts/{fact}", None, {"deleted"}),
    ("GET", "/trash?limit=5", None, {"total", "count", "items"}),
    ("POST", "/trash/{gone}/restore", None, {"restored"}),
    ("DELETE", "/trash", None, {"purged"}),
    ("GET", "/export", None, {"version", "count", "memories"}),
    ("POST", "/import", {"memories": [{"content": "The office is in Hamburg"}]}, {"imported", "skipped"}),
    ("POST", "/extract", {"text": "I decided to move to Bremen in May."}, {"extracted", "count"}),
    ("GET", "/proxy/window", None, {"sessions"}),
    ("POST", "/proxy/flush", None, {"status"}),
    ("GET", "/stats", None, {"total", "buffer", "working", "core", "by_kind", "namespaces"}),
    ("POST", "/repair", None, {"orphans_removed", "fts_rebuilt", "embed_backfill_queued"}),
    ("POST", "/vacuum", None, {"freed_bytes", "mode"}),
    ("GET", "/llm-usage?days=7", None, {"summary", "daily"}),
    ("DELETE", "/llm-usage", None, {"deleted"}),
    ("DELETE", "/memories", {"ids": ["nope1", "nope2"]}, {"deleted"}),
]  # fmt: skip


@every("path", ["/audit", "/audit/sandbox"])
def test_an_audit_needs_a_model(old: Old, path: str) -> None:
    assert "model" in old.ask("POST", path, status=503)["error"]


def test_health_tells_what_both_kinds_of_clients_read(old: Old) -> None:
    keep(old, "My editor is Helix", layer=3)

    for path in ("/health", "/"):
        told = old.ask("GET", path)
        assert told["name"] == "engram"
        assert told["stats"] == {
            "total": 1, "buffer": 0, "working": 0, "core": 1,
            "by_kind": {"semantic": 1, "episodic": 0, "procedural": 0},
        }  # fmt: skip
        assert told["integrity"]["ok"] is True
        assert told.keys() >= {"version", "uptime_secs", "rss_kb", "db_size_mb", "ai_enabled", "status"}
        assert told["proxy"] == {"enabled": False, "requests": 0, "extracted": 0, "buffered_turns": 0}
        assert told["embed_cache"].keys() == {"size", "capacity", "hits", "misses"}
    assert told["endpoints"]["/memories"] == "POST, GET, DELETE"
    assert "<html" in old.get("/", headers={"accept": "text/html"}).text
    assert "<html" in old.get("/ui").text


# ---------------------------------------------------------------- keeping


def test_a_memory_has_what_those_clients_expect(old: Old) -> None:
    before = time.time() * 1_000
    kept = keep(old, "hello world")

    assert kept.keys() == MEMORY | {"merged"}
    assert (kept["layer"], kept["importance"], kept["source"], kept["kind"]) == (1, 0.5, "api", "semantic")
    assert before - 1_000 < kept["created_at"] <= time.time() * 1_000
    assert isinstance(kept["created_at"], int)
    assert old.ask("GET", f"/memories/{kept['id'][:8]}") == {k: v for k, v in kept.items() if k != "merged"}


def test_the_same_again_is_answered_with_what_is_known(old: Old) -> None:
    first = keep(old, "My editor is Helix")
    again = old.ask("POST", "/memories", {"content": "My editor is Helix"}, status=200)
    apart = keep(old, "My editor is Helix", skip_dedup=True)

    assert (again["id"], again["repetition_count"]) == (first["id"], 1)
    assert apart["id"] != first["id"]
    assert keep(old, "My editor is Helix", namespace="other")["id"] not in {first["id"], apart["id"]}


def test_what_is_superseded_is_found_no_more(old: Old) -> None:
    vim = keep(old, "The team writes code in vim")["id"]
    keep(old, "The team writes code in Helix", supersedes=[vim], skip_dedup=True)

    assert [one["content"] for one in old.ask("GET", "/memories")["memories"]] == [
        "The team writes code in Helix"
    ]
    old.ask("GET", f"/memories/{vim}", status=404)


def test_layers_move_step_by_step_and_fields_change(old: Old) -> None:
    memory = keep(old, "before update")["id"]

    changed = old.ask(
        "PATCH",
        f"/memories/{memory}",
        {"content": "after update", "layer": 3, "kind": "procedural", "tags": ["a", "b"], "importance": 2},
    )
    fallen = old.ask("PATCH", f"/memories/{memory}", {"layer": 1})

    assert (changed["content"], changed["layer"], changed["layer_name"]) == ("after update", 3, "core")
    assert (changed["kind"], changed["tags"], changed["importance"]) == ("procedural", ["a", "b"], 1)
    assert changed["decay_rate"] == 0.01
    assert fallen["layer"] == 1
    events = old.get(f"/v1/memories/{memory}/events").json()["events"]
    moves = [one["after"]["layer"] for one in events if "layer" in one["after"]]
    assert moves == ["buffer", "working", "core", "working"]


def test_a_batch_keeps_what_it_can(old: Old) -> None:
    told = old.ask(
        "POST",
        "/memories/batch",
        {"memories": [{"content": "batch item 1"}, {"content": " "}, {"content": "x", "layer": 9}]},
    )

    there = [{"content": "batch item 1", "namespace": "other"}]
    assert old.ask("POST", "/memories/batch", there)["inserted"] == 1
    assert old.ask("GET", "/memories?ns=other")["count"] == 1
    old.ask("POST", "/memories/batch", there, status=403, headers={"X-Namespace": "mine"})
    assert (told["inserted"], told["requested"]) == (1, 3)
    assert [one["index"] for one in told["errors"]] == [1, 2]


def test_lists_are_filtered_paged_and_counted(old: Old) -> None:
    for number in range(3):
        keep(old, f"plain {number}", tags=["beta"], skip_dedup=True)
    for number in range(2):
        keep(old, f"tagged {number}", tags=["alpha"], layer=3, kind="procedural", skip_dedup=True)

    def total(query: str) -> tuple[int, int]:
        found = old.ask("GET", f"/memories?{query}")
        return found["count"], found["total"]

    assert total("") == (5, 5)
    assert total("tag=alpha") == total("layer=3") == total("kind=procedural") == (2, 2)
    assert total("limit=2&offset=4") == (1, 5)
    assert total("limit=2") == (2, 5)
    first = old.ask("GET", "/memories?limit=2")["memories"]
    rest = old.ask("GET", "/memories?limit=3&offset=2")["memories"]
    assert [one["content"] for one in first + rest] == [
        "tagged 1", "tagged 0", "plain 2", "plain 1", "plain 0",
    ]  # fmt: skip


# ---------------------------------------------------------------- asking


def test_recall_filters_sorts_and_pages(old: Old) -> None:
    keep(old, "The deploy runs on Mondays", tags=["ops", "deploy"], layer=3, importance=0.9)
    keep(old, "The deploy key is kept by Anna", tags=["ops"], source="session")
    query = {"query": "deploy", "dry": True}

    def contents(**more: Any) -> list[str]:
        return [one["content"] for one in old.ask("POST", "/recall", query | more)["memories"]]

    assert len(contents()) == 2
    assert contents(layers=[3]) == contents(tags=["ops", "deploy"]) == ["The deploy runs on Mondays"]
    assert contents(source="session") == ["The deploy key is kept by Anna"]
    assert contents(min_importance=0.8) == ["The deploy runs on Mondays"]
    assert contents(sort_by="recent")[0] == "The deploy key is kept by Anna"
    assert contents(limit=1, offset=1) == contents()[1:]
    assert contents(since=int(time.time() * 1_000) + 60_000) == []
    assert len(contents(budget_tokens=0)) == 2
    found = old.ask("POST", "/recall", query)["memories"][0]
    assert found.keys() >= MEMORY | {"score", "relevance", "recency"}
    assert old.ask("GET", "/memories")["memories"][0]["access_count"] == 0, "a dry recall leaves no trace"
    for bad in ({"query": ""}, {}, {"query": "x", "sort_by": "odd"}, {"query": "x", "layers": [7]}):
        assert "error" in old.ask("POST", "/recall", bad, status=400)


def test_operators_and_signs_in_a_search_do_no_harm(old: Old) -> None:
    keep(old, "quicksearch xylophone unique")

    for words in ('xylophone AND NOT "', "C++ rm -rf /", "xylophone OR", "*"):
        old.ask("GET", "/search", params={"q": words})
    assert old.ask("GET", "/search?q=xylophone")["count"] == 1


def test_a_resume_has_sections_and_a_text(old: Old) -> None:
    keep(old, "I am the test agent, created for integration testing", layer=3, importance=0.9)
    keep(old, "Deploy: test, build, stop, copy, start", layer=3, importance=0.9, kind="procedural")
    keep(old, "next step: write more tests", layer=2, source="session", tags=["next-action"])
    keep(old, "user prefers dark mode")

    told = old.ask("GET", "/resume?hours=1")
    text = old.ask("GET", "/resume?format=text&budget=0")

    assert {one["content"][:6] for one in told["core"]} == {"I am t", "Deploy"}
    assert [one.get("kind") for one in told["core"] if "Deploy" in one["content"]] == ["procedural"]
    assert [one["content"] for one in told["sessions"]] == ["next step: write more tests"]
    assert [one["content"] for one in told["buffer"]] == ["user prefers dark mode"]
    assert (told["core_count"], told["session_count"], told["hours"]) == (2, 1, 1)
    assert "Deploy: test" in text
    assert old.ask("GET", "/resume?recent_epochs=24").startswith("=== Core (2) ===")
    assert old.ask("GET", "/memories")["memories"][0]["access_count"] == 0, "a resume is no use"
    whole = old.ask("GET", "/resume?compact=false")["core"][0]
    assert whole.keys() >= MEMORY


def test_an_action_calls_for_its_memories(old: Old) -> None:
    keep(old, "never commit internal docs to public repos", tags=["lesson", "trigger:git-push"])
    keep(old, "unrelated note")

    told = old.ask("GET", "/triggers/git-push")

    assert (told["action"], told["count"]) == ("git-push", 1)
    assert old.ask("GET", "/triggers/git-push")["memories"][0]["access_count"] == 1
    assert old.ask("GET", "/triggers/nonexistent")["count"] == 0


# ---------------------------------------------------------------- facts


def test_a_fact_takes_the_place_of_the_old_one(old: Old) -> None:
    first = old.ask("POST", "/facts", {"facts": [ANNA]})
    second = old.ask("POST", "/facts", {"facts": [ANNA | {"object": "Hamburg"}]})

    assert first["facts"][0].keys() >= FACT
    assert (first["facts"][0]["subject"], first["facts"][0]["object"]) == ("Anna", "Bremen")
    assert [one["object"] for one in second["conflicts"]] == ["Bremen"]
    assert second["resolved"] == 1
    assert [one["object"] for one in old.ask("GET", "/facts?entity=anna")["facts"]] == ["Hamburg"]
    every = old.ask("GET", "/facts?entity=anna&include_superseded=true")["facts"]
    assert {one["object"] for one in every} == {"Hamburg", "Bremen"}
    history = old.ask("GET", "/facts/history?subject=Anna&predicate=lives in")["history"]
    assert [one["object"] for one in history] == ["Bremen", "Hamburg"]
    assert "valid_until" in history[0]
    assert old.ask("GET", "/facts?entity=anna&ns=other")["count"] == 0
    old.ask("DELETE", f"/facts/{second['facts'][0]['id']}")
    assert old.ask("GET", "/facts?entity=anna")["count"] == 0


def test_a_fact_may_belong_to_a_memory_that_is_there(old: Old) -> None:
    memory = keep(old, "We met the team of Initech")["id"]
    fact = {"subject": "Ada", "predicate": "works at", "object": "Initech", "memory_id": memory}

    told = old.ask("POST", "/facts", {"facts": [fact]})["facts"][0]

    assert told["memory_id"] == memory
    assert old.ask("GET", "/facts?entity=ada")["count"] == 1
    old.ask("POST", "/facts", {"facts": [fact | {"memory_id": "ffffffff"}]}, status=404)
    old.ask("POST", "/facts", {"facts": [{"subject": "Ada"}]}, status=400)
    old.ask("GET", "/facts", status=400)
    old.ask("DELETE", "/facts/ffffffff.12345678", status=404)


# ---------------------------------------------------------------- the trash, and moving


def test_what_was_superseded_lies_in_the_trash_and_an_unknown_one_stops_everything(old: Old) -> None:
    vim = keep(old, "The team writes code in vim")["id"]
    before = old.ask("GET", "/memories")["total"]
    body = {"content": "The team writes code in Emacs", "supersedes": ["00000000-unknown"]}
    old.ask("POST", "/memories", body, status=404)
    assert old.ask("GET", "/memories")["total"] == before

    keep(old, "The team writes code in Helix", supersedes=[vim], skip_dedup=True)
    assert [one["id"] for one in old.ask("GET", "/trash")["items"]] == [vim]
    old.ask("POST", f"/trash/{vim}/restore")
    assert old.ask("GET", f"/memories/{vim}")["id"] == vim


def test_what_is_deleted_lies_in_the_trash_of_its_namespace(old: Old) -> None:
    mine, theirs = keep(old, "mine")["id"], keep(old, "theirs", namespace="other")["id"]
    for one in (mine, theirs):
        old.ask("DELETE", f"/memories/{one}")
        old.ask("GET", f"/memories/{one}", status=404)
        old.ask("DELETE", f"/memories/{one}", status=404)

    lying = old.ask("GET", "/trash")
    assert (lying["total"], lying["items"][0]["id"]) == (1, mine)
    assert lying["items"][0]["deleted_at"] >= lying["items"][0]["created_at"]
    old.ask("POST", f"/trash/{theirs}/restore", status=404)
    old.ask("POST", f"/trash/{mine}/restore")
    assert old.ask("GET", f"/memories/{mine}")["content"] == "mine"
    assert old.ask("DELETE", "/trash") == {"purged": 0}
    assert old.ask("DELETE", "/trash", headers={"X-Namespace": "other"}) == {"purged": 1}
    old.ask("POST", f"/trash/{theirs}/restore", status=404, headers={"X-Namespace": "other"})


def test_a_namespace_is_wiped_and_the_others_stay(old: Old) -> None:
    for place in ("ns-a", "ns-a", "ns-b"):
        keep(old, f"mem in {place}", namespace=place, skip_dedup=True)

    assert old.ask("DELETE", "/memories", {"namespace": "ns-a"}) == {"deleted": 2}
    assert old.ask("GET", "/memories?ns=ns-b")["count"] == 1
    assert old.ask("GET", "/memories?ns=ns-a")["count"] == 0
    assert old.ask("GET", "/trash?ns=ns-a")["total"] == 0
    old.ask("DELETE", "/memories", {}, status=400)


def test_an_export_goes_into_another_file_as_it_was(old: Old, tmp_path: Path) -> None:
    kept = keep(old, "roundtrip test", namespace="rt-test", tags=["a"], layer=2, importance=0.8)
    old.ask("POST", "/recall", {"query": "roundtrip test", "namespace": "rt-test"})
    exported = old.ask("GET", "/export")

    assert "embedding" not in exported["memories"][0]
    assert len(old.ask("GET", "/export?embed=true")["memories"][0]["embedding"]) > 10
    with serving(tmp_path / "second.db") as (_, other):
        assert other.ask("POST", "/import", exported)["imported"] == 1
        assert other.ask("POST", "/import", exported)["skipped"] == 1
        there = other.ask("GET", f"/memories/{kept['id']}")
        moved = other.ask("POST", "/import", exported, headers={"X-Namespace": "elsewhere"})
        assert moved["imported"] == 1, "an id that another namespace has is minted anew"
        assert other.ask("GET", "/memories?ns=elsewhere")["memories"][0]["id"] != kept["id"]
    same = ("id", "content", "layer", "importance", "tags", "namespace", "created_at", "source", "kind")
    assert {name: there[name] for name in same} == {name: kept[name] for name in same}
    old.ask("POST", "/import", {"memories": "all"}, status=400)


# ---------------------------------------------------------------- who may, and what is refused


def test_namespaces_are_apart(served: tuple[Running, Old], old: Old) -> None:
    server, _ = served
    work = keep(old, "The launch is on Friday", namespace="work")
    keep(old, "The party is on Friday")

    assert work["namespace"] == "work"
    assert old.ask("GET", "/memories")["count"] == 2, "no namespace: all of them"
    by_header = old.ask("GET", "/memories", headers={"X-Namespace": "work"})
    by_query = old.ask("GET", "/memories?ns=work")
    assert by_header == by_query
    assert [one["content"] for one in by_query["memories"]] == ["The launch is on Friday"]
    old.ask("GET", f"/memories/{work['id']}", status=404, headers={"X-Namespace": "default"})
    assert old.ask("GET", "/stats?ns=work")["total"] == 1
    rex = server.token("rex")
    assert old.ask("GET", "/memories", headers=rex)["count"] == 1, "a token stands where it says"
    old.ask("GET", "/memories?ns=work", headers=rex, status=403)
    old.ask("POST", "/repair", headers=rex, status=403)


def test_a_key_of_the_owner_closes_the_door(tmp_path: Path) -> None:
    with serving(tmp_path / "closed.db", api_key=KEY) as (_, old):
        for headers in ({}, {"Authorization": "Bearer wrongtoken"}):
            told = old.ask("GET", "/recent?hours=1", status=401, headers=headers)
            assert told.keys() == {"error", "code"}
        old.ask("GET", "/recent?hours=1", headers={"Authorization": f"Bearer {KEY}"})
        assert "stats" not in old.ask("GET", "/health"), "how it is, not what it holds"


def test_bodies_are_read_leniently(old: Old) -> None:
    said = b'{"content": "sent by curl", "unknown": 1}'

    for kind in ("application/x-www-form-urlencoded", "application/json; charset=utf-8", ""):
        headers = {"content-type": kind} if kind else {}
        assert old.post("/memories", content=said, headers=headers).status_code in {200, 201}
    xml = old.post("/memories", content=said, headers={"content-type": "text/xml"})
    assert (xml.status_code, xml.text) == (415, "Expected application/json, got text/xml")
    bad = old.post("/memories", content=b"{nope", headers={"content-type": "application/json"})
    assert bad.status_code == 400
    assert bad.text.startswith("Invalid JSON: ")
    assert bad.headers["content-type"].startswith("text/plain")


@every(
    ("body", "said"),
    [
        ({"content": ""}, "content"),
        ({"content": "   "}, "content"),
        ({}, "content"),
        ({"content": "x" * 8_193}, "8,192"),
        ({"content": "x", "layer": 4}, "layer"),
        ({"content": "x", "layer": "top"}, "layer"),
        ({"content": "x", "kind": "odd"}, "kind"),
        ({"content": "x", "tags": ["t" * 33]}, "tag"),
        ({"content": "x", "tags": [f"t{n}" for n in range(21)]}, "tag"),
        ({"content": "x", "source": "s" * 65}, "source"),
        ({"content": 5}, "content"),
        ({"content": "x", "namespace": 5}, "namespace"),
    ],
)
def test_what_cannot_be_kept_is_a_bad_request(old: Old, body: dict[str, Any], said: str) -> None:
    told = old.ask("POST", "/memories", body, status=400)

    assert said in told["error"]
    assert old.ask("GET", "/stats")["total"] == 0


def test_an_ambiguous_beginning_and_an_unknown_route_are_told(old: Old) -> None:
    old.ask("GET", "/memories/nonexistent-id", status=404)
    old.ask("DELETE", "/memories/nonexistent-id", status=404)
    assert "error" in old.ask("PUT", "/memories", {}, status=405)
    assert "error" in old.ask("GET", "/facts/nothing/at/all", status=404)
    for number in range(2):
        old.ask("POST", "/import", {"memories": [{"id": f"abcdef0{number}", "content": f"number {number}"}]})
    assert "error" in old.ask("GET", "/memories/abcdef", status=400)
