"""Streams, health, metrics, the journal and the pages."""

from __future__ import annotations

import io
import json
import logging
import re
import threading
from collections.abc import Iterator
from typing import Any

import httpx

from engram.server import metrics
from tests.server.conftest import Client, Running, Start
from tests.server.test_memories import keep
from tests.tables import every


def messages(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """The data of each message of a stream."""
    for line in lines:
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def test_the_ledger_is_told_as_it_grows(client: Client) -> None:
    before = keep(client, "Anna lives in Bremen")
    with client.stream("GET", "/v1/events/stream") as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("retry:")
        mine = keep(client, "My editor is Helix")
        told = next(messages(lines))

    assert (told["verb"], told["memory"]) == ("stored", mine["id"])
    assert told["memory"] != before["id"]
    assert "Helix" not in json.dumps(told)


def test_a_stream_goes_on_where_it_broke_off(client: Client) -> None:
    ids = [keep(client, f"House {number * 37} has {number} windows")["id"] for number in range(3)]
    seen = client.get("/v1/events", params={"limit": 10}).json()["events"][-1]["id"]
    with client.stream("GET", "/v1/events/stream", headers={"Last-Event-ID": seen}) as stream:
        told = messages(stream.iter_lines())
        stored = (event["memory"] for event in told if event["verb"] == "stored")
        found = [next(stored), next(stored)]

    assert found == ids[1:]
    assert client.get("/v1/events/stream", params={"after": "EVT-1"}).json()["code"] == "E2009"


def test_a_stream_tells_only_what_its_caller_may_see(server: Running, client: Client) -> None:
    from engram.model.scope import Scope

    rex = server.token("rex", "agent", Scope(agent="rex"))
    with httpx.stream("GET", f"{server.url}/v1/events/stream", headers=rex, timeout=10) as stream:
        lines = stream.iter_lines()
        next(lines)
        keep(client, "Ada prefers the night shift", scope={"agent": "ada"})
        shared = keep(client, "The launch is on Friday")
        assert next(messages(lines))["memory"] == shared["id"]


def test_a_stream_ends_when_the_server_stops(start: Start) -> None:
    server = start()
    ended = threading.Event()

    def follow() -> None:
        with httpx.stream("GET", f"{server.url}/v1/events/stream", timeout=30) as stream:
            began.set()
            for _ in stream.iter_lines():
                pass
        ended.set()

    began = threading.Event()
    thread = threading.Thread(target=follow)
    thread.start()
    assert began.wait(10)
    server.memory_host.stop()
    thread.join(10)

    assert ended.is_set()


def test_a_stream_ends_when_its_token_is_revoked(server: Running, client: Client) -> None:
    made = client.post("/v1/tokens", json={"name": "rex", "role": "reader"}).json()
    header = {"Authorization": f"Bearer {made['secret']}"}
    with httpx.stream("GET", f"{server.url}/v1/events/stream", headers=header, timeout=20) as stream:
        lines = stream.iter_lines()
        next(lines)
        client.delete(f"/v1/tokens/{made['token']['id']}")
        keep(client, "The launch is on Friday")
        told = [*messages(lines)]

    assert [one["code"] for one in told if "code" in one] == ["E6001"]
    assert len(told) == 1


def test_strangers_are_told_whether_the_server_is_up_and_no_more(server: Running, client: Client) -> None:
    from engram.model.scope import Scope

    keep(client, "The launch is on Friday")
    stranger = {"X-Forwarded-For": "192.0.2.1"}
    assert client.get("/health", headers=stranger).json() == {"status": "ok"}
    for role in ("reader", "owner"):
        foreign = server.token("eve", role, Scope("work"))
        assert client.get("/health", headers=foreign).json().keys() == {"status", "version", "name"}
        assert client.get("/metrics", headers=foreign).status_code == 403
        assert client.get("/v1/recall/health", headers=foreign).status_code == 403
        assert client.get("/engram/v1/health", headers=foreign).json()["memoryDir"] == ""
    whole = server.token("boss", "owner")
    assert client.get("/health", headers=whole).json()["memories"] == 1
    assert client.get("/metrics", headers=whole).status_code == 200
    assert client.get("/v1/recall/health", headers=whole).status_code == 200


def test_health_is_open_and_says_what_to_do(client: Client) -> None:
    told = client.get("/health").json()

    assert (told["status"], told["advice"], told["memories"]) == ("ok", [], 0)


def test_metrics_are_what_prometheus_reads(client: Client) -> None:
    keep(client, "My editor is Helix")
    client.get("/v1/memories/00000000")

    text = client.get("/metrics").text

    assert 'engram_requests_total{method="POST",route="/v1/memories",status="201"} 1' in text
    assert 'engram_requests_total{method="GET",route="/v1/memories/{memory_id}",status="404"} 1' in text
    assert 'engram_memories{status="active"} 1' in text
    assert 'engram_request_seconds_count{route="/v1/memories"} 1' in text
    for line in text.splitlines():
        assert re.fullmatch(r"# (HELP|TYPE) .+|[a-z_]+(\{.*\})? [0-9.e+-]+", line), line


def test_the_journal_holds_no_word_of_a_memory(client: Client) -> None:
    stream = io.StringIO()
    handler = metrics.write_to(stream)
    try:
        keep(client, "My editor is Helix")
        client.get("/v1/recall", params={"q": "Helix"})
        client.post("/v1/memories", json={"content": "Helix", "colour": "Helix"})
        client.get("/v1/entities/Helix")
        client.get("/health")
    finally:
        logging.getLogger("engram.server").removeHandler(handler)

    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert "helix" not in stream.getvalue().lower()
    assert lines[0].keys() >= {"at", "level", "event", "request", "method", "route", "status", "ms", "caller"}
    assert [line["status"] for line in lines[:3]] == [201, 200, 400]
    assert lines[2]["code"] == "E2005"


@every("path", ["/", "/docs"])
def test_pages_stand_alone(client: Client, path: str) -> None:
    answer = client.get(path, headers={"Accept": "text/html,*/*"})

    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert not re.search(r"(src|href)=[\"'](https?:)?//", answer.text), (
        "a page loads something from elsewhere"
    )
    assert "prefers-color-scheme" in answer.text
    assert "viewport" in answer.text
