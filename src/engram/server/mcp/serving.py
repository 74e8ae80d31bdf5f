"""The SDK's server over our door: for stdio, where it takes over from the handshake, and for HTTP.

The SDK speaks the protocol in all its versions; what is listed and what is answered comes from our own
tables. Its `MCPServer` makes schemas out of Python signatures; ours are shorter, known before it is loaded,
and take aliases, so the `Server` below it is used.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeVar

import mcp_types as types
from anyio import from_thread
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from engram.errors import EngramError
from engram.lazily import dataclass
from engram.server.app import Mounted, on_first_request
from engram.server.compat.requests import CLIENT
from engram.server.mcp import documents
from engram.server.mcp.handshake import INFO, INSTRUCTIONS
from engram.server.mcp.tools import TOOLSETS, ToolAnswer, ToolDispatcher, once, toolset

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from engram.engine import Engram
    from engram.server.caller import Caller
    from engram.server.host import MemoryHost
    from engram.server.limits import Keys


Context = ServerRequestContext[Any]
Listed = TypeVar("Listed", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Carrier:
    """Whoever runs work on the memory, as the sender of a request may see it, in a thread."""

    run: Callable[[Any, Callable[[Engram], Any]], Awaitable[Any]]
    """What the work comes to. The request is None where one caller has the whole wire."""
    who: Callable[[Any], str]
    """Whose request it is, as far as telling request ids apart goes."""
    keys: Callable[[], Keys]
    """What was answered to calls with a request id."""


def build(door: ToolDispatcher, carry: Carrier) -> Server[Any]:
    """The SDK's server, with every list and every call answered by the door."""
    answers = _Answers(door, carry)
    return Server(
        INFO["name"],
        version=INFO["version"],
        title=INFO["title"],
        instructions=INSTRUCTIONS,
        get_tool_input_schema=answers.input_schema,
        on_list_tools=_listing(
            types.ListToolsResult, "tools", lambda: [tool.described for tool in door.tools.values()]
        ),
        on_call_tool=answers.call_tool,
        on_list_resources=_listing(types.ListResourcesResult, "resources", lambda: documents.RESOURCES),
        on_list_resource_templates=_listing(
            types.ListResourceTemplatesResult, "resourceTemplates", lambda: documents.TEMPLATES
        ),
        on_read_resource=answers.read_resource,
        on_list_prompts=_listing(types.ListPromptsResult, "prompts", lambda: documents.PROMPTS),
        on_get_prompt=answers.get_prompt,
    )


def _listing(
    result: type[Listed], name: str, entries: Callable[[], Sequence[Mapping[str, Any]]]
) -> Callable[[Context, Any], Awaitable[Listed]]:
    """What answers a request for a list."""

    async def listing(_: Context, __: Any) -> Listed:
        return result.model_validate({name: [*entries()]})

    return listing


class _Answers:
    """What the SDK calls. The engine blocks, so its work is carried into a thread."""

    def __init__(self, door: ToolDispatcher, carry: Carrier) -> None:
        self._door = door
        self._carry = carry

    def input_schema(self, name: str) -> dict[str, Any] | None:
        tool = self._door.tools.get(name)
        return None if tool is None else tool.described["inputSchema"]

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        who, arguments = self._carry.who(context.request), params.arguments or {}

        def tell(done: float, total: float | None, words: str) -> None:  # from a thread, if it is wanted
            from_thread.run(context.session.report_progress, done, total, words)

        async def work() -> ToolAnswer:
            called: ToolAnswer = await self._carry.run(
                context.request, lambda memory: self._door.call(memory, params.name, arguments, tell=tell)
            )
            return called

        try:
            answer = await once(self._carry.keys(), who, params.name, arguments, work)
        except EngramError as error:  # the memory could not be opened, or took too long
            answer = ToolAnswer(None, str(error))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=None if answer.fields is None else dict(answer.fields),
            is_error=answer.fields is None,
        )

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await self._asked(context, lambda memory: documents.read(memory, uri))
        contents = types.TextResourceContents(uri=params.uri, mime_type=documents.mime_of(uri), text=text)
        return types.ReadResourceResult(contents=[contents])

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        arguments = params.arguments or {}
        text = await self._asked(context, lambda memory: documents.prompt(memory, params.name, arguments))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    async def _asked(self, context: Context, work: Callable[[Engram], str]) -> str:
        """Run in a thread; an error of the engine becomes one of the protocol, with our code in its words."""
        try:
            text: str = await self._carry.run(context.request, work)
        except EngramError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from error
        return text


# ---------------------------------------------------------------- mounting
# MCP over streamable HTTP, mounted in the server: `/mcp` shows a dozen tools, `/mcp/full` all of them, and
# `/mcp/retention` those of that system.
#
# The guard of the server has seen every request before: who asks stands in its state, and the host carries
# the work out as that caller. Nothing is kept between requests: a client goes on after a restart.

PATH = "/mcp"


def mount(memory_host: MemoryHost) -> Mounted:
    """The door for a host, as `engram.server.app.build` takes it. A set of tools is made when asked for."""
    doors = {
        name: on_first_request(PATH, partial(partial, _sessions, name))(memory_host) for name in TOOLSETS
    }

    async def enter(scope: Scope, receive: Receive, send: Send) -> None:
        last = scope["path"].rstrip("/").rpartition("/")[2]
        await doors[last if last in TOOLSETS else "pinned"].app(scope, receive, send)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for door in doors.values():
                if door.running is not None:
                    await stack.enter_async_context(door.running())
            yield

    return Mounted(PATH, _with_old_clients(memory_host, enter), running)


def _with_old_clients(memory_host: MemoryHost, inner: ASGIApp) -> ASGIApp:
    """The same, and clients of *files*, which name themselves in a header, are answered in their way."""

    @cache
    def old() -> ASGIApp:
        from engram.server.compat.files_tools import beside

        return beside(memory_host, inner)

    async def enter(scope: Scope, receive: Receive, send: Send) -> None:
        named = any(name == CLIENT for name, _ in scope["headers"])
        await (old() if named else inner)(scope, receive, send)

    return enter


def _sessions(name: str, memory_host: MemoryHost) -> Mounted:
    def caller(request: Any) -> Caller:
        who_asks: Caller = request.scope["state"]["caller"]
        return who_asks

    carrier = Carrier(
        run=lambda request, work: memory_host.run(caller(request), work),
        who=lambda request: caller(request).id,
        keys=lambda: memory_host.keys,
    )
    server = build(ToolDispatcher(toolset(name)), carrier)
    # The guard has checked Host and Origin already.
    unguarded = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    manager = StreamableHTTPSessionManager(app=server, stateless=True, security_settings=unguarded)
    return Mounted(PATH, manager.handle_request, manager.run)
