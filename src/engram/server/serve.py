"""Serving: an app and an address come in; it answers until it is told to stop, then finishes its work."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from engram.pressure import keep_few_arenas
from engram.server import metrics
from engram.server.caller import is_loopback
from engram.server.problems import AddressTaken, OpenToAll

if TYPE_CHECKING:
    from starlette.applications import Starlette

    from engram.server.host import MemoryHost

BACKLOG = 512
KEEP_ALIVE_S = 15
HEADERS_S = 20.0
"""So long a connection may take to say what it wants."""
STUCK = 1
"""How the process ends when something in it does not."""


class Connection(H11Protocol):
    """A connection that is closed when it is open and no request comes whole. Used by the event loop."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """It is there; now it has to say something."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Something came: a request that has begun takes its own time, a part of one does not."""
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._wait_no_more()

    def connection_lost(self, exc: Exception | None) -> None:
        """It is gone."""
        self._wait_no_more()
        super().connection_lost(exc)

    def _wait(self) -> None:
        """From the first byte on that belongs to no request; further bytes gain no time."""
        if self._waiting is None:
            self._waiting = self.loop.call_later(HEADERS_S, self._give_up)

    def _wait_no_more(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None

    def _give_up(self) -> None:
        self._waiting = None
        if (self.cycle is None or self.cycle.response_complete) and not self.transport.is_closing():
            self.transport.close()


class Serving(uvicorn.Server):
    """uvicorn that tells the host when it is to stop, and ends by itself instead of by the signal."""

    def __init__(self, app: Starlette, ready: Callable[[], None] | None = None) -> None:
        self.memory_host: MemoryHost = app.state.memory_host
        self._ready = ready
        super().__init__(
            uvicorn.Config(
                app,
                log_level=logging.WARNING,
                access_log=False,
                lifespan="on",
                server_header=False,
                proxy_headers=False,
                backlog=BACKLOG,
                timeout_keep_alive=KEEP_ALIVE_S,
                # Half of the time is for requests, the rest for what comes after them.
                timeout_graceful_shutdown=max(1, round(self.memory_host.settings.drain_s / 2)),
                http=Connection,
                ws="none",
            )
        )

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does, and say that it has begun."""
        await super().startup(sockets)
        if self._ready is not None and self.started:
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn does; streams are told first, for they would never end by themselves."""
        self.memory_host.stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at SIGINT and SIGTERM, in the main thread only; a second SIGINT does not wait."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """A signal came. The process ends in time, even if something in it is stuck: the file bears that."""
        if not self.memory_host.is_closing:
            stuck = threading.Timer(max(1.0, self.memory_host.settings.drain_s), _end_now)
            stuck.daemon = True
            stuck.start()
        self.memory_host.stop()
        super().handle_exit(sig, frame)


def _end_now() -> None:
    metrics.note("stuck", message="something did not end in time: the process ends without it")
    os._exit(STUCK)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there. Raises AddressTaken, saying why."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        raise AddressTaken(host, port, error.strerror or str(error)) from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise AddressTaken(host, port, error.strerror or str(error)) from error
    return made


def listen_at(path: str) -> socket.socket:
    """A Unix socket that only its owner can reach. Raises AddressTaken, saying why."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o077)
    try:
        if Path(path).is_socket() and not _is_answered(path):
            Path(path).unlink()  # left behind by a server that was killed
        made.bind(path)
        made.listen(BACKLOG)
    except OSError as error:
        made.close()
        raise AddressTaken(path, 0, error.strerror or str(error)) from error
    finally:
        os.umask(before)
    return made


def _is_answered(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(path) == 0


def check_open(host: str, memory_host: MemoryHost) -> None:
    """An open server is for this machine alone; any other lets nobody in without a secret: it needs one."""
    settings = memory_host.settings
    fits = (
        is_loopback(host) if settings.is_open else settings.api_key or memory_host.memory.tokens.any_valid()
    )
    if not fits:
        raise OpenToAll(host)


def serve(app: Starlette, sock: socket.socket, ready: Callable[[], None] | None = None) -> None:
    """Answer requests until a signal comes; then finish them, read what was heard, and let go of the file."""
    keep_few_arenas()
    app.state.server = server = Serving(app, ready)
    left = sock.getsockname() if sock.family == getattr(socket, "AF_UNIX", None) else None
    try:
        asyncio.run(server.serve(sockets=[sock]))
    finally:
        sock.close()
        if left:
            Path(left).unlink(missing_ok=True)
        server.memory_host.close()
