"""Calls of clients of *layers* over a socket, and what its document says they come to: tables, and a loop each."""

# ruff: noqa: E501 (a call a line)
# fmt: off

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engram import Engram
from engram.config import load
from engram.testing.model_server import Reply, Request, ScriptedServer, fails, says_json
from tests.server.conftest import running
from tests.server.old import Old

pytestmark = pytest.mark.slow  # call by call; `test_layers.py` asks each route once, at once
HOUR = 3_600_000
DAY = 24 * HOUR
WRONG = "00000000-0000-0000-0000-000000000000"


class Client(Old):
    """A client that notes what is not as it should be, and goes on."""

    def __init__(self, **more: Any) -> None:
        super().__init__(**more)
        self.wrong: list[str] = []
        self.checked = 0

    def call(self, method: str, path: str, body: Any = None, **more: Any) -> tuple[int, Any]:
        response = self.request(method, path, json=body, **more)
        kind = response.headers.get("content-type", "")
        return response.status_code, response.json() if kind.startswith("application/json") else response.text

    def keep(self, content: str, **fields: Any) -> dict[str, Any]:
        kept: dict[str, Any] = self.ask("POST", "/memories", {"content": content, "skip_dedup": True, **fields}, status=201)
        return kept

    def find(self, memory_id: str) -> dict[str, Any]:
        status, found = self.call("GET", f"/memories/{memory_id}")
        return found if status == 200 else {}

    def bring(self, *memories: dict[str, Any]) -> list[str]:
        """Memories of an export, with ids; all of them are taken."""
        named = [{"id": f"{place:08x}-{time.time_ns() % 10**4:04d}-4000-8000-{time.time_ns() % 10**12:012d}", **one} for place, one in enumerate(memories)]
        assert self.ask("POST", "/import", {"memories": named})["imported"] == len(named)
        return [one["id"] for one in named]

    def check(self, name: str, got: Any, wanted: Any) -> None:
        self.checked += 1
        if not (wanted(got) if callable(wanted) else got == wanted):
            self.wrong.append(f"{name}: {str(got)[:200]}" + ("" if callable(wanted) else f", not {wanted!r}"))

    def has(self, name: str, told: Any, fields: str) -> None:
        for field in fields.split():
            self.check(f"{name} has {field}", field in told, wanted=True)


def opener(path: Path, **settings: Any) -> Callable[[], Engram]:
    given = {"preset": "layers", "maintain.every_hours": 0, **settings}
    return lambda: Engram.open(path, config=load(environment={}, arguments=given))


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("calls"), opener=opener(tmp_path_factory.mktemp("calls") / "m.db"), requests_a_minute=0) as server:
        yield server.url


@pytest.fixture
def old(served: str) -> Iterator[Client]:
    with Client(base_url=served, timeout=120) as client:
        yield client
        for place in client.ask("GET", "/stats")["namespaces"]:
            client.ask("DELETE", "/memories", {"namespace": place, "confirm": True})
        assert client.wrong == [], "\n".join([f"{len(client.wrong)} of {client.checked}", *client.wrong])


# ---------------------------------------------------------------- keeping

MEMORY = "id content layer importance created_at last_accessed access_count repetition_count decay_rate source tags modified_at"
KEEPING: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("8192 characters", {"content": "x " * 4096}, 201), ("8193", {"content": "y" * 8193}, 400), ("8192 wide ones", {"content": "中" * 8192}, 201),
    ("empty", {"content": ""}, 400), ("blank", {"content": " \n"}, 400), ("no content", {}, 400), ("a number", {"content": 5}, 400),
    ("20 tags", {"content": "twenty tags", "tags": [f"t{n}" for n in range(20)]}, 201), ("21 tags", {"content": "a", "tags": [f"t{n}" for n in range(21)]}, 400),
    ("tag of 32", {"content": "a long tag", "tags": ["x" * 32]}, 201), ("tag of 33", {"content": "a", "tags": ["x" * 33]}, 400),
    ("source of 64", {"content": "a long source", "source": "s" * 64}, 201), ("source of 65", {"content": "a", "source": "s" * 65}, 400),
    ("layer 0", {"content": "a", "layer": 0}, 400), ("layer 4", {"content": "a", "layer": 4}, 400), ("odd kind", {"content": "a", "kind": "odd"}, 400),
    ("odd importance", {"content": "a", "importance": "high"}, 400),
)  # fmt: skip
LANDING: tuple[tuple[dict[str, Any], int, float], ...] = (({}, 1, 5.0), ({"layer": 2}, 2, 1.0), ({"layer": 3}, 3, 0.05), ({"kind": "procedural"}, 1, 0.01), ({"importance": 0.95}, 1, 5.0))


def test_keeping_changing_and_taking_away(old: Client) -> None:
    for name, body, status in KEEPING:
        old.check(name, old.call("POST", "/memories", body)[0], status)
    for given, kept in ((5, 1.0), (-1, 0.0), (0.33, 0.33)):
        old.check(f"importance {given}", old.keep(f"importance of {given}", importance=given)["importance"], kept)
    for fields, layer, rate in LANDING:
        made = old.keep(f"landing {fields}", **fields)
        old.has("a memory", made, MEMORY)
        old.check(f"lands {fields}", (made["layer"], made["decay_rate"], made["source"]), (layer, rate, "api"))
        old.check("now", abs(made["created_at"] - time.time() * 1_000) < 60_000, wanted=True)
    first = old.ask("POST", "/memories", {"content": "The user prefers dark mode in every editor"}, status=201)
    for words in ("The user prefers dark mode in every editor", "User prefers dark mode in all editors", "The user likes dark mode in every editor", "In every editor, the user prefers dark mode"):
        status, again = old.call("POST", "/memories", {"content": words})
        old.check(f"again: {words}", (status, again.get("id")), (200, first["id"]))
    old.check("said again", [old.find(first["id"])[name] for name in ("repetition_count", "access_count")], [4, 4])
    for words in ("The user's cat is called Miso", "The user prefers light mode in every editor at night"):
        old.check(words, old.call("POST", "/memories", {"content": words})[0], 201)
    elsewhere = old.ask("POST", "/memories", {"content": "The user prefers dark mode in every editor", "namespace": "elsewhere"}, status=201)
    old.check("another namespace", elsewhere["namespace"], "elsewhere")
    _changing(old)
    _many(old)


