"""What a request may cost: everything has its bounds, and work that is given up ends."""

from __future__ import annotations

import http.client
import io
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from engram.config import ProxyConfig
from engram.engine import Engram
from engram.model.clock import check_cancelled
from engram.server import app, limits, route
from engram.server.caller import Caller
from engram.server.host import MemoryHost
from engram.server.problems import TookTooLong
from engram.server.proxy.mounting import mount
from engram.testing import ScriptedServer
from engram.testing.model_server import says
from tests.server.conftest import Client, Running, Start, opened
from tests.tables import every

SOON_S = 60.0
LOCAL = Caller("local", "human")


def soon(happens: Callable[[], bool], seconds: float = SOON_S) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if happens():
            return True
        time.sleep(0.02)
    return False


# ---------------------------------------------------------------- counts and sizes


@every(
    ("path", "body"),
    [
        ("/v1/memories", {"memories": ["x"] * 10_001}),
        ("/v1/memories", ["x"] * 10_001),
        ("/v1/adopt", {"records": [{"content": "x"}] * 10_001}),
        ("/v1/context", {"message": "x", "history": [{"role": "user", "content": "x"}] * 10_001}),
    ],
)
def test_a_list_without_end_is_refused_before_anything_is_done(client: Client, path: str, body: Any) -> None:
    answer = client.post(path, json=body)

    assert (answer.status_code, answer.json()["code"]) == (413, "E2040")
    assert answer.json()["facts"] == {"what": "items of a list", "number": 10_001, "limit": 10_000}
    assert client.get("/v1/count").json() == {"count": 0}


def test_old_routes_know_the_same_bounds(client: Client) -> None:
    with httpx.Client(base_url=str(client.base_url)) as old:
        answer = old.post("/import", json={"memories": [{"content": "x"}] * 10_001})

    assert answer.status_code == 413
    assert client.get("/v1/count").json() == {"count": 0}


@every(
    ("path", "body"),
    [
        ("/engram/v1/memories", '{"content": "Tea at four", "idempotencyKey": "\\ud800"}'),
        ("/import", '[{"content": "Tea", "text": "\\udfff"}]'),
        ("/v1/memories", '{"content": "half \\ud83d"}'),
    ],
)
def test_half_of_a_character_is_refused_wherever_it_stands(client: Client, path: str, body: str) -> None:
    with httpx.Client(base_url=str(client.base_url)) as old:
        assert old.post(path, content=body, headers={"content-type": "application/json"}).status_code == 400
        whole = '{"content": "A whole one \\ud83d\\ude00"}'
        assert client.post("/v1/memories", content=whole).status_code == 201


@pytest.mark.slow
def test_a_long_history_is_counted_and_no_bug(client: Client) -> None:
    history = [{"role": "user", "content": "All work and no play. " * 70}] * 1_000

    assert client.post("/v1/context", json={"message": "Tea?", "history": history}).status_code == 200


def test_a_count_that_no_file_holds_is_refused(client: Client) -> None:
    told = client.post(
        "/v1/adopt", json={"records": [{"content": "Tea", "usage": {"recalls": 10**30}}]}
    ).json()

    assert [one["error"]["code"] for one in told["refused"]] == ["E2007"], told


def test_bytes_of_every_kind_in_a_header_pass_the_proxy(start: Start) -> None:
    with ScriptedServer(says("Tea.")) as service:
        server = start(mounts=(mount(ProxyConfig(base_url=service.url)),))
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
        chat = json.dumps({"model": "small", "messages": [{"role": "user", "content": "hi"}]})
        headers: dict[str, Any] = {"content-type": "application/json", "x-note": "caf\xe9".encode("latin-1")}
        connection.request("POST", "/v1/chat/completions", chat, headers)
        answer = connection.getresponse()
        answer.read()
        connection.close()

    assert answer.status == 200


@every("path", ["files", "images/generations", "audio/speech", "batches", "messages", "rerank", "uploads/a"])
def test_the_proxy_passes_on_every_address_that_is_not_ours(start: Start, path: str) -> None:
    with ScriptedServer(says("Tea.")) as service:
        server = start(mounts=(mount(ProxyConfig(base_url=service.url)),))
        key = {"Authorization": "Bearer sk-of-the-caller"}
        answer = httpx.post(f"{server.url}/v1/{path}", json={"a": 1}, headers=key)
        (asked,) = service.requests

    assert answer.status_code == 200, answer.text
    assert asked.path.endswith(f"/v1/{path}")
    assert asked.headers["authorization"] == "Bearer sk-of-the-caller"


