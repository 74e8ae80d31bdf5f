"""How long the way is: six calls traced from the door to the end, functions and files of ours on the way.

    python benchmarks/journeys.py

A hop is a call from one module of ours into another, counted once for each pair.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import anyio
import httpx

import engram
from engram import Engram
from engram.config import ServerConfig
from engram.server.app import build
from engram.server.mcp.serving import mount
from engram.testing import HashEmbedder

OURS = str(Path(engram.__file__).parent)


class Trace:
    """Counts calls of our functions, in every thread that begins while it is on."""

    def __init__(self) -> None:
        self.calls = 0
        self.functions: set[tuple[str, str]] = set()
        self.hops: set[tuple[str, str]] = set()

    def __call__(self, frame: FrameType, event: str, _: Any) -> None:
        """What the interpreter calls."""
        name = frame.f_code.co_filename
        if event != "call" or not name.startswith(OURS):
            return
        self.calls += 1
        self.functions.add((name, frame.f_code.co_qualname))
        back = frame.f_back
        while back is not None and not back.f_code.co_filename.startswith(OURS):
            back = back.f_back
        if back is not None and back.f_code.co_filename != name:
            self.hops.add((back.f_code.co_filename, name))

    @property
    def row(self) -> tuple[int, int, int, int]:
        """Calls, functions, files and hops."""
        return self.calls, len(self.functions), len({file for file, _ in self.functions}), len(self.hops)


class Switch:
    """What every thread is watched by from its beginning; it counts while a trace is set."""

    trace: Trace | None = None

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        """What the interpreter calls."""
        if self.trace is not None:
            self.trace(frame, event, argument)

    def of(self, work: Callable[[], Any]) -> Trace:
        """Watch a piece of work, in every thread."""
        self.trace = trace = Trace()
        work()
        self.trace = None
        return trace


WATCH = Switch()


def library() -> dict[str, Trace]:
    """The four journeys of the library, each after one like it."""
    with Engram.open(":memory:", embedder=HashEmbedder()) as memory:
        memory.remember("My name is Sam")
        memory.observe("From now on I live in Oslo.", session="s")
        memory.recall("where do I live?")
        found = {
            "remember": WATCH.of(lambda: memory.remember("My editor is vim")),
            "observe": WATCH.of(lambda: memory.observe("From now on I use Helix.", session="s")),
            "recall": WATCH.of(lambda: memory.recall("which editor do I use?")),
        }
        memory.consolidate()
        memory.remember("Anna lives in Bremen")
        return found | {"consolidate": WATCH.of(memory.consolidate)}


def served() -> dict[str, Trace]:
    """The two journeys through the server, each after one like it."""
    found: dict[str, Trace] = {}

    async def run() -> None:
        app = build(
            lambda: Engram.open(":memory:", embedder=HashEmbedder()), ServerConfig(access="open"), [mount]
        )
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        headers = {"Accept": "application/json, text/event-stream"}
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client,
        ):
            for round_ in range(2):
                said = {
                    "name": "memory_store",
                    "arguments": {"content": f"The number of room {round_} is {round_}"},
                }
                WATCH.trace = found["GET /v1/count"] = Trace()
                await client.get("/v1/count")
                WATCH.trace = found["MCP memory_store"] = Trace()
                await client.post("/mcp", json=call | {"params": said}, headers=headers)
                WATCH.trace = None

    anyio.run(run)
    return found


def main() -> None:
    """Trace, and print the table."""
    threading.setprofile(WATCH)
    sys.setprofile(WATCH)
    print("| call | calls | functions | files | hops |\n|---|---|---|---|---|")
    for name, trace in {**library(), **served()}.items():
        calls, functions, files, hops = trace.row
        print(f"| {name} | {calls:,} | {functions} | {files} | {hops} |")


if __name__ == "__main__":
    main()
