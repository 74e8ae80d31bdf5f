"""A real server on a real socket for each test, and a client that checks the shape of every failure."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
import uvicorn.server

from engram import Engram
from engram.config import ServerConfig, load
from engram.model.scope import Access, Role, Scope
from engram.server.app import Mounting, Serving, build, listen
from engram.server.host import MemoryHost
from engram.testing import HashEmbedder

STARTS_WITHIN_S = 20.0


class _Impatient(ModuleType):
    """asyncio for uvicorn, which looks ten times a second whether it is to stop: here two hundred times."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    @staticmethod
    async def sleep(seconds: float) -> None:
        await asyncio.sleep(seconds / 20)


uvicorn.server.asyncio = _Impatient("asyncio")  # type: ignore[attr-defined]


@dataclass(frozen=True, slots=True)
class Running:
    """A server that listens."""

    url: str
    memory_host: MemoryHost

    @property
    def port(self) -> int:
        return httpx.URL(self.url).port or 0

    def token(self, name: str, role: Role | str = "agent", scope: Scope | None = None) -> dict[str, str]:
        """The header that lets somebody in."""
        owner = self.memory_host.memory.seen_by(Access.everything(), "owner of the file")
        issued = owner.tokens.create(name, role, scope=scope)
        return {"Authorization": f"Bearer {issued.secret}"}


Start = Callable[..., Running]


@contextmanager
def running(
    path: Path,
    mounts: tuple[Mounting, ...] = (),
    preset: str = "default",
    opener: Callable[[], Engram] | None = None,
    **settings: Any,
) -> Iterator[Running]:
    """A server over a file, until the block ends."""
    server = replace(ServerConfig(port=0, drain_s=5.0, access="open"), **settings)
    app = build(opener or (lambda: opened(path, preset)), server, mounts)
    sock = listen("127.0.0.1", 0)
    ready = threading.Event()
    serving = Serving(app, ready.set)
    thread = threading.Thread(target=serving.run, kwargs={"sockets": [sock]}, name="server")
    thread.start()
    try:
        assert ready.wait(STARTS_WITHIN_S), "the server did not start"
        yield Running(f"http://127.0.0.1:{sock.getsockname()[1]}", app.state.memory_host)
    finally:
        serving.should_exit = True
        thread.join(STARTS_WITHIN_S)
        sock.close()


def opened(path: Path, preset: str = "default") -> Engram:
    config = load(environment={}, arguments={"preset": preset})
    return Engram.open(path, config=config, embedder=HashEmbedder())


class Client(httpx.Client):
    """httpx that checks every failure for the one shape all of them have."""

    def send(self, request: httpx.Request, **more: Any) -> httpx.Response:
        response = super().send(request, **more)
        if response.status_code >= 400:
            response.read()
            check_problem(response)
        return response


def check_problem(response: httpx.Response) -> None:
    """A failure is a problem document with our code, and no bug."""
    assert response.headers["content-type"].startswith("application/problem+json"), response.text
    told = response.json()
    assert told.keys() == {"type", "title", "status", "detail", "code", "facts"}
    assert told["status"] == response.status_code
    assert told["type"] == f"urn:engram:error:{told['code']}"
    assert told["detail"]
    assert told["title"]
    assert told["code"] != "E0000", told


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts servers, each over a file of its own unless one is named."""
    with ExitStack() as stack:
        files = iter(tmp_path / f"served-{number}.db" for number in range(100))

        def begin(path: Path | None = None, mounts: tuple[Mounting, ...] = (), **settings: Any) -> Running:
            return stack.enter_context(running(path or next(files), mounts, **settings))

        yield begin


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """A client of one server for all tests of a module: for those that leave nothing behind."""
    with (
        running(tmp_path_factory.mktemp("shared") / "served.db", requests_a_minute=0) as server,
        Client(base_url=server.url, timeout=60) as client,
    ):
        yield client


@pytest.fixture
def server(start: Start) -> Running:
    return start()


@pytest.fixture
def client(server: Running) -> Iterator[Client]:
    with Client(base_url=server.url, timeout=30) as made:
        yield made