def _changing(old: Client) -> None:
    one = old.keep("Deploys run on Fridays at noon")
    two = old.ask("POST", "/memories", {"content": "Deploys run on Mondays at nine", "supersedes": [one["id"]]}, status=201)
    old.check("superseded", (old.find(one["id"]), [lying["id"] for lying in old.ask("GET", "/trash")["items"]]), ({}, [one["id"]]))
    old.check(
        "superseding nothing keeps nothing", (old.call("POST", "/memories", {"content": "A lonely statement on pigs", "supersedes": [WRONG]})[0], old.ask("GET", "/search?q=pigs")["count"]), (404, 0)
    )
    place = f"/memories/{two['id']}"
    told = old.ask("PATCH", place, {"content": "Deploys run on Tuesdays", "importance": 0.8, "tags": ["ops"], "layer": 3, "kind": "procedural"})
    old.check("changed", [told[name] for name in ("content", "importance", "tags", "layer", "kind")], ["Deploys run on Tuesdays", 0.8, ["ops"], 3, "procedural"])
    for body, status in (({"content": ""}, 400), ({"layer": 9}, 400), ({"content": "z" * 8193}, 400), ({"tags": ["x" * 40]}, 400), ({"kind": "odd"}, 400), ({}, 200), ({"importance": 7}, 200)):
        old.check(f"PATCH {str(body)[:30]}", old.call("PATCH", place, body)[0], status)
    old.check("by its beginning", old.find(two["id"][:8]).get("id"), two["id"])
    old.check("a tag in other letters", [one["id"] for one in old.ask("GET", "/memories?tag=OPS")["memories"]], [two["id"]])
    said: tuple[tuple[str, str, Any, int], ...] = (
        ("GET", f"/memories/{WRONG}", None, 404),
        ("PATCH", f"/memories/{WRONG}", {"importance": 0.5}, 404),
        ("DELETE", place, None, 200),
        ("DELETE", place, None, 404),
        ("POST", f"/trash/{two['id']}/restore", None, 200),
        ("GET", place, None, 200),
        ("POST", "/trash/nothere0/restore", None, 404),
    )
    for method, path, given, status in said:
        found, told = old.call(method, path, given)
        old.check(f"{method} {path}", found, status)
        if status == 404:
            old.has("a failure", told, "error")
    trash = old.ask("GET", "/trash")
    old.check("the trash", (trash["total"], trash["count"], isinstance(trash["items"][0]["deleted_at"], int)), (1, 1, True))
    old.check("emptied", old.ask("DELETE", "/trash"), {"purged": 1})


def _many(old: Client) -> None:
    told = old.ask("POST", "/memories/batch", [{"content": "batch one about trains"}, {"content": ""}, {"content": "batch two about boats"}, {"content": "batch one about trains"}])
    old.check("batch", (told["inserted"], told["requested"], [one["index"] for one in told["errors"]]), (3, 4, [1]))
    old.check("batch elsewhere", old.ask("POST", "/memories/batch", {"memories": [{"content": "batch three", "namespace": "nn"}]})["inserted"], 1)
    page = old.ask("GET", "/memories?limit=2&ns=default")
    old.check("a page", (page["count"], page["limit"], page["offset"], page["total"] > 2), (2, 2, 0, True))
    old.check("newest first", [one["created_at"] for one in page["memories"]], lambda found: found == sorted(found, reverse=True))
    for query, limit in (("limit=500", 200), ("", 50)):
        old.check(f"limit of {query}", old.ask("GET", f"/memories?{query}")["limit"], limit)
    old.check("deleted by id", old.ask("DELETE", "/memories", {"ids": [one["id"] for one in page["memories"]] + ["nope0000"]}), {"deleted": 2})
    old.check("a namespace goes", old.ask("DELETE", "/memories", {"namespace": "nn", "confirm": True}), {"deleted": 1})
    old.check("odd items are left out", [old.ask("POST", path, {"memories": ["odd", {"content": "an item beside an odd one"}]})["errors"][0]["index"] for path in ("/memories/batch", "/import")], [0, 0])
    for method, path, body in (("DELETE", "/memories", {}), ("GET", "/memories?layer=7", None), ("GET", "/search", None)):
        old.check(f"{method} {path}", old.call(method, path, body)[0], 400)


def test_how_bodies_are_read_and_failures_told(old: Client) -> None:
    for content, kind, status, begins in (
        (b"{bad", "", 400, "Invalid JSON:"), (b"<a/>", "application/xml", 415, "Expected application/json, got application/xml"),
        (json.dumps({"content": "posted as a form about owls"}).encode(), "application/x-www-form-urlencoded", 201, "{"),
    ):  # fmt: skip
        answer = old.post("/memories", content=content, headers={"content-type": kind} if kind else {})
        old.check(f"{kind} {begins}", (answer.status_code, answer.text[: len(begins)]), (status, begins))
    for path in ("/audit", "/audit/sandbox"):
        old.check(path, old.call("POST", path)[0], 503)
    old.check("no proxy", old.call("POST", "/proxy/v1/chat/completions", {"messages": []})[0], 404)
    old.has("repair", old.ask("POST", "/repair"), "orphans_removed fts_rebuilt embed_backfill_queued")
    old.check("vacuum", old.ask("POST", "/vacuum?full=true")["mode"], "full")
    old.has("usage", old.ask("GET", "/llm-usage"), "summary daily")
    old.has("usage", old.ask("DELETE", "/llm-usage"), "deleted")
    health = old.ask("GET", "/health")
    old.has("health", health, "name version uptime_secs rss_kb db_size_mb ai_enabled embed_cache embed_queue_pending proxy integrity stats")
    old.has("cache", health["embed_cache"], "size capacity hits misses")
    old.has("proxy", health["proxy"], "enabled requests extracted buffered_turns")
    old.has("integrity", health["integrity"], "total fts_indexed orphan_fts missing_fts missing_embedding ok")
    old.has("the root", old.ask("GET", "/"), "endpoints")


