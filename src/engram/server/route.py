"""Routes: operations come in; what the server serves for each of their addresses goes out.

Long calls tell by server-sent events how far they have come; so does the ledger as it grows.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
import anyio.from_thread
import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from engram.errors import AccessDenied, BadText, EngramError, InvalidInput, TooMany
from engram.lazily import dataclass
from engram.model.event import Event
from engram.model.plain import plain
from engram.operations import OPERATIONS, Operation
from engram.operations.operation import PLACED
from engram.operations.values import Parameter, Reader, Style, encoded, pick
from engram.server.caller import Caller
from engram.server.host import MemoryHost
from engram.server.limits import HEADER, REPLAYED, IdempotentAnswer, Keys
from engram.server.problems import BadBody, CallerGone, TokenNeeded, document

if TYPE_CHECKING:
    from engram.engine import Engram


QUERIES = frozenset({"GET", "DELETE"})
"""Methods whose arguments come in the address."""


@dataclass(frozen=True)
class Route:
    """One address of an operation. What a request needs of it is worked out once."""

    operation: Operation
    method: str
    path: str
    name: str
    """The name of the operation in the document."""

    @cached_property
    def in_path(self) -> tuple[str, ...]:
        """The arguments that stand in the path."""
        return tuple(PLACED.findall(self.path))

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Everything a request may say beside what stands in the path."""
        return tuple(
            parameter for parameter in self.operation.parameters if parameter.name not in self.in_path
        )

    @cached_property
    def example(self) -> Mapping[str, Any]:
        """The example, under the names and with what this address takes."""
        names = {to: name for name, to in self.operation.also.items()} if self.is_query else {}
        return {names.get(name, name): value for name, value in self.operation.example.items()}

    @cached_property
    def is_query(self) -> bool:
        """Whether arguments come in the address and not in a body."""
        return self.method in QUERIES or self.operation.takes != JSON

    @cached_property
    def is_quick(self) -> bool:
        """Whether it computes more than it waits."""
        return self.operation.reads if self.operation.long is None else not self.operation.long

    @cached_property
    def address(self) -> str:
        """The path as a document writes it."""
        return re.sub(r"{(\w+):\w+}", r"{\1}", self.path)

    @cached_property
    def _placed(self) -> Reader:
        placed = tuple(parameter for parameter in self.operation.parameters if parameter.name in self.in_path)
        return Reader(placed, Style.SPELLED)

    @cached_property
    def _asked(self) -> Reader:
        style = Style.SPELLED if self.is_query else Style.JSON
        return Reader(self.parameters, style, self.operation.also)

    def arguments(self, placed: Mapping[str, Any], words: Mapping[str, Any]) -> dict[str, Any]:
        """What the operation takes. `placed` stands in the path, `given` in query or body."""
        return {**self._placed.read(placed), **self._asked.read(words)}

    def answer(
        self, memory: Engram, placed: Mapping[str, Any], words: Mapping[str, Any], **beside: Any
    ) -> Any:
        """Do it. `placed` stands in the path, `given` in query or body."""
        result = self.operation.run(memory, self.arguments(placed, words), **beside)
        return {self.operation.gives: result} if self.operation.gives else result


def routes_of(operations: Iterable[Operation]) -> tuple[Route, ...]:
    """Every address of some operations, in their order; those that end in any path are tried last."""
    routes = [_route(operation, address) for operation in operations for address in operation.addresses]
    return tuple(sorted(routes, key=lambda route: route.path.endswith(":path}")))


def _route(operation: Operation, address: str) -> Route:
    served, _, name = address.partition(" as ")
    method, _, path = served.partition(" ")
    return Route(operation, method, path, name or operation.name.replace(".", "_"))


ROUTES = routes_of(OPERATIONS.values())
"""The table of routes, in the order in which they are tried."""


# ---------------------------------------------------------------- endpoint
# Endpoints: a route of the table becomes what the server calls for a request.

T = TypeVar("T")

RECALL = "recall"
JSON = "application/json"
LINES = "application/x-ndjson"
LINES_AT_ONCE = 200
DEEPEST = 100
"""Bodies may not be nested deeper: whoever walks through them recurses."""
MOST_ITEMS = 10_000
"""A list in a body may not be longer: as many statements take about as long as a call may."""
LONG_S = 1.0
"""So long work takes before anybody looks whether its caller is still there."""
GONE_S = 5.0
"""So long work goes on for a caller that has gone: who sends and does not wait is served, if it is short."""

Serve = Callable[[Request], Awaitable[Response]]


