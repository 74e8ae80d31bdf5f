"""MCP over stdin and stdout: lines come in and go out until stdin ends. Ours begins, the SDK goes on."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Lock, Thread
from typing import TYPE_CHECKING, Any, BinaryIO

from engram.server.mcp.handshake import FastHandshake, listed_tools

if TYPE_CHECKING:
    from engram.engine import Engram

GRACE_S = 10.0
"""So long answers are waited for after stdin has ended: who pipes in all messages at once wants them too."""


def serve(open: Callable[[], Engram], *, toolset: str = "pinned") -> None:  # noqa: A002 (the word for it)
    """Serve one client until stdin ends. The memory is opened with the first call that needs it."""
    came, goes = sys.stdin.buffer, _private_stdout()
    handshake = FastHandshake(listed_tools(toolset))
    pending = begin(handshake, came, goes)
    if pending is None:
        return
    memory = LazyMemory(open)
    _end_on_signals(memory)
    try:
        _serve_by_sdk(toolset, memory, Wire(came, goes, handshake.seen, pending))
    finally:
        memory.close()


def _end_on_signals(memory: LazyMemory) -> None:
    """End at SIGINT and SIGTERM: the file is let go, and whoever still reads from stdin is not waited for."""

    def close_and_leave(code: int) -> None:
        closing = Thread(target=memory.close, name="engram-mcp-closing", daemon=True)
        closing.start()
        closing.join(GRACE_S)
        os._exit(code)

    def end(number: int, _: object) -> None:
        # Not here: what was interrupted may hold the very lock that closing needs.
        Thread(target=close_and_leave, args=(128 + number,), name="engram-mcp-ending", daemon=True).start()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)


def begin(handshake: FastHandshake, came: BinaryIO, goes: BinaryIO) -> bytes | None:
    """Answer what needs no SDK; the first line that it cannot, or None when stdin ended before one came."""
    loading: Thread | None = None
    for line in iter(came.readline, b""):
        if not line.strip():
            continue
        reply = handshake.answer(line)
        if reply is None:
            if loading is not None:
                # Two threads that import the same packages meet half-made modules, or wait for each other.
                loading.join()
            return line
        if reply:
            goes.write(reply)
            goes.flush()
        if handshake.has_listed and loading is None:
            # Not before: loading would slow down the very answers that are waited for.
            loading = Thread(target=load, name="engram-mcp-loading", daemon=True)
            loading.start()
    if loading is not None and loading.is_alive():
        # Nothing is open yet, and a client that has gone waits for nobody.
        os._exit(0)
    return None


def load() -> None:
    """Bring in what the first call needs. No model is loaded and no file opened here."""
    import engram.engine
    import engram.server.mcp.serving  # noqa: F401


def _serve_by_sdk(toolset: str, memory: LazyMemory, wire: Wire) -> None:
    import anyio
    import anyio.to_thread
    from mcp.server.stdio import stdio_server

    from engram.server.limits import Keys
    from engram.server.mcp import tools
    from engram.server.mcp.serving import Carrier, build

    file: Any = wire  # the SDK reads and writes lines, nothing else a file can do
    keys = Keys(memory=memory)

    async def carry(_: Any, work: Callable[[Engram], Any]) -> Any:
        return await anyio.to_thread.run_sync(lambda: work(memory()))

    async def run() -> None:
        one_client = Carrier(run=carry, who=lambda _: "", keys=lambda: keys)
        server = build(tools.ToolDispatcher(tools.toolset(toolset)), one_client)
        async with stdio_server(anyio.wrap_file(file), anyio.wrap_file(file)) as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(run)


class LazyMemory:
    """A memory that is opened when it is first needed, and once. Whoever made this closes it."""

    def __init__(self, open: Callable[[], Engram]) -> None:  # noqa: A002 (the word for it)
        self._open = open
        self._memory: Engram | None = None
        self._lock = Lock()

    def __call__(self) -> Engram:
        """The memory, opened by now."""
        with self._lock:
            if self._memory is None:
                self._memory = self._open()
            return self._memory

    def close(self) -> None:
        """Close what was opened, if anything was."""
        with self._lock:
            if self._memory is not None:
                self._memory.close()
                self._memory = None


class Wire:
    """The lines that the SDK reads and writes; one thread reads, another writes.

    It reads first what was kept for it, then what comes in. Its answer to a handshake that was answered
    before is left out.
    """

    def __init__(self, came: BinaryIO, goes: BinaryIO, handshake: Sequence[bytes], pending: bytes) -> None:
        self._kept = deque((*handshake, pending))
        self._came, self._goes = came, goes
        self._greeted = bool(handshake)
        self._unanswered: set[str] = set()
        self._changed = Condition()

    def readline(self) -> str:
        """The next line; empty at the end, which is told only when what was asked is answered."""
        line = (self._kept.popleft() if self._kept else self._came.readline()).decode("utf-8", "replace")
        message = _message(line)
        with self._changed:
            if "method" in message and "id" in message:
                self._unanswered.add(repr(message["id"]))
            elif message.get("method") == "notifications/cancelled":
                self._unanswered.discard(repr((message.get("params") or {}).get("requestId")))
            elif not line:
                self._changed.wait_for(lambda: not self._unanswered, GRACE_S)
        return line

    def write(self, line: str) -> int:
        """Write one message: perhaps an answer."""
        if not self._greeted:
            self._goes.write(line.encode())
            self._goes.flush()  # before it counts as answered, or the end could overtake it
        self._greeted = False
        with self._changed:
            self._unanswered.discard(repr(_message(line).get("id")))
            self._changed.notify_all()
        return len(line)

    def flush(self) -> None:
        """Nothing waits: each message is sent as it is written."""


def _message(line: str) -> dict[str, Any]:
    """One message; empty when it is none, or several at once."""
    try:
        message = json.loads(line)
    except ValueError:
        return {}
    return message if isinstance(message, dict) else {}


def _private_stdout() -> BinaryIO:
    """The wire under a number of its own; whatever else prints now prints to stderr."""
    sys.stdout.flush()
    wire = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    return wire