# ---------------------------------------------------------------- asking

BONUS = {1: 0.9, 2: 1.0, 3: 1.1}
PAYMENT: tuple[tuple[str, int, float, list[str], str], ...] = (
    ("The payment service listens on port 8443", 1, 0.2, ["pay", "net"], "api"), ("The payment outage was caused by an expired certificate", 2, 0.4, ["pay"], "agent"),
    ("Berlin office opens at nine", 3, 0.6, [], "api"), ("Our payment provider is Stripe", 3, 0.9, ["money"], "cli"), ("Cats sleep sixteen hours a day", 2, 0.5, [], "api"),
)  # fmt: skip


def test_recall_scores_filters_pages_and_keeps_its_budget(old: Client) -> None:
    for content, layer, importance, tags, source in PAYMENT:
        old.keep(content, layer=layer, importance=importance, tags=tags, source=source)
    asked = old.ask("POST", "/recall", {"query": "payment", "dry": True})
    old.has("a recall", asked, "memories total_tokens layer_breakdown search_mode total offset limit")
    old.check("usual", (asked["limit"], asked["offset"], asked["search_mode"]), (20, 0, "semantic+fts"))
    old.check("counted by layer", sum(asked["layer_breakdown"].values()), len(asked["memories"]))
    for one in asked["memories"]:
        hours = (time.time() * 1_000 - one["last_accessed"]) / HOUR
        fresh = math.exp(-one["decay_rate"] * hours / 168)
        score = min(1, (0.2 * one["importance"] + 0.2 * one["recency"] + 0.6 * one["relevance"]) * BONUS[one["layer"]])
        old.check(f"recency of {one['content']}", one["recency"], lambda found, fresh=fresh: abs(found - fresh) < 0.002)
        old.check(f"score of {one['content']}", one["score"], lambda found, score=score: abs(found - score) < 0.002)
    old.check("best first", [one["score"] for one in asked["memories"]], lambda found: found == sorted(found, reverse=True))
    old.check("dry leaves no trace", {old.find(one["id"])["access_count"] for one in asked["memories"]}, {0})
    now = int(time.time() * 1_000)
    kept: tuple[tuple[dict[str, Any], Callable[[dict[str, Any]], bool]], ...] = (
        ({"layers": [3]}, lambda one: one["layer"] == 3), ({"layers": [1, 2]}, lambda one: one["layer"] < 3), ({"min_importance": 0.5}, lambda one: one["importance"] >= 0.5),
        ({"tags": ["PAY"]}, lambda one: "pay" in one["tags"]), ({"tags": ["pay", "net"]}, lambda one: "net" in one["tags"]), ({"source": "agent"}, lambda one: one["source"] == "agent"),
        ({"since": now - DAY}, lambda one: one["created_at"] > now - DAY),
    )  # fmt: skip
    for filters, fits in kept:
        found = old.ask("POST", "/recall", {"query": "payment", "dry": True, **filters})["memories"]
        old.check(f"only {filters}", [fits(one) for one in found], lambda every: bool(every) and all(every))
    for none in ({"since": now + DAY}, {"until": now - DAY}):
        told = old.ask("POST", "/recall", {"query": "payment", "dry": True, **none})
        old.check(f"none {none}", (told["memories"], "time_filter" in told), ([], True))
    pages = [old.ask("POST", "/recall", {"query": "payment", "dry": True, "limit": 2, "offset": offset}) for offset in (0, 2)]
    old.check("pages", ({one["id"] for one in pages[0]["memories"]} & {one["id"] for one in pages[1]["memories"]}, pages[0]["total"] == pages[1]["total"]), (set(), True))
    for body in ({}, {"query": ""}, {"query": 5}, {"query": "x", "sort_by": "odd"}):
        old.check(f"bad {body}", old.call("POST", "/recall", body)[0], 400)
    for order, field in (("recent", "created_at"), ("accessed", "last_accessed")):
        found = old.ask("POST", "/recall", {"query": "payment", "sort_by": order, "dry": True})["memories"]
        old.check(order, [one[field] for one in found], lambda every: every == sorted(every, reverse=True))
    used = old.ask("POST", "/recall", {"query": "payment service port"})["memories"]
    for one in used:
        old.check(f"counts as used: {one['relevance']}", old.find(one["id"])["access_count"], int(one["relevance"] > 0.5))
    for fruit in ["apple", "banana", "cherry", "date", "elder", "fig", "grape"]:
        old.keep(f"Warehouse {fruit} stores crates of {fruit} fruit " + "and pallets of boxes " * 20)
    for budget, count in ((1, 1), (150, 1), (260, 2), (0, 7)):
        told = old.ask("POST", "/recall", {"query": "warehouse crates", "budget_tokens": budget, "dry": True})
        spent = sum(math.ceil(len(one["content"]) / 4) for one in told["memories"])
        old.check(f"budget {budget}", (len(told["memories"]), told["total_tokens"], told["total"] >= 7), (count, spent, True))


def _fresh_first(old: Client) -> None:
    old.bring(aged("The wiki lives on the NAS", 5_040, layer=2), aged("The wiki lives on the NAS box", 0, layer=2))
    one, two = old.ask("POST", "/recall", {"query": "where does the wiki live", "dry": True})["memories"][:2]
    old.check("the fresh one first", (one["content"][-3:], one["recency"], two["recency"]), ("box", 1.0, 0.0))


