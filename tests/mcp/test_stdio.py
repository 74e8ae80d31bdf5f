"""`engram mcp` as clients start it: a real process, spoken to by the official client over its pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from mcp.shared.exceptions import MCPError

from engram import Engram
from engram.operations.aliases import TOOLS_BEFORE
from engram.server.mcp.tools import FULL, PINNED
from tests.mcp import story
from tests.mcp.test_handshake import HANDSHAKE, asked

pytestmark = pytest.mark.slow
COMMAND = [sys.executable, "-m", "engram"]
CYCLES, AT_ONCE = 100, 4
DELAYS, DELAY_S = 30, 0.05


def process(file: Path, *options: str) -> StdioServerParameters:
    words = [*COMMAND[1:], "--file", str(file), "mcp", *options]
    source = {"PYTHONPATH": os.environ["PYTHONPATH"]} if "PYTHONPATH" in os.environ else {}
    return StdioServerParameters(command=COMMAND[0], args=words, env={"HOME": str(file.parent), **source})


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_works_over_stdio(tmp_path: Path, mode: Any) -> None:
    async def run() -> None:
        async with Client(process(tmp_path / "m.engram", "--tools", "full"), mode=mode) as client:
            listed = await client.list_tools()
            assert [tool.name for tool in listed.tools] == [*FULL]

            async def ask(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
                result = await client.call_tool(name, dict(given))  # the client holds it against its schema
                assert not result.is_error, result.content
                assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
                return dict(result.structured_content or {})

            assert {*await story.tell(ask)} == {*FULL, *TOOLS_BEFORE} - story.OWNERS - story.ASKS_A_MODEL

    anyio.run(run)


def test_the_first_call_may_come_at_any_moment_while_the_rest_is_loaded(tmp_path: Path) -> None:
    async def first_call(number: int, deaths: list[str], lane: anyio.CapacityLimiter) -> None:
        async with lane:
            try:
                async with Client(process(tmp_path / f"{number}.engram"), mode="legacy") as client:
                    await client.list_tools()
                    await anyio.sleep(number * DELAY_S)
                    answer = await client.call_tool("memory_list", {})
                    assert not answer.is_error, answer.content
            except* (MCPError, anyio.ClosedResourceError, AssertionError) as error:
                deaths.append(f"after {number * DELAY_S:.2f} s: {error.exceptions}")

    async def run() -> list[str]:
        deaths: list[str] = []
        lane = anyio.CapacityLimiter(2)
        async with anyio.create_task_group() as group:
            for number in range(DELAYS):
                group.start_soon(first_call, number, deaths, lane)
        return deaths

    assert anyio.run(run) == []


def test_resources_prompts_progress_and_errors_over_stdio(tmp_path: Path) -> None:
    told: list[str | None] = []

    async def noted(progress: float, total: float | None, message: str | None) -> None:
        told.append(message)

    async def run() -> None:
        async with Client(process(tmp_path / "m.engram", "--tools", "full")) as client:
            stored = await client.call_tool(
                "memory_store", {"content": "Ada lives in Berlin", "pinned": True}
            )
            id_ = (stored.structured_content or {})["id"]
            one = await client.read_resource(f"memory://{id_}")
            assert json.loads(one.contents[0].text)["content"] == "Ada lives in Berlin"  # type: ignore[union-attr]
            counts = await client.read_resource("memory://stats")
            assert json.loads(counts.contents[0].text)["memories"] == 1  # type: ignore[union-attr]
            ada = await client.read_resource("memory://entities/Ada")
            assert json.loads(ada.contents[0].text)["name"] == "Ada"  # type: ignore[union-attr]
            with pytest.raises(MCPError, match="E2011"):
                await client.read_resource("memory://ffffffff")

            resumed = await client.get_prompt("resume", {})
            assert "Ada lives in Berlin" in resumed.messages[0].content.text  # type: ignore[union-attr]
            assert "Look over" in (await client.get_prompt("reflect", {})).messages[0].content.text  # type: ignore[union-attr]
            with pytest.raises(MCPError, match="E2005"):
                await client.get_prompt("unknown", {})

            await client.call_tool("memory_doctor", {}, progress_callback=noted)
            failed = await client.call_tool("memory_get", {"id": "ffffffff"})
            assert failed.is_error
            assert failed.content[0].text.startswith("E2011")  # type: ignore[union-attr]

    anyio.run(run)
    assert told == ["Look at every part and say in words what to do. Nothing is changed."]


def test_a_file_that_cannot_be_opened_is_an_answer_not_the_end(tmp_path: Path) -> None:
    (tmp_path / "m.engram").write_bytes(b"no database at all" * 100)

    async def run() -> None:
        async with Client(process(tmp_path / "m.engram")) as client:
            assert len((await client.list_tools()).tools) == len(PINNED)
            for _ in range(2):
                failed = await client.call_tool("memory_list", {})
                assert failed.is_error
                assert failed.content[0].text.startswith("E1001")  # type: ignore[union-attr]

    anyio.run(run)


def test_who_asks_is_said_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "m.engram"

    async def run() -> None:
        server = process(file, "--agent", "rex", "--project", "apollo")
        async with Client(server) as client:
            await client.call_tool("memory_store", {"content": "The launch is on Monday"})

    anyio.run(run)
    with Engram.open(file) as memory:
        (stored,) = memory.list()
        (event,) = memory.events(stored.id)

    assert (stored.scope.project, stored.scope.agent, stored.source) == ("apollo", "rex", "agent")
    assert event.actor == "rex"


@pytest.mark.parametrize(
    "sent",
    [
        [],
        [*HANDSHAKE],
        [*HANDSHAKE, asked("tools/list", 2)],
        [*HANDSHAKE, asked("tools/list", 2), asked("tools/call", 3, name="memory_list", arguments={})],
    ],
)
def test_it_ends_when_stdin_ends_and_prints_nothing_but_messages(tmp_path: Path, sent: list[Any]) -> None:
    told = "".join(json.dumps(message) + "\n" for message in sent)

    # A client waits for its answers before it goes.
    with started(tmp_path / "m.engram") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(told.encode())
        running.stdin.flush()
        ids = [message["id"] for message in sent if "id" in message]
        answered = [json.loads(running.stdout.readline())["id"] for _ in ids]
        running.stdin.close()
        rest = running.stdout.read()

        assert running.wait(60) == 0
    assert answered == ids
    assert rest == b""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_although_stdin_is_open(tmp_path: Path, number: int) -> None:
    call = asked("tools/call", 2, name="memory_store", arguments={"content": "Tea is at four"})
    with started(tmp_path / "m.engram") as running:
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write("".join(json.dumps(one) + "\n" for one in [*HANDSHAKE, call]).encode())
        running.stdin.flush()
        for _ in range(2):
            assert "result" in json.loads(running.stdout.readline())
        running.send_signal(number)

        assert running.wait(30) == 128 + number
    assert [path.name for path in tmp_path.iterdir()] == ["m.engram"], "the file was let go"


def test_who_pipes_in_everything_at_once_gets_every_answer(tmp_path: Path) -> None:
    store = {"name": "memory_store", "arguments": {"content": "Tea is at four"}}
    sent = [*HANDSHAKE, asked("tools/call", 2, **store), asked("ping", 3), asked("nonsense", 4)]
    told = "".join(json.dumps(message) + "\n" for message in sent)

    with started(tmp_path / "m.engram") as running:
        answers, _ = running.communicate(told.encode(), timeout=120)

    assert {json.loads(line)["id"] for line in answers.splitlines()} == {1, 2, 3, 4}


def test_a_hundred_beginnings_and_ends_leave_nothing_behind(tmp_path: Path) -> None:
    file = tmp_path / "m.engram"
    with Engram.open(":memory:") as other:
        other.remember("The embedder's weights stay open, once for all")
    before = {path.name for path in Path("/proc/self/fd").iterdir()} if sys.platform == "linux" else set()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        codes = list(pool.map(partial(_come_and_go, file), range(CYCLES)))

    assert codes == [0] * CYCLES
    assert [path.name for path in tmp_path.iterdir()] == ["m.engram"], "no journal, no lock"
    with Engram.open(file) as memory:
        memory.remember("The file can be written at once")
        assert memory.stats().memories == 2
    if sys.platform == "linux":
        assert {path.name for path in Path("/proc/self/fd").iterdir()} == before


def _come_and_go(file: Path, number: int) -> int:
    """Some come, look and go; some work."""
    sent = [*HANDSHAKE, asked("tools/call", 2, name="memory_store", arguments={"content": "Tea is at four"})]
    with started(file) as running:
        assert running.stdin is not None
        assert running.stdout is not None
        for message in sent[: 1 if number % 4 else None]:
            running.stdin.write(json.dumps(message).encode() + b"\n")
        running.stdin.flush()
        for _ in range(1 if number % 4 else 2):
            assert "result" in json.loads(running.stdout.readline())
        running.stdin.close()
        return running.wait(60)


def started(file: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*COMMAND, "--file", str(file), "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "HOME": str(file.parent)},
    )
