"""The proxy as a door of the server: at `/proxy/…`, and at every address under `/v1` that is none of our own.

A client changes its base URL to `http://127.0.0.1:3917/v1` (or `…/proxy/v1`). Chats are given memories and
listened to; everything else passes through as it is.
"""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import httpx
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from engram.errors import ConfigError, InvalidInput
from engram.lazily import dataclass
from engram.model.scope import Role
from engram.rules import screen
from engram.server.app import Mounted
from engram.server.caller import KEYS, authorization, is_loopback, mark_of
from engram.server.problems import MEDIA_TYPE, NoSuchRoute, UpstreamDown, UpstreamLate, document, status_of
from engram.server.proxy import chat as chats
from engram.server.proxy.chat import NOTHING, Capturing, ProxyExchange, ProxyListener, ProxyRecall
from engram.server.route import read as read_body

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from engram.api.contexts import Brief
    from engram.config import ProxyConfig
    from engram.server.app import Mounting
    from engram.server.caller import Caller
    from engram.server.host import MemoryHost


WAITING_MOST = 1_000  # exchanges that may wait to be listened to

PATH = "/proxy"
BESIDE = "/v1"
"""Where clients of model services look; what we serve there ourselves stays ours."""
CHAT = "/chat/completions"
MEMORY, EXTRACT, SESSION = "x-engram-memory", "x-engram-extract", "x-engram-session"
USER = "x-engram-user"
FOUND = "x-engram-memories"
NO = frozenset({"off", "false", "0", "no", "none"})
OK = 200


def mount(settings: ProxyConfig) -> Mounting:
    """The door, as `engram.server.app.build` takes it. Raises ConfigError when the address is no good."""
    upstream = Upstream(settings)

    def door(memory_host: MemoryHost) -> Mounted:
        upstream.secret = memory_host.settings.api_key
        proxy = Proxy(memory_host, settings, upstream)
        return Mounted(PATH, proxy.enter, proxy.running, rest=BESIDE, foreign_keys=True)

    return door


@dataclass(frozen=True, slots=True)
class ProxyOptions:
    """What the headers of a request ask for."""

    recall: bool
    capture: bool
    session: str


