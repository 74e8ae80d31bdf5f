"""The Hermes plugin of *files*, as it is published, works with this server unchanged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from remnic_hermes import RemnicClient, RemnicMemoryProvider, register

from tests.server.conftest import Running
from tests.server.old import serving


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Running]:
    with serving(tmp_path / "old.db") as (server, _):
        yield server


def secret(server: Running) -> str:
    return server.token("hermes", "owner")["Authorization"].partition(" ")[2]


def test_every_call_of_the_client_that_we_serve_works(server: Running) -> None:
    async def story() -> None:
        client = RemnicClient(port=server.port, token=secret(server), session_key="s1")
        try:
            await calls(client)
        finally:
            await client.close()

    asyncio.run(story())


async def calls(client: Any) -> None:
    """What the client does over REST, and what it does over MCP."""
    assert (await client.health())["ok"] is True
    stored = await client.store("My editor is Helix", category="preference", tags=["tools"])
    memory = stored["memoryId"]
    assert "Helix" in (await client.recall("which editor do I use?", session_key="s1"))["context"]
    said = [
        {"role": "user", "content": "My sister Anna lives in Bremen."},
        {"role": "assistant", "content": "ok"},
    ]
    assert (await client.observe("s1", said))["accepted"] == 2
    assert (await client.search("editor"))["results"][0]["id"] == memory
    assert (await client.lcm_search("sister Anna", session_key="s1"))["results"][0]["role"] == "user"
    assert (await client.memory_get(memory))["memory"]["content"] == "My editor is Helix"
    assert (await client.memory_timeline(memory))["timeline"][0]["eventType"] == "stored"
    assert (await client.entity_get("Anna"))["entity"]["name"] == "Anna"
    assert (await client.memory_store("My editor is Helix"))["status"] == "duplicate"
    for told in (
        await client.recall_explain(),
        await client.recall_xray("editor"),
        await client.memory_last_recall(),
        await client.memory_feedback_last_recall(memoryId=memory, vote="up"),
        await client.memory_entities(),
        await client.memory_identity(),
        await client.memory_promote(memoryId=memory),
        await client.memory_outcome(memoryId=memory, outcome="success"),
        await client.memory_capture("The office is in Hamburg"),
        await client.review_list(),
        await client.suggestion_submit("Ada may like tea"),
        await client.contradiction_scan_run(),
        await client.briefing(),
        await client.context_checkpoint("s1", "We decided to move to Bremen in May."),
        await client.memory_governance_run(mode="shadow"),
        await client.procedural_stats(),
    ):
        assert told["isError"] is False, told
    with pytest.raises(RuntimeError, match="is no tool"):
        await client.work_board("export_markdown")


class Host:
    """What Hermes gives a plugin to register with."""

    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config
        self.provider: Any = None
        self.tools: dict[str, Any] = {}

    def register_memory_provider(self, provider: Any) -> None:
        self.provider = provider

    def register_tool(self, name: str, schema: Any, handler: Any) -> None:
        self.tools[name] = handler


def test_the_provider_remembers_a_turn_and_brings_it_back(server: Running) -> None:
    host = Host({"remnic": {"port": server.port, "token": secret(server), "session_key": "s1"}})
    register(host)
    provider: RemnicMemoryProvider = host.provider
    provider.initialize("s1")
    try:
        stored = json.loads(provider.handle_tool_call("remnic_store", {"content": "My editor is Helix"}))
        found = provider.prefetch("which editor do I use?")
        recalled = json.loads(provider.handle_tool_call("engram_recall", {"query": "which editor do I use?"}))
        provider.on_session_end([{"role": "user", "content": "From now on I drink tea."}])
    finally:
        provider.shutdown()

    assert provider.is_available()
    assert len(host.tools) > 100
    assert stored["status"] == "stored"
    assert found.startswith('<remnic-memory count="1">')
    assert "Helix" in found
    assert recalled["count"] == 1
