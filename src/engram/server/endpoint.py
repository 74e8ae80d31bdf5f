"""Endpoints: a route of the table becomes what the server calls for a request."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar

import anyio
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from engram.errors import AccessDenied, BadText, InvalidInput, TooMany
from engram.server import stream
from engram.server.caller import Caller
from engram.server.encoding import encoded
from engram.server.house import House
from engram.server.idempotency import HEADER, REPLAYED, Answer, Keys
from engram.server.refusals import BadBody, CallerGone
from engram.server.route import Route

if TYPE_CHECKING:
    from engram.engine import Engram

T = TypeVar("T")

JSON = "application/json"
LINES = "application/x-ndjson"
LINES_AT_ONCE = 200
DEEPEST = 100
"""Bodies may not be nested deeper: whoever walks through them recurses."""
MOST_ITEMS = 10_000
"""A list in a body may not be longer: as many statements take about as long as a call may."""
GONE_S = 5.0
"""So long work goes on for a caller that has gone: who sends and does not wait is served, if it is short."""

HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
"""What half of a character looks like in JSON; two of them make a whole one."""

Serve = Callable[[Request], Awaitable[Response]]


def endpoint(route: Route, house: House, keys: Keys) -> Serve:
    """What answers requests to a route."""

    async def serve(request: Request) -> Response:
        request.state.route = route.address
        caller: Caller = request.state.caller
        if route.owner_only and not caller.is_owner:
            raise AccessDenied("do this; only an owner may")
        body = b"" if route.method == "GET" else await read(request)
        given, beside = _given(route, request, body)
        work = partial(_work, route, dict(request.path_params), given, beside)
        if route.gives != JSON:
            return await _lines(house, caller, work)
        if route.tells and stream.MEDIA_TYPE in request.headers.get("accept", ""):
            return stream.progress(house, caller, lambda memory, tell: work(memory, progress=tell))
        answer = partial(_answer, house, caller, work, route)
        return await while_wanted(request, lambda: _once(request, keys, caller, body, answer))

    return serve


async def while_wanted(request: Request, work: Callable[[], Awaitable[T]]) -> T:
    """What the work comes to; it is given up when the caller has gone for a while. The body must be read.

    Raises CallerGone, or whatever the work raises.
    """
    outcome: list[T] = []
    try:
        async with anyio.create_task_group() as group:

            async def watch() -> None:
                while (await request.receive())["type"] != "http.disconnect":
                    pass
                await anyio.sleep(GONE_S)
                group.cancel_scope.cancel()

            group.start_soon(watch)
            outcome.append(await work())
            group.cancel_scope.cancel()
    except ExceptionGroup as several:  # there is but one: what the work raised
        raise several.exceptions[0] from several.exceptions[0].__cause__
    if not outcome:
        raise CallerGone
    return outcome[0]


def _work(
    route: Route,
    placed: Mapping[str, Any],
    given: Mapping[str, Any],
    beside: Mapping[str, Any],
    memory: Engram,
    **more: Any,
) -> Any:
    return route.answer(memory, placed, given, **beside, **more)


async def read(request: Request) -> bytes:
    """The whole body. Raises BadBody when it breaks off."""
    try:
        return await request.body()
    except ClientDisconnect as error:
        raise BadBody("The request broke off before its body was whole.") from error


def _given(route: Route, request: Request, body: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the request says by name, and the bytes it brings."""
    asked: dict[str, Any] = {}
    for name in request.query_params:
        found = request.query_params.getlist(name)
        asked[name] = found[0] if len(found) == 1 else ",".join(found)
    if route.takes != JSON:
        return asked, {"body": body}
    if route.is_query:
        return asked, {}
    if asked:
        raise InvalidInput(f"{min(asked)!r} belongs into the body of this request, not into its address.")
    return _object(body, route.bare), {}


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
        value = json.loads(body, parse_constant=_refuse)
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
        raise BadBody(f"The body is no JSON: {str(error)[:120]}") from error
    if _depth(value) > DEEPEST:
        raise BadBody(f"The body is nested deeper than {DEEPEST} levels.")
    if HALF_CHARACTER.search(body):
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise BadText("body", "half of a character (a lone surrogate)") from error
    return value


def _refuse(word: str) -> None:
    message = f"{word} is no number"
    raise ValueError(message)


def _depth(value: Any) -> int:
    """How deep a value is nested, counted level by level. Raises TooMany for a list that is too long."""
    level, depth = [value], 0
    while level and depth <= DEEPEST:
        longest = max((len(one) for one in level if isinstance(one, list)), default=0)
        if longest > MOST_ITEMS:
            raise TooMany("items of a list", longest, MOST_ITEMS)
        inner = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)
        ]
        level, depth = [item for items in inner for item in items], depth + 1
    return depth


async def _answer(house: House, caller: Caller, work: Callable[[Engram], Any], route: Route) -> Answer:
    body = await house.run(caller, lambda memory: encoded(work(memory)), quick=route.is_quick)
    return Answer(route.status, body)


async def _once(
    request: Request, keys: Keys, caller: Caller, body: bytes, work: Callable[[], Awaitable[Answer]]
) -> Response:
    """Carry a write out once for its key; without one, carry it out."""
    key = request.headers.get(HEADER)
    if key is None or request.method == "GET":
        return _response(await work())
    place = f"{request.url.path}?{request.url.query}"
    asked = b"\n".join([request.method.encode(), place.encode(), body])
    answer, again = await keys.once(caller.id, key, asked, work)
    response = _response(answer)
    if again:
        response.headers[REPLAYED] = "true"
    return response


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, media_type=JSON)


async def _lines(house: House, caller: Caller, work: Callable[[Engram], Iterator[Any]]) -> Response:
    """An answer that comes line by line: some are fetched at a time, so that none waits for all."""
    found = await house.run(caller, work)
    first = await house.run(caller, lambda _: _some(found))

    async def lines() -> AsyncIterator[bytes]:
        some = first
        while some:
            yield some
            some = await house.run(caller, lambda _: _some(found))

    return StreamingResponse(lines(), media_type=LINES)


def _some(found: Iterator[Any]) -> bytes:
    return b"".join(encoded(one) + b"\n" for one in islice(found, LINES_AT_ONCE))
