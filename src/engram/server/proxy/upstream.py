"""The model service behind the proxy: a request goes there as it came, and its answer comes back as it is."""

from __future__ import annotations

import re
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
import httpx

from engram.errors import ConfigError
from engram.server.caller import KEYS, authorization, is_loopback
from engram.server.problems import UpstreamDown, UpstreamLate

if TYPE_CHECKING:
    from engram.config import ProxyConfig

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
        self._root = checked(settings.base_url)
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
                for name, value in passed(headers, self._settings.api_key, self.secret).items()
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


def checked(base_url: str) -> str:
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


def passed(headers: Mapping[str, str], api_key: str, secret: str = "") -> dict[str, str]:
    """The headers of a request as the service gets them.

    >>> passed({"host": "here", "x-engram-session": "a", "openai-beta": "b"}, "")
    {'openai-beta': 'b', 'accept-encoding': 'identity'}
    """
    kept = {
        name: value
        for name, value in headers.items()
        if name not in NOT_PASSED | KEYS and not name.startswith(OURS)
    }
    return kept | authorization(headers, api_key, secret) | {"accept-encoding": "identity"}


def returned(headers: Iterable[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer as the client gets them, byte for byte."""
    return [(name, value) for name, value in headers if name.decode("latin-1").lower() not in NOT_RETURNED]