class Proxy:
    """Passes requests on. Lives as long as the server; used by the event loop."""

    def __init__(self, memory_host: MemoryHost, settings: ProxyConfig, upstream: Upstream) -> None:
        self._memory_host = memory_host
        self._settings = settings
        self._upstream = upstream
        self._recalling = ProxyRecall(memory_host, settings)
        self._capturing = Capturing(memory_host, WAITING_MOST)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """What runs as long as the server does."""
        try:
            async with self._capturing.running():
                yield
        finally:
            await self._upstream.close()

    async def enter(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        request = Request(scope, receive)
        path = scope["path"].removeprefix(PATH)
        if path.rstrip("/") == "":
            raise NoSuchRoute(scope["path"])
        body = await read_body(request)
        self._memory_host.proxied["requests"] += 1
        try:
            response = await self._answer(request, path, body)
        except UpstreamDown as error:
            scope["state"]["code"] = error.code
            response = _down(error)
        await response(scope, receive, send)

    async def _answer(self, request: Request, path: str, body: bytes) -> Response:
        chat = chats.read(body) if request.method == "POST" and path.rstrip("/").endswith(CHAT) else None
        if chat is None:
            return self._pass_on(await self._ask(request, path, body), ProxyListener(), NOTHING, None)
        user = request.headers.get(USER, "").strip() or chat.user
        caller = self._for_user(request.state.caller, user)
        options = self._options_of(request, chat, user) if caller is not None else None
        if caller is None or options is None:  # these words get no memories, and none is made of them
            return self._pass_on(await self._ask(request, path, body), ProxyListener(), NOTHING, None)
        brief = await self._recalling.beside(chat, caller, options.session) if options.recall else NOTHING
        if brief.text:
            body = chats.with_block(chat, brief.text, self._settings.place)
        answer, listener = await self._ask(request, path, body), ProxyListener()

        def listen() -> None:
            if options.capture and answer.status_code == OK:
                reply = chats.reply_in(listener.raw, answer.headers.get("content-type", ""))
                self._capturing.put(ProxyExchange(caller, options.session, chats.new_messages(chat, reply)))

        return self._pass_on(answer, listener, brief, listen)

    def _for_user(self, caller: Caller, user: str) -> Caller | None:
        """The caller at the place of the user it speaks for; None where it may not write there."""
        if not user:
            return caller
        access = caller.access or self._memory_host.memory.access
        if access.scope.user == user:
            return caller
        try:
            screen.name("user", user)
        except InvalidInput:
            return None
        place = replace(access.scope, user=user)
        return replace(caller, access=access.at(place, Role.AGENT)) if access.may_write(place) else None

    def _options_of(self, request: Request, chat: chats.Chat, user: str) -> ProxyOptions:
        """What is asked for: `X-Engram-Memory: off`, or `recall` or `capture` alone."""
        memory = request.headers.get(MEMORY, "on").strip().lower()
        heard = request.headers.get(EXTRACT, "on").strip().lower() not in NO
        return ProxyOptions(
            recall=memory not in NO | {"capture"} and self._settings.budget_tokens > 0,
            capture=memory not in NO | {"recall"} and heard and self._settings.capture == "on",
            session=request.headers.get(SESSION, "").strip()
            or f"proxy-{mark_of(request.headers, user)}-{chats.conversation(chat)}",
        )

    async def _ask(self, request: Request, path: str, body: bytes) -> httpx.Response:
        """Ask the service; a client that goes away is not asked for any longer."""
        receive = request.receive
        outcome: list[httpx.Response | UpstreamDown] = []
        async with anyio.create_task_group() as group:

            async def ask() -> None:
                headers = {name.lower(): value for name, value in request.headers.items()}
                try:
                    outcome.append(
                        await self._upstream.ask(request.method, path, headers, request.url.query, body)
                    )
                except UpstreamDown as error:
                    outcome.append(error)
                group.cancel_scope.cancel()

            async def watch() -> None:
                while (await receive())["type"] != "http.disconnect":
                    pass
                group.cancel_scope.cancel()

            group.start_soon(ask)
            group.start_soon(watch)
        if not outcome:
            raise UpstreamDown(self._upstream.place, "was not waited for")
        if isinstance(outcome[0], UpstreamDown):
            raise outcome[0]
        return outcome[0]

    def _pass_on(
        self, answer: httpx.Response, listener: ProxyListener, brief: Brief, listen: Callable[[], None] | None
    ) -> Response:
        async def pieces() -> AsyncIterator[bytes]:
            try:
                async for piece in self._upstream.pieces(answer, listener):
                    yield piece
            finally:  # also when it breaks off: what the user said was said
                if listen is not None:
                    listen()

        response = StreamingResponse(pieces(), answer.status_code)
        del response.headers["content-type"]
        response.raw_headers += returned_headers(answer.headers.raw)
        if brief.ids:
            response.headers[FOUND] = str(len(brief.ids))
        return response


def _down(error: UpstreamDown) -> Response:
    """A problem like all others; what OpenAI's clients look for stands beside it."""
    answer = document(error)
    shaped = {"message": error.message, "type": "upstream_error", "param": None, "code": error.code}
    return JSONResponse({**answer, "error": shaped}, status_of(error), media_type=MEDIA_TYPE)


CONNECT_S = 15.0
VERSIONED = re.compile(r"/v\d+[a-z0-9]*$")
# What belongs to one connection, and what we set ourselves.
NOT_PASSED = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "proxy-authorization", "proxy-connection", "te",
    "trailer", "transfer-encoding", "upgrade", "host", "content-length", "accept-encoding", "cookie",
    "origin", "referer", "forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto",
    "x-real-ip", "expect",
})  # fmt: skip
NOT_RETURNED = frozenset({
    "connection", "keep-alive", "proxy-authenticate", "te", "trailer", "transfer-encoding", "upgrade",
    "set-cookie", "x-request-id", "server", "date",
})  # fmt: skip
OURS = "x-engram-"


