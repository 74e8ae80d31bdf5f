"""MCP over streamable HTTP, mounted in the server: `/mcp` shows a dozen tools, `/mcp/full` all of them.

The guard of the server has seen every request before: who asks stands in its state, and the house carries
the work out as that caller. Nothing is kept between requests: a client goes on after a restart.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings

from engram.server.app import Mounted
from engram.server.compat.files.rpc import beside
from engram.server.mcp.door import Door
from engram.server.mcp.serving import build
from engram.server.mcp.toolset import TOOLSETS

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from engram.engine import Engram
    from engram.server.caller import Caller
    from engram.server.house import House

PATH = "/mcp"
FULL = "/full"
T = TypeVar("T")


def mount(house: House) -> Mounted:
    """The door for a house, as `engram.server.app.build` takes it."""
    sessions = {name: _sessions(house, name) for name in TOOLSETS}

    async def enter(scope: Scope, receive: Receive, send: Send) -> None:
        wanted = "full" if scope["path"].rstrip("/").endswith(FULL) else "pinned"
        await sessions[wanted].handle_request(scope, receive, send)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with sessions["pinned"].run(), sessions["full"].run():
            yield

    return Mounted(PATH, beside(house, enter), running)


def _sessions(house: House, toolset: str) -> StreamableHTTPSessionManager:
    server = build(Door(TOOLSETS[toolset]), ByCaller(house))
    # The guard has checked Host and Origin already.
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    return StreamableHTTPSessionManager(app=server, stateless=True, security_settings=unguarded)


class ByCaller:
    """Carries work out as whoever sent the request."""

    def __init__(self, house: House) -> None:
        self._house = house

    async def __call__(self, request: Any, work: Callable[[Engram], T]) -> T:
        """What the work comes to, in one of the house's threads."""
        return await self._house.run(_caller(request), work)

    def who(self, request: Any) -> str:
        """What the caller's requests are counted under."""
        return _caller(request).id


def _caller(request: Any) -> Caller:
    caller: Caller = request.scope["state"]["caller"]
    return caller