def test_what_is_ours_stays_ours_beside_the_proxy(start: Start) -> None:
    with ScriptedServer(says("Tea.")) as service:
        url = start(mounts=(mount(ProxyConfig(base_url=service.url)),)).url

        assert httpx.get(f"{url}/v1/count").json() == {"count": 0}
        assert httpx.put(f"{url}/v1/memories").status_code == 405
        assert httpx.get(f"{url}/v1/memories/0000/nothing").status_code == 404
        assert httpx.get(f"{url}/v1/count", headers={"Authorization": "Bearer sk-x"}).status_code == 401
        assert service.requests == []


def test_an_archive_that_swells_is_refused_unread(client: Client) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("conversations.json", b" " * 20_000_000)

    answer = client.post("/v1/sources/file", params={"name": "chats.zip"}, content=packed.getvalue())

    assert (answer.status_code, answer.json()["code"]) == (413, "E2017")


# ---------------------------------------------------------------- time


def goes_on(seen: list[str]) -> Callable[[Engram], None]:
    """Work that would take a minute, in many small steps."""

    def work(memory: Engram) -> None:
        del memory
        try:
            for _ in range(6_000):
                time.sleep(0.01)
                check_cancelled()
        finally:
            seen.append("ended")

    return work


def test_work_whose_time_is_over_ends(server: Running) -> None:
    import anyio

    seen: list[str] = []

    async def run() -> None:
        with pytest.raises(TookTooLong):
            await server.memory_host.run(LOCAL, goes_on(seen), limit_s=0.2)

    anyio.run(run)

    assert soon(lambda: seen == ["ended"] and server.memory_host.running == 0)


@pytest.mark.slow
def test_a_call_that_is_given_up_writes_nothing_more(start: Start) -> None:
    server = start(time_limit_s=0.5)
    with Client(base_url=server.url, timeout=60) as client:
        many = [f"The pump with the number {n} was serviced by Anna in May" for n in range(3_000)]
        answer = client.post("/v1/memories", json={"memories": many})

        assert (answer.status_code, answer.json()["code"]) == (504, "E6007")
        assert soon(lambda: server.memory_host.running == 0)
        time.sleep(0.5)
        assert server.memory_host.memory.count() == 0, "all or none"


def test_a_caller_that_has_gone_is_worked_for_only_a_little_longer(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(route, "GONE_S", 0.2)
    server = start()
    many = json.dumps({"memories": [f"Pump {n} was serviced by Anna in May {n}" for n in range(9_000)]})
    with socket.create_connection(("127.0.0.1", server.port)) as caller:
        head = f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(many)}\r\n\r\n"
        caller.sendall((head + many).encode())
        assert soon(lambda: server.memory_host.running == 1)

    assert soon(lambda: server.memory_host.running == 0)
    assert server.memory_host.memory.count() == 0


def test_who_sends_and_does_not_wait_is_served(server: Running) -> None:
    said = '{"content": "Tea is at four"}'
    with socket.create_connection(("127.0.0.1", server.port)) as caller:
        head = f"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(said)}\r\n\r\n"
        caller.sendall((head + said).encode())

    assert soon(lambda: server.memory_host.memory.count() == 1)


def test_the_house_closes_in_time_whatever_runs_in_it(tmp_path: Path) -> None:
    from engram.config import ServerConfig

    memory_host = MemoryHost(lambda: opened(tmp_path / "m.db"), ServerConfig(drain_s=1.0))
    memory_host.open()
    seen: list[str] = []

    def ask() -> None:
        import anyio

        from engram.errors import WorkCancelled

        with pytest.raises(WorkCancelled, match="the server stops"):
            anyio.run(lambda: memory_host.run(LOCAL, goes_on(seen)))

    asking = threading.Thread(target=ask)
    asking.start()
    assert soon(lambda: memory_host.running == 1)
    begun = time.monotonic()
    memory_host.close()

    assert time.monotonic() - begun < 30, "its work would take a minute"
    asking.join(SOON_S)
    assert seen == ["ended"]


# ---------------------------------------------------------------- connections