class Upstream:
    """Asks the model service. Opened and closed by the door; used by the event loop."""

    def __init__(self, settings: ProxyConfig) -> None:
        self._settings = settings
        self.secret = ""
        """The owner's own, which is never passed on."""
        self._root = checked_base_url(settings.base_url)
        self._client = httpx.AsyncClient(
            timeout=httpx.Timeout(settings.upstream_s, connect=CONNECT_S),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            follow_redirects=False,
            verify=_certificates(),
            # A proxy of the environment is for the outside, not for a server on this machine.
            trust_env=not is_loopback(urlsplit(self._root).hostname or ""),
        )

    async def ask(
        self, method: str, path: str, headers: Mapping[str, str], query: str, body: bytes
    ) -> httpx.Response:
        """The answer as far as its head; read on with `pieces`. Raises UpstreamDown."""
        request = self._client.build_request(
            method,
            address(self._root, path) + (f"?{query}" if query else ""),
            # As bytes: a header may hold any, and a text would have to be ASCII.
            headers=[
                (name.encode("latin-1"), value.encode("latin-1", "replace"))
                for name, value in forwarded_headers(headers, self._settings.api_key, self.secret).items()
            ],
            content=body or None,
            timeout=self._client.timeout,
        )
        try:
            return await self._client.send(request, stream=True)
        except httpx.TimeoutException as error:
            raise UpstreamLate(self.place, "did not answer in time") from error
        except httpx.ConnectError as error:
            raise UpstreamDown(self.place, "cannot be reached") from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError) as error:
            raise UpstreamDown(self.place, "broke off before it answered") from error

    async def pieces(self, answer: httpx.Response, hear: Callable[[bytes], None]) -> AsyncIterator[bytes]:
        """The body of an answer, byte for byte. Raises UpstreamDown when it breaks off."""
        try:
            async for piece in answer.aiter_raw():
                hear(piece)
                yield piece
        except (httpx.HTTPError, OSError) as error:
            raise UpstreamDown(self.place, "broke off its answer") from error
        finally:
            with anyio.CancelScope(shield=True):
                await answer.aclose()

    @property
    def place(self) -> str:
        """Where it is, without anything secret."""
        return urlsplit(self._root).netloc.rpartition("@")[2]

    async def close(self) -> None:
        """Let go of its connections."""
        await self._client.aclose()


@cache
def _certificates() -> ssl.SSLContext:
    """Reading the certificates takes longer than everything else here: once is enough."""
    return httpx.create_ssl_context()


def checked_base_url(base_url: str) -> str:
    """The address of a service, without a slash at its end. Raises ConfigError."""
    parts = urlsplit(base_url)
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        raise ConfigError(f"proxy.base_url must be like https://api.example.com/v1, not {base_url[:80]!r}.")
    return base_url.rstrip("/")


def address(root: str, path: str) -> str:
    """Where a path of ours lies at the service: its version is said once.

    >>> address("http://host/v1", "/v1/models"), address("http://host", "/v1/models")
    ('http://host/v1/models', 'http://host/v1/models')
    >>> address("http://host/v1", "/chat/completions")
    'http://host/v1/chat/completions'
    """
    if VERSIONED.search(root):
        path = path.removeprefix("/v1")
    return root + path


def forwarded_headers(headers: Mapping[str, str], api_key: str, secret: str = "") -> dict[str, str]:
    """The headers of a request as the service gets them.

    >>> forwarded_headers({"host": "here", "x-engram-session": "a", "openai-beta": "b"}, "")
    {'openai-beta': 'b', 'accept-encoding': 'identity'}
    """
    passed_on = {
        name: value
        for name, value in headers.items()
        if name not in NOT_PASSED | KEYS and not name.startswith(OURS)
    }
    return passed_on | authorization(headers, api_key, secret) | {"accept-encoding": "identity"}


def returned_headers(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer as the client gets them, byte for byte."""
    return [(name, value) for name, value in headers if name.decode("latin-1").lower() not in NOT_RETURNED]
