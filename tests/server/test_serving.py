"""`engram serve` as a process: it starts, says where, stops when told, and loses nothing it acknowledged."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.responses import JSONResponse

from engram import Engram
from engram.server.app import Mounted
from engram.server.host import MemoryHost
from tests.server.conftest import Client, Start, opened, running

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@dataclass(frozen=True, slots=True)
class Process:
    url: str
    process: subprocess.Popen[str]
    told: dict[str, str]

    def stop(self, sig: int = signal.SIGTERM) -> int:
        self.process.send_signal(sig)
        self.process.communicate(timeout=30)
        return self.process.returncode


@contextmanager
def process(file: Path, *more: str, is_open: bool = True) -> Iterator[Process]:
    command = [sys.executable, "-m", "engram", "serve", "--port", "0", "--json", "--file", str(file), *more]
    command += ["--open"] if is_open else []
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as run:
        try:
            assert run.stdout is not None
            told = json.loads(run.stdout.readline())
            assert told["file"] == str(file)
            yield Process(told["url"], run, told)
        finally:
            run.kill()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("sig", "more"), [(signal.SIGTERM, ()), (signal.SIGINT, ()), (signal.SIGTERM, ("--workers", "2"))]
)
def test_every_acknowledged_write_is_there_after_a_signal_under_load(
    tmp_path: Path, sig: int, more: tuple[str, ...]
) -> None:
    file, stop = tmp_path / "served.db", threading.Event()
    acknowledged: list[str] = []
    enough = threading.Semaphore(0)

    def write(worker: int) -> None:
        with httpx.Client(base_url=served.url, timeout=30) as client:
            number = 0
            while not stop.is_set():
                number += 1
                content = f"Sensor {worker * 100_003 + number * 17} of hall {worker} reads {number}"
                try:
                    answer = client.post("/v1/memories", json={"content": content})
                except httpx.HTTPError:
                    return
                if answer.status_code == 201:
                    acknowledged.append(answer.json()["memory"]["id"])
                    enough.release()

    def read() -> None:
        with httpx.Client(base_url=served.url, timeout=30) as client:
            while not stop.is_set():
                try:
                    client.get("/v1/recall", params={"q": "what does the sensor of hall 3 read?"})
                except httpx.HTTPError:
                    return

    with process(file, *more) as served:
        httpx.post(f"{served.url}/v1/observe", json={"user": "I decided to move to Bremen.", "session": "s"})
        workers = [threading.Thread(target=write, args=(worker,)) for worker in range(6)]
        workers += [threading.Thread(target=read) for _ in range(2)]
        stream = threading.Thread(target=_follow, args=(served.url,))
        for thread in (*workers, stream):
            thread.start()
        assert all(enough.acquire(timeout=60) for _ in range(60))
        code = served.stop(sig)
        stop.set()
        for thread in (*workers, stream):
            thread.join(30)

    with Engram.open(file) as memory:
        kept = {one["id"] for one in memory.export()}
        assert code == 0
        assert set(acknowledged) <= kept
        assert all(finding.ok for finding in memory.doctor() if finding.name != "vectors")
        assert all(turn.captured_at for turn in memory.turns("s")), "what was heard waits unread"


def _follow(url: str) -> None:
    with httpx.Client(timeout=30) as client, client.stream("GET", f"{url}/v1/events/stream") as stream:
        try:
            for _ in stream.iter_lines():
                pass
        except httpx.HTTPError:
            return


@pytest.mark.slow
def test_a_taken_port_ends_with_its_own_code(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        run = _engram("serve", "--port", port, "--file", str(tmp_path / "a.db"))

    assert run.returncode == 7
    assert "E6011" in run.stderr
    assert "--port" in run.stderr


@pytest.mark.slow
def test_a_public_address_is_never_open_and_takes_tokens(tmp_path: Path) -> None:
    file = str(tmp_path / "a.db")
    refused = _engram("serve", "--host", "0.0.0.0", "--open", "--port", "0", "--file", file)
    made = _engram("token", "create", "rex", "--role", "reader", "--file", file, "--quiet")

    assert (refused.returncode, "E6012" in refused.stderr) == (7, True)
    assert made.stdout.startswith("engram_")
    with process(Path(file), "--host", "0.0.0.0", is_open=False) as served:
        port = httpx.URL(served.url).port
        header = {"Authorization": f"Bearer {made.stdout.strip()}"}
        assert httpx.get(f"http://127.0.0.1:{port}/v1/me", headers=header).json()["role"] == "reader"
        assert httpx.get(f"http://127.0.0.1:{port}/v1/me").status_code == 401


@pytest.mark.slow
def test_the_owner_comes_in_by_the_secret_the_link_and_another_link(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with process(file, is_open=False) as served:
        secret = Path(served.told["secret_file"]).read_text().strip()
        assert httpx.get(f"{served.url}/v1/me").status_code == 401
        header = {"Authorization": f"Bearer {secret}"}
        assert httpx.get(f"{served.url}/v1/me", headers=header).json()["role"] == "owner"
        port = str(httpx.URL(served.url).port)
        other = _engram("page", "--port", port, "--file", str(file))
        stranger = _engram("page", "--port", port, "--file", str(tmp_path / "b.db"))
        for link in (served.told["link"], other.stdout.strip()):
            with httpx.Client(follow_redirects=True, headers={"Accept": "text/html"}) as browser:
                assert "Ask your memory" in browser.get(link).text
                assert browser.get(f"{served.url}/v1/me").json()["role"] == "owner"
    assert (stranger.returncode != 0, "another file" in stranger.stderr) == (True, True)


def _engram(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "engram", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_no_thread_outlives_a_server(start: Start, tmp_path: Path) -> None:
    def ours() -> set[str]:
        return {one.name for one in threading.enumerate() if not one.daemon or "engram" in one.name}

    before = ours()
    for _ in range(3):
        with running(tmp_path / "again.db") as server, Client(base_url=server.url) as client:
            client.post("/v1/memories", json={"content": "My editor is Helix"})
            client.get("/v1/recall", params={"q": "editor"})

    for _ in range(200):  # anyio's threads end by themselves, a moment later
        if ours() <= before:
            return
        time.sleep(0.02)
    assert ours() <= before


def test_what_was_heard_is_read_when_the_server_stops(tmp_path: Path) -> None:
    with running(tmp_path / "heard.db") as server, Client(base_url=server.url) as client:
        rex = server.token("rex", "agent")
        for headers in ({}, rex):
            said = {"user": "The weather was quite fine today.", "session": "monday"}
            client.post("/v1/observe", json=said | {"message_id": str(len(headers))}, headers=headers)

    with opened(tmp_path / "heard.db") as memory:
        assert all(turn.captured_at for turn in memory.turns("monday"))


def test_another_door_is_mounted_behind_the_same_guard(start: Start) -> None:
    lived: list[str] = []

    def mounting(memory_host: MemoryHost) -> Mounted:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            caller = scope["state"]["caller"]
            found = await memory_host.run(caller, lambda memory: memory.stats().memories)
            await JSONResponse({"actor": caller.actor, "memories": found})(scope, receive, send)

        @asynccontextmanager
        async def alive() -> AsyncIterator[None]:
            lived.append("began")
            yield
            lived.append("ended")

        return Mounted("/other", app, alive)

    server = start(mounts=(mounting,))
    with Client(base_url=server.url) as client:
        assert client.get("/other/").json() == {"actor": "human", "memories": 0}
        assert client.post("/other").json() == {"actor": "human", "memories": 0}
        assert client.get("/other/", headers=server.token("rex")).json()["actor"] == "rex"
        assert client.get("/other/", headers={"Host": "evil.example"}).status_code == 421
    assert lived == ["began"]
