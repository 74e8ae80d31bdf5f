"""The guard: a request comes in from outside; it goes on to its route, or is answered here.

Host, origin, caller, pace and size are checked; whatever goes wrong behind becomes a problem document; each
answer is counted and written down.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable
from functools import partial
from http import HTTPStatus
from importlib import resources
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio.to_thread

from engram.errors import EngramError
from engram.lazily import dataclass
from engram.model.event import Audited
from engram.pressure import give_back_memory
from engram.server import caller
from engram.server import metrics as server_metrics
from engram.server.caller import NOBODY, Caller, bearer_of, caller_from, host_of, is_loopback, own_keys_only
from engram.server.compat.requests import LARGE_BODIES, response_to
from engram.server.limits import LARGE_BODY, Body, Pace, check_length
from engram.server.problems import BUG, HostRefused, OriginRefused, TokenNeeded, TooManyRequests

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from engram.server.host import MemoryHost
    from engram.server.metrics import Metrics

OPEN = frozenset({"/health", "/engram/v1/health", caller.PATH})
"""What everybody may ask, from anywhere: whether the server is up, and to be let in by a link."""
PAGES = frozenset({"/", "/ui", "/engram/ui/", "/remnic/ui/", "/docs", caller.PATH})
"""Where a link on another site may lead."""
FOREIGN_SITES = frozenset({"cross-site", "same-site"})
"""How a browser says that another site's page made it ask."""
SAFE_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
)
_NAME = re.compile(rb"[A-Za-z0-9._-]{1,64}")
"""What a client may call its request, to find it again in the journal."""
METHODS = "GET, POST, PATCH, DELETE, OPTIONS"


@dataclass(slots=True)
class _RequestPassage:
    """One request on its way through."""

    id: str
    start: float
    origin: str = ""
    """The site whose page asks, if it may."""
    status: int = 0
    is_large: bool = False
    """Whether its body was large enough that what it took is worth giving back."""


def _header(scope: Scope, wanted: bytes) -> bytes:
    """What a header of a request says; empty where it has none."""
    return next((value for name, value in scope["headers"] if name.lower() == wanted), b"")


class Guard:
    """Stands before all routes. Used by the event loop."""

    def __init__(
        self, app: ASGIApp, memory_host: MemoryHost, metrics: Metrics, is_foreign: Callable[[str], bool]
    ) -> None:
        self._app = app
        self._memory_host = memory_host
        self._metrics = metrics
        self._is_foreign = is_foreign
        self._pace = Pace(memory_host.settings.requests_a_minute)
        self._hosts = _names(memory_host.settings.hosts)
        self._origins = _names(memory_host.settings.origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        named = _header(scope, b"x-request-id")
        request_id = str(named, "ascii") if _NAME.fullmatch(named) else f"{random.getrandbits(48):012x}"
        passage = _RequestPassage(request_id, time.perf_counter())
        scope.setdefault("state", {})["request"] = passage.id
        self._metrics.under_way += 1

        async def tell(message: Message) -> None:
            if message["type"] == "http.response.start":
                passage.status = message["status"]
                message = {**message, "headers": [*message.get("headers", ()), *_added_headers(passage)]}
            await send(message)

        try:
            await self._let_in(scope, receive, tell, passage)
        finally:
            self._metrics.under_way -= 1
            self._write_journal(scope, passage)
            if passage.is_large:
                await anyio.to_thread.run_sync(give_back_memory)

    async def _let_in(self, scope: Scope, receive: Receive, send: Send, passage: _RequestPassage) -> None:
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
        }
        limit = max(self._memory_host.settings.body_bytes, LARGE_BODIES.get(scope["path"], 0))
        try:
            self._check_host(headers)
            passage.origin = self._check_origin(headers)
            if not passage.origin and scope["path"] not in PAGES:
                _check_site(headers)
            if scope["method"] == "OPTIONS" and passage.origin:
                await _preflight(scope, receive, send)
                return
            scope["state"]["caller"] = caller = await self._caller(scope, headers)
            self._pace.take(caller.id)
            check_length(headers.get("content-length"), limit)
            body = Body(receive, limit)
            try:
                await self._app(scope, body.receive, send)
            finally:
                passage.is_large = body.taken > LARGE_BODY
        except EngramError as error:
            self._audit_refusal(error, scope)
            await self._answer(error, scope, receive, send, passage)
        except Exception as error:  # noqa: BLE001 (a door: whatever was not foreseen ends here, and says so)
            server_metrics.bug(error, passage.id, _route(scope))
            await self._answer(BUG, scope, receive, send, passage)

    def _audit_refusal(self, error: EngramError, scope: Scope) -> None:
        """Write down who came with a wrong secret, or too often."""
        if isinstance(error, TokenNeeded) and error.given:
            self._memory_host.refused("", Audited.REFUSED)
        elif isinstance(error, TooManyRequests):
            self._memory_host.refused(scope["state"]["caller"].actor, Audited.LIMITED)

    async def _answer(
        self, error: EngramError, scope: Scope, receive: Receive, send: Send, passage: _RequestPassage
    ) -> None:
        scope["state"]["code"] = error.code
        if passage.status:
            return  # the answer has begun; the connection breaks off, which is all a client can be told
        if isinstance(error, TokenNeeded) and not error.given and _is_browsing(scope):
            await locked()(scope, receive, send)
            return
        await response_to(error, scope["path"])(scope, receive, send)

    def _check_host(self, headers: dict[str, str]) -> None:
        """A page whose name was turned to this machine's address still names itself in the Host header."""
        host = host_of(headers)
        is_ours = is_loopback(host) or host in self._hosts or (self._is_public and _is_address(host))
        if not is_ours:
            raise HostRefused(host)

    @property
    def _is_public(self) -> bool:
        return not is_loopback(self._memory_host.settings.host)

    def _check_origin(self, headers: dict[str, str]) -> str:
        """The site whose page asks, if it may; a browser tells it, other clients do not."""
        origin = headers.get("origin", "")
        if not origin or urlsplit(origin).netloc.lower() == headers.get("host", "").lower():
            return ""
        if origin.lower() not in self._origins:
            raise OriginRefused(origin)
        return origin

    async def _caller(self, scope: Scope, headers: dict[str, str]) -> Caller:
        key, is_open = self._memory_host.settings.api_key, self._memory_host.settings.is_open
        if self._is_foreign(scope["path"]):
            headers = own_keys_only(headers, key)
        if scope["path"] in OPEN and bearer_of(headers) is None:
            try:
                return caller_from(scope, headers, lambda _: None, key, is_open=is_open)
            except EngramError:
                return NOBODY
        identify = partial(caller_from, scope, headers, self._memory_host.bearer, key, is_open=is_open)
        return identify() if bearer_of(headers) is None else await anyio.to_thread.run_sync(identify)

    def _write_journal(self, scope: Scope, passage: _RequestPassage) -> None:
        seconds, route = time.perf_counter() - passage.start, _route(scope)
        self._metrics.count(scope["method"], route, passage.status or 499, seconds)
        caller = scope["state"].get("caller", NOBODY)
        fields: dict[str, Any] = {
            "request": passage.id,
            "method": scope["method"],
            "route": route,
            "status": passage.status or 499,
            "ms": round(seconds * 1_000, 2),
            "caller": caller.id,
        }
        if "code" in scope["state"]:
            fields["code"] = scope["state"]["code"]
        server_metrics.note("request", **fields)


