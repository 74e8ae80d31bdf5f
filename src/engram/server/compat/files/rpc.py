"""Calls of the tools of *files* over `/mcp`: one JSON request comes in, one JSON answer goes out.

Its clients post `tools/call` without a handshake and read plain JSON. Such a request is answered here; every
other one goes on to the MCP server as it came.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import Response

from engram.errors import EngramError, UnknownValue
from engram.server.compat.ask import Ask
from engram.server.compat.files.tools import own_name, run
from engram.server.compat.place import named, standing
from engram.server.encoding import encoded
from engram.server.endpoint import JSON, read

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from engram.engine import Engram
    from engram.server.caller import Caller
    from engram.server.house import House

CLIENT = b"x-engram-client-id"
"""The header by which those clients name themselves."""
NO_SUCH_TOOL = -32_602


def beside(house: House, inner: ASGIApp) -> ASGIApp:
    """The MCP server, and before it what answers those clients."""

    async def enter(scope: Scope, receive: Receive, send: Send) -> None:
        if scope.get("method") != "POST" or CLIENT not in {name for name, _ in scope["headers"]}:
            await inner(scope, receive, send)
            return
        request = Request(scope, receive)
        body = await read(request)
        called = _called(body)
        if called is None:
            await inner(scope, _again(body, receive), send)
            return
        answer = await _answer(house, request, called)
        await Response(answer, media_type=JSON)(scope, receive, send)

    return enter


def _called(body: bytes) -> Mapping[str, Any] | None:
    """The request, when it calls a tool of that system."""
    try:
        told = json.loads(body)
    except (UnicodeDecodeError, ValueError, RecursionError):
        return None
    if not isinstance(told, dict) or told.get("method") != "tools/call":
        return None
    given = told.get("params")
    return told if isinstance(given, dict) and own_name(given.get("name")) is not None else None


def _again(body: bytes, receive: Receive) -> Receive:
    """The body that was read, to be read once more."""
    unread = True

    async def once_more() -> Message:
        nonlocal unread
        if unread:
            unread = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return once_more


async def _answer(house: House, request: Request, called: Mapping[str, Any]) -> bytes:
    params = called["params"]
    arguments = params.get("arguments")
    given = arguments if isinstance(arguments, dict) else {}
    name = own_name(params["name"]) or ""
    caller: Caller = request.state.caller
    headers = dict(request.headers)

    def work(memory: Engram) -> bytes:
        return encoded(run(name, Ask(memory, given, headers=headers)))

    reply = partial(_reply, called.get("id"))
    try:
        there = standing(caller, house.memory.access, named(headers, given), in_default=True)
        found = await house.run(there, work)
    except UnknownValue as error:
        if error.field == "tool":
            return reply(error={"code": NO_SUCH_TOOL, "message": error.message})
        return reply(result=_failed(error))
    except EngramError as error:
        return reply(result=_failed(error))
    told = json.loads(found)
    text = {"type": "text", "text": json.dumps(told, ensure_ascii=False, indent=2)}
    return reply(result={"content": [text], "structuredContent": told, "isError": False})


def _failed(error: EngramError) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": f"{error.code}: {error.message}"}], "isError": True}


def _reply(request_id: Any, **told: Any) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": request_id, **told}, ensure_ascii=False).encode()
