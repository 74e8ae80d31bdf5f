"""Serving: an old route comes in; what answers its requests goes out.

The body is read as JSON whatever `curl -d` calls it. The work runs in a thread, as the caller, in the
namespace the request names.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response
from starlette.routing import Route as Served

from engram.errors import AccessDenied
from engram.operations.values import encoded
from engram.server.compat import files, layers
from engram.server.compat.requests import LenientRequest, Old, OldAnswer, is_files, named, standing
from engram.server.limits import HEADER, IdempotentAnswer, Keys
from engram.server.problems import BadBody
from engram.server.route import JSON, Serve, parsed, read, while_wanted, whole_request

if TYPE_CHECKING:
    from starlette.requests import Request

    from engram.engine import Engram
    from engram.server.caller import Caller
    from engram.server.host import MemoryHost

LENIENT = frozenset({"", "application/json", "application/x-www-form-urlencoded"})
PLAIN = "text/plain; charset=utf-8"
ROUTES: tuple[Old, ...] = (*layers.ROUTES, *files.ROUTES)
NAME = "compatibility"
"""What these routes are called, by which they are told from ours."""
KEY_IN_BODY, REPLAY = "idempotencyKey", "idempotencyReplay"
BODIES = frozenset({"POST", "PATCH", "PUT", "DELETE"})


def routes(memory_host: MemoryHost, keys: Keys) -> list[Served]:
    """Every old route, as the application serves it."""
    return [
        Served(route.path, endpoint(route, memory_host, keys), methods=[route.method], name=NAME)
        for route in ROUTES
    ]


def endpoints() -> dict[str, str]:
    """What is served at the root, and how it begins."""
    served: dict[str, list[str]] = {}
    for route in layers.ROUTES:
        served.setdefault(route.path, []).append(route.method)
    return {path: ", ".join(methods) for path, methods in served.items()}


def endpoint(route: Old, memory_host: MemoryHost, keys: Keys) -> Serve:
    """What answers requests to an old route."""

    async def serve(request: Request) -> Response:
        request.state.route = route.path
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        body = await read(request) if route.method in BODIES else b""
        if body and kind not in LENIENT and not kind.endswith("+json"):
            message = f"Expected application/json, got {kind}"
            return Response(message, HTTPStatus.UNSUPPORTED_MEDIA_TYPE, media_type=PLAIN)
        try:
            value = parsed(body)
        except BadBody as error:
            if is_files(route.path):
                raise
            return Response(f"Invalid JSON: {error.message}", HTTPStatus.BAD_REQUEST, media_type=PLAIN)
        if is_files(route.path) and not isinstance(value, dict):
            raise BadBody("The body must be a JSON object.")
        given = {**request.query_params, **(value if isinstance(value, dict) else {})}
        caller = _caller(route, request, memory_host, given)
        ask = partial(
            LenientRequest,
            given=given,
            placed=dict(request.path_params),
            items=value if isinstance(value, list) else None,
            headers=dict(request.headers),
            projects=memory_host.projects,
        )
        key = request.headers.get(HEADER) or given.get(KEY_IN_BODY)
        work = partial(_answer, route, memory_host, caller, ask)
        if not isinstance(key, str) or not key or route.method not in BODIES:
            return _response(await while_wanted(request, work))
        asked = whole_request(request, body)
        answer, again = await while_wanted(request, lambda: keys.once(_keyed(caller), key, asked, work))
        return _response(_replayed(answer) if again else answer)

    return serve


def _caller(route: Old, request: Request, memory_host: MemoryHost, given: Mapping[str, Any]) -> Caller:
    caller: Caller = request.state.caller
    if route.owner_only and not caller.is_owner:
        raise AccessDenied("do this; only an owner may")
    place = named(request.headers, given)
    return standing(caller, memory_host.memory.access, place, in_default=route.in_default)


def _keyed(caller: Caller) -> str:
    """Whose key it is: in another namespace the same key is another one."""
    access = caller.access
    if access is None or access.all_namespaces:
        return caller.id
    return f"{caller.id} in {access.scope.namespace}"


async def _answer(
    route: Old, memory_host: MemoryHost, caller: Caller, ask: partial[LenientRequest]
) -> IdempotentAnswer:
    def work(memory: Engram) -> IdempotentAnswer:
        value = route.call(ask(memory))
        answer = value if isinstance(value, OldAnswer) else OldAnswer(value, route.status)
        body = answer.value.encode() if isinstance(answer.value, str) else encoded(answer.value)
        return IdempotentAnswer(answer.status, body)

    return await memory_host.run(caller, work, limit_s=route.limit_s, quick=route.is_quick)


def _response(answer: IdempotentAnswer) -> Response:
    kind = JSON if answer.body[:1] in (b"{", b"[") else PLAIN
    return Response(answer.body, answer.status, media_type=kind)


def _replayed(answer: IdempotentAnswer) -> IdempotentAnswer:
    """The same answer, which says where it can that it was given before."""
    value = json.loads(answer.body)
    if not isinstance(value, dict) or REPLAY not in value:
        return answer
    return IdempotentAnswer(HTTPStatus.OK, encoded({**value, REPLAY: True}))