def test_long_memories_other_scripts_namespaces_and_what_is_new(old: Client) -> None:
    clauses = " ".join(f"clause {number} concerns delivery terms and liability limits" for number in range(120))
    for firm in ("Westhafen", "Ostermann", "Nordwind"):
        old.keep(f"Contract with {firm} Logistics. {clauses}"[:6_000])
    for words in ("用户喜欢用深色模式写代码", "数据库部署在上海机房", "会議は毎週月曜日の午前十時です", "서버 비밀번호는 매달 변경됩니다"):
        old.keep(words)
    for query, word in (("Westhafen",) * 2, ("Ostermann",) * 2, ("Nordwind",) * 2, ("深色模式", "深色"), ("上海", "上海"), ("数据库在哪里", "数据库"), ("会議", "会議"), ("비밀번호", "비밀번호")):
        for found in (old.ask("POST", "/recall", {"query": query, "budget_tokens": 0, "dry": True}), old.ask("GET", f"/search?q={query}")):
            old.check(f"first for {query}", [word in one["content"] for one in found["memories"][:1]], [True])
    _namespaces(old)
    _news(old)


def _namespaces(old: Client) -> None:
    for place in ("a", "b"):
        old.keep(f"{place} space fact about comets", namespace=place)
    for place, count in (("a", 1), ("b", 1), ("none", 0), ("", 2)):
        headers, query = ({"X-Namespace": place} if place else {}), f"ns={place}" if place else ""
        said: tuple[tuple[str, str, Any, dict[str, Any], str], ...] = (
            ("POST", "/recall", {"query": "comets", "dry": True, **({"namespace": place} if place else {})}, {}, "total"),
            ("POST", "/recall", {"query": "comets", "dry": True}, headers, "total"), ("GET", f"/search?q=comets&{query}", None, {}, "count"),
        )  # fmt: skip
        for method, path, body, more, field in said:
            old.check(f"{method} {path} in {place!r}", old.ask(method, path, body, headers=more)[field], count)
        if place:
            for path, field in (("/memories", "total"), ("/recent", "count"), ("/stats", "total"), ("/export", "count")):
                old.check(f"{path} in {place!r}", old.ask("GET", path, headers=headers)[field], count)


def _news(old: Client) -> None:
    for number in range(3):
        old.keep(f"recent note {number} on tulips", namespace="new", layer=number + 1, importance=0.3 * (number + 1), source=f"s{number}")
    for query, count in (("", 3), ("layer=2", 1), ("min_importance=0.5", 2), ("source=s1", 1), ("limit=1", 1), ("hours=0", 0), ("hours=90000", 3)):
        old.check(f"recent {query}", old.ask("GET", f"/recent?ns=new&{query}")["count"], count)
    told = old.ask("GET", "/recent?hours=90000")
    old.check("hours", (told["hours"], abs(told["since_ms"] - (time.time() * 1_000 - 87_600 * HOUR)) < 60_000), (87_600, True))
    counted = old.ask("GET", "/stats?ns=new")
    old.check("counted", counted, {"total": 3, "buffer": 1, "working": 1, "core": 1, "by_kind": {"semantic": 3, "episodic": 0, "procedural": 0}})
    old.check("all namespaces", old.ask("GET", "/health")["stats"]["total"], old.ask("GET", "/stats")["total"])
    called = old.keep("Always run the tests before pushing", tags=["trigger:git-push"])
    old.check("an action", (old.ask("GET", "/triggers/git-push")["count"], old.find(called["id"])["access_count"], old.ask("GET", "/triggers/none")["count"]), (1, 1, 0))


def test_a_resume_keeps_its_sections_budget_and_workspace(old: Client) -> None:
    for number in range(6):
        old.keep(f"Core principle {number}: never break rule number {number} of the constitution", layer=3, importance=0.8)
        old.keep(f"Working item {number} about migrating module {number} to the new api", layer=2)
        old.keep(f"Buffer item {number} heard in passing about topic {number}")
    old.keep("Session: finished the parser, tests pending", source="session", layer=2)
    old.keep("Session two: deployed", tags=["session"], layer=2)
    told = old.ask("GET", "/resume")
    sections = ("core", "working", "buffer", "recent", "sessions")
    old.has("a resume", told, "hours core_count core_total core_summary_used working_count buffer_count recent_count session_count " + " ".join(sections))
    old.check("core and sessions", (told["core_count"], told["core_total"], told["session_count"], told["hours"]), (6, 6, 2, 4))
    old.check("short items", set(told["core"][0]) <= {"content", "layer", "importance", "created_at", "tags", "kind"}, wanted=True)
    whole = old.ask("GET", "/resume?compact=false&hours=1&limit=2")
    old.check("whole items", ("id" in whole["core"][0], whole["hours"], len(whole["core"])), (True, 1, 2))
    old.check("not used by it", old.find(whole["core"][0]["id"])["access_count"], 0)
    for budget in (300, 600, 1_000):
        found = old.ask("GET", f"/resume?budget={budget}")
        old.check(f"budget {budget}", sum(len(one["content"]) for name in sections for one in found[name]), lambda size, budget=budget: size <= budget)
    old.check("as a text", old.ask("GET", "/resume?format=text"), lambda text: "=== Core (6) ===" in text)
    old.check("an odd form", old.call("GET", "/resume?format=odd")[0], 400)
    for words, tags in (
        ("The alpha project is written in Rust", ["alpha"]),
        ("The beta project is written in Go", ["beta"]),
        ("The gamma project is written in C", ["ws:gamma"]),
        ("The alpha backend is written in Rust too", ["alpha:backend"]),
        ("Every project is written with tests", []),
    ):
        old.keep(words, tags=tags, layer=3, namespace="w")
    for asked, wanted in (("alpha", "Rust,too,tests"), ("alpha,beta", "Rust,too,Go,tests"), ("ws:gamma", "C,tests")):
        core = {one["content"].split()[-1] for one in old.ask("GET", f"/resume?ns=w&workspace={asked}")["core"]}
        old.check(f"workspace {asked}", core, set(wanted.split(",")))


