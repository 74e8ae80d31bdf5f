"""The SDK's server over our door: for stdio, where it takes over from the porch, and for HTTP.

The SDK speaks the protocol in all its versions; what is listed and what is answered comes from our own
tables. Its `MCPServer` makes schemas out of Python signatures; ours are shorter, known before it is loaded,
and take aliases, so the `Server` below it is used.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import mcp_types as types
from anyio import from_thread, to_thread
from mcp.server import Server, ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from engram.errors import EngramError
from engram.server.mcp import documents
from engram.server.mcp.door import Door, MemoryFor
from engram.server.mcp.porch import INFO, INSTRUCTIONS
from engram.server.mcp.toolset import TOOLSETS

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

Context = ServerRequestContext[Any]
LOOPBACK = ("127.0.0.1", "127.0.0.1:*", "localhost", "localhost:*", "[::1]", "[::1]:*")


def build(door: Door) -> Server[Any]:
    """The SDK's server, with every list and every call answered by the door."""
    answers = _Answers(door)
    return Server(
        INFO["name"],
        version=INFO["version"],
        title=INFO["title"],
        instructions=INSTRUCTIONS,
        get_tool_input_schema=answers.input_schema,
        on_list_tools=answers.list_tools,
        on_call_tool=answers.call_tool,
        on_list_resources=answers.list_resources,
        on_list_resource_templates=answers.list_templates,
        on_read_resource=answers.read_resource,
        on_list_prompts=answers.list_prompts,
        on_get_prompt=answers.get_prompt,
    )


class HttpDoor:
    """MCP over streamable HTTP: an ASGI app for one path, alive inside `run`. Requests share no state."""

    def __init__(
        self,
        memory_for: MemoryFor,
        *,
        toolset: str = "pinned",
        hosts: tuple[str, ...] | None = LOOPBACK,
        origins: tuple[str, ...] = (),
    ) -> None:
        """`hosts` are the Host headers let in; None leaves the check to the app around this one."""
        security = TransportSecuritySettings(
            enable_dns_rebinding_protection=hosts is not None,
            allowed_hosts=[*(hosts or ())],
            allowed_origins=[*origins],
        )
        self._sessions = StreamableHTTPSessionManager(
            app=build(Door(memory_for, TOOLSETS[toolset])), stateless=True, security_settings=security
        )
        self._app = StreamableHTTPASGIApp(self._sessions)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Use it as the endpoint of a route: `Route("/mcp", endpoint=door)`."""
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def run(self) -> AsyncIterator[None]:
        """Hold this open as long as the app serves."""
        async with self._sessions.run():
            yield


class _Answers:
    """What the SDK calls, each in a thread: the engine blocks, the loop must not."""

    def __init__(self, door: Door) -> None:
        self._door = door

    def input_schema(self, name: str) -> dict[str, Any] | None:
        tool = self._door.tools.get(name)
        return None if tool is None else tool.described["inputSchema"]

    async def list_tools(self, _: Context, __: Any) -> types.ListToolsResult:
        return types.ListToolsResult.model_validate(
            {"tools": [tool.described for tool in self._door.tools.values()]}
        )

    async def call_tool(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        work = partial(
            self._door.call,
            params.name,
            params.arguments or {},
            request=context.request,
            who=_who(context.request),
            tell=_teller(context),
        )
        answer = await to_thread.run_sync(work)
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=None if answer.fields is None else dict(answer.fields),
            is_error=answer.fields is None,
        )

    async def list_resources(self, _: Context, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult.model_validate({"resources": [*documents.RESOURCES]})

    async def list_templates(self, _: Context, __: Any) -> types.ListResourceTemplatesResult:
        return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": [*documents.TEMPLATES]})

    async def read_resource(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        uri = str(params.uri)
        text = await self._asked(context, lambda memory: documents.read(memory, uri))
        found = types.TextResourceContents(uri=params.uri, mime_type=documents.MIME, text=text)
        return types.ReadResourceResult(contents=[found])

    async def list_prompts(self, _: Context, __: Any) -> types.ListPromptsResult:
        return types.ListPromptsResult.model_validate({"prompts": [*documents.PROMPTS]})

    async def get_prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        given = params.arguments or {}
        text = await self._asked(context, lambda memory: documents.prompt(memory, params.name, given))
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(messages=[message])

    async def _asked(self, context: Context, work: Callable[[Any], str]) -> str:
        """Run in a thread; an error of the engine becomes one of the protocol, with our code in its words."""
        try:
            return await to_thread.run_sync(lambda: work(self._door.memory_for(context.request)))
        except EngramError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=str(error)) from error


def _who(request: Any) -> str:
    """Whose request it is, as far as telling request ids apart goes."""
    return "" if request is None else str(request.headers.get("authorization", ""))


def _teller(context: Context) -> Callable[[float, float | None, str], None]:
    """Tells the client from a worker thread how far its call has come, if it wants to know."""

    def tell(done: float, total: float | None, words: str) -> None:
        from_thread.run(context.session.report_progress, done, total, words)

    return tell
