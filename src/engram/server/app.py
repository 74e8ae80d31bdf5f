"""The application: an opener of a memory, settings and what else is to be served come in; an app goes out.

    app = build(lambda: Engram.open("memory.db"), Config().server)

Another door is mounted by a function that receives the `MemoryHost` and gives a `Mounted` back. Its
requests pass the guard like all others; `scope["state"]["caller"]` says who asks, `host.run(caller, work)`
does the work. `serve` answers at an address until it is told to stop, then finishes its work.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from functools import cache, cached_property
from http import HTTPStatus
from importlib import resources
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Match, Mount
from starlette.routing import Route as Served
from uvicorn.protocols.http.h11_impl import H11Protocol

from engram.errors import AccessDenied, EngramError
from engram.lazily import dataclass
from engram.model.plain import plain
from engram.pressure import keep_few_arenas
from engram.server import caller, host, metrics, openapi, route
from engram.server.caller import NOBODY, Caller, is_loopback
from engram.server.compat.requests import is_files, is_layers, response_to
from engram.server.guard import Guard, locked
from engram.server.host import MemoryHost
from engram.server.problems import AddressTaken, NoSuchRoute, OpenToAll, WrongMethod
from engram.server.route import ROUTES, Route, Serve, endpoint

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Send
    from starlette.types import Scope as Connection

    from engram.config import ServerConfig
    from engram.engine import Engram


HTML = "text/html"
"""What a browser accepts; a program that asks for the root gets the health document."""
POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "connect-src 'self'; img-src data:"
)
"""What a page of ours may load: itself."""


@dataclass(frozen=True, slots=True)
class Mounted:
    """Another door under the same roof."""

    path: str
    app: ASGIApp
    running: Callable[[], AbstractAsyncContextManager[object]] | None = None
    """What must run as long as the server does."""
    rest: str = ""
    """Where the same door takes whatever nobody else here serves."""
    foreign_keys: bool = False
    """Whether its requests carry the key of another service, which says nothing of who asks here."""


Mounting = Callable[[MemoryHost], Mounted]


def on_first_request(path: str, load: Callable[[], Mounting]) -> Mounting:
    """A door that is loaded when the first request comes to it: for one that few use and that takes room."""

    def mounting(memory_host: MemoryHost) -> Mounted:
        wanted, ready = anyio.Event(), anyio.Event()
        doors: list[Mounted] = []

        async def enter(scope: Connection, receive: Receive, send: Send) -> None:
            wanted.set()
            await ready.wait()
            await doors[0].app(scope, receive, send)

        async def hold() -> None:
            await wanted.wait()
            door = (await anyio.to_thread.run_sync(load))(memory_host)
            async with door.running() if door.running else nullcontext():
                doors.append(door)
                ready.set()
                await anyio.sleep_forever()

        @asynccontextmanager
        async def running() -> AsyncIterator[None]:
            async with anyio.create_task_group() as group:
                group.start_soon(hold)
                yield
                group.cancel_scope.cancel()

        return Mounted(path, enter, running)

    return mounting


def build(
    memory_opener: Callable[[], Engram],
    settings: ServerConfig,
    mounts: Sequence[Mounting] = (),
    routes: Sequence[Route] = ROUTES,
) -> Starlette:
    """The whole server as an ASGI application."""
    memory_host, counts = MemoryHost(memory_opener, settings), metrics.Metrics()
    doors = [mounting(memory_host) for mounting in mounts]
    served: list[BaseRoute] = [
        *_own_routes(memory_host, counts, routes),
        *(
            Served(
                route.path,
                endpoint(route, memory_host, memory_host.keys),
                methods=[route.method],
                name=route.name,
            )
            for route in routes
        ),
        *((OldRoutes(memory_host),) if routes else ()),
        *(route for door in doors for route in _mounted(door)),
    ]
    rests = [_RestMount(door, served) for door in doors if door.rest]
    app = Starlette(
        routes=[*served, *rests],
        middleware=[
            Middleware(Guard, memory_host=memory_host, metrics=counts, is_foreign=_is_foreign(doors, rests))
        ],
        exception_handlers={HTTPException: _refuse_unserved},
        lifespan=_lifespan(memory_host, doors),
    )
    app.state.memory_host = memory_host
    return app


def _own_routes(memory_host: MemoryHost, counts: metrics.Metrics, routes: Sequence[Route]) -> list[Served]:
    """What the server serves of itself."""
    document = cache(lambda: JSONResponse(openapi.document(routes)))  # made when it is first asked for

    async def tell_health(request: Request) -> Response:
        health, answer = await anyio.to_thread.run_sync(_health, memory_host, request.state.caller)
        return JSONResponse(answer, 200 if health.ok else 503)

    async def begin(request: Request) -> Response:
        if HTML in request.headers.get("accept", ""):
            return await page(request)
        from engram.server.compat.serving import endpoints

        _, health = await anyio.to_thread.run_sync(_health, memory_host, request.state.caller)
        return JSONResponse({**health, "endpoints": endpoints()})

    async def tell_metrics(request: Request) -> Response:
        if not memory_host.owns_file(request.state.caller):
            raise AccessDenied("see how the whole file is used: only its owner may")
        text = await anyio.to_thread.run_sync(counts.text, memory_host)
        return Response(text, media_type=metrics.MEDIA_TYPE)

    async def tell_document(_: Request) -> Response:
        return document()

    async def tell_caller(request: Request) -> Response:
        caller: Caller = request.state.caller
        access = await memory_host.run(caller, lambda memory: memory.access)
        return JSONResponse({"actor": caller.actor, "role": access.role, "scope": plain(access.scope)})

    async def feed(request: Request) -> Response:
        after = request.headers.get("last-event-id") or request.query_params.get("after")
        if after is not None:
            await memory_host.run(request.state.caller, lambda memory: memory.news(after))
        return route.feed(memory_host, request.state.caller, after)

    page = _page("page.html")
    served: dict[str, Serve] = {
        "/": begin,
        **dict.fromkeys(("/ui", "/engram/ui/", "/remnic/ui/"), page),
        "/docs": _page("docs.html"),
        "/openapi.json": tell_document,
        "/health": tell_health,
        "/metrics": tell_metrics,
        "/v1/me": tell_caller,
        "/v1/events/stream": feed,
    }
    own = [Served(path, _with_route_name(path, serve), methods=["GET"]) for path, serve in served.items()]
    return [*own, *_logins(memory_host)]


def _logins(memory_host: MemoryHost) -> list[Served]:
    """How a browser of the owner is let in."""

    async def let_in(request: Request) -> Response:
        key, code = memory_host.settings.api_key, request.query_params.get(caller.CODE, "")
        if not key or not memory_host.links.take(code):
            return locked("This link was used before, or is none of this server's.")
        response = RedirectResponse("/", HTTPStatus.SEE_OTHER, {"Cache-Control": "no-store"})
        response.set_cookie(
            caller.cookie_name(request.headers),
            caller.cookie_from(key),
            max_age=caller.COOKIE_DAYS * 86_400,
            httponly=True,
            samesite="strict",
            secure=request.url.scheme == "https",
        )
        return response

    async def make_link(request: Request) -> Response:
        caller: Caller = request.state.caller
        if caller.access is not None:
            raise AccessDenied("make a link that lets the owner in")
        return JSONResponse({"path": memory_host.login_path()}, HTTPStatus.CREATED)

    own = f"/v1{caller.PATH}"
    return [
        Served(caller.PATH, _with_route_name(caller.PATH, let_in), methods=["GET"]),
        Served(own, _with_route_name(own, make_link), methods=["POST"]),
    ]


def _health(memory_host: MemoryHost, caller: Caller) -> tuple[host.ServerHealth, dict[str, Any]]:
    """How the server is, in our words and in those of *layers*."""
    health = host.check_health(memory_host)
    whole = health.ok and memory_host.owns_file(caller)
    also: dict[str, Any] = {} if caller is NOBODY else {"name": "engram"}
    if whole:
        from engram.server.compat.layers_upkeep import health_of

        also = health_of(memory_host)
    return health, {**host.health_for(memory_host, caller, health), **also}


def _with_route_name(path: str, serve: Serve) -> Serve:
    """The same, and the journal knows which route it was."""

    async def named(request: Request) -> Response:
        request.state.route = path
        return await serve(request)

    return named


def _page(name: str) -> Serve:
    page = (resources.files(__package__) / name).read_text(encoding="utf-8")

    async def show(_: Request) -> Response:
        return HTMLResponse(page, headers={"Content-Security-Policy": POLICY, "Cache-Control": "no-cache"})

    return show


def _mounted(door: Mounted) -> tuple[BaseRoute, ...]:
    """A door at its own address, with and without a slash behind it: no client is sent elsewhere."""
    entrance = _Entrance(door)
    return Served(door.path, entrance), Mount(door.path, entrance)


def _is_foreign(doors: Sequence[Mounted], rests: Sequence[_RestMount]) -> Callable[[str], bool]:
    """Whether requests to an address carry keys of another service."""
    paths = tuple(door.path for door in doors if door.foreign_keys)
    rest_doors = tuple(rest for rest in rests if rest.door.foreign_keys)

    def is_foreign(path: str) -> bool:
        mounted = any(path == mount or path.startswith(f"{mount}/") for mount in paths)
        return mounted or any(rest.takes(path) for rest in rest_doors)

    return is_foreign


class OldRoutes(BaseRoute):
    """The routes of two older systems: loaded when the first request comes to one of their addresses."""

    def __init__(self, memory_host: MemoryHost) -> None:
        self._memory_host = memory_host

    @cached_property
    def routes(self) -> list[Served]:
        """Every one of them."""
        from engram.server.compat.serving import routes

        return routes(self._memory_host, self._memory_host.keys)

    def matches(self, scope: Connection) -> tuple[Match, Connection]:
        """The best of theirs; nothing is loaded for an address that is none of theirs."""
        if scope["type"] != "http" or not (is_files(scope["path"]) or is_layers(scope["path"])):
            return Match.NONE, {}
        tried = [(route, *route.matches(scope)) for route in self.routes]
        route, match, child = max(tried, key=lambda attempt: attempt[1].value)
        return match, {**child, _OLD: route}

    async def handle(self, scope: Connection, receive: Receive, send: Send) -> None:
        """Let the route that was found answer."""
        await scope[_OLD].handle(scope, receive, send)


_OLD = "engram.old_route"


class _RestMount(Mount):
    """A door for the addresses below a path that nobody here has: what we serve in one way is ours in all."""

    def __init__(self, door: Mounted, served: Sequence[BaseRoute]) -> None:
        super().__init__(door.rest, _Entrance(door))
        self.door = door
        paths = (str(getattr(route, "path", "")) for route in served)
        self._ours = {_first_part(path, door.rest) for path in paths if path.startswith(f"{door.rest}/")}

    def takes(self, path: str) -> bool:
        """Whether an address belongs to it."""
        return path.startswith(f"{self.door.rest}/") and _first_part(path, self.door.rest) not in self._ours

    def matches(self, scope: Connection) -> tuple[Match, Connection]:
        """As its base, for what belongs to it."""
        return super().matches(scope) if self.takes(scope["path"]) else (Match.NONE, {})


def _first_part(path: str, below: str) -> str:
    """The first part of an address below another.

    >>> _first_part("/v1/chat/completions", "/v1")
    'chat'
    """
    return path.removeprefix(f"{below}/").partition("/")[0]


@dataclass(frozen=True, slots=True)
class _Entrance:
    """A mounted door, counted under its own name."""

    door: Mounted

    async def __call__(self, scope: Connection, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["route"] = self.door.path
        await self.door.app(scope, receive, send)


async def _refuse_unserved(request: Request, error: Exception) -> Response:
    """What the router itself refuses, as a problem like all others."""
    methods = {
        method
        for entry in request.app.routes
        for route in (entry.routes if isinstance(entry, OldRoutes) else (entry,))
        if isinstance(route, Served) and route.matches(request.scope)[0] is not Match.NONE
        for method in route.methods or ()
    }
    refused: EngramError = NoSuchRoute(request.url.path)
    if isinstance(error, HTTPException) and error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        refused = WrongMethod(request.method, tuple(sorted(methods)))
    request.state.code = refused.code
    return response_to(refused, request.url.path)


def _lifespan(
    memory_host: MemoryHost, doors: Sequence[Mounted]
) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await anyio.to_thread.run_sync(memory_host.open)
        try:
            async with AsyncExitStack() as stack:
                for door in doors:
                    if door.running is not None:
                        await stack.enter_async_context(door.running())
                yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(memory_host.close)

    return lifespan


BACKLOG = 512
KEEP_ALIVE_S = 15
HEADERS_S = 20.0
"""So long a connection may take to say what it wants."""
STUCK = 1
"""How the process ends when something in it does not."""


class ServedConnection(H11Protocol):
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
                http=ServedConnection,
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
        sock = socket.socket(family, kind, protocol)
    except OSError as error:
        raise AddressTaken(host, port, error.strerror or str(error)) from error
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise AddressTaken(host, port, error.strerror or str(error)) from error
    return sock


def listen_at(path: str) -> socket.socket:
    """A Unix socket that only its owner can reach. Raises AddressTaken, saying why."""
    sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o077)
    try:
        if Path(path).is_socket() and not _is_answered(path):
            Path(path).unlink()  # left behind by a server that was killed
        sock.bind(path)
        sock.listen(BACKLOG)
    except OSError as error:
        sock.close()
        raise AddressTaken(path, 0, error.strerror or str(error)) from error
    finally:
        os.umask(before)
    return sock


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