# ---------------------------------------------------------------- facts


def test_facts_are_stated_asked_followed_and_ended(old: Client) -> None:
    def fact(subject: str, predicate: str, object_: str, **more: Any) -> dict[str, Any]:
        told: dict[str, Any] = old.ask("POST", "/facts", {"facts": [{"subject": subject, "predicate": predicate, "object": object_, **more}]})
        return told

    acme, globex = fact("Alice", "works_at", "Acme"), fact("Alice", "works_at", "Globex")
    old.has("a fact", acme["facts"][0], "id subject predicate object memory_id namespace created_at")
    old.check("its memory", old.find(acme["facts"][0]["memory_id"])["source"], "fact")
    old.check("replaced", (acme["resolved"], globex["resolved"], [one["object"] for one in globex["conflicts"]]), (0, 1, ["Acme"]))
    for triple in (("Globex", "located_in", "Springfield"), ("Springfield", "state", "Oregon"), ("Bob", "knows", "Alice")):
        fact(*triple)
    facts = old.ask("GET", "/facts?entity=Alice")
    old.check("asked", ({(one["subject"], one["object"]) for one in facts["facts"]}, facts["count"]), ({("Alice", "Globex"), ("Bob", "Alice")}, 2))
    gone = [one for one in old.ask("GET", "/facts?entity=alice&include_superseded=true")["facts"] if one["object"] == "Acme"]
    old.check("with what is over", [(one["superseded_by"], isinstance(one["valid_until"], int)) for one in gone], [(globex["facts"][0]["id"], True)])
    for hops, told, longest in ((2, 2, 2), (3, 3, 3), (9, 3, 3)):
        graph = old.ask("GET", f"/facts/graph?entity=Alice&hops={hops}")
        old.check(f"chains of {hops}", (graph["entity"], graph["hops"], graph["count"] == len(graph["chains"]), max(len(one["path"]) for one in graph["chains"])), ("Alice", told, True, longest))
    history = old.ask("GET", "/facts/history?subject=Alice&predicate=works_at")
    old.check("history", ([one["object"] for one in history["history"]], history["count"]), (["Acme", "Globex"], 2))
    for query, count in (("limit=2", 2), ("ns=zz", 0)):
        old.check(f"all {query}", old.ask("GET", f"/facts/all?{query}")["count"], count)
    for path in ("/facts", "/facts/graph", "/facts/history", "/facts/conflicts", "/facts/history?subject=a"):
        old.check(f"asked for nothing {path}", old.call("GET", path)[0], 400)
    for body in ({}, {"facts": "x"}, {"facts": [{"subject": "a"}]}, {"facts": [{"subject": "", "predicate": "b", "object": "c"}]}):
        old.check(f"no fact {body}", old.call("POST", "/facts", body)[0], 400)
    old.check("recalled by name", old.ask("POST", "/recall", {"query": "Alice", "dry": True})["memories"][0]["relevance"], 1.0)
    old.has("recalled with chains", old.ask("POST", "/recall", {"query": "Where does Alice work?", "dry": True}), "fact_chains")
    for status in (200, 404):
        old.check("deleted once", old.call("DELETE", f"/facts/{globex['facts'][0]['id']}")[0], status)
    old.check("since when", fact("Dora", "born_in", "Linz", valid_from=1_700_000_000_000)["facts"][0]["valid_from"], 1_700_000_000_000)
    kept = old.keep("Carla plays the cello in the city orchestra and has two dogs")
    old.check("of a memory", fact("Carla", "instrument", "cello", memory_id=kept["id"])["facts"][0]["memory_id"], kept["id"])
    fact("Carla", "instrument", "viola")
    old.check("which stays", bool(old.find(kept["id"])), wanted=True)
    old.ask("DELETE", f"/memories/{kept['id']}")
    old.check("and goes with it", [one["object"] for one in old.ask("GET", "/facts?entity=Carla")["facts"]], ["viola"])


# ---------------------------------------------------------------- lives

