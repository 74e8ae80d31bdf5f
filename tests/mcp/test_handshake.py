"""The handshake says what the SDK would say, and leaves to it whatever is unusual."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import anyio
import mcp_types as types
from anyio import to_thread
from mcp.shared._context_streams import create_context_streams
from mcp.shared.message import SessionMessage
from mcp_types import version

from engram import Engram
from engram.server.limits import Keys
from engram.server.mcp import handshake, stdio
from engram.server.mcp.handshake import FastHandshake, listed_tools
from engram.server.mcp.serving import Carrier, build
from engram.server.mcp.tools import FULL, ToolDispatcher
from tests.tables import every

if TYPE_CHECKING:
    import pytest

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def asked(method: str, id_: int | None = 1, **params: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
    return message | ({} if id_ is None else {"id": id_}) | ({"params": params} if params else {})


def greeting(wanted: str = "2025-11-25") -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    return asked("initialize", protocolVersion=wanted, capabilities={}, clientInfo=client)


HANDSHAKE = (greeting(), asked("notifications/initialized", None))


async def nowhere(_: Any, work: Callable[[Engram], Any]) -> Any:
    """Carries work nowhere: lists need no memory."""
    return await to_thread.run_sync(lambda: work(None))  # type: ignore[arg-type]


def by_the_porch(messages: Sequence[dict[str, Any]]) -> list[Any]:
    begun = FastHandshake(listed_tools("full"))
    replies = [begun.answer(json.dumps(message).encode()) for message in messages]
    return [None if reply is None else json.loads(reply) for reply in replies if reply != b""]


def by_the_sdk(messages: Sequence[dict[str, Any]]) -> list[Any]:
    return anyio.run(_by_the_sdk, messages)


async def _by_the_sdk(messages: Sequence[dict[str, Any]]) -> list[Any]:
    keys = Keys(1, 1.0)
    server = build(ToolDispatcher(FULL), Carrier(run=nowhere, who=lambda _: "", keys=lambda: keys))
    come, read = create_context_streams[SessionMessage | Exception](0)
    write, go = create_context_streams[SessionMessage](0)
    found: list[Any] = []

    async def speak() -> None:
        async with come, go:
            for message in messages:
                parsed = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
                await come.send(SessionMessage(parsed))
                if "id" in message:
                    reply = (await go.receive()).message
                    found.append(json.loads(reply.model_dump_json(by_alias=True, exclude_unset=True)))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(speak)
        await server.run(read, write, server.create_initialization_options())
    return found


@every("wanted", ["2024-11-05", "2025-06-18", "2025-11-25", "1999-01-01"])
def test_a_handshake_is_answered_as_the_sdk_answers_it(wanted: str) -> None:
    messages = [greeting(wanted)]

    assert by_the_porch(messages) == by_the_sdk(messages)


@every("wanted", ["2025-03-26", "2025-06-18", "2025-11-25"])
def test_lists_after_a_handshake_are_those_of_the_sdk(wanted: str) -> None:
    listed = [asked(method, place) for place, method in enumerate(LISTS, 2)]
    messages = [greeting(wanted), HANDSHAKE[1], *listed]

    assert by_the_porch(messages) == by_the_sdk(messages)


def test_a_client_of_the_newer_protocol_hears_the_same_from_both() -> None:
    methods = ("server/discover", *LISTS)
    messages = [asked(method, place, _meta=META) for place, method in enumerate(methods, 1)]

    assert by_the_porch(messages) == by_the_sdk(messages)


def test_the_versions_are_those_of_the_sdk() -> None:
    assert version.HANDSHAKE_PROTOCOL_VERSIONS == handshake.HANDSHAKE_VERSIONS
    assert version.MODERN_PROTOCOL_VERSIONS == (handshake.MODERN_VERSION,)


@every(
    "messages",
    [
        [asked("tools/list")],
        [asked("initialize")],
        [greeting() | {"params": {"protocolVersion": 5, "capabilities": {}, "clientInfo": {}}}],
        [*HANDSHAKE, asked("tools/call", 2, name="memory_list")],
        [*HANDSHAKE, asked("tools/list", 2, cursor="x")],
        [*HANDSHAKE, asked("tools/list", 2, _meta=META)],
        [*HANDSHAKE, asked("server/discover", 2)],
        [*HANDSHAKE, asked("nonsense", 2)],
        [*HANDSHAKE, greeting()],
        [asked("tools/list", _meta=META | {"io.modelcontextprotocol/protocolVersion": "2031-01-01"})],
        [asked("tools/list", _meta={"io.modelcontextprotocol/protocolVersion": "2026-07-28"})],
        [asked("notifications/cancelled", None, requestId=1)],
        [{"id": 1, "method": "ping"}],
        [[greeting()]],
    ],
)
def test_whatever_is_unusual_is_left_to_the_sdk(messages: list[dict[str, Any]]) -> None:
    assert by_the_porch(messages)[-1] is None


@every("line", [b"nonsense\n", b"\xff\xfe\n", b"5\n", b'"text"\n'])
def test_what_is_no_message_is_left_to_the_sdk(line: bytes) -> None:
    assert FastHandshake(listed_tools("full")).answer(line) is None


def test_a_call_waits_until_nobody_else_imports(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []

    def load_slowly() -> None:
        time.sleep(0.2)
        done.append("loaded")

    monkeypatch.setattr(stdio, "load", load_slowly)
    call = asked("tools/call", 3, name="memory_list", arguments={})
    sent = b"".join(
        json.dumps(message).encode() + b"\n" for message in [*HANDSHAKE, asked("tools/list", 2), call]
    )

    pending = stdio.begin(FastHandshake(listed_tools("pinned")), io.BytesIO(sent), io.BytesIO())

    assert json.loads(pending or b"") == call
    assert done == ["loaded"]