def endpoint(route: Route, memory_host: MemoryHost, keys: Keys) -> Serve:
    """What answers requests to a route."""
    operation = route.operation

    async def serve(request: Request) -> Response:
        request.state.route = route.address
        caller: Caller = request.state.caller
        if operation.owner and not caller.is_owner:
            raise AccessDenied("do this; only an owner may")
        body = b"" if route.method == "GET" else await read(request)
        words, beside = _read_request(route, request, body)

        def work(memory: Engram, **more: Any) -> Any:
            return route.answer(memory, request.path_params, words, **beside, **more)

        if operation.media != JSON:
            return await _stream_lines(memory_host, caller, work)
        if operation.tells_progress and MEDIA_TYPE in request.headers.get("accept", ""):
            return progress(memory_host, caller, lambda memory, tell: work(memory, progress=tell))
        answer = partial(_answer, memory_host, caller, work, route)
        if operation.name == RECALL:
            answer = partial(_recall_in_worker, memory_host, caller, route.arguments({}, words), answer)
        return await while_wanted(request, lambda: _once(request, keys, caller, body, answer))

    return serve


async def while_wanted(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """What the work comes to; it is given up when the caller has gone for a while. The body must be read.

    Whether it has is looked at only of work that takes long. Raises CallerGone, or whatever the work raises.
    """
    watching: list[asyncio.Task[None]] = []
    with anyio.CancelScope() as scope:
        begin = asyncio.get_running_loop().call_later(
            LONG_S, lambda: watching.append(asyncio.ensure_future(_give_up(request, scope)))
        )
        try:
            return await work()
        finally:
            begin.cancel()
            for task in watching:
                task.cancel()
    raise CallerGone


async def _give_up(request: Request, scope: anyio.CancelScope) -> None:
    """End the work when the caller has gone for a while."""
    while (await request.receive())["type"] != "http.disconnect":
        pass
    await anyio.sleep(GONE_S)
    scope.cancel()


async def read(request: Request) -> bytes:
    """The whole body. Raises BadBody when it breaks off."""
    try:
        return await request.body()
    except ClientDisconnect as error:
        raise BadBody("The request broke off before its body was whole.") from error


def _read_request(route: Route, request: Request, body: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the request says by name, and the bytes it brings."""
    asked: dict[str, Any] = {}
    for name in request.query_params:
        values = request.query_params.getlist(name)
        asked[name] = values[0] if len(values) == 1 else ",".join(values)
    if route.operation.takes != JSON:
        return asked, {"body": body}
    if route.is_query:
        return asked, {}
    if asked:
        raise InvalidInput(f"{min(asked)!r} belongs into the body of this request, not into its address.")
    return _object(body, route.operation.bare), {}


def _object(body: bytes, bare: str) -> dict[str, Any]:
    """The body as an object. Raises BadBody."""
    value = parsed(body)
    if isinstance(value, list) and bare:
        value = {bare: value}
    if not isinstance(value, dict):
        raise BadBody("The body must be a JSON object.")
    return value


def parsed(body: bytes) -> Any:
    """The body as JSON; nothing is an empty object. Raises BadBody."""
    if not body.strip():
        return {}
    try:
        value = msgspec.json.decode(body)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        if _has_half_characters(body):
            raise BadText("body", "half of a character (a lone surrogate)") from error
        raise BadBody(f"The body is no JSON: {str(error)[:120]}") from error
    if _depth(value) > DEEPEST:
        raise BadBody(f"The body is nested deeper than {DEEPEST} levels.")
    return value


def _has_half_characters(body: bytes) -> bool:
    """Whether that alone is wrong with it: Python reads it, and cannot write it again."""
    try:
        json.dumps(json.loads(body), ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return True
    except (ValueError, RecursionError):
        pass
    return False


def _depth(value: Any) -> int:
    """How deep a value is nested, counted level by level. Raises TooMany for a list that is too long."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        longest = max((len(value) for value in level if isinstance(value, list)), default=0)
        if longest > MOST_ITEMS:
            raise TooMany("items of a list", longest, MOST_ITEMS)
        nested = (value for value in level if isinstance(value, dict | list))
        inner = [value.values() if isinstance(value, dict) else value for value in nested]
        level, depth = [item for items in inner for item in items], depth + 1
    return depth


async def _answer(
    memory_host: MemoryHost, caller: Caller, work: Callable[[Engram], Any], route: Route
) -> IdempotentAnswer:
    body = await memory_host.run(caller, lambda memory: encoded(work(memory)), quick=route.is_quick)
    return IdempotentAnswer(route.operation.status, body)


async def _recall_in_worker(
    memory_host: MemoryHost,
    caller: Caller,
    arguments: dict[str, Any],
    here: Callable[[], Awaitable[IdempotentAnswer]],
) -> IdempotentAnswer:
    """A recall by a process beside this one, or here where none has room."""
    body = await memory_host.beside(
        caller, lambda memory, then, ahead: memory.hand_over_recall(then, ahead, **arguments)
    )
    return await here() if body is None else IdempotentAnswer(200, body)


async def _once(
    request: Request, keys: Keys, caller: Caller, body: bytes, work: Callable[[], Awaitable[IdempotentAnswer]]
) -> Response:
    """Carry a write out once for its key; without one, carry it out."""
    key = request.headers.get(HEADER)
    if key is None or request.method == "GET":
        return _response(await work())
    answer, again = await keys.once(caller.id, key, whole_request(request, body), work)
    response = _response(answer)
    if again:
        response.headers[REPLAYED] = "true"
    return response


def whole_request(request: Request, body: bytes) -> bytes:
    """All that tells a request from another under the same key."""
    place = f"{request.url.path}?{request.url.query}"
    return b"\n".join([request.method.encode(), place.encode(), body])


def _response(answer: IdempotentAnswer) -> Response:
    return Response(answer.body, answer.status, media_type=JSON)


async def _stream_lines(
    memory_host: MemoryHost, caller: Caller, work: Callable[[Engram], Iterator[Any]]
) -> Response:
    """An answer that comes line by line: some are fetched at a time, so that none waits for all."""
    records = await memory_host.run(caller, work)
    first = await memory_host.run(caller, lambda _: _next_lines(records))

    async def lines() -> AsyncIterator[bytes]:
        lines_now = first
        while lines_now:
            yield lines_now
            lines_now = await memory_host.run(caller, lambda _: _next_lines(records))

    return StreamingResponse(lines(), media_type=LINES)


def _next_lines(records: Iterator[Any]) -> bytes:
    return b"".join(encoded(record) + b"\n" for record in islice(records, LINES_AT_ONCE))


POLL_S = 0.5
BEAT_S = 15.0
"""So often something is sent, lest a proxy takes the stream for dead."""
PAGE = 100
MEDIA_TYPE = "text/event-stream"
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


def feed(memory_host: MemoryHost, caller: Caller, after: str | None) -> StreamingResponse:
    """The events a caller may see, from now on or after an event it has seen, until it may not any more."""
    return StreamingResponse(_events(memory_host, caller, after), media_type=MEDIA_TYPE, headers=HEADERS)


async def _events(memory_host: MemoryHost, caller: Caller, after: str | None) -> AsyncIterator[str]:
    place = after
    if place is None:
        place = (await memory_host.run(caller, lambda memory: memory.news())).place
    yield "retry: 2000\n: the ledger as it grows\n\n"
    quiet = 0.0
    while not memory_host.is_closing:
        if not await memory_host.run(caller, lambda _: memory_host.is_welcome(caller)):
            yield message("problem", document(TokenNeeded(given=True)))
            return
        news = await memory_host.run(caller, partial(_news, place))
        place = news.place
        for event in news.events:
            yield message("event", event_summary(event), event.id)
        quiet = 0.0 if news.events else quiet + POLL_S
        if quiet >= BEAT_S:
            quiet = 0.0
            yield ": still there\n\n"
        if len(news.events) < PAGE:
            await memory_host.pause(POLL_S)


def _news(place: str, memory: Engram) -> Any:
    return memory.news(place, limit=PAGE)


def event_summary(event: Event) -> dict[str, Any]:
    """An event without the words before and after: which fields changed is enough to look again."""
    summary = pick(event, "id at actor verb memory because related")
    return {**summary, "changed": sorted(event.after)}


def message(kind: str, data: Any, id_: str = "") -> str:
    r"""One message of a stream.

    >>> message("done", {"n": 1})
    'event: done\ndata: {"n": 1}\n\n'
    """
    head = f"id: {id_}\n" if id_ else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data, ensure_ascii=False)}\n\n"