WORDS = iter(
    [
        "The ferry to Ostend leaves from pier nine",
        "Grandmother's recipe needs three eggs and rye flour",
        "The billing database runs on port 5433",
        "Marta's violin lesson is on Thursday evenings",
        "The attic window was replaced in spring",
        "Our build cache lives under var cache bazel",
        "Jonas collects stamps from Iceland",
        "The garden pump needs a new seal",
        "Invoices are numbered by year and customer",
        "The telescope has a focal length of 900 mm",
        "Lisbon office has fourteen desks",
        "The choir rehearses Bach in the old mill",
        "Solar panels deliver six kilowatts at noon",
        "The router firmware is at version 7.2",
        "Wolfgang bakes sourdough every Sunday",
        "The museum closes on Mondays in winter",
        "Ticket queue is triaged by the support lead",
        "The red kayak has a crack near the bow",
        "Chess club meets in the library basement",
        "Nightly backups go to the Helsinki bucket",
        "The dentist recommended a softer brush",
        "Orchids want filtered light and little water",
        "Payroll exports use semicolons as separators",
        "A fox visits the yard before dawn",
        "The printer on floor two jams with thick paper",
        "Hiking boots were resoled in October",
        "The api gateway limits to 300 requests a minute",
        "Saffron is kept in the top drawer",
        "The tram line 4 was rerouted past the harbour",
        "Customer Delta pays within sixty days",
        "The piano was tuned to 442 hertz",
        "Rosa prefers window seats on trains",
        "The lighthouse keeper retired in 1987",
        "Feature flags are read from etcd at start",
        "Blueberries grow best in acid soil",
        "The freight elevator holds two tonnes",
        "Ines teaches pottery on weekends",
        "The VPN profile expires in March",
        "Honey from the north slope is darker",
        "A spare key hangs behind the fuse box",
        "The wind turbine squeaks at low speed",
        "Jakob's thesis is about tidal flats",
        "The staging cluster has three nodes",
        "Old maps are rolled in the blue tube",
        "The bakery opens at half past five",
        "Quarterly reviews use the green template",
        "Sensor 14 drifts by two degrees",
        "The courier rings twice",
        "Elsa is allergic to walnuts",
        "Lake ice was thirty centimetres thick",
    ]
)
GONE = 0
FRESH = {"last_accessed": -1}
LIVES: tuple[tuple[str, float, dict[str, Any], int], ...] = (
    ("used 5 times", 1, {"access_count": 5}, 2), ("used 4 times", 1, {"access_count": 4}, 1), ("said again twice", 1, {"repetition_count": 2}, 2),
    ("again once, used twice", 1, {"repetition_count": 1, "access_count": 2}, 1), ("again once, used thrice", 1, {"repetition_count": 1, "access_count": 3}, 2),
    ("a lesson of 3 h", 3, {"tags": ["lesson"]}, 2), ("a lesson of 1 h", 1, {"tags": ["lesson"]}, 1), ("a procedure of 3 h", 3, {"kind": "procedural"}, 2), ("a procedure of 1 h", 1, {"kind": "procedural"}, 1),
    ("a distilled lesson", 3, {"tags": ["lesson", "distilled"]}, 1), ("triaged, 25 h", 25, {"tags": ["_triaged"]}, GONE), ("triaged, 23 h", 23, {"tags": ["_triaged"]}, 1), ("never looked at, 25 h", 25, {}, 1),
    ("changed, 25 h", 25, {"modified_at": -20}, GONE), ("never looked at, 49 h", 49, {}, GONE), ("important, 30 h", 30, {"importance": 0.7}, 2), ("less important, 30 h", 30, {"importance": 0.69}, 1),
    ("used thrice, 30 h", 30, {"access_count": 3}, 2), ("said again, 30 h", 30, {"repetition_count": 1}, 2), ("a lesson of 50 h", 50, {"tags": ["lesson"]}, 2), ("a procedure of 50 h", 50, {"kind": "procedural"}, 2), ("new", 0.01, {}, 1),
    ("works, 3 uses, .6", 30, {"layer": 2, "access_count": 3, "importance": 0.6}, 3), ("works, 2 uses, .6", 30, {"layer": 2, "access_count": 2, "importance": 0.6}, 2), ("works, said again", 30, {"layer": 2, "repetition_count": 2, "importance": 0.7, **FRESH}, 3),
    ("works, 9 uses, .5", 30, {"layer": 2, "access_count": 9, **FRESH}, 2), ("works 8 days, one use", 192, {"layer": 2, "access_count": 1, "importance": 0.7, **FRESH}, 3), ("works 8 days, no use", 192, {"layer": 2, "importance": 0.7, **FRESH}, 2),
    ("works 6 days, one use", 144, {"layer": 2, "access_count": 1, "importance": 0.7, **FRESH}, 2), ("a note by source", 30, {"layer": 2, "access_count": 9, "importance": 0.9, "source": "session", **FRESH}, 2),
    *((f"works as {tag}", 30, {"layer": 2, "access_count": 9, "importance": 0.9, "tags": [tag], **FRESH}, 2) for tag in ("session", "ephemeral", "auto-distilled", "distilled", "gate-rejected-final")),
    ("refused 1 h ago", 30, {"layer": 2, "access_count": 9, "importance": 0.9, "tags": ["gate-rejected"], "modified_at": -1, **FRESH}, 2), ("refused 25 h ago", 90, {"layer": 2, "access_count": 9, "importance": 0.9, "tags": ["gate-rejected"], "modified_at": -25, **FRESH}, 3),
    ("twice, 30 h ago", 90, {"layer": 2, "access_count": 9, "importance": 0.9, "tags": ["gate-rejected-2"], "modified_at": -30, **FRESH}, 2), ("twice, 73 h ago", 90, {"layer": 2, "access_count": 9, "importance": 0.9, "tags": ["gate-rejected-2"], "modified_at": -73, **FRESH}, 3),
    ("refused 8 days ago", 288, {"layer": 2, "access_count": 4, "importance": 0.9, "tags": ["gate-rejected"], "modified_at": -192, **FRESH}, GONE), ("extracted", 30, {"layer": 2, "tags": ["auto-extract"], **FRESH}, 1),
    ("a note in the core", 30, {"layer": 3, "source": "session"}, 2), ("passing in the core", 30, {"layer": 3, "tags": ["ephemeral"]}, 2), ("the core", 300, {"layer": 3}, 3),
    ("all but gone", 700, {"layer": 2}, GONE), ("not quite", 500, {"layer": 2, "importance": 0.9}, 2), ("a procedure of 900 h", 900, {"layer": 2, "kind": "procedural", "importance": 0.4}, 2), ("a lesson of 900 h", 900, {"layer": 2, "tags": ["lesson"], "importance": 0.4}, 2),
)  # fmt: skip
"""What is brought in, how old in hours, as what, and its layer after one consolidation. Negative times are hours ago."""


def aged(words: str, hours: float, **fields: Any) -> dict[str, Any]:
    now = int(time.time() * 1_000)
    times = {name: now - int(hours * HOUR) for name in ("created_at", "modified_at", "last_accessed")}
    told = {name: now + value * HOUR if name in times else value for name, value in fields.items()}
    return {"content": words, **times, "layer": 1, "importance": 0.5, "access_count": 0, "repetition_count": 0, "source": "api", "tags": [], **told}