def _check_site(headers: dict[str, str]) -> None:
    """Pictures and scripts of other sites ask without an origin, but a browser says where they come from."""
    site = headers.get("sec-fetch-site", "").lower()
    if site in FOREIGN_SITES:
        raise OriginRefused(site)


def _is_browsing(scope: Scope) -> bool:
    """Whether a person looks at a page, and would be told nothing by a problem document."""
    is_page = scope["method"] == "GET" and scope["path"] in PAGES
    return is_page and b"text/html" in _header(scope, b"accept")


def locked(why: str = "") -> Response:
    """The page for whoever has not been let in yet."""
    from starlette.responses import HTMLResponse

    page = (resources.files(__package__) / "locked.html").read_text(encoding="utf-8")
    headers = {
        "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
        "Cache-Control": "no-store",
    }
    return HTMLResponse(page.replace("<!-- why -->", why), HTTPStatus.UNAUTHORIZED, headers)


def _added_headers(passage: _RequestPassage) -> list[tuple[bytes, bytes]]:
    added = [(b"x-request-id", passage.id.encode()), *SAFE_HEADERS]
    if passage.origin:
        added += [(b"access-control-allow-origin", passage.origin.encode("latin-1")), (b"vary", b"Origin")]
    return added


async def _preflight(scope: Scope, receive: Receive, send: Send) -> None:
    from starlette.responses import Response

    allowed = {
        "Access-Control-Allow-Methods": METHODS,
        "Access-Control-Allow-Headers": "Authorization, Content-Type, Idempotency-Key, Last-Event-ID",
        "Access-Control-Max-Age": "600",
    }
    await Response(None, 204, allowed)(scope, receive, send)


def _route(scope: Scope) -> str:
    """The route as the table writes it; a path itself may hold ids and names."""
    return str(scope["state"].get("route", "other"))


def _names(listed: str) -> frozenset[str]:
    return frozenset(name.strip().lower().rstrip("/") for name in listed.split(",") if name.strip())


def _is_address(host: str) -> bool:
    """An address cannot be turned to another machine, as a name can."""
    import ipaddress

    try:
        ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return False
    return True