def progress(
    memory_host: MemoryHost, caller: Caller, work: Callable[[Engram, Callable[..., None]], Any]
) -> StreamingResponse:
    """How far a long call has come, then its answer or its problem."""
    return StreamingResponse(_progress(memory_host, caller, work), media_type=MEDIA_TYPE, headers=HEADERS)


async def _progress(
    memory_host: MemoryHost, caller: Caller, work: Callable[[Engram, Callable[..., None]], Any]
) -> AsyncIterator[str]:
    send, receive = anyio.create_memory_object_stream[str](1_000)

    def tell(done: int, total: int) -> None:
        anyio.from_thread.run_sync(_send_or_skip, send, message("progress", {"done": done, "total": total}))

    async def carry_out() -> None:
        async with send:
            try:
                result = await memory_host.run(
                    caller, lambda memory: plain(work(memory, tell)), limit_s=float("inf")
                )
                await send.send(message("done", result))
            except EngramError as error:
                await send.send(message("problem", document(error)))

    async with anyio.create_task_group() as group, receive:
        group.start_soon(carry_out)
        async for step in receive:
            yield step


def _send_or_skip(send: Any, step: str) -> None:
    """A reader that is slow misses a step, and nobody waits for it."""
    try:
        send.send_nowait(step)
    except (anyio.WouldBlock, anyio.BrokenResourceError):
        return