@pytest.mark.slow
def test_what_becomes_of_memories_in_one_consolidation(old: Client) -> None:
    brought = [(name, aged(next(WORDS), hours, **fields), layer) for name, hours, fields, layer in LIVES]
    ids = old.bring(*(memory for _, memory, _ in brought))
    for (name, given, _), memory_id in zip(brought, ids, strict=True):
        found = old.find(memory_id)
        for field in ("content", "layer", "importance", "created_at", "modified_at", "last_accessed", "access_count", "repetition_count", "source"):
            old.check(f"{name}: {field} as it was", found[field], given[field])
    tried = old.ask("POST", "/consolidate?dry_run=true")
    done = old.ask("POST", "/consolidate")
    moved: dict[str, set[str]] = {"promoted": set(), "demoted": set(), "decayed": set()}
    for (name, given, layer), memory_id in zip(brought, ids, strict=True):
        old.check(f"{name}: layer", old.find(memory_id).get("layer", GONE), layer)
        way = "decayed" if layer == GONE else "promoted" if layer > given["layer"] else "demoted" if layer < given["layer"] else ""
        if way:
            moved[way].add(memory_id)
    for way, told in moved.items():
        old.check(way, (done[way], tried[way]), (len(told), len(told)))
    for name, way in (("promoted_ids", "promoted"), ("dropped_ids", "decayed")):
        old.check(name, set(done[name]), moved[way])
    lying = {one["id"] for one in old.ask("GET", "/trash?limit=1000")["items"]}
    old.check("nothing is lost", moved["decayed"] <= lying, wanted=True)
    by_name = {name: memory_id for (name, _, _), memory_id in zip(brought, ids, strict=True)}
    for name, importance in (("works, 2 uses, .6", 0.55), ("new", 0.5)):
        old.check(f"importance of {name}", old.find(by_name[name])["importance"], importance)
    old.check("importance told", done["importance_decayed"] > 0, wanted=True)


@pytest.mark.slow
def test_the_settings_of_a_consolidation_and_the_limit_of_the_buffer(old: Client) -> None:
    ids = old.bring(
        aged("The quarry lake is forty metres deep", 1, access_count=2), aged("Tomas repairs accordions in Graz", 1, layer=2, access_count=2, importance=0.6),
        aged("Tulips come from Haarlem", 3, tags=["_triaged"]), aged("The cathedral clock strikes thirteen", 30, layer=2, access_count=4, last_accessed=-1), aged("The walnut desk was built in 1902", 72, layer=2, access_count=1, importance=0.7, last_accessed=-1),
    )  # fmt: skip
    old.ask("POST", "/consolidate", {"promote_threshold": 2, "promote_min_importance": 0.4, "buffer_ttl_secs": 7_200, "working_age_promote_secs": 172_800})
    old.check("by the body", [old.find(one).get("layer", GONE) for one in ids], [1, 3, GONE, 3, 3])
    stones, things = (
        ["amber", "basalt", "cedar", "delft", "ebony", "flint", "granite", "hazel", "ivory", "jade"],
        ["lamp", "rope", "vase", "bell", "drum", "harp", "lens", "mill", "nail", "oar", "pipe", "quilt", "reed", "sail", "tile", "urn", "vine", "wick", "yarn", "zinc", "comb"],
    )
    crates = [f"{stone} {thing} {number} lies in crate {number * 7} of hall {number * 3}" for number, (stone, thing) in enumerate((stone, thing) for stone in stones for thing in things)][:205]
    ids = old.bring(*(aged(words, 2 - place / 1_000) | {"namespace": "full"} for place, words in enumerate(crates)))
    old.ask("POST", "/consolidate")
    left = {one["id"] for offset in (0, 200) for one in old.ask("GET", f"/memories?ns=full&limit=200&offset={offset}")["memories"]}
    old.check("the oldest went", (len(left), [one for one in ids if one not in left]), (200, ids[:5]))


def test_an_export_comes_back_as_it_was(old: Client) -> None:
    kept = old.keep("take me along with everything", tags=["x"], importance=0.77, layer=2, kind="episodic", source="cli")
    told = old.ask("GET", "/export")
    old.check("export", (told["count"], told["memories"][0]["id"], "embedding" in told["memories"][0]), (1, kept["id"], False))
    old.check("vectors", len(old.ask("GET", "/export?embed=true")["memories"][0]["embedding"]) > 10, wanted=True)
    for imported, skipped in ((0, 1), (1, 0)):
        answer = old.ask("POST", "/import", told)
        old.check("import", (answer["imported"], answer["skipped"]), (imported, skipped))
        if skipped:
            old.ask("DELETE", "/memories", {"namespace": "default", "confirm": True})
            old.ask("DELETE", "/trash")
    old.check("the same", old.find(kept["id"]), {name: value for name, value in kept.items() if name != "merged"})
    old.check("another namespace", old.ask("POST", "/import", {"memories": [{"id": kept["id"], "content": "other place", "namespace": "q"}]})["imported"], 1)
    old.check("gets an id of its own", [one["id"] == kept["id"] for one in old.ask("GET", "/memories?ns=q")["memories"]], [False])
    (memory_id,) = old.bring({"content": "only created", "created_at": 1_700_000_000_000})
    old.check("other times follow", [old.find(memory_id)[name] for name in ("created_at", "modified_at", "last_accessed")], [1_700_000_000_000] * 3)
    for body, status in (({"memories": []}, 200), ({"memories": "x"}, 400)):
        old.check(f"import {body}", old.call("POST", "/import", body)[0], status)
    found = old.ask("POST", "/extract", {"text": "I moved to Lisbon last year and I work as a nurse. My daughter Ana is allergic to shellfish."})
    old.check("extract", (found["count"] > 0, found["count"] == len(found["extracted"])), (True, True))
    old.check("extract nothing", old.call("POST", "/extract", {})[0], 400)