@pytest.mark.slow
def test_a_connection_that_says_nothing_whole_is_closed(
    start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "HEADERS_S", 0.5)
    server = start()
    begun = time.monotonic()
    with (
        socket.create_connection(("127.0.0.1", server.port), timeout=SOON_S) as silent,
        socket.create_connection(("127.0.0.1", server.port), timeout=SOON_S) as slow,
    ):
        for piece in (b"GET /health HTTP/1.1\r\n", b"Host: local", b"host\r\nX-A: 1", b"2345"):
            slow.sendall(piece)
            time.sleep(0.2)
        assert (silent.recv(1), slow.recv(1)) == (b"", b"")
    assert time.monotonic() - begun < SOON_S

    with Client(base_url=server.url) as client:
        assert client.get("/health").status_code == 200
        time.sleep(1)
        assert client.get("/health").status_code == 200, "a connection at rest is no half-open one"


def test_a_body_that_trickles_is_refused(start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "BODY_S", 0.5)
    server = start()
    with socket.create_connection(("127.0.0.1", server.port), timeout=SOON_S) as slow:
        slow.sendall(b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{")
        assert slow.recv(100).startswith(b"HTTP/1.1 408")


# ---------------------------------------------------------------- all of it, in a process of its own


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_hostile_requests_one_after_another_leave_a_server_that_is_well(tmp_path: Path) -> None:
    options = ["--set", "server.time_limit_s=8", "--set", f"server.drain_s={DRAIN_S:g}"]
    command = [
        sys.executable,
        "-m",
        "engram",
        "--file",
        str(tmp_path / "m.db"),
        "serve",
        "--open",
        "--port",
        "0",
        "--json",
    ]
    log = (tmp_path / "log").open("w", encoding="utf-8")
    with (
        log,
        subprocess.Popen(
            [*command, *options], stdout=subprocess.PIPE, stderr=log, env={**os.environ, "PYTHONPATH": SOURCE}
        ) as running,
    ):
        try:
            assert running.stdout is not None
            url = json.loads(running.stdout.readline())["url"]
            with Client(base_url=url, timeout=60) as client:
                client.post("/v1/memories", json={"content": "The first planet is Mercury"})
                client.get("/v1/recall", params={"q": "planet"})
                warm = {"text": _pages(60_000), "title": "small"}  # what is loaded once is no growth
                assert client.post("/v1/sources/text", json=warm).status_code < 300
                before = _resident_kb(running.pid)
                for path, body, expected in _hostile():
                    begun = time.monotonic()
                    answer = client.post(path, content=body)
                    assert answer.status_code in expected, (path, answer.text[:200])
                    assert time.monotonic() - begun < 20
                # Work that was given up ends at its next step, and gives back what it took.
                assert soon(lambda: _resident_kb(running.pid) < 1.5 * before, 60), (
                    _resident_kb(running.pid),
                    before,
                )
                assert client.get("/health").json()["status"] == "ok"
                threading.Thread(target=_ask_and_forget, args=(url,), daemon=True).start()
                time.sleep(1)
            begun = time.monotonic()
            running.send_signal(signal.SIGTERM)
            running.wait(DRAIN_S + 5)
            assert time.monotonic() - begun < DRAIN_S + 2
        finally:
            running.kill()


DRAIN_S = 6.0
SOURCE = os.pathsep.join(sys.path)


def _hostile() -> list[tuple[str, bytes, set[int]]]:
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("conversations.json", "w") as one,
    ):
        for _ in range(300):
            one.write(b" " * 1_000_000)
    return [
        ("/v1/memories", json.dumps({"memories": [f"s{n}" for n in range(400_000)]}).encode(), {413}),
        ("/v1/sources/text", json.dumps({"text": _pages(9_000_000), "title": "big"}).encode(), {504}),
        (
            "/v1/adopt",
            json.dumps({"records": [{"content": f"n{n}"} for n in range(200_000)]}).encode(),
            {413},
        ),
        *[("/v1/sources/file?name=x.zip", packed.getvalue(), {413})] * 4,
    ]


def _pages(characters: int) -> str:
    page = "# Part {n}\n\nThe pump number {n} was serviced in May by Anna and works again.\n\n"
    return "".join(page.format(n=n) for n in range(characters // len(page)))


def _ask_and_forget(url: str) -> None:
    with httpx.Client(base_url=url, timeout=60) as client:
        try:
            client.post("/v1/sources/text", json={"text": _pages(3_000_000), "title": "last"})
        except httpx.HTTPError:
            return  # the server went while it was asked, as it should


def _resident_kb(pid: int) -> int:
    lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))
