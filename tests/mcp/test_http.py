"""MCP over streamable HTTP: a real server on a free port, spoken to by the official client."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
import uvicorn
from mcp import Client
from mcp.shared.exceptions import MCPError

from engram import Engram
from engram.config import ServerConfig
from engram.operations import OPERATIONS
from engram.operations.aliases import TOOLS_BEFORE
from engram.server.app import build
from engram.server.mcp.serving import mount
from engram.server.mcp.tools import FULL, PINNED
from engram.testing import FakeClock, HashEmbedder
from tests.mcp import story
from tests.mcp.test_handshake import asked, greeting

pytestmark = pytest.mark.slow
STARTED_S = 30.0
JSON_OR_STREAM = {"Accept": "application/json, text/event-stream"}


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    def opened() -> Engram:
        return Engram.open(tmp_path / "memory.db", clock=FakeClock(), embedder=HashEmbedder())

    app = build(opened, ServerConfig(access="open"), [mount])
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        for _ in range(int(STARTED_S * 100)):
            if server.started:
                break
            thread.join(0.01)
        (port,) = (one.getsockname()[1] for own in server.servers for one in own.sockets)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.should_exit = True
        thread.join(STARTED_S)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_works_over_http(address: str, mode: Any) -> None:
    async def run() -> None:
        async with Client(f"{address}/full", mode=mode) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == [*FULL]

            async def ask(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
                result = await client.call_tool(name, dict(given))
                assert not result.is_error, result.content
                return dict(result.structured_content or {})

            assert {*await story.tell(ask)} == {*FULL, *TOOLS_BEFORE} - story.OWNERS - story.ASKS_A_MODEL

    anyio.run(run)


def test_resources_errors_and_progress_over_http(address: str) -> None:
    told: list[str | None] = []

    async def noted(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def run() -> None:
        async with Client(address) as client:
            assert [tool.name for tool in (await client.list_tools()).tools] == [*PINNED]
            assert (await client.read_resource("memory://stats")).contents
            assert (await client.get_prompt("resume", {})).messages
            assert (await client.call_tool("memory_get", {"id": "ffffffff"})).is_error
            with pytest.raises(MCPError, match="E2011"):
                await client.read_resource("memory://ffffffff")
        async with Client(f"{address}/full") as client:
            await client.call_tool("memory_doctor", {}, progress_callback=noted)

    anyio.run(run)
    assert told == [OPERATIONS["maintenance.doctor"].sentence]


def test_a_plain_client_is_answered_and_a_foreign_host_is_not(address: str) -> None:
    with httpx.Client(headers=JSON_OR_STREAM, follow_redirects=True) as http:
        greeted = http.post(address, json=greeting())
        listed = http.post(address, json=asked("tools/list", 2))
        elsewhere = http.post(address, json=greeting(), headers={"Host": "evil.example"})

    assert (greeted.status_code, listed.status_code) == (200, 200)
    assert "memory_store" in listed.text
    assert elsewhere.status_code in {400, 401, 403, 421}