# ---------------------------------------------------------------- with a model


class Model:
    """What the model says, task by task, and which model was asked."""

    def __init__(self) -> None:
        self.yes = True
        self.operations: list[dict[str, Any]] | None = []
        self.asked: list[str] = []

    def __call__(self, request: Request) -> Reply:
        self.asked.append(request.model)
        every = [int(number) for number in re.findall(r'"memory": (\d+)', request.prompt)] if self.yes else []
        if self.operations is None:
            return fails(500)
        return says_json({
            "approve": every, "promote": every, "procedures": every[:1], "relation": "same", "operations": self.operations, "order": [2, 1],
            "phrases": ["rocket booster", "launch vehicle", "spacecraft engine", "火箭"],
        })  # fmt: skip


def test_a_model_reviews_expands_reranks_and_audits_each_with_its_own_name(tmp_path: Path) -> None:
    model = Model()
    own = "gate=gate-model, merge=merge-model, expand=expand-model, rerank=rank-model"
    with ScriptedServer(model) as service:
        settings = {"llm.base_url": service.url, "llm.model": "base-model", "llm.models": own, "llm.rest_s": 0, "llm.retries": 0}
        with running(tmp_path, opener=opener(tmp_path / "m.db", **settings), requests_a_minute=0) as server, Client(base_url=server.url, timeout=120) as old:
            _reviewed(old, model)
            _audited(old, model)
            assert old.wrong == [], old.wrong


def _reviewed(old: Client, model: Model) -> None:
    ids = old.bring(
        aged("The staging cluster has three nodes in Frankfurt", 1),
        aged("Rosa prefers window seats on long trains", 0.05),
        aged("Invoices are numbered by year", 30, layer=2, access_count=4, importance=0.7, last_accessed=-1),
    )
    told = old.ask("POST", "/consolidate")
    old.check("yes", ([old.find(one)["layer"] for one in ids], told["triaged"], told["promoted"]), ([2, 1, 3], 1, 2))
    old.check("kind", [old.find(one)["kind"] for one in ids], ["procedural", "semantic", "procedural"])
    model.yes = False
    ids = old.bring(
        aged("The bell tower leans by two degrees", 1),
        aged("Payroll runs on the last Thursday", 30, layer=2, access_count=4, importance=0.7, last_accessed=-1),
        aged("The museum closes at six", 90, layer=2, access_count=4, importance=0.7, last_accessed=-1, modified_at=-25, tags=["gate-rejected"]),
        aged("The mill has two wheels", 90, layer=2, access_count=4, importance=0.7, last_accessed=-1, modified_at=-73, tags=["gate-rejected-2"]),
    )
    told = old.ask("POST", "/consolidate")
    old.check("no", [old.find(one)["tags"] for one in ids], [["_triaged"], ["gate-rejected"], ["gate-rejected-2"], ["gate-rejected-final"]])
    old.check("refused", (told["gate_rejected"], {*model.asked}), (3, {"gate-model"}))
    twins = old.bring(aged("The deploy job runs every night at two in the cluster", 5), aged("The deploy job runs every night at two in cluster", 4))
    pair = old.bring(*(aged(f"The user prefers window seats on long train {word}", 50, layer=2, last_accessed=-1) for word in ("rides", "journeys")))
    told = old.ask("POST", "/consolidate", {"merge": True})
    old.check("twins of an import", (told["buffer_deduped"], sum(bool(old.find(one)) for one in twins), {name for name, found in told.items() if found in (0, [])}), (1, 1, {"promoted", "decayed", "demoted"}))
    old.check("two that say the same", (told["merged"], sum(bool(old.find(one)) for one in pair)), (1, 1))
    old.ask("POST", "/consolidate")
    model.asked.clear()
    old.ask("POST", "/consolidate")
    old.check("asks not again so soon", model.asked, [])
    old.keep("The spacecraft engine was tested in May")
    old.keep("The spacecraft engine was repaired in June")
    told = old.ask("POST", "/recall", {"query": "rocket", "expand": True, "dry": True})
    old.check("other words", (told["expanded_queries"][-1], model.asked), ("火箭", ["expand-model"]))
    told = old.ask("POST", "/recall", {"query": "spacecraft engine", "rerank": True, "dry": True})
    old.check("reranked", (told["search_mode"], model.asked[-1]), ("semantic+fts+rerank", "rank-model"))


def _audited(old: Client, model: Model) -> None:
    reviewed = old.bring(aged("Old core fact about tidal gates", 240, layer=3), aged("Old working fact about rail gauges", 240, layer=2))
    good, bad = {"op": "adjust", "importance": 0.8}, {"op": "adjust", "importance": 5.0}
    for operations, score, safe in (([good, bad], 0.5, False), ([good, good, good, bad], 0.75, True)):
        shown = old.ask("GET", "/stats")["working"] + old.ask("GET", "/stats")["core"]
        last = [shown - 1 - place for place in range(len(operations))]
        model.operations = [{**one, "ids": [max(1, place)]} for one, place in zip(operations, last, strict=True)]
        told = old.ask("POST", "/audit/sandbox")
        old.has("an audit", told, "total_reviewed ops_proposed grades score safe_to_apply applied skipped summary cluster_count batch_count")
        old.check(f"graded {score}", (told["ops_proposed"], len(told["grades"]), told["applied"], told["total_reviewed"] >= len(reviewed)), (len(operations), len(operations), 0, True))
        if not safe:
            old.check("unsafe", told["safe_to_apply"], wanted=False)
    usage = old.ask("GET", "/llm-usage")["summary"]
    old.has("usage", usage["by_component"], "gate triage expand audit")
    model.operations = None
    old.check("a dead model", old.call("POST", "/audit/sandbox")[0], 502)
